/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/clock.h"
#include "base/parse.h"

/* ---- What the kernel was built with ---- */

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define FILE_MAX_BYTES (64u << 20)

/* The whole of a file of at most FILE_MAX_BYTES; NULL with errno set. */
static char *read_file(const char *path, size_t *ret_length)
{
	FILE *file = fopen(path, "re");
	size_t room = 1 << 16, length = 0;
	char *data = file ? malloc(room) : NULL;

	while (data && !ferror(file) && !feof(file)) {
		length += fread(data + length, 1, room - length, file);
		if (length == room && room < FILE_MAX_BYTES) {
			char *more = realloc(data, 2 * room);

			if (!more)
				break;
			data = more;
			room *= 2;
		} else if (length == room) {
			break;
		}
	}
	if (file)
		fclose(file);
	*ret_length = length;
	return data;
}

static int config_says(const char *option)
{
	char path[512], line[512], wanted[128];
	struct utsname system;
	FILE *file;
	int says = 0;

	if (uname(&system) < 0)
		return -1;
	snprintf(path, sizeof(path), "/boot/config-%s", system.release);
	snprintf(wanted, sizeof(wanted), "%s=y\n", option);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (!says && fgets(line, sizeof(line), file))
		says = strcmp(line, wanted) == 0;
	fclose(file);
	return says;
}

/* Whether the kernel's types have a member or type by that name. */
static int btf_says(const char *name)
{
	char wanted[64] = "";
	size_t length, wanted_length = strlen(name) + 2;
	char *data = read_file(BTF_PATH, &length);
	int says;

	if (!data)
		return -1;
	snprintf(wanted + 1, sizeof(wanted) - 1, "%s", name);
	says = memmem(data, length, wanted, wanted_length) != NULL;
	free(data);
	return says;
}

/* 1 yes, 0 no, -1 cannot be told; @name exists only with @option. */
static int is_built_with(const char *option, const char *name)
{
	int says = config_says(option);

	return says < 0 ? btf_says(name) : says;
}

/* ---- What records hold ---- */

void check_switch(struct checkup *checkup, struct finding *finding)
{
	char state;
	int fd = open("/proc/sys/kernel/task_delayacct", O_RDONLY | O_CLOEXEC);

	(void)checkup;
	if (fd < 0 && errno == ENOENT) {
		find(finding, CHECK_MISSING, "this kernel has no kernel.task_delayacct");
		mend(finding, "boot a kernel with CONFIG_TASK_DELAY_ACCT=y, before 5.14 with the "
		     "parameter delayacct");
		return;
	}
	if (fd < 0 || read(fd, &state, 1) != 1)
		find(finding, CHECK_UNKNOWN, "kernel.task_delayacct: %s", strerror(errno));
	else if (state == '1')
		find(finding, CHECK_OK, "on, for tasks that began since");
	else
		find(finding, CHECK_OFF, "all waits but those for a CPU are unknown");
	if (finding->status == CHECK_OFF)
		mend(finding, "sudo sysctl kernel.task_delayacct=1");
	if (fd >= 0)
		close(fd);
}

void check_irq_time(struct checkup *checkup, struct finding *finding)
{
	int is_built = is_built_with("CONFIG_IRQ_TIME_ACCOUNTING", "prev_irq_time");

	(void)checkup;
	if (is_built < 0) {
		find(finding, CHECK_UNKNOWN, "neither /boot nor BTF tells");
	} else if (is_built) {
		find(finding, CHECK_OK, "built in");
	} else {
		find(finding, CHECK_MISSING, "waits for interrupts stay 0");
		mend(finding, "boot a kernel with CONFIG_IRQ_TIME_ACCOUNTING=y");
	}
}

/*
 * Our own record, once we have read 64 KiB.  We have memory too, which a
 * child that ended would not have any more.
 */
static int sample_record(struct ask *ask, struct act_record *ret_record)
{
	static char bytes[64 << 10];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, bytes, sizeof(bytes));
	close(fd);
	return length == sizeof(bytes) ? ask_task(ask, (uint32_t)getpid(), ret_record) : -EIO;
}

static bool is_more(uint64_t value, uint64_t least)
{
	return value != ACT_UNKNOWN && value >= least;
}

void check_memory(struct checkup *checkup, struct finding *finding)
{
	struct act_record record = { 0 };
	int ret = checkup->can_ask ? sample_record(checkup->ask, &record) : -EPERM;

	if (ret == -EPERM) {
		find(finding, CHECK_UNKNOWN, "no task's record can be asked for");
	} else if (ret < 0) {
		find(finding, CHECK_UNKNOWN, "%s", strerror(-ret));
	} else if (is_more(record.rss_max_bytes, 1) && is_more(record.rchar_bytes, 64 << 10)) {
		find(finding, CHECK_OK, "our own peak memory and 64K read were counted");
	} else {
		find(finding, CHECK_MISSING, "peak memory and system calls are not counted");
		mend(finding, "boot a kernel with CONFIG_TASK_XACCT=y");
	}
}

/* /proc/PID/io is there only with it (fs/proc/base.c). */
void check_storage(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	if (access("/proc/self/io", F_OK) == 0) {
		find(finding, CHECK_OK, "counted");
	} else if (errno == ENOENT) {
		find(finding, CHECK_MISSING, "bytes read from and written to storage stay 0");
		mend(finding, "boot a kernel with CONFIG_TASK_IO_ACCOUNTING=y");
	} else {
		find(finding, CHECK_UNKNOWN, "/proc/self/io: %s", strerror(errno));
	}
}

/*
 * CPUs whose time is counted exactly, "" if none: CONFIG_VIRT_CPU_ACCOUNTING_GEN.
 * Where none are, Linux 6.1 says "  (null)".
 */
static void read_exact_cpus(char *ret_list, size_t room)
{
	FILE *file = fopen("/sys/devices/system/cpu/nohz_full", "re");

	*ret_list = '\0';
	if (!file)
		return;
	if (!fgets(ret_list, (int)room, file) || strstr(ret_list, "(null)"))
		*ret_list = '\0';
	ret_list[strcspn(ret_list, "\n")] = '\0';
	fclose(file);
}

/* The coarse clocks move at each tick. */
void check_ticks(struct checkup *checkup, struct finding *finding)
{
	struct timespec tick = { 0 };
	char exact[128];

	(void)checkup;
	read_exact_cpus(exact, sizeof(exact));
	if (config_says("CONFIG_VIRT_CPU_ACCOUNTING_NATIVE") == 1)
		find(finding, CHECK_OK, "exact");
	else if (*exact)
		find(finding, CHECK_OK, "exact on CPUs %s, in ticks on the others", exact);
	else if (clock_getres(CLOCK_REALTIME_COARSE, &tick) < 0 || tick.tv_nsec <= 0)
		find(finding, CHECK_UNKNOWN, "the length of a tick is not told");
	else
		find(finding, CHECK_OK, "in ticks of %.1fms (HZ=%.0f): a shorter task shows none "
		     "or a whole one", (double)tick.tv_nsec / NSEC_PER_MSEC,
		     (double)NSEC_PER_SEC / (double)tick.tv_nsec);
}

/* ---- Other sources ---- */

static void end_a_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The kernel does not tell whether it is on: look whether a usual file grows. */
static const char *find_growing(void)
{
	static const char *const paths[] = {
		"/var/log/account/pacct", "/var/account/pacct", "/var/log/pacct",
	};
	enum { PATHS = sizeof(paths) / sizeof(*paths) };
	off_t size[PATHS];
	struct stat status;

	for (size_t i = 0; i < PATHS; i++)
		size[i] = stat(paths[i], &status) < 0 ? -1 : status.st_size;
	end_a_child();
	for (size_t i = 0; i < PATHS; i++)
		if (size[i] >= 0 && stat(paths[i], &status) == 0 && status.st_size > size[i])
			return paths[i];
	return NULL;
}

void check_bsd(struct checkup *checkup, struct finding *finding)
{
	const char *path;

	(void)checkup;
	if (access("/proc/sys/kernel/acct", F_OK) < 0) {
		find(finding, CHECK_MISSING, "this kernel was built without it");
		mend(finding, "boot a kernel with CONFIG_BSD_PROCESS_ACCT=y");
		return;
	}
	path = find_growing();
	if (path) {
		find(finding, CHECK_OK, "on, to %s", path);
	} else {
		find(finding, CHECK_OFF, "off, or to a file in an unusual place%s",
		     capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_PACCT)
		     ? "" : "; CAP_SYS_PACCT is not held");
		mend(finding, "sudo accton on");
	}
}

void check_connector(struct checkup *checkup, struct finding *finding)
{
	char line[128];
	bool is_there = false;
	FILE *file = fopen("/proc/net/connector", "re");

	(void)checkup;
	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = strncmp(line, "cn_proc ", 8) == 0;
	if (file)
		fclose(file);
	if (is_there) {
		find(finding, CHECK_OK, "built in");
		return;
	}
	find(finding, CHECK_MISSING, "not built in, or not of this network namespace");
	mend(finding, "boot a kernel with CONFIG_PROC_EVENTS=y");
}

/* ---- BPF ---- */

void check_bpf(struct checkup *checkup, struct finding *finding)
{
	union bpf_attr attr;
	bool can_trace = capng_have_capability(CAPNG_EFFECTIVE, CAP_SYS_ADMIN) ||
			 (capng_have_capability(CAPNG_EFFECTIVE, CAP_BPF) &&
			  capng_have_capability(CAPNG_EFFECTIVE, CAP_PERFMON));
	long fd;

	(void)checkup;
	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 1;
	fd = syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	if (fd < 0 && errno == ENOSYS) {
		find(finding, CHECK_MISSING, "this kernel was built without bpf(2)");
		mend(finding, "boot a kernel with CONFIG_BPF_SYSCALL=y");
	} else if (fd < 0 || !can_trace) {
		find(finding, CHECK_REFUSED, "%s", fd < 0 ? strerror(errno) :
		     "tracing takes CAP_BPF and CAP_PERFMON");
		mend(finding, "run it as root (sudo)");
	} else {
		find(finding, CHECK_OK, "permitted");
	}
	if (fd >= 0)
		close((int)fd);
}

void check_btf(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	if (access(BTF_PATH, R_OK) == 0) {
		find(finding, CHECK_OK, "%s", BTF_PATH);
		return;
	}
	find(finding, errno == ENOENT ? CHECK_MISSING : CHECK_REFUSED, "%s: %s", BTF_PATH,
	     strerror(errno));
	mend(finding, "boot a kernel with CONFIG_DEBUG_INFO_BTF=y");
}

void check_kprobes(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	if (access("/sys/bus/event_source/devices/kprobe/type", F_OK) == 0) {
		find(finding, CHECK_OK, "built in");
		return;
	}
	find(finding, CHECK_MISSING, "this kernel has none");
	mend(finding, "boot a kernel with CONFIG_KPROBE_EVENTS=y");
}

void check_lockdown(struct checkup *checkup, struct finding *finding)
{
	size_t length;
	char *text = read_file("/sys/kernel/security/lockdown", &length);

	(void)checkup;
	if (!text)
		find(finding, errno == ENOENT ? CHECK_OK : CHECK_UNKNOWN,
		     errno == ENOENT ? "none to be seen" : "%s", strerror(errno));
	else if (memmem(text, length, "[confidentiality]", 17))
		find(finding, CHECK_REFUSED, "confidentiality: BPF may not read the kernel");
	else
		find(finding, CHECK_OK, "does not hinder BPF");
	if (finding->status == CHECK_REFUSED)
		mend(finding, "boot without lockdown=confidentiality");
	free(text);
}

/* ---- Pressure ---- */

void check_pressure(struct checkup *checkup, struct finding *finding)
{
	size_t length;
	char *text = read_file("/proc/pressure/cpu", &length);

	(void)checkup;
	if (text && length > 0) {
		find(finding, CHECK_OK, "on");
	} else if (is_built_with("CONFIG_PSI", "psi_memstall_enter") == 1) {
		find(finding, CHECK_OFF, "built in, but not switched on");
		mend(finding, "boot with the parameter psi=1");
	} else {
		find(finding, CHECK_MISSING, "not to be seen");
		mend(finding, "boot a kernel with CONFIG_PSI=y, and psi=1");
	}
	free(text);
}

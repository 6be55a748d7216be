/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"

#include <cap-ng.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <linux/netlink.h>

#include "out.h"

#define MIB (UINT64_C(1) << 20)
#define BUFFER_BYTES (16 * MIB)      /* of each CPU, the source's default */
#define TEST_BUFFER_BYTES (256 << 10)
#define LEAST_FREE_BYTES (64 * MIB)  /* the size of one segment */

/*
 * include/linux/proc_ns.h: the initial namespaces' inodes are fixed, that of
 * the network since 6.18 or so.  Others come from 0xf0000000 on.
 */
#define USER_NS_INITIAL 0xeffffffdu
#define PID_NS_INITIAL 0xeffffffcu
#define NET_NS_INITIAL 0xeffffff9u

void find(struct finding *finding, enum check_status status, const char *detail, ...)
{
	va_list args;

	finding->status = status;
	va_start(args, detail);
	vsnprintf(finding->detail, sizeof(finding->detail), detail, args);
	va_end(args);
}

void mend(struct finding *finding, const char *how, ...)
{
	va_list args;

	va_start(args, how);
	vsnprintf(finding->mend, sizeof(finding->mend), how, args);
	va_end(args);
}

/* Root who was refused is not helped by becoming root. */
static void mend_as_root(struct finding *finding, const char *how)
{
	if (geteuid() != 0)
		mend(finding, "%s", how);
}

/* ---- Taskstats ---- */

void check_taskstats(struct checkup *checkup, struct finding *finding)
{
	if (checkup->ask) {
		find(finding, CHECK_OK, "built in");
	} else if (checkup->ask_error == -ENOENT) {
		find(finding, CHECK_MISSING, "this kernel was built without it");
		mend(finding, "boot a kernel with CONFIG_TASKSTATS=y");
	} else {
		find(finding, CHECK_UNKNOWN, "cannot be asked by netlink: %s",
		     strerror(-checkup->ask_error));
	}
}

void check_version(struct checkup *checkup, struct finding *finding)
{
	struct act_record self = { 0 };
	int ret = checkup->ask ? ask_task(checkup->ask, (uint32_t)getpid(), &self)
			       : checkup->ask_error;

	checkup->can_ask = ret == 0;
	if (ret == 0) {
		find(finding, CHECK_OK, "%" PRIu64, self.version);
	} else if (ret == -EPERM) {
		find(finding, CHECK_REFUSED, "only told with CAP_NET_ADMIN in the initial user "
		     "namespace");
		mend_as_root(finding, "sudo actuary doctor");
	} else {
		find(finding, CHECK_UNKNOWN, "%s", strerror(-ret));
	}
}

/* ---- Where and who we are ---- */

static void check_fixed_namespace(const char *name, ino_t initial, struct finding *finding)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	if (stat(path, &status) < 0) {
		find(finding, CHECK_UNKNOWN, "%s: %s", path, strerror(errno));
	} else if (status.st_ino == initial) {
		find(finding, CHECK_OK, "the initial one");
	} else {
		find(finding, CHECK_REFUSED,
		     "not the initial one, and the kernel tells exits only there");
		mend(finding, "run it on the host, outside of the container");
	}
}

void check_user_namespace(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	check_fixed_namespace("user", USER_NS_INITIAL, finding);
}

void check_pid_namespace(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	check_fixed_namespace("pid", PID_NS_INITIAL, finding);
}

static bool is_in_initial(const char *name, ino_t initial)
{
	struct stat status;

	return stat(name, &status) == 0 && status.st_ino == initial;
}

/* Where its inode is not fixed, process 1's has to tell. */
void check_net_namespace(struct checkup *checkup, struct finding *finding)
{
	struct stat ours, initial;

	(void)checkup;
	if (is_in_initial("/proc/self/ns/net", NET_NS_INITIAL)) {
		find(finding, CHECK_OK, "the initial one");
	} else if (stat("/proc/self/ns/net", &ours) < 0 ||
		   stat("/proc/1/ns/net", &initial) < 0) {
		find(finding, CHECK_UNKNOWN, "cannot be compared with that of process 1: %s%s",
		     strerror(errno), geteuid() ? "" : "; see whether exits are seen");
		if (geteuid())
			mend_as_root(finding, "sudo actuary doctor");
	} else if (ours.st_ino == initial.st_ino && ours.st_dev == initial.st_dev) {
		if (is_in_initial("/proc/self/ns/pid", PID_NS_INITIAL))
			find(finding, CHECK_OK, "that of process 1");
		else
			find(finding, CHECK_UNKNOWN, "that of process 1, but this is a pid "
			     "namespace of its own");
	} else {
		find(finding, CHECK_REFUSED,
		     "not the initial one: exits are told there, and nothing arrives here");
		mend(finding, "nsenter -t 1 -n actuary record");
	}
}

void check_net_admin(struct checkup *checkup, struct finding *finding)
{
	(void)checkup;
	if (!capng_have_capability(CAPNG_EFFECTIVE, CAP_NET_ADMIN)) {
		find(finding, CHECK_REFUSED, "this process does not have it%s",
		     geteuid() == 0 ? ", although it is root's" : "");
		/* A container's or a service's root lacks what its bounding set lacks. */
		mend(finding, geteuid() == 0 ? "give it where it was taken: --cap-add NET_ADMIN of a "
			      "container, CapabilityBoundingSet= of a service"
					     : "run it as root: sudo actuary record");
	} else if (!is_in_initial("/proc/self/ns/user", USER_NS_INITIAL)) {
		find(finding, CHECK_REFUSED, "held in this user namespace only");
		mend(finding, "run it on the host, as root");
	} else {
		find(finding, CHECK_OK, "held");
	}
}

/* ---- Exits ---- */

static int try_source(bool skip_self_test, struct act_source_stats *ret_stats,
		      struct act_why *ret_why)
{
	struct act_taskstats_options options = {
		.size = sizeof(options), .rcvbuf_bytes = TEST_BUFFER_BYTES,
		.skip_self_test = skip_self_test,
	};
	struct act_source *source;
	int ret = act_source_open_taskstats(&options, &source, ret_why);

	if (ret < 0)
		return ret;
	act_source_stats(source, ret_stats);
	act_source_free(source);
	return 0;
}

void check_registration(struct checkup *checkup, struct finding *finding)
{
	struct act_source_stats stats;
	struct act_why why = { "" };
	int ret = try_source(true, &stats, &why);

	checkup->can_register = ret == 0;
	if (ret == 0) {
		find(finding, CHECK_OK, "permitted on all possible CPUs: %zu", stats.cpus);
		return;
	}
	find(finding, ret == -ENOENT ? CHECK_MISSING : CHECK_REFUSED, "%s", why.text);
	if (ret == -ENONET)
		mend(finding, "nsenter -t 1 -n actuary record");
	else if (ret == -EPERM && is_in_initial("/proc/self/ns/user", USER_NS_INITIAL) &&
		 is_in_initial("/proc/self/ns/pid", PID_NS_INITIAL))
		mend_as_root(finding, "sudo actuary record");
}

void check_exits(struct checkup *checkup, struct finding *finding)
{
	struct act_source_stats stats;
	struct act_why why = { "" };
	int ret;

	if (!checkup->can_register) {
		find(finding, CHECK_UNKNOWN, "not tried, as registration failed");
		return;
	}
	ret = try_source(false, &stats, &why);
	if (ret == 0)
		find(finding, CHECK_OK, "a child's exit was seen on each CPU that is online");
	else
		find(finding, CHECK_REFUSED, "%s", why.text);
	if (ret == -ENODATA)
		mend(finding, "nsenter -t 1 -n actuary record");
}

/* ---- Buffers ---- */

static uint64_t buffer_of(int fd)
{
	socklen_t length = sizeof(int);
	int bytes = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0 || bytes < 0)
		return 0;
	return (uint64_t)bytes / 2; /* the kernel doubles what it is asked for */
}

void check_buffer(struct checkup *checkup, struct finding *finding)
{
	const int wanted = (int)BUFFER_BYTES;
	char got[64], needed[64];
	uint64_t bytes;
	bool is_forced;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	(void)checkup;
	if (fd < 0) {
		find(finding, CHECK_UNKNOWN, "no netlink socket: %s", strerror(errno));
		return;
	}
	is_forced = setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) == 0;
	if (!is_forced)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
	bytes = buffer_of(fd);
	close(fd);
	format_size(bytes, got, sizeof(got));
	format_size(BUFFER_BYTES, needed, sizeof(needed));
	if (bytes >= BUFFER_BYTES) {
		find(finding, CHECK_OK, "%s for each CPU%s", got,
		     is_forced ? ", whatever net.core.rmem_max says" : "");
		return;
	}
	find(finding, CHECK_REFUSED, "%s for each CPU instead of %s: net.core.rmem_max is the "
	     "limit without CAP_NET_ADMIN", got, needed);
	mend(finding, "sudo sysctl net.core.rmem_max=%" PRIu64, BUFFER_BYTES);
}

/* ---- The log ---- */

/* Cuts the last component off; false if there is none to cut. */
static bool cut_path(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || (slash == path && !path[1])) {
		if (slash || strcmp(path, ".") == 0)
			return false;
		strcpy(path, ".");
	} else {
		slash[slash == path] = '\0';
	}
	return true;
}

static void check_room(const char *log, const char *existing, struct finding *finding)
{
	const char *made = strcmp(log, existing) ? ", which will be made" : "";
	struct statvfs room;
	char text[64];
	uint64_t bytes;

	if (statvfs(existing, &room) < 0) {
		find(finding, CHECK_UNKNOWN, "%s: %s", existing, strerror(errno));
		return;
	}
	bytes = (uint64_t)room.f_bavail * room.f_frsize;
	format_size(bytes, text, sizeof(text));
	if (bytes >= LEAST_FREE_BYTES) {
		find(finding, CHECK_OK, "%s%s, %s free", log, made, text);
		return;
	}
	find(finding, CHECK_MISSING, "%s%s, only %s free", log, made, text);
	mend(finding, "make room there, or record elsewhere: actuary record --log DIR");
}

void check_log(struct checkup *checkup, struct finding *finding)
{
	char path[4096];
	struct stat status;
	int length = snprintf(path, sizeof(path), "%s", checkup->log);

	if (length < 0 || (size_t)length >= sizeof(path)) {
		find(finding, CHECK_REFUSED, "its name is too long");
		return;
	}
	while (length > 1 && path[length - 1] == '/')
		path[--length] = '\0';
	/* The writer makes the directory, if that in which it lies is there. */
	if (stat(path, &status) < 0 && errno == ENOENT)
		cut_path(path);
	if (stat(path, &status) < 0) {
		find(finding, CHECK_MISSING, "%s: %s", path, strerror(errno));
		mend(finding, "sudo install -d -m 750 '%s'", path);
	} else if (!S_ISDIR(status.st_mode)) {
		find(finding, CHECK_REFUSED, "%s is no directory", path);
		mend(finding, "actuary record --log DIR");
	} else if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0) {
		find(finding, CHECK_REFUSED, "%s: %s", path, strerror(errno));
		mend(finding, "run it as root, or record elsewhere: actuary record --log DIR");
	} else {
		check_room(checkup->log, path, finding);
	}
}

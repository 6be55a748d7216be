/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the workload's process enters before it is executed. */
#include "bench/condition-toggle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/parse.h"
#include "bench/why.h"

/* ---- nice:N ---- */

static int parse_nice(struct toggle *toggle, struct act_why *why)
{
	const char *digits = toggle->text + (*toggle->text == '-');
	uint64_t n;

	if (parse_count(digits, &n) < 0 || n > 20)
		return because(why, -EINVAL, "\"%s\" is no niceness; it is -20 to 19", toggle->text);
	toggle->value = digits == toggle->text ? (int)n : -(int)n;
	if (toggle->value > 19)
		return because(why, -EINVAL, "\"%s\" is no niceness; it is -20 to 19", toggle->text);
	return 0;
}

static int enter_nice(const struct toggle *toggle)
{
	if (setpriority(PRIO_PROCESS, 0, toggle->value) < 0)
		return -errno;
	errno = 0;
	return getpriority(PRIO_PROCESS, 0) == toggle->value ? 0 : -EBUSY;
}

const struct toggle_kind toggle_nice = {
	.name = "nice", .form = "nice:N", .parse = parse_nice, .enter = enter_nice,
};

/* ---- cpus:LIST ---- */

static int parse_cpus(struct toggle *toggle, struct act_why *why)
{
	unsigned char set[CPU_SETSIZE];
	cpu_set_t allowed;

	if (parse_cpulist(toggle->text, set, CPU_SETSIZE) < 0)
		return because(why, -EINVAL, "\"%s\" is no list of CPUs, as 0-3,8", toggle->text);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return because(why, -errno, "cannot ask for the CPUs: %s", strerror(errno));
	CPU_ZERO(&toggle->cpus);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (set[cpu])
			CPU_SET(cpu, &toggle->cpus);
	CPU_AND(&allowed, &allowed, &toggle->cpus);
	/* The kernel would take what there is and leave out the rest. */
	if (!CPU_EQUAL(&allowed, &toggle->cpus))
		return because(why, -EINVAL, "not all of the CPUs %s are ours to run on",
			       toggle->text);
	return 0;
}

static int enter_cpus(const struct toggle *toggle)
{
	cpu_set_t now;

	if (sched_setaffinity(0, sizeof(toggle->cpus), &toggle->cpus) < 0 ||
	    sched_getaffinity(0, sizeof(now), &now) < 0)
		return -errno;
	return CPU_EQUAL(&now, &toggle->cpus) ? 0 : -EBUSY;
}

const struct toggle_kind toggle_cpus = {
	.name = "cpus", .form = "cpus:LIST", .parse = parse_cpus, .enter = enter_cpus,
};

/* ---- cgroup:DIR ---- */

static int parse_cgroup(struct toggle *toggle, struct act_why *why)
{
	char *path;

	if (!*toggle->text)
		return because(why, -EINVAL, "cgroup needs a directory, as "
			       "cgroup:/sys/fs/cgroup/bench");
	if (asprintf(&path, "%s/cgroup.procs", toggle->text) < 0)
		return because(why, -ENOMEM, "out of memory");
	toggle->data = path;
	if (access(path, R_OK | W_OK) < 0)
		return because(why, -EINVAL, "cannot enter a cgroup by %s: %s", path,
			       strerror(errno));
	return 0;
}

static int write_self(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, "0\n", 2) != 2)
		ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

/* Whether the list of pids, one a line, has ours; by read(2) alone. */
static int find_self(int fd)
{
	char buffer[4096];
	pid_t self = getpid(), pid = 0;
	ssize_t length;

	while ((length = read(fd, buffer, sizeof(buffer))) > 0) {
		for (ssize_t i = 0; i < length; i++) {
			if (buffer[i] != '\n') {
				pid = pid * 10 + (buffer[i] - '0');
				continue;
			}
			if (pid == self)
				return 0;
			pid = 0;
		}
	}
	return length < 0 ? -errno : -EBUSY;
}

static int enter_cgroup(const struct toggle *toggle)
{
	int ret = write_self(toggle->data), fd;

	if (ret < 0)
		return ret;
	fd = open(toggle->data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = find_self(fd);
	close(fd);
	return ret;
}

const struct toggle_kind toggle_cgroup = {
	.name = "cgroup", .form = "cgroup:DIR", .parse = parse_cgroup, .enter = enter_cgroup,
};

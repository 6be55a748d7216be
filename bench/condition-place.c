/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the workload's process enters before it is executed. */
#include "bench/condition-toggle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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
	if (!*toggle->text)
		return because(why, -EINVAL, "cgroup needs a directory, as "
			       "cgroup:/sys/fs/cgroup/bench");
	toggle->value = open(toggle->text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	toggle->fd = toggle->value < 0 ? -1 : openat(toggle->value, "cgroup.procs",
						     O_RDWR | O_CLOEXEC);
	if (toggle->fd < 0) {
		int error = errno;

		if (toggle->value >= 0)
			close(toggle->value);
		return because(why, error == ENOMEM ? -ENOMEM : -EINVAL,
			       "cannot use the cgroup %s: %s", toggle->text,
			       error == ENOENT && toggle->value >= 0 ? "it is no cgroup's directory"
								      : strerror(error));
	}
	close(toggle->value);
	return 0;
}

/* Whether the list of pids, one a line, has ours; by read(2) alone. */
static int find_self(int fd)
{
	char buffer[4096];
	pid_t self = getpid(), pid = 0;
	off_t at = 0;
	ssize_t length;

	while ((length = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		for (ssize_t i = 0; i < length; i++) {
			if (buffer[i] != '\n') {
				pid = pid * 10 + (buffer[i] - '0');
				continue;
			}
			if (pid == self)
				return 0;
			pid = 0;
		}
		at += length;
	}
	return length < 0 ? -errno : -EBUSY;
}

static int enter_cgroup(const struct toggle *toggle)
{
	if (pwrite(toggle->fd, "0\n", 2, 0) != 2)
		return errno ? -errno : -EIO;
	return find_self(toggle->fd);
}

const struct toggle_kind toggle_cgroup = {
	.name = "cgroup", .form = "cgroup:DIR", .parse = parse_cgroup, .enter = enter_cgroup,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/limit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/why.h"

#define PATH_BYTES 1024

/* The first line of a small file; false if there is none. */
static bool read_line(const char *path, char *ret_line, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, ret_line, room - 1);

	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return false;
	ret_line[length] = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return true;
}

/*
 * Our cgroup, "/a/b".  Version 2 has the line "0::/a/b"; under version 1 the
 * controller has a tree of its own, "7:pids:/a/b".
 */
static bool find_cgroup(char ret_directory[PATH_BYTES], size_t *ret_root)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[PATH_BYTES];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *name = strchr(line, ':'), *path = name ? strchr(name + 1, ':') : NULL;
		const char *root = "/sys/fs/cgroup";

		line[strcspn(line, "\n")] = '\0';
		if (!path)
			continue;
		if (strncmp(name, ":pids:", 6) == 0)
			root = "/sys/fs/cgroup/pids";
		else if (strncmp(line, "0::", 3) != 0)
			continue;
		*ret_root = strlen(root);
		found = snprintf(ret_directory, PATH_BYTES, "%s%s", root, path + 1) < PATH_BYTES;
	}
	if (file)
		fclose(file);
	return found;
}

/* The smallest pids.max from our cgroup upwards; false: none holds. */
static bool find_pids_max(uint64_t *ret_max)
{
	char directory[PATH_BYTES], path[PATH_BYTES + 16], line[64];
	size_t root;
	bool found = false;

	if (!find_cgroup(directory, &root))
		return false;
	while (strlen(directory) >= root) {
		char *slash = strrchr(directory, '/');
		uint64_t max;

		snprintf(path, sizeof(path), "%s/pids.max", directory);
		if (read_line(path, line, sizeof(line)) && line[0] != 'm') {
			max = strtoull(line, NULL, 10);
			*ret_max = !found || max < *ret_max ? max : *ret_max;
			found = true;
		}
		*slash = '\0';
	}
	return found;
}

static size_t append(char *text, size_t room, size_t length, const char *name, const char *value)
{
	int n = snprintf(text + length, room - length, "%s%s is %s", length ? ", " : "", name,
			 value);

	return n < 0 || length + (size_t)n >= room ? length : length + (size_t)n;
}

/* "RLIMIT_NPROC is 64, pids.max is 100, ..." */
static void list_limits(char *ret_text, size_t room)
{
	static const char *const files[][2] = {
		{ "kernel.threads-max", "/proc/sys/kernel/threads-max" },
		{ "kernel.pid_max", "/proc/sys/kernel/pid_max" },
	};
	struct rlimit processes;
	size_t length = 0;
	char value[64];
	uint64_t max;

	ret_text[0] = '\0';
	if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur != RLIM_INFINITY) {
		snprintf(value, sizeof(value), "%" PRIu64, (uint64_t)processes.rlim_cur);
		length = append(ret_text, room, length, "RLIMIT_NPROC (ulimit -u)", value);
	}
	if (find_pids_max(&max)) {
		snprintf(value, sizeof(value), "%" PRIu64, max);
		length = append(ret_text, room, length, "the cgroup's pids.max", value);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (read_line(files[i][1], value, sizeof(value)))
			length = append(ret_text, room, length, files[i][0], value);
}

int explain_limit(struct act_why *why, int error, const char *what, uint64_t done,
		  uint64_t wanted)
{
	char limits[256];

	/* Beyond a limit fork(2) says EAGAIN, of whichever of them it was. */
	if (error != EAGAIN)
		return because(why, -error, "%s %" PRIu64 " of %" PRIu64 " failed: %s", what,
			       done + 1, wanted, strerror(error));
	list_limits(limits, sizeof(limits));
	return because(why, -error, "%s %" PRIu64 " of %" PRIu64 " failed, a limit was met: %s",
		       what, done + 1, wanted, *limits ? limits : "none is known");
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new process with a new program, one after the other, by each of four ways. */
#include "bench/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/child/dynamic-child.h"
#include "bench/child/static-child.h"
#include "bench/limit.h"
#include "bench/why.h"

enum way { WAY_FORK, WAY_VFORK, WAY_POSIX_SPAWN, WAY_CLONE3 };
enum program { PROGRAM_STATIC, PROGRAM_DYNAMIC, PROGRAM_SCRIPT };

struct spawn_options {
	uint64_t count;
	int way;     /* enum way */
	int program; /* enum program */
};

#define OPTION(member) offsetof(struct spawn_options, member)
static const struct option_spec options[] = {
	{ 'c', "count", OPTION_COUNT, "N", OPTION(count), "processes of a round (100)" },
	{ 'b', "by", OPTION_CHOICE, "fork|vfork|posix_spawn|clone3", OPTION(way),
	  "how each is born (fork)" },
	{ 'p', "program", OPTION_CHOICE, "static|dynamic|script", OPTION(program),
	  "what it executes, which does nothing (static)" },
	{ 0 },
};

enum { SPAWN_NS, WAIT_NS };
static const struct metric metrics[] = {
	[SPAWN_NS] = { "spawn_ns", "within the calls that make the processes, together" },
	[WAIT_NS] = { "wait_ns", "from each of them until the process was reaped, together" },
	{ NULL, NULL },
};

static const char script[] = "#!/bin/sh\nexit 0\n";

static const struct {
	const void *data;
	size_t length;
} programs[] = {
	[PROGRAM_STATIC] = { static_child, sizeof(static_child) },
	[PROGRAM_DYNAMIC] = { dynamic_child, sizeof(dynamic_child) },
	[PROGRAM_SCRIPT] = { script, sizeof(script) - 1 },
};

struct spawn {
	const struct spawn_options *opt;
	char program[PATH_MAX];
	char *argv[2];
};

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct spawn_options *opt = arg;

	(void)argc;
	(void)argv;
	return opt->count ? 0 : because(why, -EINVAL, "--count must be 1 at least");
}

/* ---- The program ---- */

static int write_program(const struct spawn *spawn)
{
	const char *at = programs[spawn->opt->program].data;
	size_t left = programs[spawn->opt->program].length;
	int fd = open(spawn->program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700), ret = 0;

	if (fd < 0)
		return -errno;
	while (left && ret == 0) {
		ssize_t n = write(fd, at, left);

		if (n < 0) {
			ret = -errno;
		} else {
			at += n;
			left -= (size_t)n;
		}
	}
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	return ret;
}

static void tear_down(void *state)
{
	struct spawn *spawn = state;

	unlink(spawn->program);
	free(spawn);
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	struct spawn *spawn = calloc(1, sizeof(*spawn));
	int ret;

	(void)argc;
	(void)argv;
	if (!spawn)
		return because(why, -ENOMEM, "out of memory");
	spawn->opt = arg;
	snprintf(spawn->program, sizeof(spawn->program), "%s/actuary-child", getenv("TMPDIR"));
	spawn->argv[0] = spawn->program;
	ret = write_program(spawn);
	if (ret < 0) {
		because(why, ret, "cannot write %s: %s", spawn->program, strerror(-ret));
		tear_down(spawn);
		return ret;
	}
	*ret_state = spawn;
	return 0;
}

/* ---- Ways ---- */

/* In the child; it tells by its status that it could not. */
static void execute(const struct spawn *spawn)
{
	execve(spawn->program, spawn->argv, environ);
	_exit(errno == EACCES ? 126 : 127);
}

/* As fork(2), but without what libc does around it. */
static pid_t fork_by_clone3(void)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int spawn_by_library(const struct spawn *spawn, pid_t *ret_pid)
{
	return posix_spawn(ret_pid, spawn->program, NULL, NULL, spawn->argv, environ);
}

/* 0 or the errno of what failed. */
static int make_process(const struct spawn *spawn, pid_t *ret_pid)
{
	pid_t pid = -1;

	switch ((enum way)spawn->opt->way) {
	case WAY_POSIX_SPAWN:
		return spawn_by_library(spawn, ret_pid);
	case WAY_FORK:
		pid = fork();
		break;
	case WAY_VFORK:
		pid = vfork(); /* NOLINT: it is what is measured */
		break;
	case WAY_CLONE3:
		pid = fork_by_clone3();
		break;
	}
	if (pid == 0)
		execute(spawn); // NOLINT(clang-analyzer-unix.Vfork)
	*ret_pid = pid;
	return pid < 0 ? errno : 0;
}

static int reap(const struct spawn *spawn, pid_t pid, struct act_why *why)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return because(why, -errno, "waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return because(why, -EIO, "%s was killed by signal %d", spawn->program,
			       WTERMSIG(status));
	if (WEXITSTATUS(status) == 126)
		return because(why, -EACCES, "%s may not be executed; set TMPDIR to a place that "
			       "is not mounted noexec", spawn->program);
	if (WEXITSTATUS(status))
		return because(why, -EIO, "%s could not be executed", spawn->program);
	return 0;
}

static int spawn_all(void *state, struct round *round, struct act_why *why)
{
	struct spawn *spawn = state;
	uint64_t now_ns = clock_monotonic_ns(), spawn_ns = 0, wait_ns = 0;
	int ret = 0;

	for (uint64_t i = 0; ret == 0 && i < spawn->opt->count; i++) {
		uint64_t begin_ns = now_ns, made_ns;
		pid_t pid;
		int error = make_process(spawn, &pid);

		if (error)
			return explain_limit(why, error, "process", i, spawn->opt->count);
		made_ns = clock_monotonic_ns();
		ret = reap(spawn, pid, why);
		now_ns = clock_monotonic_ns();
		spawn_ns += made_ns - begin_ns;
		wait_ns += now_ns - made_ns;
	}
	round->value[SPAWN_NS] = (double)spawn_ns;
	round->value[WAIT_NS] = (double)wait_ns;
	round->ops = (double)spawn->opt->count;
	return ret;
}

static void set_defaults(void *arg)
{
	((struct spawn_options *)arg)->count = 100;
}

const struct workload workload_spawn = {
	.name = "spawn",
	.synopsis = "[OPTION]...",
	.summary = "execute a program that does nothing, in a new process each time",
	.options = options,
	.options_size = sizeof(struct spawn_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "wall_ns",
	.writes_files = true,
	.check = check,
	.setup = set_up,
	.round = spawn_all,
	.teardown = tear_down,
};

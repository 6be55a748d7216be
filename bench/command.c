/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any command: executed directly, and waited for with all that it starts. */
#include "bench/workload.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/why.h"

enum { COMMAND_NS, MAXRSS_BYTES, MAJFLT, ORPHANS };
static const struct metric metrics[] = {
	[COMMAND_NS] = { "command_ns", "until the command itself was reaped" },
	[MAXRSS_BYTES] = { "maxrss_bytes", "its largest resident set, or that of a child" },
	[MAJFLT] = { "majflt", "its page faults with I/O, and its children's" },
	[ORPHANS] = { "orphans", "processes that outlived their parents and were waited for" },
	{ NULL, NULL },
};

static int check(const void *options, int argc, char **argv, struct act_why *why)
{
	(void)options;
	(void)argv;
	return argc ? 0 : because(why, -EINVAL, "which command? it goes behind --");
}

static int set_up(const void *options, int argc, char **argv, void **ret_state,
		  struct act_why *why)
{
	(void)options;
	(void)argc;
	/* What outlives its parent becomes our child: a round ends when all have. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return because(why, -errno, "cannot become a subreaper: %s", strerror(errno));
	*ret_state = argv;
	return 0;
}

static int check_status(const char *name, int status, struct act_why *why)
{
	if (WIFSIGNALED(status))
		return because(why, -EINTR, "%s was killed by signal %d (%s)", name,
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return because(why, -EIO, "%s ended with status %d", name, WEXITSTATUS(status));
	return 0;
}

/* Until there is no child: *ret_status and *ret_usage are @pid's. */
static double wait_for_all(pid_t pid, int *ret_status, struct rusage *ret_usage,
			   uint64_t *ret_end_ns)
{
	struct rusage usage;
	double others = 0;
	int status;
	pid_t ended;

	while ((ended = wait4(-1, &status, 0, &usage)) > 0 || errno == EINTR) {
		if (ended == pid) {
			*ret_end_ns = clock_monotonic_ns();
			*ret_status = status;
			*ret_usage = usage;
		} else if (ended > 0) {
			others++;
		}
	}
	return others;
}

static int run_command(void *state, struct round *round, struct act_why *why)
{
	char **argv = state;
	uint64_t begin_ns = clock_monotonic_ns(), end_ns = begin_ns;
	struct rusage usage = { 0 };
	int status = 0, ret;
	pid_t pid;

	ret = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (ret)
		return because(why, -ret, "cannot execute %s: %s", argv[0], strerror(ret));
	round->value[ORPHANS] = wait_for_all(pid, &status, &usage, &end_ns);
	round->value[COMMAND_NS] = (double)(end_ns - begin_ns);
	round->value[MAXRSS_BYTES] = (double)usage.ru_maxrss * 1024;
	round->value[MAJFLT] = (double)usage.ru_majflt;
	round->ops = 1;
	return check_status(argv[0], status, why);
}

static void tear_down(void *state)
{
	(void)state;
}

const struct workload workload_command = {
	.name = "command",
	.synopsis = "[OPTION]... -- COMMAND...",
	.summary = "run any command, and wait for all that it starts",
	.metrics = metrics,
	.primary = "wall_ns",
	.takes_arguments = true,
	.check = check,
	.setup = set_up,
	.round = run_command,
	.teardown = tear_down,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any command: executed directly, and waited for with all that it starts. */
#include "bench/workload.h"

#include <errno.h>

#include "bench/children.h"
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
	*ret_state = argv;
	return children_adopt(why);
}

static int run_command(void *state, struct round *round, struct act_why *why)
{
	struct child_end end;
	int ret = children_run(state, &end, why);

	round->value[COMMAND_NS] = end.ns;
	round->value[MAXRSS_BYTES] = (double)end.usage.ru_maxrss * 1024;
	round->value[MAJFLT] = (double)end.usage.ru_majflt;
	round->value[ORPHANS] = end.orphans;
	round->ops = 1;
	return ret;
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

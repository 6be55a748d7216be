/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/workload.h"

/* Nothing: what is measured of it is the harness. */

static int set_up(const void *options, int argc, char **argv, void **ret_state,
		  struct act_why *why)
{
	(void)options;
	(void)argc;
	(void)argv;
	(void)why;
	*ret_state = NULL;
	return 0;
}

static int round_of_nothing(void *state, struct round *round, struct act_why *why)
{
	(void)state;
	(void)why;
	round->ops = 1;
	return 0;
}

static void tear_down(void *state)
{
	(void)state;
}

const struct workload workload_null = {
	.name = "null",
	.synopsis = "[OPTION]...",
	.summary = "do nothing: what the harness itself adds to a round",
	.primary = "wall_ns",
	.setup = set_up,
	.round = round_of_nothing,
	.teardown = tear_down,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

/*
 * A workload: a program that is measured.
 *
 * It is one file, bench/NAME.c with a `const struct workload workload_name`, and
 * one line in the table of bench/workloads.c; its options are a table like a
 * command's.  The harness (run.h) calls setup() once in a fresh process, then
 * round() again and again, each of which it times, then teardown().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/source.h> /* struct act_why */

#include "base/option.h"

/* A number that a round yields.  Its unit is its suffix: _ns, _bytes, else a count. */
struct metric {
	const char *name;
	const char *help; /* one line, no full stop */
};

#define METRICS_MAX 32 /* of a workload, beside the harness's own */

/* What a round fills in; the harness has cleared it. */
struct round {
	double ops;                /* operations done: forks, threads, calls; > 0 */
	double value[METRICS_MAX]; /* of each of the workload's metrics; NaN: unknown */
	/*
	 * Single measurements of metric @series_metric, if it keeps them all: they
	 * belong to the workload and stay valid until its next call.
	 */
	const double *series;
	size_t series_count;
};

struct workload {
	const char *name;
	const char *synopsis; /* after the name: "[OPTION]..." */
	const char *summary;  /* one line */
	const struct option_spec *options; /* ends with an all-zero entry */
	size_t options_size;               /* of the struct that they fill */
	void (*defaults)(void *options);   /* NULL: zeroes */
	const struct metric *metrics;      /* its own; ends with an all-zero entry */
	const char *series;                /* name of the metric kept one by one; NULL: none */
	const char *primary;               /* the metric that is compared: mostly "wall_ns" */
	bool takes_arguments;              /* behind the options; else they are refused */
	bool writes_files;                 /* each run gets a TMPDIR, deleted when it is over */
	/*
	 * Whether the options make sense, asked before anything is run; NULL: each
	 * does.  0 or -EINVAL after explaining.
	 */
	int (*check)(const void *options, int argc, char **argv, struct act_why *why);
	/*
	 * @argv holds what follows the options.  All return 0 or a negative errno
	 * after explaining; a round that fails ends the run, which is invalid then.
	 */
	int (*setup)(const void *options, int argc, char **argv, void **ret_state,
		     struct act_why *why);
	/* Before each round, and not timed; NULL: nothing. */
	int (*prepare)(void *state, struct act_why *why);
	int (*round)(void *state, struct round *round, struct act_why *why);
	void (*teardown)(void *state); /* after each setup() that returned 0 */
};

/* All, NULL-terminated, in the order in which they are listed. */
extern const struct workload *const workloads[];

/* NULL: there is none of that name. */
const struct workload *workload_find(const char *name);

#endif

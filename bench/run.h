/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

/*
 * A run: one fresh process that yields samples of a workload.
 *
 * It is the program itself, executed anew (so that address space layout is
 * drawn again), in a process group of its own, its standard input /dev/null.
 * Samples come back over a pipe as they are made.  Whatever the run leaves
 * behind is found (we are its subreaper) and killed.
 */
#include "bench/workload.h"

/* What the harness measures of every round, before the workload's own metrics. */
enum harness_metric {
	HARNESS_WALL_NS,   /* CLOCK_MONOTONIC around round() */
	HARNESS_CPU_NS,    /* user and system, of the run and the children it reaped */
	HARNESS_USER_NS,   /* in ticks on most kernels: fiction for short tasks */
	HARNESS_SYSTEM_NS,
	HARNESS_NVCSW,
	HARNESS_NIVCSW,
	HARNESS_MINFLT,
	HARNESS_METRICS
};
extern const struct metric harness_metrics[HARNESS_METRICS + 1]; /* zero entry at the end */

struct run_spec {
	const struct workload *workload;
	int argc;          /* its options and arguments, as they were given */
	char **argv;
	uint64_t rounds;   /* samples wanted; 0: as many as @min_ns takes */
	uint64_t min_ns;   /* go on for at least so long */
	uint64_t warmup;   /* rounds before that, marked */
	uint64_t timeout_ns; /* 0: none */
};

/* One timed round.  Pointers are valid during the callback only. */
struct sample {
	uint64_t round;      /* from 0, warm-up included */
	bool is_warmup;
	double ops;
	size_t values;       /* HARNESS_METRICS + the workload's own */
	const double *value; /* NaN: unknown */
	size_t series_count;
	const double *series;
};

struct run_outcome {
	bool is_valid;
	uint64_t samples;
	char reason[256]; /* why not; "" if valid */
	int signal;       /* that asked us to stop; 0: none */
};

/*
 * Runs it.  What @on_sample returns below 0 ends the run with that error.  A
 * run that went wrong (a crash, a failing command, a time-out) is no error: it
 * is told in @ret.  Returns 0, or a negative errno after explaining when nothing
 * could be run.
 */
int run_execute(const struct run_spec *spec,
		int (*on_sample)(void *arg, const struct sample *sample), void *arg,
		struct run_outcome *ret, struct act_why *ret_why);

/*
 * The other side: what the executed program does.  @fd is where samples go.
 * Returns the exit status.
 */
int run_worker(const struct workload *workload, const void *options, int argc, char **argv,
	       const struct run_spec *spec, int fd);

#endif

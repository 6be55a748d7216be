/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

/*
 * A run: one fresh process that yields samples of a workload.
 *
 * It is the program itself, executed anew (so that address space layout is
 * drawn again), in a process group of its own, its standard input /dev/null.
 * Samples come back over a pipe as they are made, in batches.  What the run
 * prints on its standard output is not kept.  Whatever it leaves behind is found
 * and killed (keeper.h).
 */
#include <signal.h>

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
	/* Where the program's handler leaves the signal that is to end the run; or NULL. */
	const volatile sig_atomic_t *stop;
	/*
	 * Called in the run's process before it is executed, to enter a cgroup or
	 * set an affinity: 0 or negative errno, only async-signal-safe; or NULL.
	 */
	int (*enter)(void *arg);
	void *enter_arg;
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
	uint64_t leftovers; /* processes that it left behind, which were killed */
	char reason[512]; /* why not; "" if valid */
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
 * What a round of nothing takes, the median of a run of the workload "null": so
 * much of each sample's wall_ns is the harness's.
 */
int run_harness_ns(double *ret_ns, struct act_why *ret_why);

/*
 * The other side: what the executed program does.  @fd is where samples go.
 * Returns the exit status.
 */
int run_worker(const struct workload *workload, const void *options, int argc, char **argv,
	       const struct run_spec *spec, int fd);

#endif

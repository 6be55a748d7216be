/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reading a CPU clock costs, by the number of threads whose times the kernel
 * adds up for it (kernel/time/posix-cpu-timers.c, thread_group_cputime()).
 */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bench/sleepers.h"
#include "bench/why.h"

#define THREADS_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */
#define CALLS_MAX UINT64_C(1000000000)

struct clocks_options {
	uint64_t threads;
	uint64_t calls;
};

#define OPTION(member) offsetof(struct clocks_options, member)
static const struct option_spec options[] = {
	{ 't', "threads", OPTION_COUNT, "N", OPTION(threads),
	  "threads that sleep in the process (250)" },
	{ 'c', "calls", OPTION_COUNT, "N", OPTION(calls),
	  "calls for each clock in a round (100000)" },
	{ 0 },
};

/*
 * include/linux/posix-timers_types.h: a CPU clock's id is the inverted pid, here that
 * of oneself, above three bits: which time it counts, and bit 2 for a thread.
 */
#define PROCESS_CLOCK(which) ((clockid_t)(~0u << 3 | (which)))
enum { WHICH_PROF, WHICH_VIRT, WHICH_SCHED };

#define CLOCKS(X) \
	X(prof, PROCESS_CLOCK(WHICH_PROF), "the process's user and system time") \
	X(virt, PROCESS_CLOCK(WHICH_VIRT), "its user time") \
	X(sched, PROCESS_CLOCK(WHICH_SCHED), "its time on CPUs, as the scheduler counts") \
	X(thread, CLOCK_THREAD_CPUTIME_ID, "the calling thread's time on CPUs") \
	X(monotonic, CLOCK_MONOTONIC, "time since boot, mostly without entering the kernel") \
	X(realtime, CLOCK_REALTIME, "time of day, the same way") \
	X(coarse, CLOCK_MONOTONIC_COARSE, "time since boot as of the last tick, the same way")

#define METRIC(name, id, help) { #name "_ns", help },
static const struct metric metrics[] = { CLOCKS(METRIC) { NULL, NULL } };

#define ID(name, id, help) id,
static const clockid_t clocks[] = { CLOCKS(ID) };
#define COUNT (sizeof(clocks) / sizeof(*clocks))

struct state {
	const struct clocks_options *opt;
	struct sleepers *sleepers;
	size_t first; /* the clock that the next round begins with */
};

static void set_defaults(void *arg)
{
	struct clocks_options *opt = arg;

	opt->threads = 250;
	opt->calls = 100000;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct clocks_options *opt = arg;

	(void)argc;
	(void)argv;
	if (opt->threads > THREADS_MAX)
		return because(why, -EINVAL, "--threads must be at most %" PRIu64, THREADS_MAX);
	if (!opt->calls || opt->calls > CALLS_MAX)
		return because(why, -EINVAL, "--calls must be from 1 to %" PRIu64, CALLS_MAX);
	return 0;
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	struct state *state = calloc(1, sizeof(*state));
	int ret = 0;

	(void)argc;
	(void)argv;
	if (!state)
		return because(why, -ENOMEM, "out of memory");
	state->opt = arg;
	if (state->opt->threads)
		ret = sleepers_start(state->opt->threads, &state->sleepers, why);
	if (ret == 0)
		ret = sleepers_await(state->sleepers, why);
	if (ret < 0) {
		sleepers_end(state->sleepers);
		free(state);
		return ret;
	}
	*ret_state = state;
	return 0;
}

static void tear_down(void *arg)
{
	struct state *state = arg;

	sleepers_end(state->sleepers);
	free(state);
}

static int read_clock(clockid_t clock, uint64_t calls, double *ret_ns, struct act_why *why)
{
	uint64_t begin_ns = clock_monotonic_ns();
	struct timespec now;

	for (uint64_t i = 0; i < calls; i++)
		if (clock_gettime(clock, &now) < 0)
			return because(why, -errno, "clock_gettime: %s", strerror(errno));
	*ret_ns = (double)(clock_monotonic_ns() - begin_ns);
	return 0;
}

/* Each round begins with the next clock, so that none is always the first. */
static int read_all(void *arg, struct round *round, struct act_why *why)
{
	struct state *state = arg;
	int ret = 0;

	round->ops = (double)state->opt->calls;
	for (size_t i = 0; ret == 0 && i < COUNT; i++) {
		size_t at = (state->first + i) % COUNT;

		ret = read_clock(clocks[at], state->opt->calls, &round->value[at], why);
	}
	state->first = (state->first + 1) % COUNT;
	return ret;
}

const struct workload workload_clocks = {
	.name = "clocks",
	.synopsis = "[OPTION]...",
	.summary = "read CPU clocks, and others to compare, while threads sleep",
	.options = options,
	.options_size = sizeof(struct clocks_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "prof_ns",
	.check = check,
	.setup = set_up,
	.round = read_all,
	.teardown = tear_down,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that are created one after the other and exit in one burst, since each
 * sleeps the less the later it was created; then they are joined in order.
 */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <time.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/why.h"

#define THREADS_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */

struct mkthreads_options {
	uint64_t threads;
	uint64_t bursts;
	uint64_t step_ns;
	uint64_t stack_bytes;
};

#define OPTION(member) offsetof(struct mkthreads_options, member)
static const struct option_spec options[] = {
	{ 't', "threads", OPTION_COUNT, "N", OPTION(threads), "threads of a burst (1000)" },
	{ 'b', "bursts", OPTION_COUNT, "N", OPTION(bursts),
	  "bursts of a round, one after the other (1)" },
	{ 's', "step", OPTION_DURATION, "DURATION", OPTION(step_ns),
	  "thread I of N sleeps (N-I) times that long; 0: not at all (2us)" },
	{ 0, "stack", OPTION_SIZE, "SIZE", OPTION(stack_bytes),
	  "stack of each thread (what ulimit -s says)" },
	{ 0 },
};

enum { CREATE_NS, RUN_NS, EXIT_NS };
static const struct metric metrics[] = {
	[CREATE_NS] = { "create_ns", "from before the first thread's creation to after the last" },
	[RUN_NS] = { "run_ns", "from then until the last thread is at its end" },
	[EXIT_NS] = { "exit_ns", "from then until the last is joined" },
	{ NULL, NULL },
};

struct thread {
	pthread_t id;
	uint64_t sleep_ns;
	uint64_t end_ns; /* when it was at its end */
};

struct mkthreads {
	const struct mkthreads_options *opt;
	pthread_attr_t attr;
	struct thread *thread;
};

static void set_defaults(void *arg)
{
	struct mkthreads_options *opt = arg;

	opt->threads = 1000;
	opt->bursts = 1;
	opt->step_ns = 2 * NSEC_PER_USEC;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct mkthreads_options *opt = arg;

	(void)argc;
	(void)argv;
	if (!opt->threads || opt->threads > THREADS_MAX)
		return because(why, -EINVAL, "--threads must be from 1 to %" PRIu64, THREADS_MAX);
	if (!opt->bursts)
		return because(why, -EINVAL, "--bursts must be 1 at least");
	if (opt->stack_bytes && opt->stack_bytes < (uint64_t)sysconf(_SC_THREAD_STACK_MIN))
		return because(why, -EINVAL, "--stack must be %ld bytes at least",
			       sysconf(_SC_THREAD_STACK_MIN));
	if (opt->step_ns > 3600 * NSEC_PER_SEC / opt->threads)
		return because(why, -EINVAL, "--step: the first thread would sleep for more than "
			       "an hour");
	return 0;
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	const struct mkthreads_options *opt = arg;
	struct mkthreads *state = calloc(1, sizeof(*state));
	int ret;

	(void)argc;
	(void)argv;
	if (state)
		state->thread = calloc(opt->threads, sizeof(*state->thread));
	if (!state || !state->thread || pthread_attr_init(&state->attr)) {
		ret = because(why, -ENOMEM, "out of memory");
		goto failed;
	}
	state->opt = opt;
	ret = opt->stack_bytes ? pthread_attr_setstacksize(&state->attr, opt->stack_bytes) : 0;
	if (ret) {
		pthread_attr_destroy(&state->attr);
		ret = because(why, -ret, "--stack: %s", strerror(ret));
		goto failed;
	}
	for (uint64_t i = 0; i < opt->threads; i++)
		state->thread[i].sleep_ns = (opt->threads - i) * opt->step_ns;
	*ret_state = state;
	return 0;
failed:
	if (state)
		free(state->thread);
	free(state);
	return ret;
}

static void tear_down(void *arg)
{
	struct mkthreads *state = arg;

	pthread_attr_destroy(&state->attr);
	free(state->thread);
	free(state);
}

static void *run(void *arg)
{
	struct thread *thread = arg;
	struct timespec sleep = {
		.tv_sec = (time_t)(thread->sleep_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(thread->sleep_ns % NSEC_PER_SEC),
	};

	if (thread->sleep_ns)
		nanosleep(&sleep, NULL);
	thread->end_ns = clock_monotonic_ns();
	return NULL;
}

/* Adds the phases of one burst, which follow each other without a gap. */
static int make_burst(struct mkthreads *state, double *value, struct act_why *why)
{
	uint64_t begin_ns = clock_monotonic_ns(), created_ns, ended_ns, count = 0;
	uint64_t wanted = state->opt->threads;
	int ret = 0;

	while (ret == 0 && count < wanted) {
		struct thread *thread = &state->thread[count];

		ret = pthread_create(&thread->id, &state->attr, run, thread);
		count += ret == 0;
	}
	created_ns = ended_ns = clock_monotonic_ns();
	for (uint64_t i = 0; i < count; i++) {
		pthread_join(state->thread[i].id, NULL);
		if (state->thread[i].end_ns > ended_ns)
			ended_ns = state->thread[i].end_ns;
	}
	value[CREATE_NS] += (double)(created_ns - begin_ns);
	value[RUN_NS] += (double)(ended_ns - created_ns);
	value[EXIT_NS] += (double)(clock_monotonic_ns() - ended_ns);
	return ret ? explain_limit(why, ret, "thread", count, wanted) : 0;
}

static int make_round(void *arg, struct round *round, struct act_why *why)
{
	struct mkthreads *state = arg;
	int ret = 0;

	for (size_t i = CREATE_NS; i <= EXIT_NS; i++)
		round->value[i] = 0;
	for (uint64_t i = 0; ret == 0 && i < state->opt->bursts; i++)
		ret = make_burst(state, round->value, why);
	round->ops = (double)state->opt->threads * (double)state->opt->bursts;
	return ret;
}

const struct workload workload_mkthreads = {
	.name = "mkthreads",
	.synopsis = "[OPTION]...",
	.summary = "create threads that exit in one burst, then join them in order",
	.options = options,
	.options_size = sizeof(struct mkthreads_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "wall_ns",
	.check = check,
	.setup = set_up,
	.round = make_round,
	.teardown = tear_down,
};

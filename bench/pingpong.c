/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two parties wake each other in turns.  How long a wake-up takes: from before the
 * waker's call to when the other runs again.
 */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/token.h"
#include "bench/why.h"

#define COUNT_MAX UINT64_C(50000000) /* of each way, eight bytes a piece */

enum by { BY_FUTEX, BY_EVENTFD, BY_PIPE, BY_CONDVAR, BY_VFORK };
enum place { PLACE_FREE, PLACE_SAME, PLACE_OTHER };

struct pingpong_options {
	uint64_t count;
	int by;    /* enum by */
	int place; /* enum place */
};

#define OPTION(member) offsetof(struct pingpong_options, member)
static const struct option_spec options[] = {
	{ 'c', "count", OPTION_COUNT, "N", OPTION(count),
	  "times that the token goes forth and back in a round (10000)" },
	{ 'b', "by", OPTION_CHOICE, "futex|eventfd|pipe|condvar|vfork", OPTION(by),
	  "what they wait on (futex)" },
	{ 'p', "place", OPTION_CHOICE, "free|same|other", OPTION(place),
	  "where: wherever the scheduler puts them, both on one CPU, each on its own (free)" },
	{ 0 },
};

enum { EXCHANGE_NS };
static const struct metric metrics[] = {
	[EXCHANGE_NS] = { "exchange_ns", "from the first wake-up to the last" },
	{ NULL, NULL },
};

struct pingpong {
	const struct pingpong_options *opt;
	const struct token_kind *kind; /* NULL: vfork */
	struct token token;
	cpu_set_t before;     /* where this thread may run by itself */
	cpu_set_t place[2];   /* ... and where the parties are to */
	uint64_t sent_ns;     /* when the last wake-up began: passed on with the token */
	double *latency_ns;   /* of each wake-up of a round */
};

static void set_defaults(void *arg)
{
	((struct pingpong_options *)arg)->count = 10000;
}

/* ---- Where ---- */

static size_t next_cpu(const cpu_set_t *set, size_t from)
{
	while (from < CPU_SETSIZE && !CPU_ISSET(from, set))
		from++;
	return from;
}

static int choose_places(enum place place, cpu_set_t *ret_before, cpu_set_t ret_place[2],
			 struct act_why *why)
{
	size_t first, second;

	if (sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
		return because(why, -errno, "cannot ask for the CPUs: %s", strerror(errno));
	ret_place[0] = ret_place[1] = *ret_before;
	if (place == PLACE_FREE)
		return 0;
	first = second = next_cpu(ret_before, 0);
	if (place == PLACE_OTHER)
		second = next_cpu(ret_before, first + 1);
	if (second >= CPU_SETSIZE)
		return because(why, -EINVAL, "--place other needs two CPUs, and there is one");
	CPU_ZERO(&ret_place[0]);
	CPU_ZERO(&ret_place[1]);
	CPU_SET(first, &ret_place[0]);
	CPU_SET(second, &ret_place[1]);
	return 0;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct pingpong_options *opt = arg;
	cpu_set_t before, place[2];

	(void)argc;
	(void)argv;
	if (!opt->count || opt->count > COUNT_MAX)
		return because(why, -EINVAL, "--count must be from 1 to %" PRIu64, COUNT_MAX);
	return choose_places((enum place)opt->place, &before, place, why);
}

/* ---- Set-up ---- */

static void tear_down(void *arg)
{
	struct pingpong *state = arg;

	if (state->kind)
		state->kind->close(&state->token);
	free(state->latency_ns);
	free(state);
}

static const struct token_kind *kind_of(enum by by)
{
	switch (by) {
	case BY_FUTEX:
		return &token_futex;
	case BY_EVENTFD:
		return &token_eventfd;
	case BY_PIPE:
		return &token_pipe;
	case BY_CONDVAR:
		return &token_condvar;
	case BY_VFORK:
		break;
	}
	return NULL;
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	const struct pingpong_options *opt = arg;
	struct pingpong *state = calloc(1, sizeof(*state));
	int ret;

	(void)argc;
	(void)argv;
	if (!state)
		return because(why, -ENOMEM, "out of memory");
	state->opt = opt;
	state->latency_ns = calloc(2 * opt->count, sizeof(*state->latency_ns));
	ret = state->latency_ns ? choose_places((enum place)opt->place, &state->before,
						state->place, why)
				: because(why, -ENOMEM, "out of memory");
	if (ret == 0 && kind_of((enum by)opt->by)) {
		ret = kind_of((enum by)opt->by)->open(&state->token, why);
		if (ret == 0)
			state->kind = kind_of((enum by)opt->by);
	}
	if (ret < 0) {
		tear_down(state);
		return ret;
	}
	*ret_state = state;
	return 0;
}

static int move_to(const cpu_set_t *set, struct act_why *why)
{
	return sched_setaffinity(0, sizeof(*set), set) == 0 ? 0 :
	       because(why, -errno, "cannot choose a CPU: %s", strerror(errno));
}

/* ---- Two threads ---- */

static void pass(struct pingpong *state, int to)
{
	state->sent_ns = clock_monotonic_ns();
	state->kind->wake(&state->token, to);
}

static void receive(struct pingpong *state, int side, double *ret_latency_ns)
{
	state->kind->await(&state->token, side);
	*ret_latency_ns = (double)(clock_monotonic_ns() - state->sent_ns);
}

/* Its first latency is that of the first wake-up, its last passes the token back. */
static void *answer(void *arg)
{
	struct pingpong *state = arg;

	/* It was allowed at set-up; if a cpuset has changed since, it runs where it may. */
	sched_setaffinity(0, sizeof(state->place[1]), &state->place[1]);
	for (uint64_t i = 0; i < state->opt->count; i++) {
		receive(state, 1, &state->latency_ns[2 * i]);
		pass(state, 0);
	}
	return NULL;
}

static int exchange(struct pingpong *state, struct round *round, struct act_why *why)
{
	uint64_t begin_ns;
	pthread_t partner;
	int error = pthread_create(&partner, NULL, answer, state);

	if (error)
		return explain_limit(why, error, "thread", 0, 1);
	begin_ns = clock_monotonic_ns();
	for (uint64_t i = 0; i < state->opt->count; i++) {
		pass(state, 1);
		receive(state, 0, &state->latency_ns[2 * i + 1]);
	}
	round->value[EXCHANGE_NS] = (double)(clock_monotonic_ns() - begin_ns);
	pthread_join(partner, NULL);
	round->series_count = 2 * state->opt->count;
	return 0;
}

/* ---- A child that its parent waits for: vfork's completion ---- */

/* Memory is shared, and the parent sleeps: what the child writes is there when it wakes. */
static void live(volatile uint64_t *sent_ns, const cpu_set_t *place, bool is_other)
{
	if (is_other)
		sched_setaffinity(0, sizeof(*place), place);
	*sent_ns = clock_monotonic_ns();
	_exit(0);
}

static int bear(struct pingpong *state, double *ret_latency_ns, struct act_why *why)
{
	volatile uint64_t sent_ns = 0;
	bool is_other = state->opt->place == PLACE_OTHER;
	pid_t pid = vfork();

	if (pid == 0)
		live(&sent_ns, &state->place[1], is_other); // NOLINT(clang-analyzer-unix.Vfork)
	*ret_latency_ns = (double)(clock_monotonic_ns() - sent_ns);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return because(why, -errno, "waitpid: %s", strerror(errno));
	return 0;
}

static int bear_all(struct pingpong *state, struct round *round, struct act_why *why)
{
	uint64_t begin_ns = clock_monotonic_ns();

	for (uint64_t i = 0; i < state->opt->count; i++) {
		int ret = bear(state, &state->latency_ns[i], why);

		if (ret < 0)
			return ret == -ECHILD ? ret :
			       explain_limit(why, -ret, "vfork", i, state->opt->count);
	}
	round->value[EXCHANGE_NS] = (double)(clock_monotonic_ns() - begin_ns);
	round->series_count = state->opt->count;
	return 0;
}

static int make_round(void *arg, struct round *round, struct act_why *why)
{
	struct pingpong *state = arg;
	int ret = move_to(&state->place[0], why), back;

	if (ret == 0)
		ret = state->kind ? exchange(state, round, why) : bear_all(state, round, why);
	back = move_to(&state->before, why);
	round->series = state->latency_ns;
	round->ops = (double)round->series_count;
	return ret < 0 ? ret : back;
}

const struct workload workload_pingpong = {
	.name = "pingpong",
	.synopsis = "[OPTION]...",
	.summary = "two parties wake each other in turns; every latency is kept",
	.options = options,
	.options_size = sizeof(struct pingpong_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.series = "latency_ns",
	.primary = "exchange_ns",
	.check = check,
	.setup = set_up,
	.round = make_round,
	.teardown = tear_down,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * So many forks a second, whether the system keeps up or not: an open loop.  Each
 * fork has its time, and what comes of it is measured from that time on, so that a
 * stall is not left out because it kept others from being begun.
 */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/why.h"

#define COUNT_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */
#define RATE_MAX UINT64_C(10000000)

struct rate_options {
	uint64_t rate;
	uint64_t count;
};

#define OPTION(member) offsetof(struct rate_options, member)
static const struct option_spec options[] = {
	{ 'r', "rate", OPTION_COUNT, "N", OPTION(rate), "forks a second (1000)" },
	{ 'c', "count", OPTION_COUNT, "N", OPTION(count), "forks of a round (200)" },
	{ 0 },
};

enum { MISSES, LATE_NS, GONE_NS };
static const struct metric metrics[] = {
	[MISSES] = { "misses", "forks that began when the next one's time had come already" },
	[LATE_NS] = { "late_ns", "how late each fork began, summed up" },
	[GONE_NS] = { "gone_ns", "from each one's time until it was reaped, summed up" },
	{ NULL, NULL },
};

struct rate {
	const struct rate_options *opt;
	sigset_t child;          /* SIGCHLD alone */
	sigset_t before;
	pid_t *pid;              /* 0: reaped */
	double *latency_ns;
	volatile uint64_t *ran_ns; /* where children say that they run: shared */
	uint64_t begin_ns;       /* of the round */
	uint64_t born, reaped;
	uint64_t oldest;         /* the first that is not reaped */
	double gone_ns;
	uint64_t failed;         /* children that something killed */
};

static void set_defaults(void *arg)
{
	struct rate_options *opt = arg;

	opt->rate = 1000;
	opt->count = 200;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct rate_options *opt = arg;

	(void)argc;
	(void)argv;
	if (!opt->rate || opt->rate > RATE_MAX)
		return because(why, -EINVAL, "--rate must be from 1 to %" PRIu64, RATE_MAX);
	if (!opt->count || opt->count > COUNT_MAX)
		return because(why, -EINVAL, "--count must be from 1 to %" PRIu64, COUNT_MAX);
	return 0;
}

static void release(struct rate *rate)
{
	if (rate->ran_ns)
		munmap((void *)rate->ran_ns, rate->opt->count * sizeof(*rate->ran_ns));
	free(rate->latency_ns);
	free(rate->pid);
	free(rate);
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	const struct rate_options *opt = arg;
	struct rate *rate = calloc(1, sizeof(*rate));
	void *shared;

	(void)argc;
	(void)argv;
	if (!rate)
		return because(why, -ENOMEM, "out of memory");
	rate->opt = opt;
	rate->pid = calloc(opt->count, sizeof(*rate->pid));
	rate->latency_ns = calloc(opt->count, sizeof(*rate->latency_ns));
	shared = mmap(NULL, opt->count * sizeof(*rate->ran_ns), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	rate->ran_ns = shared == MAP_FAILED ? NULL : shared;
	if (!rate->pid || !rate->latency_ns || !rate->ran_ns) {
		release(rate);
		return because(why, -ENOMEM, "out of memory");
	}
	/* The kernel may else put off each waking by 50 us. */
	prctl(PR_SET_TIMERSLACK, 1);
	sigemptyset(&rate->child);
	sigaddset(&rate->child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &rate->child, &rate->before);
	*ret_state = rate;
	return 0;
}

static void tear_down(void *state)
{
	struct rate *rate = state;

	sigprocmask(SIG_SETMASK, &rate->before, NULL);
	release(rate);
}

/* ---- A round ---- */

/* When the @index'th is to be forked; the round's length is bounded by its limits. */
static uint64_t due_ns(const struct rate *rate, uint64_t index)
{
	return rate->begin_ns + (uint64_t)((double)index * 1e9 / (double)rate->opt->rate);
}

static int bear(struct rate *rate, struct round *round)
{
	uint64_t index = rate->born, due = due_ns(rate, index), now_ns = clock_monotonic_ns();
	pid_t pid = fork();

	if (pid == 0) {
		rate->ran_ns[index] = clock_monotonic_ns();
		_exit(0);
	}
	if (pid < 0)
		return -errno;
	round->value[MISSES] += now_ns >= due_ns(rate, index + 1);
	round->value[LATE_NS] += now_ns > due ? (double)(now_ns - due) : 0;
	rate->pid[index] = pid;
	rate->born++;
	return 0;
}

static void note_end(struct rate *rate, pid_t pid, int status)
{
	uint64_t now_ns = clock_monotonic_ns(), index = rate->oldest;

	while (index < rate->born && rate->pid[index] != pid)
		index++;
	if (index == rate->born)
		return; /* none of ours */
	rate->pid[index] = 0;
	rate->reaped++;
	while (rate->oldest < rate->born && !rate->pid[rate->oldest])
		rate->oldest++;
	rate->gone_ns += (double)(now_ns - due_ns(rate, index));
	if (status)
		rate->failed++;
	else
		rate->latency_ns[index] = (double)(rate->ran_ns[index] - due_ns(rate, index));
}

static bool reap_one(struct rate *rate, int flags)
{
	int status;
	pid_t pid = waitpid(-1, &status, flags);

	if (pid > 0)
		note_end(rate, pid, status);
	return pid > 0;
}

/* Reaps what ends until the next one's time has come. */
static void wait_until(struct rate *rate, uint64_t due)
{
	uint64_t now_ns;

	while ((now_ns = clock_monotonic_ns()) < due) {
		const struct timespec left = {
			.tv_sec = (time_t)((due - now_ns) / NSEC_PER_SEC),
			.tv_nsec = (long)((due - now_ns) % NSEC_PER_SEC),
		};

		if (sigtimedwait(&rate->child, NULL, &left) != SIGCHLD)
			continue;
		while (clock_monotonic_ns() < due && reap_one(rate, WNOHANG))
			;
	}
}

static int make_round(void *state, struct round *round, struct act_why *why)
{
	struct rate *rate = state;
	int error = 0;

	round->value[MISSES] = round->value[LATE_NS] = 0;
	rate->born = rate->reaped = rate->oldest = rate->failed = 0;
	rate->gone_ns = 0;
	rate->begin_ns = clock_monotonic_ns();
	while (!error && rate->born < rate->opt->count) {
		wait_until(rate, due_ns(rate, rate->born));
		error = bear(rate, round);
		/* Where there is no time between two, the dead would pile up. */
		reap_one(rate, WNOHANG);
	}
	while (rate->reaped < rate->born)
		if (!reap_one(rate, 0) && errno != EINTR)
			return because(why, -errno, "waitpid: %s", strerror(errno));
	round->value[GONE_NS] = rate->gone_ns;
	round->ops = (double)rate->opt->count;
	round->series = rate->latency_ns;
	round->series_count = rate->opt->count;
	if (error)
		return explain_limit(why, -error, "fork", rate->born, rate->opt->count);
	return rate->failed ? because(why, -ECHILD, "%" PRIu64 " children did not exit as they "
				      "should: something killed them", rate->failed) : 0;
}

const struct workload workload_rate = {
	.name = "rate",
	.synopsis = "[OPTION]...",
	.summary = "fork at a given rate, come what may; every latency is kept",
	.options = options,
	.options_size = sizeof(struct rate_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.series = "latency_ns",
	.primary = "gone_ns",
	.check = check,
	.setup = set_up,
	.round = make_round,
	.teardown = tear_down,
};

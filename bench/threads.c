/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that end: joined one by one, detached, or all at once by exit_group. */
#include "bench/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/sleepers.h"
#include "bench/why.h"

#define THREADS_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */

enum ending { ENDING_JOIN, ENDING_DETACHED, ENDING_GROUP };

struct threads_options {
	uint64_t threads;
	int ending; /* enum ending */
};

#define OPTION(member) offsetof(struct threads_options, member)
static const struct option_spec options[] = {
	{ 't', "threads", OPTION_COUNT, "N", OPTION(threads), "threads of a round (100)" },
	{ 'e', "end", OPTION_CHOICE, "join|detached|exit_group", OPTION(ending),
	  "how they end: joined one by one, on their own, or with a process that they are of "
	  "(join)" },
	{ 0 },
};

enum { CREATE_NS, END_NS };
static const struct metric metrics[] = {
	[CREATE_NS] = { "create_ns", "creating them; exit_group: from the fork until all are there" },
	[END_NS] = { "end_ns", "until they are gone, after they were created" },
	{ NULL, NULL },
};

static void set_defaults(void *arg)
{
	((struct threads_options *)arg)->threads = 100;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct threads_options *opt = arg;

	(void)argc;
	(void)argv;
	if (!opt->threads || opt->threads > THREADS_MAX)
		return because(why, -EINVAL, "--threads must be from 1 to %" PRIu64, THREADS_MAX);
	return 0;
}

struct threads {
	const struct threads_options *opt;
	pthread_attr_t detached;
};

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	struct threads *threads = calloc(1, sizeof(*threads));

	(void)argc;
	(void)argv;
	if (!threads || pthread_attr_init(&threads->detached)) {
		free(threads);
		return because(why, -ENOMEM, "out of memory");
	}
	pthread_attr_setdetachstate(&threads->detached, PTHREAD_CREATE_DETACHED);
	threads->opt = arg;
	*ret_state = threads;
	return 0;
}

static void tear_down(void *state)
{
	struct threads *threads = state;

	pthread_attr_destroy(&threads->detached);
	free(threads);
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* ---- Joined: each is gone before the next one comes ---- */

static int join_each(struct threads *threads, struct round *round, struct act_why *why)
{
	uint64_t create_ns = 0, end_ns = 0, now_ns = clock_monotonic_ns();

	for (uint64_t i = 0; i < threads->opt->threads; i++) {
		uint64_t begin_ns = now_ns, created_ns;
		pthread_t id;
		int error = pthread_create(&id, NULL, do_nothing, NULL);

		if (error)
			return explain_limit(why, error, "thread", i, threads->opt->threads);
		created_ns = clock_monotonic_ns();
		pthread_join(id, NULL);
		now_ns = clock_monotonic_ns();
		create_ns += created_ns - begin_ns;
		end_ns += now_ns - created_ns;
	}
	round->value[CREATE_NS] = (double)create_ns;
	round->value[END_NS] = (double)end_ns;
	return 0;
}

/* ---- Detached: only the kernel knows when they are gone ---- */

/* Threads of this process: the links of its directory, but two. */
static uint64_t count_tasks(void)
{
	struct stat st;

	return stat("/proc/self/task", &st) < 0 || st.st_nlink < 3 ? 1 : st.st_nlink - 2;
}

static int detach_all(struct threads *threads, struct round *round, struct act_why *why)
{
	uint64_t begin_ns = clock_monotonic_ns(), created_ns, count = 0;
	uint64_t wanted = threads->opt->threads;
	int error = 0;

	while (!error && count < wanted) {
		pthread_t id;

		error = pthread_create(&id, &threads->detached, do_nothing, NULL);
		count += !error;
	}
	created_ns = clock_monotonic_ns();
	while (count_tasks() > 1)
		sched_yield();
	round->value[CREATE_NS] = (double)(created_ns - begin_ns);
	round->value[END_NS] = (double)(clock_monotonic_ns() - created_ns);
	return error ? explain_limit(why, error, "thread", count, wanted) : 0;
}

/* ---- With their process ---- */

/* What the process with the threads sends; @why only counts with an error. */
struct word {
	int error;
	struct act_why why;
};

/* In the child: makes the threads, says so, and ends with all of them on a word. */
static void live_as_group(uint64_t count, int say, int hear)
{
	struct sleepers *sleepers;
	struct word word = { 0 };
	char byte;

	word.error = sleepers_start(count, &sleepers, &word.why);
	if (write(say, &word, sizeof(word)) != (ssize_t)sizeof(word))
		_exit(1);
	if (read(hear, &byte, 1) < 0)
		_exit(1);
	/* glibc's is exit_group(2). */
	_exit(0);
}

static void close_pair(const int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

static int open_pairs(int say[2], int hear[2], struct act_why *why)
{
	int ret;

	if (pipe2(say, O_CLOEXEC) < 0)
		return because(why, -errno, "cannot make a pipe: %s", strerror(errno));
	if (pipe2(hear, O_CLOEXEC) < 0) {
		ret = because(why, -errno, "cannot make a pipe: %s", strerror(errno));
		close_pair(say);
		return ret;
	}
	return 0;
}

static int reap(pid_t pid, struct act_why *why)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return because(why, -errno, "waitpid: %s", strerror(errno));
	return status ? because(why, -EIO, "the process with the threads was killed") : 0;
}

static int end_group(struct threads *threads, struct round *round, struct act_why *why)
{
	int say[2] = { -1, -1 }, hear[2] = { -1, -1 };
	int ret = open_pairs(say, hear, why), reaped;
	uint64_t begin_ns, created_ns;
	struct word word = { .error = -EIO, .why = { "the process with the threads was killed" } };
	pid_t pid;

	if (ret < 0)
		return ret;
	begin_ns = clock_monotonic_ns();
	pid = fork();
	if (pid == 0) {
		close_pair((int[]){ say[0], hear[1] });
		live_as_group(threads->opt->threads, say[1], hear[0]);
	}
	ret = pid < 0 ? explain_limit(why, errno, "fork", 0, 1) : 0;
	close_pair((int[]){ say[1], hear[0] });
	if (ret == 0 && read(say[0], &word, sizeof(word)) < 0)
		word.error = -errno;
	created_ns = clock_monotonic_ns();
	/* The end of the file is the word. */
	close_pair((int[]){ say[0], hear[1] });
	if (ret < 0)
		return ret;
	reaped = reap(pid, why);
	round->value[CREATE_NS] = (double)(created_ns - begin_ns);
	round->value[END_NS] = (double)(clock_monotonic_ns() - created_ns);
	return word.error ? because(why, word.error, "%s", word.why.text) : reaped;
}

static int make_round(void *state, struct round *round, struct act_why *why)
{
	struct threads *threads = state;

	round->ops = (double)threads->opt->threads;
	switch ((enum ending)threads->opt->ending) {
	case ENDING_JOIN:
		return join_each(threads, round, why);
	case ENDING_DETACHED:
		return detach_all(threads, round, why);
	case ENDING_GROUP:
		return end_group(threads, round, why);
	}
	return because(why, -EINVAL, "--end is not known");
}

const struct workload workload_threads = {
	.name = "threads",
	.synopsis = "[OPTION]...",
	.summary = "create threads and let them end: joined, detached, or with their process",
	.options = options,
	.options_size = sizeof(struct threads_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "wall_ns",
	.check = check,
	.setup = set_up,
	.round = make_round,
	.teardown = tear_down,
};

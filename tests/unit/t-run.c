/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs: what comes back of them, and every way in which they can go wrong.  The
 * run's process is this test itself, executed anew with workloads of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "bench/run.h"
#include "bench/why.h"
#include "bench/wire.h"
#include "workopts.h"

#define SERIES 1000000
#define SECONDS NSEC_PER_SEC

/* ---- Workloads ---- */

static int set_up(const void *options, int argc, char **argv, void **ret_state,
		  struct act_why *why)
{
	(void)options;
	*ret_state = argv;
	if (argc && strcmp(argv[0], "no-setup") == 0)
		return because(why, -EINVAL, "set-up failed, as it should");
	return 0;
}

static void tear_down(void *state)
{
	(void)state;
}

/* Of its own: where it finds itself. */
enum { PID, IS_LEADER, IS_NULL_STDIN, PRIORITY, UNSET };
static const struct metric metrics[] = {
	{ "pid", "" }, { "is_leader", "" }, { "is_null_stdin", "" }, { "priority", "" },
	{ "unset", "" }, { NULL, NULL },
};

static int look_around(void *state, struct round *round, struct act_why *why)
{
	struct stat in, null;

	(void)state;
	(void)why;
	round->ops = 3;
	round->value[PID] = getpid();
	round->value[IS_LEADER] = getpgrp() == getpid();
	round->value[IS_NULL_STDIN] = fstat(0, &in) == 0 && stat("/dev/null", &null) == 0 &&
				      in.st_rdev == null.st_rdev;
	round->value[PRIORITY] = getpriority(PRIO_PROCESS, 0);
	return 0;
}

static int count_up(void *state, struct round *round, struct act_why *why)
{
	static double series[SERIES];

	(void)state;
	(void)why;
	for (size_t i = 0; i < SERIES; i++)
		series[i] = (double)i;
	round->series = series;
	round->series_count = SERIES;
	return 0;
}

/* Brings forth two processes of other sessions that outlive us; tells of the first which. */
static int leave_behind(void *state, struct round *round, struct act_why *why)
{
	int pair[2];
	pid_t pid;
	char byte;

	(void)state;
	if (pipe(pair) < 0)
		return because(why, -errno, "no pipe");
	pid = fork();
	if (pid == 0) {
		setsid();
		if (fork() == 0 && (setsid() < 0 || write(pair[1], "", 1) != 1))
			_exit(1);
		for (;;)
			pause();
	}
	/* When the second is there. */
	if (read(pair[0], &byte, 1) != 1)
		return because(why, -EIO, "no second process");
	close(pair[0]);
	close(pair[1]);
	round->value[PID] = pid;
	return 0;
}

/* Its argument tells how. */
static int go_wrong(void *state, struct round *round, struct act_why *why)
{
	const char *how = *(char **)state;

	(void)round;
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	else if (strcmp(how, "exit") == 0)
		_exit(7);
	else if (strcmp(how, "vanish") == 0)
		_exit(0);
	else if (strcmp(how, "hang") == 0)
		pause();
	return because(why, -EIO, "it failed, as it should");
}

#define WORKLOAD(function, own, series_name) { \
	.name = #function, .synopsis = "", .summary = "x", .metrics = own, \
	.series = series_name, .primary = "wall_ns", .takes_arguments = true, .setup = set_up, \
	.round = function, .teardown = tear_down }
static const struct workload own_workloads[] = {
	WORKLOAD(look_around, metrics, NULL),
	WORKLOAD(count_up, NULL, "latency_ns"),
	WORKLOAD(leave_behind, metrics, NULL),
	WORKLOAD(go_wrong, NULL, NULL),
};

static const struct workload *find_own(const char *name)
{
	for (size_t i = 0; i < sizeof(own_workloads) / sizeof(*own_workloads); i++)
		if (strcmp(own_workloads[i].name, name) == 0)
			return &own_workloads[i];
	return NULL;
}

/* As workopts_main(), for those workloads. */
static int work(int argc, char **argv)
{
	const struct workload *workload = find_own(argv[1]);
	struct run_spec spec = { 0 };

	if (!workload)
		return workopts_main(argc, argv);
	if (parse_count(argv[2], &spec.rounds) || parse_count(argv[3], &spec.min_ns) ||
	    parse_count(argv[4], &spec.warmup))
		return 2;
	return run_worker(workload, NULL, argc - 5, argv + 5, &spec, WIRE_FD);
}

/* ---- What came back ---- */

struct seen {
	uint64_t samples, warmups, next;
	double last[HARNESS_METRICS + METRICS_MAX];
	size_t values, series_count;
	double ops, series_sum;
	int answer; /* what the callback returns from sample 3 on */
};

static int see(void *arg, const struct sample *sample)
{
	struct seen *seen = arg;

	assert_int_equal(sample->round, seen->next++);
	seen->samples += !sample->is_warmup;
	seen->warmups += sample->is_warmup;
	/* Warm-up comes first. */
	assert_false(sample->is_warmup && seen->samples);
	memcpy(seen->last, sample->value, sample->values * sizeof(*sample->value));
	seen->values = sample->values;
	seen->ops = sample->ops;
	seen->series_count = sample->series_count;
	seen->series_sum = 0;
	for (size_t i = 0; i < sample->series_count; i++)
		seen->series_sum += sample->series[i];
	return seen->next > 3 ? seen->answer : 0;
}

static struct run_outcome outcome;
static struct act_why why;

static int execute(struct run_spec *spec, const char *name, const char *word, struct seen *seen)
{
	char *argv[] = { (char *)word, NULL };
	int ret;

	spec->workload = find_own(name) ? find_own(name) : workload_find(name);
	spec->argc = word ? 1 : 0;
	spec->argv = argv;
	*seen = (struct seen){ .answer = seen->answer };
	ret = run_execute(spec, see, seen, &outcome, &why);
	/* However it went, no process is left. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return ret;
}

static void test_samples(void **state)
{
	struct run_spec spec = { .rounds = 5, .warmup = 2 };
	struct seen seen = { 0 };
	double pid;

	(void)state;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_string_equal(outcome.reason, "");
	assert_true(outcome.is_valid);
	assert_int_equal(outcome.samples, 5);
	assert_int_equal(outcome.leftovers, 0);
	assert_int_equal(seen.samples, 5);
	assert_int_equal(seen.warmups, 2);
	assert_int_equal(seen.values, HARNESS_METRICS + 5);
	assert_true(seen.ops == 3);
	assert_true(seen.last[HARNESS_WALL_NS] > 0);
	assert_true(seen.last[HARNESS_CPU_NS] > 0);
	assert_true(seen.last[HARNESS_METRICS + IS_LEADER] == 1);
	assert_true(seen.last[HARNESS_METRICS + IS_NULL_STDIN] == 1);
	assert_true(isnan(seen.last[HARNESS_METRICS + UNSET]));
	/* A fresh process each time. */
	pid = seen.last[HARNESS_METRICS + PID];
	assert_true(pid != getpid());
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_true(seen.last[HARNESS_METRICS + PID] != pid);
}

static void test_time(void **state)
{
	struct run_spec spec = { .rounds = 0, .min_ns = 1 };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_true(outcome.is_valid);
	assert_true(seen.samples >= 1);
	/* Both hold: the more of them. */
	spec.rounds = 1000;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_int_equal(seen.samples, 1000);
}

static void test_series(void **state)
{
	struct run_spec spec = { .rounds = 3 };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(execute(&spec, "count_up", NULL, &seen), 0);
	assert_true(outcome.is_valid);
	assert_int_equal(seen.samples, 3);
	assert_int_equal(seen.series_count, SERIES);
	assert_true(seen.series_sum == (double)SERIES * (SERIES - 1) / 2);
}

/* ---- Runs that go wrong ---- */

static void expect_invalid(const char *how, const char *word)
{
	struct run_spec spec = { .rounds = 5 };
	struct seen seen = { 0 };

	assert_int_equal(execute(&spec, "go_wrong", how, &seen), 0);
	assert_false(outcome.is_valid);
	assert_int_equal(seen.samples, 0);
	if (!strstr(outcome.reason, word))
		fail_msg("no \"%s\" in: %s", word, outcome.reason);
}

static void test_wrong(void **state)
{
	(void)state;
	expect_invalid("kill", "killed by signal 9");
	expect_invalid("exit", "ended with status 7");
	expect_invalid("vanish", "ended with status 0");
	expect_invalid("fail", "it failed, as it should");
	expect_invalid("no-setup", "set-up failed, as it should");
}

static void test_timeout(void **state)
{
	struct run_spec spec = { .rounds = 1, .timeout_ns = 20 * NSEC_PER_MSEC };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(execute(&spec, "go_wrong", "hang", &seen), 0);
	assert_false(outcome.is_valid);
	assert_non_null(strstr(outcome.reason, "longer than the 0.02 s"));
}

static void test_stop(void **state)
{
	volatile sig_atomic_t stop = SIGINT;
	struct run_spec spec = { .rounds = 1, .stop = &stop };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(execute(&spec, "go_wrong", "hang", &seen), 0);
	assert_false(outcome.is_valid);
	assert_int_equal(outcome.signal, SIGINT);
}

static void test_refusal(void **state)
{
	struct run_spec spec = { .rounds = 0, .min_ns = 3600 * SECONDS };
	struct seen seen = { .answer = -ENOSPC };

	(void)state;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), -ENOSPC);
	assert_int_equal(seen.next, 4);
	assert_false(outcome.is_valid);
}

static int be_nice(void *arg)
{
	return setpriority(PRIO_PROCESS, 0, *(int *)arg) < 0 ? -errno : 0;
}

static int refuse_entry(void *arg)
{
	(void)arg;
	return -EPERM;
}

static void test_enter(void **state)
{
	int priority = 7;
	struct run_spec spec = { .rounds = 1, .enter = be_nice, .enter_arg = &priority };
	struct seen seen = { 0 };

	(void)state;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_true(seen.last[HARNESS_METRICS + PRIORITY] == 7);
	spec.enter = refuse_entry;
	assert_int_equal(execute(&spec, "look_around", NULL, &seen), 0);
	assert_false(outcome.is_valid);
	assert_non_null(strstr(outcome.reason, "cannot enter the condition"));
}

/* ---- What is left behind ---- */

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static void test_leftovers(void **state)
{
	struct run_spec spec = { .rounds = 3 };
	pid_t bystander = fork();
	struct seen seen = { 0 };
	int status;

	(void)state;
	if (bystander == 0) {
		pause();
		_exit(0);
	}
	spec.workload = find_own("leave_behind");
	assert_int_equal(run_execute(&spec, see, &seen, &outcome, &why), 0);
	assert_true(outcome.is_valid);
	/* Of each round two. */
	assert_int_equal(outcome.leftovers, 6);
	assert_true(is_gone((pid_t)seen.last[HARNESS_METRICS + PID]));
	/* What else we have is not touched. */
	assert_int_equal(waitpid(bystander, &status, WNOHANG), 0);
	kill(bystander, SIGKILL);
	assert_int_equal(waitpid(bystander, &status, 0), bystander);
}

/* Tells the pid of the run to whoever reads. */
static int tell_pid(void *arg, const struct sample *sample)
{
	pid_t pid = (pid_t)sample->value[HARNESS_METRICS + PID];

	return write(*(int *)arg, &pid, sizeof(pid)) == (ssize_t)sizeof(pid) ? 0 : -EPIPE;
}

/* When the program itself is killed, its run does not go on for ever. */
static void test_orphan(void **state)
{
	struct run_spec spec = { .workload = find_own("look_around"), .min_ns = 600 * SECONDS };
	struct timespec wait = { .tv_nsec = 1000000 };
	pid_t program, run;
	int pair[2];

	(void)state;
	assert_int_equal(pipe(pair), 0);
	program = fork();
	if (program == 0) {
		run_execute(&spec, tell_pid, &pair[1], &outcome, &why);
		_exit(0);
	}
	assert_int_equal(read(pair[0], &run, sizeof(run)), sizeof(run));
	kill(program, SIGKILL);
	close(pair[0]);
	close(pair[1]);
	assert_int_equal(waitpid(program, NULL, 0), program);
	for (int i = 0; i < 60000 && !is_gone(run); i++)
		nanosleep(&wait, NULL);
	assert_true(is_gone(run));
}

/* ---- Workloads of the program ---- */

/* So few processes that a burst meets the limit; root is above it, nobody isn't. */
static int take_limit(void *arg)
{
	const struct rlimit limit = { 20, 20 };

	(void)arg;
	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		return -errno;
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return -errno;
	return 0;
}

static void expect_limit(const char *workload, const char *word)
{
	struct run_spec spec = { .rounds = 1, .enter = take_limit };
	struct seen seen = { 0 };

	assert_int_equal(execute(&spec, workload, NULL, &seen), 0);
	assert_false(outcome.is_valid);
	if (!strstr(outcome.reason, word) || !strstr(outcome.reason, "RLIMIT_NPROC (ulimit -u) is 20"))
		fail_msg("of %s: %s", workload, outcome.reason);
	/* The run itself has reaped all that were born. */
	assert_int_equal(outcome.leftovers, 0);
}

static void test_limits(void **state)
{
	(void)state;
	expect_limit("forky", "of 1000 failed, a limit was met");
	expect_limit("mkthreads", "of 1000 failed, a limit was met");
}

static void test_harness(void **state)
{
	double harness_ns = NAN;

	(void)state;
	assert_int_equal(run_harness_ns(&harness_ns, &why), 0);
	assert_true(harness_ns > 0);
}

/* A round of every workload whose options need nothing: all of its metrics are known. */
static void test_all(void **state)
{
	struct run_spec spec = { .rounds = 2, .warmup = 1 };
	struct seen seen = { 0 };
	static const char *const names[] = { "mkthreads", "forky", "spawn", "threads", "null" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(execute(&spec, names[i], NULL, &seen), 0);
		if (!outcome.is_valid)
			fail_msg("%s: %s", names[i], outcome.reason);
		assert_int_equal(seen.samples, 2);
		assert_int_equal(outcome.leftovers, 0);
		for (size_t k = 0; k < seen.values; k++)
			assert_true(seen.last[k] >= 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_enter),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_orphan),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_harness),
		cmocka_unit_test(test_all),
	};

	if (argc > 4 && strcmp(argv[0], RUN_NAME) == 0)
		return work(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

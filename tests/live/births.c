/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A known number of births and deaths, for tests that count them.
 *
 *	births forks N [--burst N] [--comm NAME] [--exit CODE] [--cpu-us N]
 *	births threads N ROUNDS
 *	births exec N
 *
 * forks: N children, each at most a fork and an exit, one after the other or in
 * bursts: a burst's children are waited for once all are born.
 * threads: in each round N threads; thread i sleeps (N-i)*2 microseconds, so
 * that they all end in one burst, and is joined in order.
 * exec: N children that execute this program, which does nothing.
 * The program's own end is one exit more.
 */
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT_MAX 10000000L

static void fail(const char *what)
{
	fprintf(stderr, "births: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int usage(void)
{
	fprintf(stderr, "usage: births forks N [--burst N] [--comm NAME] [--exit CODE]\n"
			"                     [--cpu-us N]\n"
			"       births threads N ROUNDS\n"
			"       births exec N\n");
	return 2;
}

static long number(const char *text, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > max)
		exit(usage());
	return value;
}

static int64_t own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void reap(pid_t pid, int code)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != code) {
		fprintf(stderr, "births: a child ended with status 0x%x\n", status);
		exit(1);
	}
}

struct forks {
	long count;
	long burst;
	long code;
	long cpu_us;
	const char *comm;
};

static void live(const struct forks *forks)
{
	if (forks->comm)
		prctl(PR_SET_NAME, forks->comm);
	while (forks->cpu_us && own_cpu_ns() < forks->cpu_us * 1000)
		;
	_exit((int)forks->code);
}

static pid_t bear(const struct forks *forks)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (pid == 0)
		live(forks);
	return pid;
}

static int run_forks(const struct forks *forks)
{
	pid_t *burst = calloc((size_t)forks->burst, sizeof(*burst));

	if (!burst)
		fail("calloc");
	for (long done = 0; done < forks->count; done += forks->burst) {
		long left = forks->count - done, born = 0;

		for (; born < forks->burst && born < left; born++)
			burst[born] = bear(forks);
		for (long i = 0; i < born; i++)
			reap(burst[i], (int)forks->code);
	}
	free(burst);
	return 0;
}

static void *sleep_and_end(void *arg)
{
	usleep((useconds_t)(uintptr_t)arg);
	return NULL;
}

static void run_round(pthread_t *threads, const pthread_attr_t *attr, long count)
{
	for (long i = 0; i < count; i++) {
		errno = pthread_create(&threads[i], attr, sleep_and_end,
				       (void *)(uintptr_t)((count - i) * 2));
		if (errno)
			fail("pthread_create");
	}
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static int run_threads(long count, long rounds)
{
	pthread_t *threads = calloc((size_t)count + 1, sizeof(*threads));
	pthread_attr_t attr;

	if (!threads)
		fail("calloc");
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 0; i < rounds; i++)
		run_round(threads, &attr, count);
	pthread_attr_destroy(&attr);
	free(threads);
	return 0;
}

static pid_t execute_nothing(const char *self)
{
	char name[] = "births", nothing[] = "nothing";
	char *argv[] = { name, nothing, NULL };
	pid_t pid;

	errno = posix_spawn(&pid, self, NULL, NULL, argv, environ);
	if (errno)
		fail("posix_spawn");
	return pid;
}

static int run_execs(long count)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		fail("/proc/self/exe");
	self[length] = '\0';
	for (long i = 0; i < count; i++)
		reap(execute_nothing(self), 0);
	return 0;
}

static int parse_forks(int argc, char **argv)
{
	struct forks forks = { .count = number(argv[0], COUNT_MAX), .burst = 1 };

	if (argc % 2 == 0)
		return usage();
	for (int i = 1; i < argc; i += 2) {
		if (strcmp(argv[i], "--burst") == 0)
			forks.burst = number(argv[i + 1], 100000);
		else if (strcmp(argv[i], "--comm") == 0)
			forks.comm = argv[i + 1];
		else if (strcmp(argv[i], "--exit") == 0)
			forks.code = number(argv[i + 1], 255);
		else if (strcmp(argv[i], "--cpu-us") == 0)
			forks.cpu_us = number(argv[i + 1], COUNT_MAX);
		else
			return usage();
	}
	return forks.burst ? run_forks(&forks) : usage();
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "nothing") == 0)
		return 0;
	if (argc >= 3 && strcmp(argv[1], "forks") == 0)
		return parse_forks(argc - 2, argv + 2);
	if (argc == 4 && strcmp(argv[1], "threads") == 0)
		return run_threads(number(argv[2], COUNT_MAX), number(argv[3], COUNT_MAX));
	if (argc == 3 && strcmp(argv[1], "exec") == 0)
		return run_execs(number(argv[2], COUNT_MAX));
	return usage();
}

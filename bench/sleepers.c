/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/sleepers.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/why.h"

/* They call nothing that needs more. */
#define STACK_BYTES (64 << 10)

#define AWAIT_NS (60 * NSEC_PER_SEC)

struct sleepers {
	/* Held as long as they are to sleep: each waits for it in a futex. */
	pthread_mutex_t gate;
	uint64_t count;
	pthread_t thread[];
};

static void *sleep_at_gate(void *arg)
{
	struct sleepers *sleepers = arg;

	pthread_mutex_lock(&sleepers->gate);
	pthread_mutex_unlock(&sleepers->gate);
	return NULL;
}

static int start_threads(struct sleepers *sleepers, uint64_t count, struct act_why *why)
{
	pthread_attr_t attr;
	int ret = pthread_attr_init(&attr);

	if (ret)
		return because(why, -ret, "out of memory");
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	while (ret == 0 && sleepers->count < count) {
		ret = pthread_create(&sleepers->thread[sleepers->count], &attr, sleep_at_gate,
				     sleepers);
		sleepers->count += ret == 0;
	}
	pthread_attr_destroy(&attr);
	return ret ? explain_limit(why, ret, "thread", sleepers->count, count) : 0;
}

int sleepers_start(uint64_t count, struct sleepers **ret_sleepers, struct act_why *why)
{
	struct sleepers *sleepers = NULL;
	int ret;

	if (count < (SIZE_MAX - sizeof(*sleepers)) / sizeof(pthread_t))
		sleepers = calloc(1, sizeof(*sleepers) + count * sizeof(pthread_t));
	if (!sleepers)
		return because(why, -ENOMEM, "out of memory");
	pthread_mutex_init(&sleepers->gate, NULL);
	pthread_mutex_lock(&sleepers->gate);
	ret = start_threads(sleepers, count, why);
	if (ret < 0) {
		sleepers_end(sleepers);
		return ret;
	}
	*ret_sleepers = sleepers;
	return 0;
}

static bool is_asleep(const char *tid)
{
	char path[64], line[512], *at;
	FILE *file;
	bool got;

	snprintf(path, sizeof(path), "/proc/self/task/%.16s/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return true; /* it has ended */
	got = fgets(line, sizeof(line), file) != NULL;
	fclose(file);
	/* The state is behind the name, which may hold anything. */
	at = got ? strrchr(line, ')') : NULL;
	return at && strncmp(at, ") S", 3) == 0;
}

/* Those that are not, the caller aside; or a negative errno. */
static int count_awake(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;
	int awake = 0;

	if (!tasks)
		return -errno;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != gettid() &&
		    !is_asleep(entry->d_name))
			awake++;
	closedir(tasks);
	return awake;
}

int sleepers_await(struct sleepers *sleepers, struct act_why *why)
{
	const struct timespec pause = { .tv_nsec = (long)NSEC_PER_MSEC };
	uint64_t limit_ns = clock_monotonic_ns() + AWAIT_NS;
	int awake = 0;

	while (sleepers && (awake = count_awake()) > 0 && clock_monotonic_ns() < limit_ns)
		nanosleep(&pause, NULL);
	if (awake < 0)
		return because(why, awake, "cannot read /proc/self/task: %s", strerror(-awake));
	return awake ? because(why, -ETIMEDOUT, "%d threads did not fall asleep", awake) : 0;
}

void sleepers_end(struct sleepers *sleepers)
{
	if (!sleepers)
		return;
	pthread_mutex_unlock(&sleepers->gate);
	for (uint64_t i = 0; i < sleepers->count; i++)
		pthread_join(sleepers->thread[i], NULL);
	pthread_mutex_destroy(&sleepers->gate);
	free(sleepers);
}

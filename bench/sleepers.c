/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/sleepers.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "bench/limit.h"
#include "bench/why.h"

/* They call nothing that needs more. */
#define STACK_BYTES (64 << 10)

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

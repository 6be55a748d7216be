/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log/syncer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

struct queued {
	struct sync_job job;
	struct queued *next;
};

struct syncer {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t work, done;
	struct queued *first, *last;
	uint64_t submitted, finished;
	bool is_ending;
	uint64_t durable, generation;
	uint64_t successes;
	int error;
};

static int sync_fd(int fd)
{
	return fd >= 0 && fdatasync(fd) < 0 ? -errno : 0;
}

static int do_job(const struct sync_job *job)
{
	int ret = sync_fd(job->segment_fd), tail = sync_fd(job->tail_fd);

	if (ret == 0)
		ret = tail;
	if (ret == 0 && job->dirfd >= 0 && fsync(job->dirfd) < 0)
		ret = -errno;
	if (!job->closes)
		return ret;
	/* Once the segment has all that was in its tail. */
	if (ret == 0 && job->tail[0])
		unlinkat(job->dirfd, job->tail, 0);
	if (job->segment_fd >= 0)
		close(job->segment_fd);
	if (job->tail_fd >= 0)
		close(job->tail_fd);
	return ret;
}

static void *work(void *arg)
{
	struct syncer *syncer = arg;

	pthread_mutex_lock(&syncer->mutex);
	for (;;) {
		struct queued *queued = syncer->first;
		int ret;

		if (!queued && syncer->is_ending)
			break;
		if (!queued) {
			pthread_cond_wait(&syncer->work, &syncer->mutex);
			continue;
		}
		syncer->first = queued->next;
		if (!syncer->first)
			syncer->last = NULL;
		pthread_mutex_unlock(&syncer->mutex);
		ret = do_job(&queued->job);
		pthread_mutex_lock(&syncer->mutex);
		syncer->finished++;
		syncer->error = ret;
		if (ret == 0) {
			syncer->successes++;
			syncer->durable = queued->job.records;
			syncer->generation = queued->job.generation;
		}
		free(queued);
		pthread_cond_broadcast(&syncer->done);
	}
	pthread_mutex_unlock(&syncer->mutex);
	return NULL;
}

struct syncer *syncer_new(void)
{
	struct syncer *syncer = calloc(1, sizeof(*syncer));
	pthread_attr_t attr;
	sigset_t all, before;
	int ret;

	if (!syncer)
		return NULL;
	pthread_mutex_init(&syncer->mutex, NULL);
	pthread_cond_init(&syncer->work, NULL);
	pthread_cond_init(&syncer->done, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	/* Signals are the caller's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&syncer->thread, &attr, work, syncer);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	if (ret) {
		free(syncer);
		return NULL;
	}
	return syncer;
}

void syncer_free(struct syncer *syncer)
{
	if (!syncer)
		return;
	pthread_mutex_lock(&syncer->mutex);
	syncer->is_ending = true;
	pthread_cond_signal(&syncer->work);
	pthread_mutex_unlock(&syncer->mutex);
	pthread_join(syncer->thread, NULL);
	pthread_mutex_destroy(&syncer->mutex);
	pthread_cond_destroy(&syncer->work);
	pthread_cond_destroy(&syncer->done);
	free(syncer);
}

int syncer_submit(struct syncer *syncer, const struct sync_job *job, bool wait)
{
	struct queued *queued = malloc(sizeof(*queued));
	uint64_t mine;
	int ret = 0;

	if (!queued)
		return -ENOMEM;
	queued->job = *job;
	queued->next = NULL;
	pthread_mutex_lock(&syncer->mutex);
	if (syncer->last)
		syncer->last->next = queued;
	else
		syncer->first = queued;
	syncer->last = queued;
	mine = ++syncer->submitted;
	pthread_cond_signal(&syncer->work);
	while (wait && syncer->finished < mine)
		pthread_cond_wait(&syncer->done, &syncer->mutex);
	if (wait)
		ret = syncer->error;
	pthread_mutex_unlock(&syncer->mutex);
	return ret;
}

uint64_t syncer_durable(struct syncer *syncer, uint64_t generation)
{
	uint64_t durable;

	pthread_mutex_lock(&syncer->mutex);
	durable = syncer->generation == generation ? syncer->durable : 0;
	pthread_mutex_unlock(&syncer->mutex);
	return durable;
}

bool syncer_is_idle(struct syncer *syncer)
{
	bool is_idle;

	pthread_mutex_lock(&syncer->mutex);
	is_idle = syncer->finished == syncer->submitted;
	pthread_mutex_unlock(&syncer->mutex);
	return is_idle;
}

uint64_t syncer_count(struct syncer *syncer)
{
	uint64_t count;

	pthread_mutex_lock(&syncer->mutex);
	count = syncer->successes;
	pthread_mutex_unlock(&syncer->mutex);
	return count;
}

int syncer_error(struct syncer *syncer)
{
	int error;

	pthread_mutex_lock(&syncer->mutex);
	error = syncer->error;
	pthread_mutex_unlock(&syncer->mutex);
	return error;
}

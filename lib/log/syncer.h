/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_SYNCER_H
#define LOG_SYNCER_H

/*
 * A thread that waits for the disk, so that whoever appends does not.  Jobs are
 * done in the order in which they were given.
 */
#include <stdbool.h>
#include <stdint.h>

#include "log/files.h"

struct syncer;

struct sync_job {
	int segment_fd;      /* made durable first; -1: none */
	int tail_fd;         /* then this; -1: none */
	int dirfd;           /* then the directory; -1: no need */
	bool closes;         /* afterwards both are closed ... */
	char tail[SEGMENT_NAME_BYTES]; /* ... and this file of @dirfd deleted; "": none */
	uint64_t records;    /* what is durable then: see syncer_durable() */
	uint64_t generation; /* the writer's segment */
};

/* NULL: no memory or no thread. */
struct syncer *syncer_new(void);
/* Does what was asked for, then ends. */
void syncer_free(struct syncer *syncer);

/* Queues a job; 0 or -ENOMEM.  With @wait returns when it is done: its error. */
int syncer_submit(struct syncer *syncer, const struct sync_job *job, bool wait);

/*
 * The last job that succeeded: returns its @records if it was of that
 * @generation, else 0.
 */
uint64_t syncer_durable(struct syncer *syncer, uint64_t generation);

/* Whether nothing waits to be done. */
bool syncer_is_idle(struct syncer *syncer);

uint64_t syncer_count(struct syncer *syncer); /* jobs that succeeded */
int syncer_error(struct syncer *syncer);      /* of the last job */

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_RECORDER_H
#define ACTUARY_RECORDER_H

/*
 * The recorder: a source, a fold and a log, put in a row.
 *
 *	source --tasks--> fold --records--> log
 *	       --gaps---------------------> log
 */
#include <stdbool.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/record.h>
#include <actuary/source.h>

struct recorder {
	struct act_source *source;
	struct act_fold *fold;
	struct act_log_writer *writer;
	enum act_per per;
	int stat_fd;            /* /proc/stat, -1 in a replay */
	uint64_t began_ns;      /* wall clock */
	uint64_t began_forks;   /* ACT_UNKNOWN in a replay */
	uint64_t delayacct;     /* the switch, as last written to the log */
	/* What went through. */
	uint64_t exits;
	uint64_t processes, failed, killed, partial;
	uint64_t synced_exits;  /* exits at the last sync */
	/* Called whenever @exits passes a multiple of @every; 0: never. */
	uint64_t every;
	void (*on_every)(void *arg, const struct recorder *recorder);
	void *on_every_arg;
};

/*
 * Joins an open source and an open writer, which the recorder then owns, also
 * when it fails.  @is_replay: the source tells the past, nothing is live.
 * Returns 0 or negative errno.
 */
int recorder_init(struct recorder *recorder, struct act_source *source,
		  struct act_log_writer *writer, enum act_per per, bool is_replay);

/* Writes the state that begins a recording; @gap as act_log_writer_open() set it. */
int recorder_start(struct recorder *recorder, const struct act_gap *gap, const char *text);

/* Takes what the source has; 0, 1 at the end of a replay, negative errno. */
int recorder_drain(struct recorder *recorder);

/*
 * Makes durable what was taken; the disk works in the background.  The account
 * is complete up to now: if something was dropped, its gap is closed first.
 */
int recorder_sync(struct recorder *recorder);

/* Completes the account and writes the state that ends it.  Negative errno on failure. */
int recorder_stop(struct recorder *recorder);

/* Closes all; returns the log's error, if exits could not be stored. */
int recorder_release(struct recorder *recorder);

/* Forks since boot, the kernel's own count ("processes" of /proc/stat), or ACT_UNKNOWN. */
uint64_t recorder_forks(const struct recorder *recorder);

#endif

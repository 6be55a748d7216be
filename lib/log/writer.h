/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_WRITER_H
#define LOG_WRITER_H

/* What a writer is, for writer.c, segment.c and recover.c only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>

#include "base/buffer.h"
#include "log/block.h"
#include "log/files.h"
#include "log/format.h"
#include "log/syncer.h"

/* More gaps than this in one group are merged, by CPU and cause. */
#define EVENTS_MAX 1024

struct event {
	bool is_gap;
	union {
		struct act_gap gap;
		struct act_state state;
	};
};

/* An encoded block that is not written yet. */
struct waiting {
	struct buffer bytes;
	struct waiting *next;
};

struct act_log_writer {
	struct act_log_writer_options options;
	struct act_log_writer_stats stats;
	int dirfd, lock_fd;
	struct syncer *syncer;
	/* The segment and its tail. */
	int fd, tail_fd;
	char name[SEGMENT_NAME_BYTES];
	uint64_t number, created_ns, header_bytes;
	uint64_t offset, tail_offset;
	bool is_dirty, is_tail_dirty, is_dir_dirty;
	uint64_t tail_covered_at; /* the segment's length that holds all of the tail */
	/* The group. */
	struct position base;     /* the counts before it */
	struct group *group;
	size_t tail_rows;         /* of it, so many are in the tail */
	struct event *event;
	size_t events, tail_events;
	uint64_t forks;
	/* A full disk. */
	struct waiting *waiting, *waiting_last;
	uint64_t waiting_bytes;
	struct act_gap dropping;  /* count is 0 when nothing was dropped */
};

/* Makes a segment and, when that worked, the writer's present one. */
int writer_begin_segment(struct act_log_writer *writer, uint64_t number);

/*
 * Makes blocks of what has gathered, and writes them if there is room: 0 also if
 * there is none, -ENOMEM.
 */
int writer_close_group(struct act_log_writer *writer);

/*
 * Goes on with the log that is there: mends its end, begins a new segment and
 * brings over what only tails hold.  @ret_gap and @why as act_log_writer_open().
 */
int writer_recover(struct act_log_writer *writer, const char *dir, struct act_gap *ret_gap,
		   struct act_why *why);

#endif

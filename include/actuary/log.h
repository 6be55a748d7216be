/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LOG_H
#define ACTUARY_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/record.h>
#include <actuary/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The log: a directory of segments, specified in actuary-log(5).
 *
 * One writer a log, any number of readers, also while it is being written.
 * What a successful act_log_writer_sync() covers survives kill -9 and a power
 * cut.  Records are numbered from 0 through the life of a log, across segments.
 */

/* ---- States: what happened to the recording itself, kept in the log ---- */

enum act_state_type {
	ACT_STATE_START = 1,   /* recording began */
	ACT_STATE_STOP = 2,    /* recording ended as it should */
	ACT_STATE_RESTART = 3, /* began over a log whose writer had died */
	ACT_STATE_SWITCH = 4,  /* kernel.task_delayacct changed */
	ACT_STATE_RESUME = 5,  /* storage has room again, see the gap before it */
};

const char *act_state_name(enum act_state_type type);

struct act_state {
	enum act_state_type type;
	uint64_t time_ns;   /* wall clock */
	uint64_t delayacct; /* kernel.task_delayacct then: 0, 1 or ACT_UNKNOWN */
	uint64_t forks;     /* "processes" of /proc/stat then, or ACT_UNKNOWN */
	uint64_t recorded;  /* exits recorded so far by this writer */
	uint64_t lost;      /* exits lost so far by this writer */
	char text[256];     /* e.g. "actuary 0.1.0, taskstats v16, cpus 0-1" */
};

/* ---- Writing ---- */

struct act_log_writer;

struct act_log_writer_options {
	size_t size;             /* sizeof(struct act_log_writer_options) */
	uint64_t rotate_bytes;   /* segment size to rotate at; 0: 64 MiB */
	uint64_t rotate_age_ns;  /* segment age to rotate at; 0: one day */
	uint64_t keep_bytes;     /* total size kept, oldest deleted; 0: all */
	uint64_t keep_age_ns;    /* total age kept; 0: all */
	uint64_t memory_bytes;   /* encoded blocks held while the disk is full; 0: 4 MiB */
	uint32_t block_records;  /* records a block; 0: 4096 */
};

/*
 * Opens @dir for writing, making it (0750, files 0640) if it is not there.
 * Takes the lock, mends the torn end of a writer that died, and begins a new
 * segment.  Returns 0, or -EBUSY (another writer has it; @ret_why names its
 * pid), -EUCLEAN (a directory that holds something else), -EPROTONOSUPPORT
 * (newer format), other errno.
 *
 * If the last writer died, @ret_gap->cause is ACT_CAUSE_DOWN and the gap spans
 * from its last durable record to now; the caller appends it, with the restart
 * state.  Else @ret_gap->cause is 0.
 */
int act_log_writer_open(const char *dir, const struct act_log_writer_options *options,
			struct act_log_writer **ret_writer,
			struct act_gap *ret_gap, struct act_why *ret_why);

/*
 * Append.  They return 0 also when the disk is full (the records wait in
 * memory, then are dropped and counted as a gap of cause STORAGE, which
 * the writer appends by itself once there is room), or -ENOMEM.
 */
int act_log_append(struct act_log_writer *writer, const struct act_record *record);
int act_log_append_gap(struct act_log_writer *writer, const struct act_gap *gap);
int act_log_append_state(struct act_log_writer *writer, const struct act_state *state);

/*
 * Makes all that was appended durable.  With @wait false the disk works in
 * the background while appending goes on.  @forks is kept in the block header
 * as the independent witness (ACT_UNKNOWN if not read).  Also applies rotation
 * by age and retention.  Returns 0, -ENOSPC and the like when it could not
 * (records are kept in memory; not fatal).
 */
int act_log_writer_sync(struct act_log_writer *writer, uint64_t forks, bool wait);

/*
 * Makes a block of what has gathered, however little, and waits until it is
 * durable: for the end of a recording.  Same returns as act_log_writer_sync().
 */
int act_log_writer_flush(struct act_log_writer *writer);

/* Closes the segment and begins the next one. */
int act_log_writer_rotate(struct act_log_writer *writer);

struct act_log_writer_stats {
	uint64_t records;  /* appended */
	uint64_t dropped;  /* records dropped because storage was full */
	uint64_t dropped_exits; /* and the exits they stood for */
	uint64_t bytes;    /* written to segments, headers included */
	uint64_t segments; /* begun by this writer */
	uint64_t syncs;    /* made durable so many times */
	int error;         /* last storage error, negative errno; 0: none now */
};
void act_log_writer_stats(const struct act_log_writer *writer,
			  struct act_log_writer_stats *ret_stats);

/*
 * Writes what is left, closes and unlocks.  Returns 0, also when records were
 * dropped and the log tells so, or the storage error because of which what was
 * left could not be written.  NULL is allowed.
 */
int act_log_writer_close(struct act_log_writer *writer);

/* ---- Reading ---- */

/* Which fields a reader decodes: one bit a field. */
struct act_field_set {
	uint64_t bits[(ACT_FIELDS + 63) / 64];
};
static inline void act_field_set_add(struct act_field_set *set, enum act_field field)
{
	set->bits[field / 64] |= UINT64_C(1) << (field % 64);
}
/* Every field, the derived ones included. */
static inline void act_field_set_all(struct act_field_set *set)
{
	for (int field = 0; field < ACT_FIELDS; field++)
		act_field_set_add(set, (enum act_field)field);
}
static inline bool act_field_set_has(const struct act_field_set *set, enum act_field field)
{
	return set->bits[field / 64] >> (field % 64) & 1;
}

/* The different texts of one column of one batch. */
struct act_texts {
	size_t count;
	const char *const *text;  /* NUL-terminated, may hold any other byte */
	const uint32_t *length;
};

/*
 * Records, column by column.  A selected column always has @rows values;
 * fields that the segment does not have are ACT_UNKNOWN throughout.  The value
 * of a text field is an index into its texts.  Valid until the next
 * act_log_next() or act_log_reader_free().
 */
struct act_batch {
	size_t rows;
	uint64_t first;                     /* number of the first record */
	const uint64_t *column[ACT_FIELDS]; /* NULL if not selected */
	struct act_texts text[ACT_FIELDS];  /* of text fields that were selected */
};

/* Copies one row; fields that were not selected become ACT_UNKNOWN. */
void act_batch_record(const struct act_batch *batch, size_t row,
		      struct act_record *ret_record);

/* A part of a log that could not be read. */
struct act_damage {
	char segment[64];     /* file name */
	uint64_t offset;      /* bytes from the start of the file */
	uint64_t bytes;       /* skipped */
	uint64_t records;     /* lost with it; ACT_UNKNOWN if not known */
	uint64_t exits;       /* that they stood for; ACT_UNKNOWN if not known */
	bool is_torn_tail;    /* the unfinished end of a writer that died or lives */
	const char *reason;   /* static text: "checksum", "cut short", ... */
};

enum act_item_type {
	ACT_ITEM_BATCH,
	ACT_ITEM_GAP,
	ACT_ITEM_STATE,
	ACT_ITEM_DAMAGE,
	ACT_ITEM_SEGMENT, /* a new segment begins */
};

struct act_segment_info {
	char name[64];
	char boot_id[37];   /* "" if not known */
	char host[65];      /* bytes as the kernel had them; escape them */
	char kernel[65];    /* release */
	uint64_t created_ns;
	uint64_t number;
	unsigned int format; /* version of the log format */
};

struct act_item {
	enum act_item_type type;
	union {
		struct act_batch batch;
		struct act_gap gap;
		struct act_state state;
		struct act_damage damage;
		struct act_segment_info segment;
	};
};

struct act_log_reader;

/*
 * Opens a log directory or a single segment.  Returns 0, -ENOENT, -ENODATA (an
 * empty file or a directory without a segment), -EUCLEAN (not a log),
 * -EPROTONOSUPPORT (newer format), other errno; @ret_why is filled on failure.
 */
int act_log_reader_open(const char *path, struct act_log_reader **ret_reader,
			struct act_why *ret_why);

/* Decode these fields only (derived ones may be named).  Default: none. */
void act_log_select(struct act_log_reader *reader, const struct act_field_set *fields);

/*
 * Skip blocks in which no value of @field lies in [min, max], by the blocks'
 * own minima and maxima.  Rows of other blocks are not filtered.
 */
void act_log_prune(struct act_log_reader *reader, enum act_field field,
		   uint64_t min, uint64_t max);

/*
 * The next item, in the order of the log.  Returns 0; 1 at the present end (a
 * later call delivers what was written since, each record once); negative
 * errno only when reading itself fails (I/O, memory), never for damage, which
 * is an item.
 */
int act_log_next(struct act_log_reader *reader, struct act_item *ret_item);

/* True when the log's last writer has it open now. */
bool act_log_is_live(const struct act_log_reader *reader);

void act_log_reader_free(struct act_log_reader *reader); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_WALK_H
#define LOG_WALK_H

/*
 * What a reader is, for reader.c (which segment, which block comes next),
 * stream.c (segments and blocks out of files), deliver.c (blocks to items) and
 * open.c (from a path to a reader) only.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>

#include "base/buffer.h"
#include "log/block.h"
#include "log/files.h"
#include "log/format.h"
#include "log/reader.h"

#define PRUNES_MAX 16

/* A file that is read block by block. */
struct stream {
	int fd;
	uint64_t offset;
};

/* What could not be read, until it is known what was in it. */
struct pending {
	bool is_there;
	bool is_torn;
	bool is_unknown; /* nothing tells what was in it */
	bool is_of_tail;
	bool has_after;  /* its own header is whole, and tells */
	struct position after;
	char name[SEGMENT_NAME_BYTES];
	uint64_t offset, bytes;
	const char *reason;
};

enum phase {
	PHASE_BETWEEN, /* no segment is open */
	PHASE_SEGMENT,
	PHASE_TAIL,
};

struct act_log_reader {
	int dirfd;
	char single[SEGMENT_NAME_BYTES]; /* only this segment; "": all */
	uint64_t last_number; /* none behind this one; 0: all */
	bool is_only;    /* when opened, the log was one segment */
	enum reader_part part;
	enum phase phase;
	/* The present segment. */
	struct segment_header header;
	char name[SEGMENT_NAME_BYTES];
	uint64_t number;
	bool has_newer;  /* nothing more will be written to it */
	struct stream segment, tail;
	uint64_t good_end;
	bool has_restarted_tail;
	struct pending pending;
	/* Where the counts stand; the first block sets them. */
	struct position next;
	bool has_next;
	uint64_t last_ns;
	/* The present block. */
	struct block_header block;
	struct buffer body;
	bool has_block; /* loaded, not delivered */
	struct cursor events;
	uint32_t events_left;
	struct act_field_set wanted;
	struct prune prune[PRUNES_MAX];
	size_t prunes;
	struct decoder *decoder;
};

enum loaded {
	LOADED_BLOCK,
	LOADED_END,       /* nothing more */
	LOADED_BAD,       /* something that is no whole block */
};

/* ---- stream.c ---- */

/*
 * Loads the block at @offset of @fd: enum loaded, or negative errno if the disk
 * fails.  @ret_reason says what is bad.
 */
int reader_load_block(struct act_log_reader *reader, int fd, uint64_t offset,
		      const char **ret_reason);
/* Length of the loaded block, header included. */
uint64_t reader_block_bytes(const struct act_log_reader *reader);
/* Loads the next whole block after @from: its offset, UINT64_MAX if none follows. */
int reader_scan(struct act_log_reader *reader, int fd, uint64_t from, uint64_t *ret_offset);

/* Opens a segment; 0, or the negative errno of segment_header_unpack() and others. */
int reader_enter(struct act_log_reader *reader, const char *name, uint64_t number);
void reader_close_segment(struct act_log_reader *reader);
void reader_tell_segment(const struct act_log_reader *reader, struct act_item *ret_item);
/* Keeps in mind that @bytes of a stream, from where it stands, cannot be read. */
void reader_note_pending(struct act_log_reader *reader, const struct stream *stream,
			 uint64_t bytes, const char *reason);

/* ---- deliver.c ---- */

/* Makes an item of what is pending. */
void reader_tell_damage(struct act_log_reader *reader, uint64_t records, uint64_t exits,
			struct act_item *ret_item);
/*
 * Compares where the counts should stand with where they do.  True if damage
 * is to be told first.
 */
bool reader_check_position(struct act_log_reader *reader, struct position found,
			   struct act_item *ret_item);
/* What of the loaded block was not delivered yet: 0 an item, 1 nothing, negative errno. */
int reader_deliver_block(struct act_log_reader *reader, struct act_item *ret_item);
/* The next event of a block of events: same returns. */
int reader_next_event(struct act_log_reader *reader, struct act_item *ret_item);

static inline uint64_t beyond(uint64_t value, uint64_t expected)
{
	return value > expected ? value - expected : 0;
}

/* ---- reader.c ---- */

/* The next segment by number, or the single one; 1: there is none. */
int reader_find_segment(struct act_log_reader *reader, struct segment_file *ret_file);

#endif

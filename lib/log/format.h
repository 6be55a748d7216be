/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_FORMAT_H
#define LOG_FORMAT_H

/*
 * The bytes of a log, as actuary-log(5) specifies them.
 *
 *	segment:  segment header, block, block, ...
 *	tail:     block, block, ...       (what is not yet in a full block)
 *	block:    block header, body
 *
 * Three things are numbered through the life of a log: records, events (gaps
 * and states), and exits.  Every block header tells where each count stood
 * before it, so that any whole block says exactly what is missing before it,
 * and what is read twice (from the tail and from the segment) is seen.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/record.h>

#include "base/buffer.h"

#define FORMAT_VERSION 1
#define SEGMENT_MAGIC "\x89" "ACTLOG\n"
#define SEGMENT_MAGIC_BYTES 8
#define SEGMENT_HEADER_MAX 65536
#define BLOCK_MAGIC UINT32_C(0x4b4c4241) /* "ABLK" */
#define BLOCK_HEADER_BYTES 96
#define BLOCK_ROWS_MAX 65536
#define BLOCK_BODY_MAX (32u << 20)

enum block_type {
	BLOCK_RECORDS = 1,
	BLOCK_EVENTS = 2,
};

/* Where the three counts stand. */
struct position {
	uint64_t records;
	uint64_t events;
	uint64_t exits;
};

struct block_header {
	unsigned int type;      /* enum block_type, or one that is not known yet */
	uint32_t schema;        /* hash of the schema that its columns refer to */
	uint32_t count;         /* records, or events */
	uint32_t body_bytes;
	uint64_t body_checksum;
	struct position before; /* the counts before this block */
	uint64_t exits;         /* what its records stand for */
	uint64_t first_ns;      /* earliest and latest end in it, wall clock */
	uint64_t last_ns;
	uint64_t forks;         /* of /proc/stat when it was made, or ACT_UNKNOWN */
};

/* False if the magic, the checksum or a bound is wrong. */
bool block_header_unpack(const uint8_t *bytes, struct block_header *ret_header);
/* The counts behind it. */
struct position block_after(const struct block_header *header);

/*
 * A block in place: begin it, append the body, seal it.  block_begin() returns
 * where it begins; block_seal() sets @header's body_bytes and body_checksum.
 */
size_t block_begin(struct buffer *buffer);
void block_seal(struct block_header *header, size_t start, struct buffer *buffer);

uint64_t format_checksum(const void *data, size_t length);

/* Which column of a segment is which field: -1 for a field not known here. */
struct schema {
	uint32_t hash;
	size_t columns;
	int16_t field[256];
};

struct segment_header {
	uint64_t number;
	struct position before;
	uint64_t created_ns;
	uint8_t boot_id[16];
	char host[65];
	char kernel[65];
	unsigned int format;
	struct schema schema;
};

/* The schema of this version of the program: every field that is stored. */
void schema_own(struct schema *ret_schema);

/* Packs with the own schema. */
void segment_header_pack(const struct segment_header *header, struct buffer *buffer);

/*
 * Returns its length in bytes, or -ENODATA (cut short), -EUCLEAN (not one),
 * -EBADMSG (damaged), -EPROTONOSUPPORT (a newer format).
 */
int segment_header_unpack(const uint8_t *bytes, size_t length,
			  struct segment_header *ret_header);

/* Whether a field has a column of its own in the log. */
static inline bool field_is_stored(enum act_field field)
{
	return !(act_field_table[field].sources & ACT_FROM_DERIVED);
}

/* ---- Events: the body of a block of type BLOCK_EVENTS ---- */

void event_pack_gap(const struct act_gap *gap, struct buffer *buffer);
void event_pack_state(const struct act_state *state, struct buffer *buffer);

/*
 * The next event of a body: 0 and @ret_item (a gap or a state), 1 for one of a
 * kind that is not known here (skipped), -EBADMSG when the body is at its end
 * or out of shape.
 */
int event_unpack(struct cursor *cursor, struct act_item *ret_item);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_BLOCK_H
#define LOG_BLOCK_H

/*
 * The body of a block of records: a directory of columns, then a frame for each
 * column that is not constant.  actuary-log(5) tells each byte.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/record.h>

#include "base/buffer.h"
#include "log/format.h"

/* How a column is kept; the low bits of its descriptor. */
enum column_kind {
	COLUMN_CONSTANT = 0,
	COLUMN_NUMBERS = 1,
	COLUMN_TEXT = 2,
};

/* What a value is told as the difference to. */
enum column_base {
	BASE_MINIMUM = 0, /* the smallest of the column */
	BASE_PREVIOUS = 1, /* the row before */
	BASE_SAME_COMM = 2, /* the last row of the same command */
	BASE_FIELD = 3, /* another field of the same row */
};

/* In place of a column's number as base: the sum of user_ns and system_ns. */
#define BASE_IS_CPU UINT64_C(256)

enum {
	DESCRIPTOR_KIND = 0x03,
	DESCRIPTOR_BASE = 0x0c,
	DESCRIPTOR_BASE_SHIFT = 2,
	DESCRIPTOR_UNKNOWNS = 0x10, /* some are unknown: a bit map comes first */
	DESCRIPTOR_STORED = 0x20,   /* the frame is not compressed */
};

/* ---- Encoding: a group of records in memory ---- */

struct group;

/* NULL: no memory. */
struct group *group_new(size_t rows);
void group_free(struct group *group);
void group_clear(struct group *group);
size_t group_rows(const struct group *group);
void group_append(struct group *group, const struct act_record *record);
/* Sum of field exits, and the span of end_ns, over rows [from, to). */
uint64_t group_exits(const struct group *group, size_t from, size_t to);
void group_span(const struct group *group, size_t from, size_t to,
		uint64_t *ret_first_ns, uint64_t *ret_last_ns);
/*
 * Appends a whole block (header and body) of rows [from, to).  @header gives
 * type-independent fields (before, forks); the rest is filled in.  0 or -ENOMEM.
 */
int group_encode(struct group *group, size_t from, size_t to, struct block_header *header,
		 struct buffer *buffer);

/* ---- Decoding ---- */

struct decoder;

struct decoder *decoder_new(void); /* NULL: no memory */
void decoder_free(struct decoder *decoder);

/*
 * Decodes the fields of @wanted into @ret_batch (which stays valid until the
 * next call).  The body's checksum has been checked; whatever it says is
 * bounded all the same.  0, -EBADMSG, -ENOMEM.
 */
int decoder_decode(struct decoder *decoder, const struct schema *schema,
		   const struct block_header *header, const uint8_t *body,
		   const struct act_field_set *wanted, struct act_batch *ret_batch);

/* A field and the values of it that matter. */
struct prune {
	enum act_field field;
	uint64_t min, max;
};

/* Whether no row of the block can have a value of the field in [min, max]. */
bool block_is_outside(const struct schema *schema, const struct block_header *header,
		      const uint8_t *body, const struct prune *prune);

#endif

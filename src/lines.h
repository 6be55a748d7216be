/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LINES_H
#define ACTUARY_LINES_H

/*
 * Records as lines: text of fixed width, JSON, CSV, or GNU lastcomm's lines.
 *
 * Nothing is held back: a batch goes out as it comes, so a log of any size
 * takes the same memory and a followed one shows at once.
 */
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>

#include "column.h"
#include "out.h"

enum lines_format {
	LINES_TEXT,
	LINES_JSON,
	LINES_CSV,
	LINES_LASTCOMM, /* has its own columns */
};

struct lines;

/* @columns must outlive it.  NULL: no memory. */
struct lines *lines_new(enum lines_format format, const struct column *columns, size_t count);
void lines_free(struct lines *lines);

/* Adds the fields that the lines need. */
void lines_fields(const struct lines *lines, struct act_field_set *fields);

/* The line of headings, where the format has one. */
void lines_heading(struct lines *lines, struct out *out);

/* A line for each of the @count rows, in their order.  Returns 0 or -ENOMEM. */
int lines_print(struct lines *lines, struct out *out, const struct act_batch *batch,
		const uint32_t *rows, size_t count);

#endif

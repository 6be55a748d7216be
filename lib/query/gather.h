/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUERY_GATHER_H
#define QUERY_GATHER_H

/*
 * Records gathered into batches.  Zeroes are an empty one; the fields are
 * selected before the first record.
 */
#include <actuary/log.h>

#include "intern.h"

struct gather {
	struct act_field_set fields;
	size_t rows, room;
	size_t taken;   /* rows that batches have been made of */
	uint64_t first; /* number of the record in row 0 */
	uint64_t *column[ACT_FIELDS];
	struct intern names; /* the different ones of the rows */
};

void gather_select(struct gather *gather, const struct act_field_set *fields);

/* Copies @record; derived values are computed.  0 or -ENOMEM. */
int gather_append(struct gather *gather, const struct act_record *record);

/*
 * The rows appended since, as one batch, valid until the next call that
 * changes @gather.  False if there are none.
 */
bool gather_take(struct gather *gather, struct act_batch *ret_batch);

void gather_clear(struct gather *gather); /* forgets the rows, keeps the memory */
void gather_release(struct gather *gather);

#endif

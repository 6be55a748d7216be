/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUERY_KEYS_H
#define QUERY_KEYS_H

/* The values by which rows are told apart, a key and a batch at a time. */
#include <actuary/query.h>

/* A span of local time that has been worked out: records come nearly in order. */
struct keys_span {
	uint64_t start_ns, end_ns; /* [start, end) */
};

/* The fields that the key is made from: adds them. */
void keys_fields(const struct act_key *key, struct act_field_set *fields);

bool keys_is_text(const struct act_key *key);

/* The key's value in each of the rows; not for texts.  @span begins as zeroes. */
void keys_values(const struct act_key *key, struct keys_span *span,
		 const struct act_batch *batch, const uint32_t *rows, size_t count,
		 uint64_t *ret_values);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which records pass.  Each condition is one tight loop over one column that
 * narrows the list of rows; the command name is matched once for each
 * different name of a batch.
 */
#include <actuary/query.h>

#include <fnmatch.h>
#include <string.h>

#include "base/wide.h"

/* Names of a batch whose verdict is kept; further ones are matched row by row. */
#define VERDICTS 8192

/* The wait status: the signal, and whatever is not success (core bit aside). */
#define SIGNAL_BITS UINT64_C(0x7f)
#define FAILED_BITS UINT64_C(0xff7f)

void act_filter_init(struct act_filter *filter)
{
	*filter = (struct act_filter){
		.size = sizeof(*filter),
		.kinds = ACT_KIND_PROCESS,
		.uid = ACT_UNKNOWN,
		.pid = ACT_UNKNOWN,
		.until_ns = UINT64_MAX,
	};
}

static bool has_span(const struct act_filter *filter)
{
	return filter->since_ns > 0 || filter->until_ns < UINT64_MAX;
}

void act_filter_fields(const struct act_filter *filter, struct act_field_set *fields)
{
	act_field_set_add(fields, ACT_F_kind);
	if (filter->comm)
		act_field_set_add(fields, ACT_F_comm);
	if (filter->uid != ACT_UNKNOWN)
		act_field_set_add(fields, ACT_F_uid);
	if (filter->pid != ACT_UNKNOWN)
		act_field_set_add(fields, ACT_F_pid);
	if (has_span(filter))
		act_field_set_add(fields, ACT_F_end_ns);
	if (filter->longer_ns)
		act_field_set_add(fields, ACT_F_wall_ns);
	if (filter->failed || filter->signal)
		act_field_set_add(fields, ACT_F_status);
}

void act_filter_prune(const struct act_filter *filter, struct act_input *input)
{
	if (filter->uid != ACT_UNKNOWN)
		act_input_prune(input, ACT_F_uid, filter->uid, filter->uid);
	if (filter->pid != ACT_UNKNOWN)
		act_input_prune(input, ACT_F_pid, filter->pid, filter->pid);
	if (has_span(filter) && filter->until_ns)
		act_input_prune(input, ACT_F_end_ns, filter->since_ns, filter->until_ns - 1);
	if (filter->longer_ns)
		act_input_prune(input, ACT_F_wall_ns, filter->longer_ns, UINT64_MAX);
}

WIDE static bool are_all_of(const uint64_t *kind, unsigned int kinds, size_t count)
{
	uint64_t others = 0;

	for (size_t i = 0; i < count; i++)
		others |= (uint64_t)((kind[i] & kinds) == 0) | (kind[i] & ACT_UNKNOWN);
	return !others;
}

static size_t take_kinds(const uint64_t *kind, unsigned int kinds, size_t count, uint32_t *ret_rows)
{
	size_t kept = 0;

	/* As it is in most batches. */
	if (are_all_of(kind, kinds, count)) {
		for (size_t i = 0; i < count; i++)
			ret_rows[i] = (uint32_t)i;
		return count;
	}
	for (size_t i = 0; i < count; i++) {
		ret_rows[kept] = (uint32_t)i;
		kept += kind[i] != ACT_UNKNOWN && (kind[i] & kinds) != 0;
	}
	return kept;
}

static size_t keep_range(const uint64_t *column, uint64_t min, uint64_t max, uint32_t *rows,
			 size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = column[rows[i]];

		rows[kept] = rows[i];
		kept += value >= min && value <= max && value != ACT_UNKNOWN;
	}
	return kept;
}

static size_t keep_bits(const uint64_t *column, uint64_t mask, uint32_t *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = column[rows[i]];

		rows[kept] = rows[i];
		kept += value != ACT_UNKNOWN && (value & mask) != 0;
	}
	return kept;
}

static size_t keep_signal(const uint64_t *status, uint64_t signal, uint32_t *rows, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t value = status[rows[i]];

		rows[kept] = rows[i];
		kept += value != ACT_UNKNOWN && (value & SIGNAL_BITS) == signal;
	}
	return kept;
}

static size_t keep_comm(const struct act_batch *batch, const char *pattern, uint32_t *rows,
			size_t count)
{
	const struct act_texts *texts = &batch->text[ACT_F_comm];
	const uint64_t *column = batch->column[ACT_F_comm];
	size_t known = texts->count < VERDICTS ? texts->count : VERDICTS;
	bool verdicts[VERDICTS];
	size_t kept = 0;

	for (size_t i = 0; i < known; i++)
		verdicts[i] = fnmatch(pattern, texts->text[i], 0) == 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t text = column[rows[i]];

		rows[kept] = rows[i];
		if (text < known)
			kept += verdicts[text];
		else if (text < texts->count)
			kept += fnmatch(pattern, texts->text[text], 0) == 0;
	}
	return kept;
}

size_t act_filter_rows(const struct act_filter *filter, const struct act_batch *batch,
		       uint32_t *ret_rows)
{
	const uint64_t *const *column = batch->column;
	size_t count = take_kinds(column[ACT_F_kind], filter->kinds, batch->rows, ret_rows);

	if (has_span(filter))
		count = filter->until_ns ? keep_range(column[ACT_F_end_ns], filter->since_ns,
						      filter->until_ns - 1, ret_rows, count) : 0;
	if (filter->uid != ACT_UNKNOWN)
		count = keep_range(column[ACT_F_uid], filter->uid, filter->uid, ret_rows, count);
	if (filter->pid != ACT_UNKNOWN)
		count = keep_range(column[ACT_F_pid], filter->pid, filter->pid, ret_rows, count);
	if (filter->longer_ns)
		count = keep_range(column[ACT_F_wall_ns], filter->longer_ns, UINT64_MAX, ret_rows,
				   count);
	if (filter->failed)
		count = keep_bits(column[ACT_F_status], FAILED_BITS, ret_rows, count);
	if (filter->signal < 0)
		count = keep_bits(column[ACT_F_status], SIGNAL_BITS, ret_rows, count);
	else if (filter->signal > 0)
		count = keep_signal(column[ACT_F_status], (uint64_t)filter->signal, ret_rows,
				    count);
	if (filter->comm)
		count = keep_comm(batch, filter->comm, ret_rows, count);
	return count;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_QUERY_H
#define ACTUARY_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Questions to a log: which records (filter), and what they add up to (group).
 */

/* ---- Input: a log or a capture, both as batches ---- */

struct act_input;

/*
 * Opens a log directory, a segment, or a capture of raw messages; the latter is
 * decoded and folded (both kinds).  Same returns as act_log_reader_open().
 */
int act_input_open(const char *path, struct act_input **ret_input, struct act_why *ret_why);
/* As act_log_select(), act_log_prune(), act_log_next(), act_log_is_live(). */
void act_input_select(struct act_input *input, const struct act_field_set *fields);
void act_input_prune(struct act_input *input, enum act_field field, uint64_t min, uint64_t max);
int act_input_next(struct act_input *input, struct act_item *ret_item);
bool act_input_is_live(const struct act_input *input);
void act_input_free(struct act_input *input); /* NULL is allowed */

/* ---- Filter: which records ---- */

struct act_filter {
	size_t size;        /* sizeof(struct act_filter) */
	unsigned int kinds; /* enum act_kind bits: a record passes if it has one of them */
	const char *comm;   /* shell pattern, fnmatch(3), on the command name; NULL: any */
	uint64_t uid;       /* ACT_UNKNOWN: any */
	uint64_t pid;       /* process id, ACT_UNKNOWN: any */
	uint64_t since_ns;  /* ended at or after; 0: ever */
	uint64_t until_ns;  /* ended before; UINT64_MAX: ever */
	uint64_t longer_ns; /* wall time at least; 0: any */
	bool failed;        /* only those that ended with code != 0 or by a signal */
	int signal;         /* killed by this one; -1: by any; 0: no matter */
};

/* Passes every process. */
void act_filter_init(struct act_filter *filter);
/* Adds the fields that the filter looks at. */
void act_filter_fields(const struct act_filter *filter, struct act_field_set *fields);
/* Tells the input which blocks cannot hold a record that passes. */
void act_filter_prune(const struct act_filter *filter, struct act_input *input);
/*
 * Which rows of the batch pass: their indices, ascending, into @ret_rows (room
 * for batch->rows).  Returns how many.  A row whose value is unknown passes no
 * condition on that value.
 */
size_t act_filter_rows(const struct act_filter *filter, const struct act_batch *batch,
		       uint32_t *ret_rows);

#ifdef __cplusplus
}
#endif

#endif

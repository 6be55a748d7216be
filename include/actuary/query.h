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
 * A damaged capture ends with an item of damage whose offset and length are
 * ACT_UNKNOWN, as are its records.
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

/* ---- Groups: what the records add up to ---- */

enum act_key_type {
	ACT_KEY_FIELD,  /* a field's value, any field but a measured one is of use */
	ACT_KEY_EXIT,   /* how it ended: the wait status without the core bit */
	ACT_KEY_FORKED, /* 1: never called exec since it was forked */
	ACT_KEY_MINUTE, /* when it ended, local time: the start of that minute, ns */
	ACT_KEY_HOUR,
	ACT_KEY_DAY,
};

struct act_key {
	enum act_key_type type;
	enum act_field field; /* of ACT_KEY_FIELD */
};

enum act_metric_type {
	ACT_METRIC_COUNT,    /* records */
	ACT_METRIC_FAILED,   /* records that ended with code != 0 or by a signal */
	ACT_METRIC_SUM,      /* of the known values of a field, as the next ones */
	ACT_METRIC_MEAN,
	ACT_METRIC_MIN,
	ACT_METRIC_MAX,
	ACT_METRIC_QUANTILE, /* within 1/64 (1.6 %); of 16 values or fewer, exact */
	ACT_METRIC_RATIO,    /* sum of @field over sum of @per, see below */
	ACT_METRIC_RATIO_UPPER, /* the former of these two sums, */
	ACT_METRIC_RATIO_LOWER, /* and the latter */
};

/*
 * RATIO is over the records where both fields are known and @field is not 0:
 * the kernel's memory integrals stay 0 in tasks that ran for less than a tick,
 * which then tell nothing about their memory.
 */
struct act_metric {
	enum act_metric_type type;
	enum act_field field;
	enum act_field per; /* of RATIO... */
	double quantile;    /* of QUANTILE: 0 to 1 */
};

/* Whether the metric has a meaning for its field, by the field's type. */
bool act_metric_is_valid(const struct act_metric *metric);

struct act_groups;

#define ACT_KEYS_MAX 8
#define ACT_METRICS_MAX 64

struct act_groups_options {
	size_t size; /* sizeof(struct act_groups_options) */
	const struct act_key *keys;
	size_t key_count; /* 1 to ACT_KEYS_MAX */
	const struct act_metric *metrics;
	size_t metric_count; /* up to ACT_METRICS_MAX */
	/*
	 * Half of it may be used by groups: further ones are added up in one
	 * that stands for all others.  The other half by histograms: when it is
	 * used up, groups lose their quantiles.  0: 40 MiB.
	 */
	size_t memory_bytes;
};

/* Copies the options.  Returns 0, -EINVAL (see act_metric_is_valid()), -ENOMEM. */
int act_groups_new(const struct act_groups_options *options, struct act_groups **ret_groups);
void act_groups_free(struct act_groups *groups); /* NULL is allowed */

/* Adds the fields that are needed. */
void act_groups_fields(const struct act_groups *groups, struct act_field_set *fields);

/* Adds @count rows of the batch, as act_filter_rows() tells them.  0 or -ENOMEM. */
int act_groups_add(struct act_groups *groups, const struct act_batch *batch,
		   const uint32_t *rows, size_t count);

size_t act_groups_count(const struct act_groups *groups);
/* Whether there was no room for all: the group of the others exists. */
bool act_groups_is_full(const struct act_groups *groups);

/*
 * Puts the groups in order by a metric or a key; what is unknown goes last,
 * equal ones by their keys.  Without it they are in order of appearance.
 * 0 or -ENOMEM.
 */
int act_groups_sort_by_metric(struct act_groups *groups, size_t metric, bool descending);
int act_groups_sort_by_key(struct act_groups *groups, size_t key, bool descending);

/* Of the group at @at in that order: */
bool act_groups_is_other(const struct act_groups *groups, size_t at);
/* its key; of a text field the text itself, as @ret_text, if not NULL; */
uint64_t act_groups_key(const struct act_groups *groups, size_t at, size_t key,
			const char **ret_text, size_t *ret_length);
/* and a metric: rounded to the unit of the field (ACT_UNKNOWN if nothing was known). */
uint64_t act_groups_value(const struct act_groups *groups, size_t at, size_t metric);
/* The same, not rounded; NaN if nothing was known. */
double act_groups_real(const struct act_groups *groups, size_t at, size_t metric);

#ifdef __cplusplus
}
#endif

#endif

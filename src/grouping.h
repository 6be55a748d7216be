/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_GROUPING_H
#define ACTUARY_GROUPING_H

/*
 * What a report is by, and its columns, as the user writes them.
 *
 * A key is a field, or user, group, parent, exit, forked, minute, hour, day.
 *
 * A column is FIELD.AGGREGATE: a field of the table with or without its unit
 * (cpu_ns or cpu), and sum, mean, min, max or a percentile (p50, p99.9).
 * Without .AGGREGATE it is the sum, or what takes its place where a sum has no
 * meaning: the largest of peaks and times, the least of minima, the mean of
 * signed values.  Besides: count, failed, and rss_mean and vm_mean, the mean
 * memory over CPU time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/query.h>

#include "out.h"
#include "users.h"

struct key_column {
	struct act_key key;
	char name[32]; /* in JSON and CSV */
};

struct metric_column {
	struct act_metric metric;
	char name[64];      /* in JSON and CSV; parsing it gives the same column */
	enum act_type type; /* how values are shown */
	bool is_real;       /* not a whole number: shown with decimals */
	double scale;       /* of reals */
};

/*
 * One name, of @length bytes.  0 or -EINVAL.
 */
int key_parse(const char *text, size_t length, struct key_column *ret_key);
int metric_parse(const char *text, size_t length, struct metric_column *ret_column);

/* Headings for text tables. */
void key_heading(const struct key_column *key, char *ret_text, size_t room);
void metric_heading(const struct metric_column *column, char *ret_text, size_t room);

/* One cell of the group at @at: of a text table, of CSV (@is_csv), of JSON. */
void key_cell(const struct key_column *key, size_t index, const struct act_groups *groups,
	      size_t at, struct users *users, bool is_csv, struct table *table);
void metric_cell(const struct metric_column *column, size_t index,
		 const struct act_groups *groups, size_t at, struct table *table);
void key_json(const struct key_column *key, size_t index, const struct act_groups *groups,
	      size_t at, struct out *out);
void metric_json(const struct metric_column *column, size_t index,
		 const struct act_groups *groups, size_t at, struct out *out);

#endif

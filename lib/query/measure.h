/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUERY_MEASURE_H
#define QUERY_MEASURE_H

/*
 * A measure: what is kept of one field in every group, for all the metrics
 * that ask about it.
 */
#include <actuary/query.h>

#include "histogram.h"

enum measure_what {
	MEASURE_FIELD,
	MEASURE_FAILED,
	MEASURE_RATIO,
};

enum measure_keep {
	KEEP_SUM = 1u << 0,
	KEEP_MIN = 1u << 1,
	KEEP_MAX = 1u << 2,
	KEEP_HISTOGRAM = 1u << 3,
};

/* One group's share.  Signed values have their top bit flipped in min and max. */
struct cell {
	uint64_t unknown; /* rows without a value; of a ratio: with neither */
	uint64_t sum;   /* stops at UINT64_MAX; of signed values: wraps */
	uint64_t min;
	uint64_t max;   /* of a ratio: the sum of the other field */
	struct histogram histogram;
};

struct measure {
	enum measure_what what;
	enum act_field field;
	enum act_field per; /* of a ratio */
	unsigned int keep;  /* enum measure_keep bits */
	struct cell *cells; /* one a group */
};

/* Whether @metric can be told from the measure, what it keeps aside. */
bool measure_serves(const struct measure *measure, const struct act_metric *metric);
/* A measure for the metric. */
struct measure measure_for(const struct act_metric *metric);
/* What the measure has to keep for the metric. */
unsigned int measure_keep_for(const struct act_metric *metric);

void measure_fields(const struct measure *measure, struct act_field_set *fields);

void cell_init(struct cell *cell);

/*
 * Adds @count values to the cells of their groups, @group[i] for values[i].  Of a
 * ratio @values are those of its field and @per those of the other one.
 */
void measure_add(struct measure *measure, const uint64_t *values, const uint64_t *per,
		 const uint32_t *group, size_t count, struct histogram_budget *budget);

/* See act_groups_value() and act_groups_real(); @records are those of the group. */
uint64_t measure_value(const struct measure *measure, size_t group, uint64_t records,
		       const struct act_metric *metric);
double measure_real(const struct measure *measure, size_t group, uint64_t records,
		    const struct act_metric *metric);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure.h"

#include <math.h>

#define TOP_BIT (UINT64_C(1) << 63)
#define FAILED_BITS UINT64_C(0xff7f) /* of the wait status: signal, or code */

static bool is_signed(enum act_field field)
{
	return act_field_table[field].type == ACT_TYPE_SIGNED;
}

/* ---- From metrics to measures ---- */

static enum measure_what what_of(const struct act_metric *metric)
{
	switch (metric->type) {
	case ACT_METRIC_FAILED:
		return MEASURE_FAILED;
	case ACT_METRIC_RATIO:
	case ACT_METRIC_RATIO_UPPER:
	case ACT_METRIC_RATIO_LOWER:
		return MEASURE_RATIO;
	default:
		return MEASURE_FIELD;
	}
}

bool measure_serves(const struct measure *measure, const struct act_metric *metric)
{
	if (measure->what != what_of(metric))
		return false;
	if (measure->what == MEASURE_FAILED)
		return true;
	return measure->field == metric->field &&
	       (measure->what == MEASURE_FIELD || measure->per == metric->per);
}

struct measure measure_for(const struct act_metric *metric)
{
	enum measure_what what = what_of(metric);

	return (struct measure){
		.what = what,
		.field = what == MEASURE_FAILED ? ACT_F_status : metric->field,
		.per = what == MEASURE_RATIO ? metric->per : 0,
	};
}

unsigned int measure_keep_for(const struct act_metric *metric)
{
	switch (metric->type) {
	case ACT_METRIC_MIN:
		return KEEP_MIN;
	case ACT_METRIC_MAX:
		return KEEP_MAX;
	case ACT_METRIC_QUANTILE:
		return KEEP_HISTOGRAM;
	default:
		return KEEP_SUM;
	}
}

bool act_metric_is_valid(const struct act_metric *metric)
{
	enum act_type type;

	if (metric->type == ACT_METRIC_COUNT || metric->type == ACT_METRIC_FAILED)
		return true;
	if (metric->field >= ACT_FIELDS)
		return false;
	type = act_field_table[metric->field].type;
	switch (type) {
	case ACT_TYPE_NUMBER:
	case ACT_TYPE_DURATION:
	case ACT_TYPE_SIZE:
	case ACT_TYPE_INTEGRAL:
		break;
	case ACT_TYPE_BOOL: /* a sum of them counts */
		return metric->type == ACT_METRIC_SUM || metric->type == ACT_METRIC_MEAN;
	case ACT_TYPE_TIME:
		return metric->type == ACT_METRIC_MIN || metric->type == ACT_METRIC_MAX;
	case ACT_TYPE_SIGNED:
		return metric->type == ACT_METRIC_MIN || metric->type == ACT_METRIC_MAX ||
		       metric->type == ACT_METRIC_MEAN;
	default:
		return false;
	}
	if (metric->type == ACT_METRIC_SUM)
		return act_field_is_additive(metric->field);
	if (what_of(metric) == MEASURE_RATIO)
		return metric->per < ACT_FIELDS && act_field_is_additive(metric->field) &&
		       act_field_is_additive(metric->per);
	return metric->type != ACT_METRIC_QUANTILE ||
	       (metric->quantile >= 0 && metric->quantile <= 1);
}

void measure_fields(const struct measure *measure, struct act_field_set *fields)
{
	act_field_set_add(fields, measure->field);
	if (measure->what == MEASURE_RATIO)
		act_field_set_add(fields, measure->per);
}

/* ---- Adding ---- */

void cell_init(struct cell *cell)
{
	*cell = (struct cell){ .min = UINT64_MAX };
}

static uint64_t add_up(uint64_t sum, uint64_t value)
{
	return __builtin_add_overflow(sum, value, &sum) ? UINT64_MAX : sum;
}

/*
 * All that is kept of a value at once: so it, its group and its cell are looked
 * for but once.  To be called with a constant @keep, for a loop of its own.
 */
static inline __attribute__((always_inline)) void
add_values(struct cell *cells, unsigned int keep, uint64_t flip, const uint64_t *value,
	   const uint32_t *group, size_t count, struct histogram_budget *budget)
{
	for (size_t i = 0; i < count; i++) {
		struct cell *cell = &cells[group[i]];
		uint64_t ordered = value[i] ^ flip;

		if (value[i] == ACT_UNKNOWN) {
			cell->unknown++;
			continue;
		}
		if (keep & KEEP_SUM)
			cell->sum = flip ? cell->sum + value[i] : add_up(cell->sum, value[i]);
		if (keep & KEEP_MIN && ordered < cell->min)
			cell->min = ordered;
		if (keep & KEEP_MAX && ordered > cell->max)
			cell->max = ordered;
		if (keep & KEEP_HISTOGRAM)
			histogram_add(&cell->histogram, value[i], budget);
	}
}

static void add_field(struct measure *measure, const uint64_t *value, const uint32_t *group,
		      size_t count, struct histogram_budget *budget)
{
	struct cell *cells = measure->cells;

	if (is_signed(measure->field))
		add_values(cells, measure->keep, TOP_BIT, value, group, count, budget);
	else if (measure->keep == KEEP_SUM)
		add_values(cells, KEEP_SUM, 0, value, group, count, budget);
	else if (measure->keep == KEEP_MAX)
		add_values(cells, KEEP_MAX, 0, value, group, count, budget);
	else if (measure->keep == KEEP_HISTOGRAM)
		add_values(cells, KEEP_HISTOGRAM, 0, value, group, count, budget);
	else if (measure->keep == (KEEP_SUM | KEEP_HISTOGRAM))
		add_values(cells, KEEP_SUM | KEEP_HISTOGRAM, 0, value, group, count, budget);
	else
		add_values(cells, measure->keep, 0, value, group, count, budget);
}

/* Success by far the most often, but not often enough to guess at it. */
static void add_failed(struct cell *cells, const uint64_t *status, const uint32_t *group,
		       size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct cell *cell = &cells[group[i]];

		if (status[i] == ACT_UNKNOWN)
			cell->unknown++;
		else
			cell->sum += (status[i] & FAILED_BITS) != 0;
	}
}

static void add_ratio(struct cell *cells, const uint64_t *over, const uint64_t *per,
		      const uint32_t *group, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct cell *cell = &cells[group[i]];
		uint64_t a = over[i], b = per[i];

		if (!a || a == ACT_UNKNOWN || b == ACT_UNKNOWN) {
			cell->unknown++;
			continue;
		}
		cell->sum = add_up(cell->sum, a);
		cell->max = add_up(cell->max, b);
	}
}

void measure_add(struct measure *measure, const uint64_t *values, const uint64_t *per,
		 const uint32_t *group, size_t count, struct histogram_budget *budget)
{
	switch (measure->what) {
	case MEASURE_FAILED:
		add_failed(measure->cells, values, group, count);
		break;
	case MEASURE_RATIO:
		add_ratio(measure->cells, values, per, group, count);
		break;
	case MEASURE_FIELD:
		add_field(measure, values, group, count, budget);
		break;
	}
}

/* ---- Results ---- */

double measure_real(const struct measure *measure, size_t group, uint64_t records,
		    const struct act_metric *metric)
{
	const struct cell *cell = &measure->cells[group];
	uint64_t value, known = records - cell->unknown;

	if (!known)
		return NAN;
	if (metric->type == ACT_METRIC_RATIO)
		return cell->max ? (double)cell->sum / (double)cell->max : NAN;
	if (metric->type == ACT_METRIC_MEAN)
		return (is_signed(measure->field) ? (double)(int64_t)cell->sum :
						    (double)cell->sum) / (double)known;
	value = measure_value(measure, group, records, metric);
	if (value == ACT_UNKNOWN)
		return NAN;
	return is_signed(measure->field) ? (double)(int64_t)value : (double)value;
}

/* Rounded half away from zero, signed ones as two's complement. */
static uint64_t rounded(double real)
{
	if (isnan(real))
		return ACT_UNKNOWN;
	if (real < 0)
		return real > -9e18 ? (uint64_t)(int64_t)(real - 0.5) : (uint64_t)-INT64_MAX;
	return real < 9e18 ? (uint64_t)(real + 0.5) : INT64_MAX;
}

uint64_t measure_value(const struct measure *measure, size_t group, uint64_t records,
		       const struct act_metric *metric)
{
	const struct cell *cell = &measure->cells[group];
	uint64_t flip = is_signed(measure->field) ? TOP_BIT : 0;
	uint64_t value;

	if (records == cell->unknown)
		return ACT_UNKNOWN;
	switch (metric->type) {
	case ACT_METRIC_MIN:
		value = cell->min ^ flip;
		break;
	case ACT_METRIC_MAX:
	case ACT_METRIC_RATIO_LOWER:
		value = cell->max ^ flip;
		break;
	case ACT_METRIC_QUANTILE:
		return histogram_quantile(&cell->histogram, metric->quantile);
	case ACT_METRIC_MEAN:
	case ACT_METRIC_RATIO:
		return rounded(measure_real(measure, group, records, metric));
	default:
		value = cell->sum;
		break;
	}
	/* Sums of what no kernel sends: as many as there is room for. */
	return flip || value < ACT_UNKNOWN ? value : INT64_MAX;
}

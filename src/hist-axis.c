/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which bins, and what a star stands for. */
#include "hist.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that are aimed at, and that are refused. */
#define ROWS 20
#define ROWS_MAX 100000
/* Decimals that an edge may need. */
#define DECIMALS_MAX 9
/* A tail of so many times the bulk's spread is left to the overflow row. */
#define TAIL 2
#define STARS 50

/* ---- Sets ---- */

int hist_set_init(struct hist_set *set, const struct samples *samples)
{
	size_t bytes = samples->n * sizeof(*set->sorted);
	int ret;

	*set = (struct hist_set){ .samples = samples };
	set->sorted = malloc(bytes ? bytes : 1);
	if (!set->sorted)
		return -ENOMEM;
	memcpy(set->sorted, samples->value, bytes);
	ret = act_sort(set->sorted, samples->n);
	if (!ret)
		ret = act_describe(samples->value, set->sorted, samples->n, &set->description);
	return ret;
}

void hist_set_release(struct hist_set *set)
{
	free(set->sorted);
	free(set->bins.bin);
}

/* ---- Widths that are easily read ---- */

/* 1, 2 or 5 times a power of ten, not below @value. */
static double nice_above(double value)
{
	double power = pow(10, floor(log10(value)));
	double digit = value / power;

	/* The logarithm may be off by its rounding. */
	return power * (digit <= 1 + 1e-9 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

static bool is_whole(const struct hist_set *sets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < sets[i].samples->n; k++)
			if (sets[i].sorted[k] != nearbyint(sets[i].sorted[k]))
				return false;
	return true;
}

/* What of a set is to be seen: its tails only if they are short. */
static void span_of(const struct hist_set *set, double *ret_low, double *ret_high)
{
	const double *sorted = set->sorted;
	size_t n = set->samples->n;
	double low = act_quantile(sorted, n, 0.01), high = act_quantile(sorted, n, 0.99);
	double tail = TAIL * (high - low);

	*ret_low = sorted[0] >= low - tail ? sorted[0] : low;
	*ret_high = sorted[n - 1] <= high + tail ? sorted[n - 1] : high;
}

static void choose_span(const struct hist_set *sets, size_t count, double *ret_low,
			double *ret_high)
{
	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		double low, high;

		span_of(&sets[i], &low, &high);
		*ret_low = fmin(*ret_low, low);
		*ret_high = fmax(*ret_high, high);
	}
}

static double choose_width(const struct hist_axis *axis, double low, double high)
{
	double size = fmax(fabs(low), fabs(high));
	/* Narrower ones could not be told apart. */
	double least = axis->is_whole ? 1 : nice_above(fmax(size * 1e-12, 1e-300));
	double width = high > low ? nice_above((high - low) / ROWS) : least;

	return fmax(width, least);
}

static unsigned int count_decimals(const struct hist_axis *axis)
{
	for (unsigned int decimals = 0; decimals < DECIMALS_MAX; decimals++) {
		double power = pow(10, decimals);
		double min = axis->min * power, width = axis->width * power;
		/* In what these numbers are exact to. */
		double error = 1e-6;

		if (fabs(min - nearbyint(min)) < error && fabs(width - nearbyint(width)) < error &&
		    width > 0.5)
			return decimals;
	}
	return DECIMALS_MAX;
}

/* By how much a quotient of decimal edges may be off an integer, as lib/stats has it. */
static double slack(const struct hist_axis *axis, double high)
{
	return 1e-9 + 4 * DBL_EPSILON * fmax(fabs(axis->min), fabs(high)) / axis->width;
}

static const char *choose_linear(struct hist_axis *axis, double low, double high)
{
	bool is_open = isnan(axis->max);
	double rows;

	low = isnan(axis->min) ? low : axis->min;
	high = is_open ? fmax(high, low) : axis->max;
	if (isnan(axis->width))
		axis->width = choose_width(axis, low, high);
	if (isnan(axis->min)) {
		axis->min = low;
		axis->min = floor(low / axis->width + slack(axis, low)) * axis->width;
	}
	/* What is given as the maximum is the first value outside; what was found is inside. */
	rows = (high - axis->min) / axis->width;
	rows = is_open ? floor(rows + slack(axis, high)) + 1 : ceil(rows - slack(axis, high));
	if (!(rows >= 1))
		return "--max must be above --min";
	if (!(rows <= ROWS_MAX))
		return "more than 100000 rows; choose a larger --bin, or --min and --max";
	axis->count = (size_t)rows;
	axis->decimals = count_decimals(axis);
	return NULL;
}

/* Powers of two times the minimum; without one, powers of two. */
static const char *choose_log(struct hist_axis *axis, double low, double high)
{
	bool is_open = isnan(axis->max);
	double rows;

	high = is_open ? high : axis->max;
	if (isnan(axis->min) && !(low > 0))
		return "--log needs values above 0, or --min";
	if (isnan(axis->min))
		axis->min = exp2(floor(log2(low)));
	if (!(axis->min > 0))
		return "--log needs a --min above 0";
	rows = log2(high / axis->min);
	rows = is_open ? floor(rows) + 1 : ceil(rows - 1e-9);
	if (!(rows >= 1))
		return "--max must be above --min";
	axis->count = (size_t)rows;
	axis->width = axis->min;
	axis->decimals = count_decimals(axis);
	return NULL;
}

/* The least value above zero, and the largest, of all sets. */
static void positive_span(const struct hist_set *sets, size_t count, double *ret_low,
			  double *ret_high)
{
	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		const double *sorted = sets[i].sorted;
		size_t n = sets[i].samples->n, k = 0;

		while (k < n && sorted[k] <= 0)
			k++;
		if (k == n)
			continue;
		*ret_low = fmin(*ret_low, sorted[k]);
		*ret_high = fmax(*ret_high, sorted[n - 1]);
	}
	if (*ret_low > *ret_high)
		*ret_low = *ret_high = 0;
}

const char *hist_axis_choose(struct hist_axis *axis, const struct hist_set *sets, size_t count)
{
	double low, high;

	axis->is_whole = is_whole(sets, count);
	if (axis->is_log) {
		positive_span(sets, count, &low, &high);
		return choose_log(axis, low, high);
	}
	choose_span(sets, count, &low, &high);
	return choose_linear(axis, low, high);
}

double hist_round(double edge, const struct hist_axis *axis)
{
	double power = pow(10, axis->decimals), rounded = nearbyint(edge * power) / power;

	return !axis->is_log && axis->decimals < DECIMALS_MAX && isfinite(rounded) ? rounded : edge;
}

double hist_edge(const struct act_bins *bins, size_t i)
{
	return bins->is_log ? ldexp(bins->min, (int)i) : bins->min + (double)i * bins->width;
}

/* ---- Filling ---- */

static uint64_t largest(const struct act_bins *bins)
{
	uint64_t most = bins->below > bins->above ? bins->below : bins->above;

	for (size_t i = 0; i < bins->count; i++)
		most = bins->bin[i] > most ? bins->bin[i] : most;
	return most;
}

int hist_fill(struct hist_set *sets, size_t count, const struct hist_axis *axis,
	      const struct hist_stars *stars)
{
	uint64_t longest = stars->longest ? stars->longest : STARS, most = 0;

	for (size_t i = 0; i < count; i++) {
		struct act_bins *bins = &sets[i].bins;
		int ret;

		bins->min = axis->min;
		bins->width = axis->width;
		bins->is_log = axis->is_log;
		bins->count = axis->count;
		bins->bin = calloc(bins->count, sizeof(*bins->bin));
		if (!bins->bin)
			return -ENOMEM;
		ret = act_bins_fill(bins, sets[i].samples->value, sets[i].samples->n);
		if (ret < 0)
			return ret;
		most = largest(bins) > most ? largest(bins) : most;
	}
	for (size_t i = 0; i < count; i++)
		sets[i].scale = stars->scale ? stars->scale :
				most <= longest ? 1 :
				(uint64_t)nice_above((double)most / (double)longest);
	return 0;
}

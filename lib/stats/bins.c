/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <actuary/stats.h>

/*
 * Decimal edges and values are both rounded to doubles: (299.65 - 299.60) / 0.05
 * is less than 1.  What is as near to an edge as rounding can bring it lies on it.
 */
static double linear_bin(const struct act_bins *bins, double value)
{
	double at = (value - bins->min) / bins->width, edge = nearbyint(at);
	double error = 4 * DBL_EPSILON * fmax(fabs(value), fabs(bins->min)) / bins->width;

	return fabs(at - edge) <= error ? edge : floor(at);
}

static double log_bin(const struct act_bins *bins, double value)
{
	double times = value / bins->min;

	if (times < 1)
		return -1;
	return isfinite(times) ? logb(times) : INFINITY;
}

int act_bins_fill(struct act_bins *bins, const double *values, size_t n)
{
	if (bins->count == 0 || !isfinite(bins->min))
		return -EINVAL;
	if (bins->is_log ? bins->min <= 0 : !(bins->width > 0 && isfinite(bins->width)))
		return -EINVAL;

	bins->below = bins->above = 0;
	memset(bins->bin, 0, bins->count * sizeof(*bins->bin));
	for (size_t i = 0; i < n; i++) {
		double at = bins->is_log ? log_bin(bins, values[i]) : linear_bin(bins, values[i]);

		if (at < 0)
			bins->below++;
		else if (at < (double)bins->count)
			bins->bin[(size_t)at]++;
		else
			bins->above++;
	}
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <actuary/stats.h>

#include "stats/law.h"
#include "stats/margin.h"
#include "stats/matrix.h"
#include "stats/sorted.h"

/* Hodges and Lehmann 1963; the interval is Moses'. */
static int compare_pairs(enum matrix_figure figure, const double *a, size_t na, const double *b,
			 size_t nb, double level, double *ret_middle,
			 struct act_interval *ret_interval)
{
	double *sorted_a = NULL, *sorted_b = NULL;
	struct matrix matrix;
	struct margin margin;
	int err;

	if (!(level > 0 && level < 1))
		return -EINVAL;
	err = sorted_copy(a, na, &sorted_a);
	if (!err)
		err = sorted_copy(b, nb, &sorted_b);
	if (!err && figure == MATRIX_RATIO && !(sorted_a[0] > 0 && sorted_b[0] > 0))
		err = -EDOM;
	if (!err)
		err = margin_moses(na, nb, level, &margin);
	if (err)
		goto out;

	matrix = (struct matrix){ figure, sorted_a, sorted_b, na, nb };
	*ret_middle = matrix_median(&matrix);
	*ret_interval = matrix_interval(&matrix, margin.k, margin.level);
out:
	free(sorted_a);
	free(sorted_b);
	return err;
}

int act_shift(const double *a, size_t na, const double *b, size_t nb, double level,
	      double *ret_shift, struct act_interval *ret_interval)
{
	return compare_pairs(MATRIX_DIFFERENCE, a, na, b, nb, level, ret_shift, ret_interval);
}

/* Logarithms keep the order, so the ratios themselves are as good and not rounded. */
int act_ratio(const double *a, size_t na, const double *b, size_t nb, double level,
	      double *ret_ratio, struct act_interval *ret_interval)
{
	return compare_pairs(MATRIX_RATIO, a, na, b, nb, level, ret_ratio, ret_interval);
}

/*
 * Differences of a set with itself are sorted below zero as they are above it, and each
 * value's own zero lies between: the n (n - 1) / 2 distances are the upper ones.
 */
static double spread_of(const double *sorted, size_t n)
{
	struct matrix matrix = { MATRIX_DIFFERENCE, sorted, sorted, n, n };
	uint64_t pairs = (uint64_t)n * (n - 1) / 2, below = pairs + n, k = (pairs + 1) / 2;
	double low, high;

	if (n < 2)
		return NAN;
	low = matrix_select(&matrix, below + k);
	high = pairs % 2 ? low : matrix_select(&matrix, below + k + 1);
	return midpoint(low, high);
}

int act_spread(const double *values, size_t n, double *ret)
{
	double *sorted;
	int err = sorted_copy(values, n, &sorted);

	if (err)
		return err;
	*ret = spread_of(sorted, n);
	free(sorted);
	return 0;
}

int act_disparity(const double *a, size_t na, const double *b, size_t nb, double *ret)
{
	struct act_interval interval;
	double shift, spread_a, spread_b, pooled;
	int err = act_shift(a, na, b, nb, 0.95, &shift, &interval);

	if (!err)
		err = act_spread(a, na, &spread_a);
	if (!err)
		err = act_spread(b, nb, &spread_b);
	if (err)
		return err;
	pooled = ((double)na * spread_a + (double)nb * spread_b) / (double)(na + nb);
	*ret = pooled > 0 ? shift / pooled : NAN;
	return 0;
}

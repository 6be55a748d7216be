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

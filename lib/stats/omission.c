/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <actuary/stats.h>

/* Values are made up from one: more than this is a wrong interval, not a result. */
#define CORRECTED_MOST (UINT64_C(1) << 30)

/* As HdrHistogram: value - interval, value - 2 * interval, ... down to the interval. */
static double omitted_by(double value, double interval)
{
	return value > interval ? floor((value - interval) / interval) : 0;
}

int act_correct_omission(const double *values, size_t n, double interval,
			 double **ret_values, size_t *ret_n)
{
	double total = (double)n, *corrected;
	size_t used = 0;

	if (n == 0 || !(interval > 0 && isfinite(interval)))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		total += omitted_by(values[i], interval);
	if (!(total <= (double)CORRECTED_MOST))
		return -E2BIG;
	corrected = malloc((size_t)total * sizeof(*corrected));
	if (!corrected)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		size_t omitted = (size_t)omitted_by(values[i], interval);

		for (size_t k = 0; k <= omitted; k++)
			corrected[used++] = values[i] - (double)k * interval;
	}
	*ret_values = corrected;
	*ret_n = used;
	return 0;
}

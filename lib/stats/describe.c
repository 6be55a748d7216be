/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <actuary/stats.h>

#include "stats/means.h"
#include "stats/sorted.h"

/* Modified z = 0.6745 (x - median) / MAD above 3.5: Iglewicz and Hoaglin 1993. */
#define OUTLIER_FACTOR (3.5 / 0.6745)

static uint64_t count_unique(const double *sorted, size_t n)
{
	uint64_t ret = 1;

	for (size_t i = 1; i < n; i++)
		ret += sorted[i] != sorted[i - 1];
	return ret;
}

/*
 * Distances from the median are sorted as they are met going outwards from it,
 * below and above: no room and no second sort.
 */
static double deviation(const double *sorted, size_t n, double median)
{
	size_t above = n / 2, below = above;
	double last = 0, before = 0;

	for (size_t met = 0; met <= n / 2; met++) {
		double down = below > 0 ? fabs(median - sorted[below - 1]) : INFINITY;
		double up = above < n ? fabs(sorted[above] - median) : INFINITY;

		before = last;
		if (down <= up) {
			last = down;
			below--;
		} else {
			last = up;
			above++;
		}
	}
	return n % 2 ? last : midpoint(before, last);
}

/* Where half of the values are the same there is no measure of what is far. */
static uint64_t count_outliers(const double *sorted, size_t n, double median, double mad)
{
	double far = OUTLIER_FACTOR * mad;
	size_t low = 0, high = n;

	if (mad <= 0)
		return 0;
	while (low < n && median - sorted[low] > far)
		low++;
	while (high > low && sorted[high - 1] - median > far)
		high--;
	return low + (n - high);
}

int act_describe(const double *values, const double *sorted, size_t n,
		 struct act_description *ret)
{
	long double sum, mean;

	if (n == 0)
		return -EINVAL;
	sum = sum_of(values, n);
	mean = sum / n;
	*ret = (struct act_description){
		.n = n,
		.min = sorted[0],
		.max = sorted[n - 1],
		.sum = (double)sum,
		.mean = (double)mean,
		.median = act_quantile(sorted, n, 0.5),
		.variance = NAN,
		.sd = NAN,
		.lag1 = act_autocorrelation(values, n, 1),
		.unique = count_unique(sorted, n),
	};
	if (n > 1) {
		long double variance = squares_about(values, n, mean) / (n - 1);

		ret->variance = (double)variance;
		ret->sd = (double)sqrtl(variance);
	}
	ret->mad = deviation(sorted, n, ret->median);
	ret->outliers = count_outliers(sorted, n, ret->median, ret->mad);
	return 0;
}

/* Room is for a few: each run of equal values looks for its place from below. */
size_t act_most_frequent(const double *sorted, size_t n, struct act_frequent *ret, size_t room)
{
	size_t used = 0;

	for (size_t from = 0, to; from < n; from = to) {
		struct act_frequent run = { .value = sorted[from] };
		size_t at = used;

		for (to = from + 1; to < n && sorted[to] == run.value; to++)
			;
		run.count = to - from;
		while (at > 0 && ret[at - 1].count < run.count)
			at--;
		if (at == room)
			continue;
		if (used < room)
			used++;
		memmove(ret + at + 1, ret + at, (used - at - 1) * sizeof(*ret));
		ret[at] = run;
	}
	return used;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "stats/law.h"
#include "stats/means.h"

/* In R, too, tau's law is exact below 50, without ties. */
#define KENDALL_EXACT 50

static double correlation(const double *values, size_t n, size_t lag, long double mean,
			  long double squares)
{
	long double products = 0;

	for (size_t i = 0; i + lag < n; i++)
		products += (values[i] - mean) * (values[i + lag] - mean);
	return (double)(products / squares);
}

/* r = sum (x[t] - m)(x[t + k] - m) / sum (x[t] - m)^2: NIST's, always within +-1. */
double act_autocorrelation(const double *values, size_t n, size_t lag)
{
	long double mean, squares;

	if (lag >= n)
		return NAN;
	mean = sum_of(values, n) / n;
	squares = squares_about(values, n, mean);
	return squares > 0 ? correlation(values, n, lag, mean, squares) : NAN;
}

/* Ljung and Box 1978. */
struct act_test act_ljung_box(const double *values, size_t n, size_t lags)
{
	struct act_test test = { NAN, NAN, NAN, 0, false };
	long double mean, squares;
	double q = 0;

	if (n == 0 || lags == 0 || lags >= n)
		return test;
	mean = sum_of(values, n) / n;
	squares = squares_about(values, n, mean);
	if (!(squares > 0))
		return test;
	for (size_t lag = 1; lag <= lags; lag++) {
		double r = correlation(values, n, lag, mean, squares);

		q += r * r / (double)(n - lag);
	}
	test.statistic = q * (double)n * ((double)n + 2);
	test.df = (double)lags;
	test.p = law_chi_squared_above(test.statistic, test.df);
	return test;
}

/* Merges two sorted halves; returns how many of the right were less than one of the left. */
static uint64_t merge(double *values, size_t left, size_t n, double *room)
{
	size_t i = 0, j = left, k = 0;
	uint64_t passed = 0;

	while (i < left && j < n) {
		if (values[j] < values[i]) {
			passed += left - i;
			room[k++] = values[j++];
		} else {
			room[k++] = values[i++];
		}
	}
	memcpy(room + k, values + i, (left - i) * sizeof(*room));
	memcpy(values, room, j * sizeof(*room));
	return passed;
}

/* Sorts, from runs of one upwards (Knight 1966); returns the pairs in the wrong order. */
static uint64_t count_inversions(double *values, size_t n, double *room)
{
	uint64_t ret = 0;

	for (size_t run = 1; run < n; run *= 2)
		for (size_t from = 0; from + run < n; from += 2 * run) {
			size_t rest = n - from;

			ret += merge(values + from, run, rest < 2 * run ? rest : 2 * run, room);
		}
	return ret;
}

struct kendall {
	double n, inversions;
	double tied;     /* pairs of equal values */
	double variance; /* what ties take from that of S, times 18 */
};

static double kendall_pairs(const struct kendall *count)
{
	return count->n * (count->n - 1) / 2;
}

static double kendall_s(const struct kendall *count)
{
	return kendall_pairs(count) - count->tied - 2 * count->inversions;
}

static void count_ties(const double *sorted, size_t n, struct kendall *count)
{
	for (size_t from = 0, to; from < n; from = to) {
		double t;

		for (to = from + 1; to < n && sorted[to] == sorted[from]; to++)
			;
		t = (double)(to - from);
		count->tied += t * (t - 1) / 2;
		count->variance += t * (t - 1) * (2 * t + 5);
	}
}

static int kendall_of(const double *values, size_t n, struct kendall *ret)
{
	double *copy = malloc(2 * n * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, values, n * sizeof(*copy));
	*ret = (struct kendall){ .n = (double)n };
	ret->inversions = (double)count_inversions(copy, n, copy + n);
	count_ties(copy, n, ret);
	free(copy);
	return 0;
}

static double kendall_normal(const struct kendall *count)
{
	double n = count->n;
	double variance = (n * (n - 1) * (2 * n + 5) - count->variance) / 18;

	return variance > 0 ? law_normal_p(kendall_s(count) / sqrt(variance)) : NAN;
}

static int kendall_exact(const struct kendall *count, double *ret_p)
{
	struct rank_law law;
	int err = law_inversions((size_t)count->n, &law);

	if (err)
		return err;
	*ret_p = law_beyond(&law, count->inversions, kendall_pairs(count) / 2);
	law_free(&law);
	return 0;
}

/* Tau-b of values and the order in which they came; the order has no ties. */
int act_kendall(const double *values, size_t n, struct act_test *ret)
{
	struct act_test test = { NAN, NAN, NAN, 0, false };
	struct kendall count;
	double pairs;
	int err;

	if (n == 0 || n > SIZE_MAX / 2 / sizeof(*values))
		return -EINVAL;
	err = kendall_of(values, n, &count);
	if (err)
		return err;
	pairs = kendall_pairs(&count);
	if (pairs > count.tied) {
		test.statistic = kendall_s(&count) / sqrt(pairs * (pairs - count.tied));
		test.is_exact = n < KENDALL_EXACT && count.tied <= 0;
		if (test.is_exact)
			err = kendall_exact(&count, &test.p);
		else
			test.p = kendall_normal(&count);
	}
	if (!err)
		*ret = test;
	return err;
}

/* Values that take turns about their mean tell no more than independent ones. */
double act_effective_n(double n, double lag1)
{
	return lag1 < 0 ? n : n * (1 - lag1) / (1 + lag1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <float.h>
#include <math.h>

#include <actuary/stats.h>

#include "stats/law.h"

static double between(double low, double high, double part)
{
	return low == high ? low : (1 - part) * low + part * high;
}

double act_quantile(const double *sorted, size_t n, double p)
{
	double at, part;
	size_t low;

	if (n == 0 || !(p >= 0 && p <= 1))
		return NAN;
	at = (double)(n - 1) * p;
	/* 0.29 * 100 is meant to be 29: R allows for the same. */
	if (fabs(at - nearbyint(at)) <= 4 * DBL_EPSILON * fmax(at, 1))
		at = nearbyint(at);
	low = (size_t)at;
	part = at - (double)low;
	return part > 0 ? between(sorted[low], sorted[low + 1], part) : sorted[low];
}

double act_quantile_nearest(const double *sorted, size_t n, double p)
{
	double rank;

	if (n == 0 || !(p >= 0 && p <= 1))
		return NAN;
	rank = ceil((double)n * p * (1 - 4 * DBL_EPSILON));
	return sorted[rank < 1 ? 0 : rank > (double)n ? n - 1 : (size_t)rank - 1];
}

/* How many of @n lie below the quantile is binomial; tails are of that. */
struct binomial {
	size_t n;
	double p;
};

/* The largest k with P(B < k) <= tail; 0: none. */
static size_t lower_rank(const struct binomial *law, double tail)
{
	size_t good = 0, bad = law->n + 1;

	while (bad - good > 1) {
		size_t k = good + (bad - good) / 2;

		if (law_binomial_below((double)k - 1, (double)law->n, law->p) <= tail)
			good = k;
		else
			bad = k;
	}
	return good;
}

/* The smallest k with P(B >= k) <= tail; n + 1: none. */
static size_t upper_rank(const struct binomial *law, double tail)
{
	size_t bad = 0, good = law->n + 1;

	while (good - bad > 1) {
		size_t k = bad + (good - bad) / 2;

		if (law_binomial_above((double)k, (double)law->n, law->p) <= tail)
			good = k;
		else
			bad = k;
	}
	return good;
}

/*
 * [x(low), x(high)] misses the quantile when fewer than low values lie below it,
 * or high and more.  Each is to happen with half of what is allowed; a quantile
 * too near to an end takes the extreme value there, and leaves the rest to the
 * other side.  So 29 values are enough for the 90 % quantile, 299 for the 99 %.
 */
struct act_interval act_quantile_interval(const double *sorted, size_t n, double p,
					  double level)
{
	struct binomial law = { n, p };
	double tail = law_tail(level), missed;
	size_t low, high;

	if (n == 0 || !(p > 0 && p < 1) || !(level > 0 && level < 1))
		return (struct act_interval){ NAN, NAN, NAN };
	low = lower_rank(&law, tail);
	high = upper_rank(&law, tail);
	if (high > n) {
		high = n;
		low = lower_rank(&law, 2 * tail - law_binomial_above((double)n, (double)n, p));
	} else if (low < 1) {
		low = 1;
		high = upper_rank(&law, 2 * tail - law_binomial_below(0, (double)n, p));
	}
	if (low < 1 || high > n || low > high)
		return (struct act_interval){ NAN, NAN, NAN };
	missed = law_binomial_below((double)low - 1, (double)n, p) +
		 law_binomial_above((double)high, (double)n, p);
	return (struct act_interval){ sorted[low - 1], sorted[high - 1], 1 - missed };
}

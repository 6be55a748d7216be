/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "stats/law.h"

/*
 * R's library prints what it has to say of precision and range.  What is called
 * here is called with parameters for which it has nothing to say: no NaN, degrees
 * of freedom from a half up, and no tail that it gets by subtraction.
 */
static bool is_df(double df)
{
	return df >= 0.5 && isfinite(df);
}

double law_student_p(double t, double df)
{
	if (isnan(t) || !is_df(df))
		return NAN;
	return 2 * pt(-fabs(t), df, 1, 0);
}

double law_student_quantile(double level, double df)
{
	if (!(level > 0 && level < 1) || !is_df(df))
		return NAN;
	return qt((1 - level) / 2, df, 0, 0);
}

double law_student_shifted(double t, double df, double shift) // NOLINT(misc-no-recursion)
{
	if (isnan(t) || isnan(shift) || !is_df(df))
		return NAN;
	if (t < 0)
		return 1 - law_student_shifted(-t, df, -shift);
	/* Beyond 37.6 R's series begins with a number that is too small for a double. */
	if (fabs(shift) > 37) {
		double s = 1 / (4 * df);

		/* Abramowitz and Stegun 26.7.10 */
		return pnorm(t * (1 - s), shift, sqrt(1 + t * t * 2 * s), 0, 0);
	}
	return pnt(t, df, shift, 0, 0);
}

double law_normal_below(double z)
{
	return isnan(z) ? NAN : pnorm(z, 0, 1, 1, 0);
}

double law_normal_p(double z)
{
	return isnan(z) ? NAN : 2 * pnorm(-fabs(z), 0, 1, 1, 0);
}

double law_normal_quantile(double p)
{
	return p > 0 && p < 1 ? qnorm(p, 0, 1, 1, 0) : NAN;
}

double law_tail(double level)
{
	return (1 - level) / 2 * (1 + 1e-12);
}

double law_chi_squared_above(double q, double df)
{
	if (isnan(q) || !is_df(df))
		return NAN;
	return pchisq(q, df, 0, 0);
}

double law_binomial_below(double k, double n, double p)
{
	return k < 0 ? 0 : pbinom(k, n, p, 1, 0);
}

double law_binomial_above(double k, double n, double p)
{
	return k <= 0 ? 1 : pbinom(k - 1, n, p, 0, 0);
}

/* C(n, k) by products is exact as long as they fit. */
double law_choose(double n, double k)
{
	double least = fmin(k, n - k), ret = 1;

	if (least < 0)
		return 0;
	if (least > 1030)
		return INFINITY; /* C(2060, 1030) is beyond doubles, and so are all with more */
	for (int i = 1; i <= least; i++)
		ret = ret * (n - least + i) / i;
	return ret;
}

static int new_law(size_t max, struct rank_law *ret)
{
	ret->max = max;
	ret->p = calloc(max + 1, sizeof(*ret->p));
	return ret->p ? 0 : -ENOMEM;
}

void law_free(struct rank_law *law)
{
	free(law->p);
	law->p = NULL;
}

static size_t sum_of(const uint32_t *ranks, size_t n)
{
	size_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += ranks[i];
	return sum;
}

int law_signed_rank(const uint32_t *ranks, size_t n, struct rank_law *ret)
{
	size_t reached = 0;
	int err = new_law(sum_of(ranks, n), ret);

	if (err)
		return err;
	ret->p[0] = 1;
	for (size_t i = 0; i < n; i++) {
		reached += ranks[i];
		for (size_t sum = reached + 1; sum-- > 0;) {
			double with = sum >= ranks[i] ? ret->p[sum - ranks[i]] : 0;

			ret->p[sum] = (ret->p[sum] + with) / 2;
		}
	}
	return 0;
}

/*
 * Streitberg and Roehmel's shift algorithm: row c has, for each sum, in how many
 * ways c of the ranks seen so far make it.
 */
int law_rank_sum(const uint32_t *ranks, size_t n, size_t chosen, struct rank_law *ret)
{
	size_t max = sum_of(ranks, n), reached = 0;
	double *ways, all = law_choose((double)n, (double)chosen);
	int err;

	if (chosen > n || !isfinite(all))
		return -EINVAL;
	err = new_law(max, ret);
	if (err)
		return err;
	ways = calloc((chosen + 1) * (max + 1), sizeof(*ways));
	if (!ways) {
		law_free(ret);
		return -ENOMEM;
	}

	ways[0] = 1;
	for (size_t i = 0; i < n; i++) {
		reached += ranks[i];
		for (size_t c = i < chosen ? i + 1 : chosen; c > 0; c--) {
			double *to = ways + c * (max + 1);
			const double *from = to - (max + 1);

			for (size_t sum = ranks[i]; sum <= reached; sum++)
				to[sum] += from[sum - ranks[i]];
		}
	}
	for (size_t sum = 0; sum <= max; sum++)
		ret->p[sum] = ways[chosen * (max + 1) + sum] / all;
	free(ways);
	return 0;
}

/* The k-th of them adds 0 to k - 1 inversions, each as likely. */
int law_inversions(size_t n, struct rank_law *ret)
{
	size_t reached = 0;
	double *next;
	int err = new_law(n * (n - 1) / 2, ret);

	if (err)
		return err;
	next = calloc(ret->max + 1, sizeof(*next));
	if (!next) {
		law_free(ret);
		return -ENOMEM;
	}
	ret->p[0] = 1;
	for (size_t k = 2; k <= n; k++) {
		reached += k - 1;
		for (size_t sum = 0; sum <= reached; sum++) {
			next[sum] = 0;
			for (size_t add = 0; add < k && add <= sum; add++)
				next[sum] += ret->p[sum - add] / (double)k;
		}
		for (size_t sum = 0; sum <= reached; sum++)
			ret->p[sum] = next[sum];
	}
	free(next);
	return 0;
}

double law_below(const struct rank_law *law, size_t k)
{
	double p = 0;

	for (size_t sum = 0; sum <= k && sum <= law->max; sum++)
		p += law->p[sum];
	return fmin(p, 1);
}

double law_beyond(const struct rank_law *law, double sum, double center)
{
	double far = fabs(sum - center), p = 0;

	/* Sums and centers are whole or halves: exact, hence no tolerance. */
	for (size_t i = 0; i <= law->max; i++)
		if (fabs((double)i - center) >= far)
			p += law->p[i];
	return fmin(p, 1);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "stats/draw.h"
#include "stats/law.h"
#include "stats/means.h"

/* So many rearrangements are gone through one by one, else drawn. */
#define EXACT_MOST 1048576
#define DRAWS_MOST  99999
#define DRAWS_LEAST 999
#define DRAWN_MOST  50000000 /* values, in all draws */

/* A sum, and how far from the mean of its law it is or more: rounding makes no difference. */
struct target {
	double far;
	uint64_t reached, tried;
};

static void target_try(struct target *target, double sum)
{
	target->tried++;
	target->reached += fabs(sum) >= target->far;
}

/* Sums of n such values may differ by so much that ought to be the same. */
static double target_far(double sum, const double *values, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs(values[i]));
	return fabs(sum) - 4 * DBL_EPSILON * most * (double)n;
}

/* Phipson and Smyth 2010: what was drawn and what was seen are both among all. */
static void test_of_target(const struct target *target, bool is_exact, struct act_test *test)
{
	uint64_t extra = is_exact ? 0 : 1;

	test->p = (double)(target->reached + extra) / (double)(target->tried + extra);
	test->is_exact = is_exact;
}

static size_t draws_for(size_t n)
{
	size_t draws = DRAWN_MOST / n;

	return draws > DRAWS_MOST ? DRAWS_MOST : draws < DRAWS_LEAST ? DRAWS_LEAST : draws;
}

/* ---- Two sets ---- */

/* All choices of k of n values in lexical order; sums are kept up to each place. */
static int choose_all(const double *values, size_t n, size_t k, struct target *target)
{
	size_t *at = calloc(k, sizeof(*at));
	double *sum = calloc(k + 1, sizeof(*sum));
	size_t place = 0;
	int err = -ENOMEM;

	if (!at || !sum)
		goto out;
	for (;;) {
		for (size_t i = place; i < k; i++) {
			if (i > place)
				at[i] = at[i - 1] + 1;
			else if (target->tried == 0)
				at[i] = 0;
			sum[i + 1] = sum[i] + values[at[i]];
		}
		target_try(target, sum[k]);
		for (place = k; place > 0 && at[place - 1] == n - k + place - 1; place--)
			;
		if (place == 0)
			break;
		at[--place]++;
	}
	err = 0;
out:
	free(at);
	free(sum);
	return err;
}

/* @values are shuffled. */
static void choose_some(double *values, size_t n, size_t k, uint64_t seed, struct target *target)
{
	for (size_t draws = draws_for(k); draws > 0; draws--) {
		double sum = 0;

		for (size_t i = 0; i < k; i++) {
			size_t at = i + draw_below(&seed, n - i);
			double value = values[at];

			values[at] = values[i];
			values[i] = value;
			sum += value;
		}
		target_try(target, sum);
	}
}

/* Both sets, about their common mean: what is in one is then lacking in the other. */
static double *join(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb;
	double *both = malloc(n * sizeof(*both));
	long double mean = (sum_of(a, na) + sum_of(b, nb)) / n;

	if (!both)
		return NULL;
	for (size_t i = 0; i < na; i++)
		both[i] = (double)(a[i] - mean);
	for (size_t i = 0; i < nb; i++)
		both[na + i] = (double)(b[i] - mean);
	return both;
}

int act_permutation(const double *a, size_t na, const double *b, size_t nb, uint64_t seed,
		    struct act_test *ret)
{
	size_t n = na + nb, k = na < nb ? na : nb;
	struct act_test test = { .df = NAN };
	struct target target = { 0 };
	double all = law_choose((double)n, (double)k);
	bool is_exact = all <= EXACT_MOST;
	double *both;
	int err = 0;

	if (na == 0 || nb == 0)
		return -EINVAL;
	both = join(a, na, b, nb);
	if (!both)
		return -ENOMEM;
	test.statistic = (double)(sum_of(b, nb) / nb - sum_of(a, na) / na);
	target.far = target_far((double)sum_of(both, na), both, n);
	if (is_exact)
		err = choose_all(both, n, k, &target);
	else
		choose_some(both, n, k, seed, &target);
	free(both);
	if (err)
		return err;
	test_of_target(&target, is_exact, &test);
	/* Where both have as many, the sets can also change places. */
	test.p_floor = is_exact ? fmin(1, (na == nb ? 2 : 1) / all)
				: 1 / ((double)target.tried + 1);
	*ret = test;
	return 0;
}

/* ---- Pairs ---- */

static void flip_all(const double *d, size_t n, struct target *target)
{
	for (uint64_t signs = 0; signs < UINT64_C(1) << n; signs++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += signs >> i & 1 ? -d[i] : d[i];
		target_try(target, sum);
	}
}

static void flip_some(const double *d, size_t n, uint64_t seed, struct target *target)
{
	for (size_t draws = draws_for(n); draws > 0; draws--) {
		uint64_t signs = 0;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			signs = i % 64 ? signs >> 1 : draw(&seed);
			sum += signs & 1 ? -d[i] : d[i];
		}
		target_try(target, sum);
	}
}

int act_sign_flip(const double *d, size_t n, uint64_t seed, struct act_test *ret)
{
	struct act_test test = { .df = NAN };
	struct target target = { 0 };
	bool is_exact;

	if (n == 0)
		return -EINVAL;
	is_exact = n < 64 && UINT64_C(1) << n <= EXACT_MOST;
	test.statistic = (double)(sum_of(d, n) / n);
	target.far = target_far((double)sum_of(d, n), d, n);
	if (is_exact)
		flip_all(d, n, &target);
	else
		flip_some(d, n, seed, &target);
	test_of_target(&target, is_exact, &test);
	test.p_floor = is_exact ? ldexp(2, -(int)n) : 1 / ((double)target.tried + 1);
	*ret = test;
	return 0;
}

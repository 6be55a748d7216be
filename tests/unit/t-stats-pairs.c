/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figures.h"
#include "stats/margin.h"
#include "stats/rank.h"

/* Pairs.  References: R 4.2.2; Hollander and Wolfe; exact laws by enumeration. */

/* R's sleep, b - a, as written: ties are ties. */
static const double sleep[] = { 1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4 };
/* The same as a computer subtracts: 1.1 - -0.2 is not 0.1 - -1.2. */
static const double sleep_a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2 };
static const double sleep_b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };

/* Hollander and Wolfe's depression scores, R's ?wilcox.test */
static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
static const double after[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };

static void test_sleep(void **state)
{
	double d[10], got;
	struct act_test test;
	struct act_interval interval;
	struct signed_rank ranks;

	(void)state;
	for (int i = 0; i < 10; i++)
		d[i] = sleep_b[i] - sleep_a[i];
	/* Pratt: the zero has rank 1, the others 2 to 10. */
	assert_int_equal(act_signed_rank(VALUES(sleep), &test), 0);
	assert_true(test.statistic == 54 && test.is_exact);
	assert_near(test.p, 0.00390625);
	assert_near(test.p_floor, 0.00390625);
	assert_int_equal(act_signed_rank(VALUES(d), &test), 0);
	assert_near(test.p, 0.00390625);

	/* R drops the zero. */
	memmove(d + 4, d + 5, 5 * sizeof(*d));
	assert_int_equal(act_signed_rank(d, 9, &test), 0);
	assert_true(test.statistic == 45);
	assert_near(test.p, 0.00390625);
	assert_int_equal(signed_rank_of((const double[]){ 1.2, 2.4, 1.3, 1.3, 1.0, 1.8, 0.8, 4.6,
							   1.4 }, 9, &ranks), 0);
	assert_printed(signed_rank_normal(&ranks, true), "0.00909069801592506");

	assert_int_equal(act_pseudomedian(VALUES(sleep), 0.95, &got, &interval), 0);
	assert_near(got, 1.3);
	assert_near(interval.low, 0.9);
	assert_near(interval.high, 2.7);
	assert_near(interval.level, 0.951171875);
}

static void test_sleep_t(void **state)
{
	struct act_test test = act_paired_t(VALUES(sleep));
	struct act_summary set;
	struct act_interval interval;

	(void)state;
	assert_int_equal(act_summarize(VALUES(sleep), &set), 0);
	interval = act_mean_interval(set.mean, set.sd, 10, 0.95);
	assert_near(test.statistic, 4.06212768338204);
	assert_near(test.df, 9);
	assert_near(test.p, 0.00283289019738427);
	assert_near(set.mean, 1.58);
	assert_near(interval.low, 0.700114236723018);
	assert_near(interval.high, 2.45988576327698);
	assert_int_equal(act_sign_flip(VALUES(sleep), 1, &test), 0);
	assert_near(test.statistic, 1.58);
	assert_near(test.p, 4. / 1024);
	assert_true(test.is_exact);
}

static void test_depression(void **state)
{
	double d[9], logs[9], got;
	struct act_test test;
	struct act_interval interval;
	struct signed_rank ranks;

	(void)state;
	for (int i = 0; i < 9; i++) {
		d[i] = before[i] - after[i];
		logs[i] = log(before[i] / after[i]);
	}
	assert_int_equal(act_signed_rank(VALUES(d), &test), 0);
	assert_true(test.statistic == 40);
	assert_near(test.p, 0.0390625);
	assert_int_equal(signed_rank_of(VALUES(d), &ranks), 0);
	assert_near(signed_rank_normal(&ranks, false) / 2, 0.0190758550867076);
	assert_int_equal(act_pseudomedian(VALUES(d), 0.95, &got, &interval), 0);
	assert_near(got, 0.46);
	assert_near(interval.low, 0.01);
	assert_near(interval.high, 0.786);
	assert_near(interval.level, 0.9609375);
	/* The difference excludes 0, the ratio includes 1. */
	assert_int_equal(act_pseudomedian(VALUES(logs), 0.95, &got, &interval), 0);
	assert_printed(exp(got), "1.384683822");
	assert_printed(exp(interval.low), "0.9909978453");
	assert_printed(exp(interval.high), "1.986968512");
}

static void test_golang(void **state)
{
	static const double d[] = { 2 - 6, 1 - 5, 3 - 7, 4 - 9 };
	static const double same[] = { 3, 3, 3 };
	struct act_test test = act_paired_t(VALUES(d));

	(void)state;
	assert_near(test.statistic, -17);
	assert_near(test.df, 3);
	assert_near(test.p, 0.00044334353831207749);
	assert_nan(act_paired_t(VALUES(same)).p);
	assert_nan(act_paired_t(same, 1).p);
	assert_nan(act_paired_t(same, 0).p);
}

static void test_floors(void **state)
{
	static const struct {
		size_t n;
		double p;
	} known[] = { { 4, .125 }, { 5, .0625 }, { 6, .03125 }, { 7, .015625 }, { 8, .0078125 },
		      { 10, .001953125 } };

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		double d[10];
		struct act_test test;

		for (size_t k = 0; k < known[i].n; k++)
			d[k] = (double)k + 1;
		assert_int_equal(act_signed_rank(d, known[i].n, &test), 0);
		assert_near(test.p, known[i].p);
		assert_near(test.p_floor, known[i].p);
		assert_int_equal(act_sign_flip(d, known[i].n, 1, &test), 0);
		assert_near(test.p, known[i].p);
		assert_near(test.p_floor, known[i].p);
	}
}

/* All signs gone through, with zeros and ties as they come. */
static double enumerated_p(const double *d, size_t n)
{
	double rank[12], v = 0, middle = 0;
	unsigned int as_far = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		rank[i] = 0;
		if (d[i] == 0)
			continue;
		for (size_t k = 0; k < n; k++)
			rank[i] += fabs(d[k]) < fabs(d[i]) ? 1 : fabs(d[k]) == fabs(d[i]) ? 0.5 : 0;
		rank[i] += 0.5;
		middle += rank[i] / 2;
		v += d[i] > 0 ? rank[i] : 0;
	}
	for (unsigned int signs = 0; signs < 1U << n; signs++, all++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += signs >> i & 1 ? rank[i] : 0;
		as_far += fabs(sum - middle) >= fabs(v - middle);
	}
	return (double)as_far / all;
}

static void test_ties(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int round = 0; round < 300; round++) {
		size_t n = (size_t)(round % 12) + 1;
		double d[12];
		struct act_test test;

		for (size_t i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			d[i] = (double)(seed >> 33 & 7) - 3;
		}
		assert_int_equal(act_signed_rank(d, n, &test), 0);
		assert_near(test.p, enumerated_p(d, n));
	}
}

/* Every Walsh average, written down and sorted. */
static void test_selection(void **state)
{
	static double all[90 * 91 / 2];
	double d[90], got, middle;
	uint64_t seed = 9;

	(void)state;
	for (size_t n = 1; n <= 90; n++) {
		size_t count = 0;
		struct act_interval interval;
		struct margin margin;

		for (size_t i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			d[i] = (double)(int64_t)seed / (n % 2 ? 1e12 : 1e18);
			if (n % 3 == 0)
				d[i] = nearbyint(d[i]);
		}
		for (size_t i = 0; i < n; i++)
			for (size_t j = i; j < n; j++)
				all[count++] = d[i] / 2 + d[j] / 2;
		act_sort(all, count);
		middle = count % 2 ? all[count / 2] : all[count / 2 - 1] / 2 + all[count / 2] / 2;
		assert_int_equal(act_pseudomedian(d, n, 0.95, &got, &interval), 0);
		assert_true(got == middle);
		assert_int_equal(margin_signed_rank(n, 0.95, &margin), 0);
		if (n < 6) {
			assert_int_equal(margin.k, 0);
			assert_nan(interval.low);
			continue;
		}
		assert_true(interval.low == all[margin.k - 1]);
		assert_true(interval.high == all[count - margin.k]);
		assert_true(interval.level >= 0.95 && interval.level < 0.985);
	}
}

static uint64_t k_sets(size_t n, double misrate)
{
	struct margin margin;

	assert_int_equal(margin_moses(n, n, 1 - misrate, &margin), 0);
	return margin.k;
}

static uint64_t k_pairs(size_t n, double misrate)
{
	struct margin margin;

	assert_int_equal(margin_signed_rank(n, 1 - misrate, &margin), 0);
	return margin.k;
}

/* pragmastat's margins are what both ends leave out, one more at each than ours do. */
static void test_margins(void **state)
{
	static const double five[] = { 1, 2, 3, 4, 5 }, center[] = { 0, 2, 4, 6, 8 };
	struct act_interval interval;
	double got;

	(void)state;
	assert_int_equal(k_sets(30, 1e-6), 276 / 2);
	assert_int_equal(k_sets(30, 1e-5), 328 / 2);
	assert_int_equal(k_sets(30, 1e-4), 390 / 2);
	assert_int_equal(k_sets(30, 1e-3), 464 / 2);
	assert_int_equal(k_pairs(30, 1e-6), 46 / 2);
	assert_int_equal(k_pairs(30, 1e-5), 74 / 2);
	/* R: qsignrank(0.025, 10), qwilcox(0.025, 10, 10) */
	assert_int_equal(k_pairs(10, 0.05), 9);
	assert_int_equal(k_sets(10, 0.05), 24);
	assert_int_equal(k_sets(5, 0.05), 3);
	assert_int_equal(k_sets(3, 0.05), 0);

	assert_int_equal(act_pseudomedian(VALUES(center), 0.9, &got, &interval), 0);
	assert_near(got, 4);
	/* Theirs at 0.1, [1.5, 4.5], holds 1 - 4 / 32. */
	assert_int_equal(act_pseudomedian(VALUES(five), 1 - 4. / 32, &got, &interval), 0);
	assert_near(interval.low, 1.5);
	assert_near(interval.high, 4.5);
}

/* Where the exact law ends, the normal one goes on. */
static void test_normal(void **state)
{
	double exact = 0, normal = 0;

	(void)state;
	for (size_t n = 59; n <= 62; n++) {
		double d[62], p = (double)n;
		struct act_test test;
		struct act_interval interval;
		double got;

		for (size_t i = 0; i < n; i++)
			d[i] = (double)i * 2.5 - 60;
		assert_int_equal(act_signed_rank(d, n, &test), 0);
		assert_int_equal(test.is_exact, n <= 60);
		assert_true(n <= 60 || test.p_floor == 0);
		*(n <= 60 ? &exact : &normal) = test.p;
		assert_int_equal(act_pseudomedian(d, n, 0.95, &got, &interval), 0);
		assert_within(interval.level, 0.95, 0.002);
		assert_true(k_pairs(n, 0.05) <= p * (p + 1) / 4 &&
			    k_pairs(n, 0.05) >= p * (p + 1) / 4 - 2 * sqrt(p * p * p / 12) - p);
	}
	assert_true(exact > 0 && normal > 0);
}

static void test_edges(void **state)
{
	static const double zeros[] = { 0, 0, 0 }, bad[] = { 1, NAN };
	static double many[100];
	struct act_test test, again;
	struct act_interval interval;
	double got;

	(void)state;
	assert_int_equal(act_signed_rank(VALUES(zeros), &test), 0);
	assert_true(test.statistic == 0 && test.p == 1 && test.p_floor == 1);
	assert_int_equal(act_sign_flip(VALUES(zeros), 1, &test), 0);
	assert_true(test.p == 1);
	assert_int_equal(act_signed_rank(VALUES(bad), &test), -EINVAL);
	assert_int_equal(act_signed_rank(bad, 0, &test), -EINVAL);
	assert_int_equal(act_sign_flip(bad, 0, 1, &test), -EINVAL);
	assert_int_equal(act_pseudomedian(VALUES(bad), 0.95, &got, &interval), -EINVAL);
	assert_int_equal(act_pseudomedian(zeros, 3, 1, &got, &interval), -EINVAL);
	assert_int_equal(act_pseudomedian(zeros, 3, 0, &got, &interval), -EINVAL);

	/* Drawn: near Student's, and the same from the same seed. */
	for (int i = 0; i < 100; i++)
		many[i] = i * 37 % 101 - 44;
	assert_int_equal(act_sign_flip(VALUES(many), 3, &test), 0);
	assert_false(test.is_exact);
	assert_within(test.p, act_paired_t(VALUES(many)).p, 0.01);
	assert_int_equal(act_sign_flip(VALUES(many), 3, &again), 0);
	assert_true(again.p == test.p);
}

/* Neighbours of opposite order are averaged; what has none, and what is few, stays. */
static void test_blocks(void **state)
{
	double d[25], same[25];
	bool is_reversed[25];

	(void)state;
	/* The first of two is slower by 10: a pair's difference is 1 - 10 or 1 + 10. */
	for (int i = 0; i < 24; i++) {
		is_reversed[i] = i / 2 % 2 ? i % 2 : !(i % 2);
		d[i] = is_reversed[i] ? 11 : -9;
	}
	assert_int_equal(act_blocks(d, is_reversed, 24), 12);
	for (int i = 0; i < 12; i++)
		assert_true(d[i] == 1);

	/* The third and fourth have the same order as the next, the last has no next. */
	for (int i = 0; i < 25; i++) {
		is_reversed[i] = i < 2 ? i == 1 : i % 2 == 0;
		d[i] = i;
	}
	is_reversed[3] = true;
	assert_int_equal(act_blocks(d, is_reversed, 25), 14);
	assert_true(d[0] == 0.5 && d[1] == 2 && d[2] == 3 && d[3] == 4.5 && d[13] == 24);

	for (int i = 0; i < 25; i++)
		d[i] = same[i] = i;
	assert_int_equal(act_blocks(d, is_reversed, ACT_BLOCKS_LEAST - 1), ACT_BLOCKS_LEAST - 1);
	assert_int_equal(act_blocks(d, NULL, 25), 25);
	assert_memory_equal(d, same, sizeof(d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_sleep_t),
		cmocka_unit_test(test_depression),
		cmocka_unit_test(test_golang),
		cmocka_unit_test(test_floors),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_margins),
		cmocka_unit_test(test_normal),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests_name("stats-pairs", tests, NULL, NULL);
}

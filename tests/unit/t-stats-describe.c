/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figures.h"

static struct set set;

static struct act_description describe(const char *name)
{
	struct act_description ret;

	read_set(name, &set);
	assert_int_equal(act_describe(set.value, set.sorted, set.n, &ret), 0);
	assert_int_equal(ret.n, set.n);
	return ret;
}

/* NIST StRD, univariate summary statistics: https://www.itl.nist.gov/div898/strd/ */
static const struct certified {
	const char *name;
	size_t n;
	double mean, sd;
	const char *lag1;
	int sd_digits; /* as many as doubles of the data can give, else 10 */
} certified[] = {
	{ "pidigits", 5000, 4.53480000000000, 2.86733906028871, "-0.00355099287237972", 13 },
	{ "lottery", 218, 518.958715596330, 291.699727470969, "-0.120948622967393", 13 },
	{ "lew", 200, -177.435000000000, 277.332168044316, "-0.307304800605679", 13 },
	{ "mavro", 50, 2.00185600000000, 0.000429123454003053, "0.937989183438248", 13 },
	{ "michelso", 100, 299.852400000000, 0.0790105478190518, "0.535199668621283", 13 },
	{ "numacc1", 3, 10000002, 1, "-0.5", 15 },
	{ "numacc2", 1001, 1.2, 0.1, "-0.999", 13 },
	{ "numacc3", 1001, 1000000.2, 0.1, "-0.999", 9 },
	{ "numacc4", 1001, 10000000.2, 0.1, "-0.999", 8 },
};

static void test_nist(void **state)
{
	(void)state;
	for (const struct certified *nist = certified; nist < certified + COUNT(certified);
	     nist++) {
		struct act_description got = describe(nist->name);

		assert_int_equal(got.n, nist->n);
		assert_digits(got.mean, nist->mean, 14);
		assert_digits(got.sd, nist->sd, nist->sd_digits);
		assert_printed(got.lag1, nist->lag1);
	}
}

/* R 4.2.2, quantile(type = 7), mad(constant = 1), t.test() */
static void test_quantiles(void **state)
{
	static const struct {
		const char *name;
		double p[7]; /* 0.05 0.25 0.50 0.75 0.95 0.99; MAD */
		const char *low, *high;
	} known[] = {
		{ "mavro", { 2.001345, 2.0015, 2.0018, 2.0021, 2.0026, NAN, .0003 },
		  "2.00173404446", "2.00197795554" },
		{ "michelso", { 299.739, 299.8075, 299.85, 299.8925, 299.98, 300.0007, .045 },
		  "299.836722593", "299.868077407" },
		{ "lew", { -572, -451, -162, 93, 199.05, 205, 270.5 },
		  "-216.105749472", "-138.764250528" },
		{ "lottery", { 45.05, 272.75, 522.5, 779.25, 957.2, 984.98, 254 },
		  "480.019717589", "557.897713604" },
	};
	static const double p[] = { 0.05, 0.25, 0.50, 0.75, 0.95, 0.99 };

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		struct act_description got = describe(known[i].name);
		struct act_interval mean = act_mean_interval(got.mean, got.sd, got.n, 0.95);

		for (size_t k = 0; k < COUNT(p); k++)
			if (!isnan(known[i].p[k]))
				assert_near(act_quantile(set.sorted, set.n, p[k]), known[i].p[k]);
		assert_near(got.median, known[i].p[2]);
		assert_near(got.mad, known[i].p[6]);
		assert_printed(mean.low, known[i].low);
		assert_printed(mean.high, known[i].high);
	}
	read_set("pidigits", &set);
	assert_near(act_quantile(set.sorted, set.n, 0.25), 2);
	assert_near(act_quantile(set.sorted, set.n, 0.50), 5);
	assert_near(act_quantile(set.sorted, set.n, 0.75), 7);
}

static void test_quantile_types(void **state)
{
	static const double ten[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 };
	double hundred[101];

	(void)state;
	assert_near(act_quantile(VALUES(ten), 0.25), 3.25);
	assert_near(act_quantile(VALUES(ten), 0.90), 9.1);
	assert_near(act_quantile(VALUES(ten), 0.99), 9.91);
	assert_near(act_quantile(VALUES(ten), 0.5), 5.5);
	assert_near(act_quantile(VALUES(ten), 0), 1);
	assert_near(act_quantile(VALUES(ten), 1), 10);
	assert_near(act_quantile_nearest(VALUES(ten), 0.25), 3);
	assert_near(act_quantile_nearest(VALUES(ten), 0.90), 9);
	assert_near(act_quantile_nearest(VALUES(ten), 0.99), 10);
	assert_near(act_quantile_nearest(VALUES(ten), 0.5), 5);
	assert_near(act_quantile_nearest(VALUES(ten), 0), 1);
	assert_near(act_quantile_nearest(VALUES(ten), 1), 10);
	assert_nan(act_quantile(ten, 0, 0.5));
	assert_nan(act_quantile(VALUES(ten), 1.01));
	assert_nan(act_quantile(VALUES(ten), -0.01));
	assert_nan(act_quantile(VALUES(ten), NAN));
	assert_nan(act_quantile_nearest(VALUES(ten), NAN));
	/* Each p that is a hundredth hits its value just so: 0.29 * 100 is less than 29. */
	for (int i = 0; i <= 100; i++)
		hundred[i] = i;
	for (int i = 0; i <= 100; i++) {
		assert_true(act_quantile(VALUES(hundred), i / 100.) == i);
		assert_true(act_quantile_nearest(hundred + 1, 100, i / 100.) == (i ? i : 1));
	}
}

static void check_median_interval(size_t n, double low, double high, const char *level)
{
	double values[30];
	struct act_interval got;

	for (size_t i = 0; i < n; i++)
		values[i] = (double)i + 1;
	got = act_quantile_interval(values, n, 0.5, 0.95);
	assert_near(got.low, low);
	assert_near(got.high, high);
	if (level)
		assert_printed(got.level, level);
	else
		assert_nan(got.level);
}

/* The least n that has an interval for a quantile. */
static void check_least(double p, size_t least)
{
	static double values[3000];
	struct act_interval got = act_quantile_interval(values, least - 1, p, 0.95);

	assert_nan(got.low);
	assert_nan(got.high);
	assert_nan(got.level);
	for (size_t i = 0; i < least; i++)
		values[i] = (double)i;
	got = act_quantile_interval(values, least, p, 0.95);
	assert_near(got.high, (double)least - 1);
	assert_true(got.low < got.high && got.level >= 0.95);
	/* And the same seen from the other end. */
	got = act_quantile_interval(values, least, 1 - p, 0.95);
	assert_near(got.low, 0);
	assert_nan(act_quantile_interval(values, least - 1, 1 - p, 0.95).low);
}

static void test_quantile_intervals(void **state)
{
	static const double eight[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	(void)state;
	for (size_t n = 1; n < 6; n++)
		check_median_interval(n, NAN, NAN, NULL);
	check_median_interval(6, 1, 6, ".96875");
	check_median_interval(8, 1, 8, ".9921875");
	check_median_interval(10, 2, 9, ".978515625");
	check_median_interval(20, 6, 15, ".9586105347");
	check_median_interval(30, 10, 21, ".9572260547");
	assert_nan(act_quantile_interval(eight, 7, 0.5, 0.99).low);
	assert_near(act_quantile_interval(eight, 8, 0.5, 0.99).low, 1);
	check_least(0.9, 29);
	check_least(0.95, 59);
	check_least(0.99, 299);
	check_least(0.999, 2995);
	assert_nan(act_quantile_interval(eight, 8, 0.5, 1).low);
	assert_nan(act_quantile_interval(eight, 8, 0, 0.95).low);
}

static void test_frequent(void **state)
{
	static const struct {
		const char *name;
		uint64_t unique;
		struct act_frequent most[5];
	} known[] = {
		{ "michelso", 30, { { 299.81, 10 }, { 299.88, 10 }, { 299.84, 8 }, { 299.85, 8 },
				    { 299.76, 5 } } },
		{ "mavro", 15, { { 2.0015, 9 }, { 2.0014, 5 }, { 2.0018, 5 }, { 2.0016, 4 },
				 { 2.0019, 4 } } },
		{ "lew", 168, { { 83, 4 }, { 194, 4 } } },
		{ "numacc4", 3, { { 10000000.1, 500 }, { 10000000.3, 500 }, { 10000000.2, 1 } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		struct act_frequent got[5];
		struct act_description all = describe(known[i].name);

		assert_int_equal(all.unique, known[i].unique);
		assert_int_equal(act_most_frequent(set.sorted, set.n, got, 5),
				 all.unique < 5 ? all.unique : 5);
		for (size_t k = 0; k < 5 && known[i].most[k].count; k++) {
			assert_true(got[k].value == known[i].most[k].value);
			assert_int_equal(got[k].count, known[i].most[k].count);
		}
		assert_int_equal(act_most_frequent(set.sorted, set.n, got, 1), 1);
		assert_true(got[0].value == known[i].most[0].value);
		assert_int_equal(act_most_frequent(set.sorted, set.n, got, 0), 0);
	}
	assert_near(describe("michelso").sum, 29985.24);
	assert_printed(describe("numacc4").sum, "10010000200.2");
	assert_printed(describe("numacc4").sd, "0.1");
	assert_int_equal(describe("lottery").unique, 199);
	assert_near(describe("lottery").sum, 113133);
}

static void test_bins(void **state)
{
	static const uint64_t michelso[] = { 1, 1, 6, 12, 27, 28, 10, 11, 3, 1 };
	static const uint64_t lottery[] = { 21, 19, 19, 20, 25, 18, 25, 25, 22, 24 };
	uint64_t bin[10];
	struct act_bins bins = { .min = 299.60, .width = 0.05, .count = 10, .bin = bin };

	(void)state;
	read_set("michelso", &set);
	assert_int_equal(act_bins_fill(&bins, set.value, set.n), 0);
	assert_memory_equal(bin, michelso, sizeof(bin));
	assert_int_equal(bins.below + bins.above, 0);
	/* Out of range is counted, the upper edge as well. */
	bins.min = 299.65;
	bins.count = 7;
	assert_int_equal(act_bins_fill(&bins, set.value, set.n), 0);
	assert_memory_equal(bin, michelso + 1, 7 * sizeof(*bin));
	assert_int_equal(bins.below, 1);
	assert_int_equal(bins.above, 4);

	read_set("lottery", &set);
	bins = (struct act_bins){ .min = 0, .width = 100, .count = 10, .bin = bin };
	assert_int_equal(act_bins_fill(&bins, set.value, set.n), 0);
	assert_memory_equal(bin, lottery, sizeof(bin));
}

/* Whatever edges are asked for in decimals, a value written like one lies above it. */
static void test_bin_edges(void **state)
{
	uint64_t bin[1000];

	(void)state;
	for (int digits = 1; digits <= 6; digits++)
		for (int from = -3; from <= 300; from += 101) {
			double scale = pow(10, digits), value;
			struct act_bins bins = { .min = from, .width = 1 / scale, .count = 1000,
						 .bin = bin };

			for (int i = 0; i < 1000; i++) {
				value = (from * scale + i) / scale;
				assert_int_equal(act_bins_fill(&bins, &value, 1), 0);
				assert_int_equal(bin[i], 1);
			}
			value = (from * scale - 1) / scale;
			assert_int_equal(act_bins_fill(&bins, &value, 1), 0);
			assert_int_equal(bins.below, 1);
			value = (from * scale + 1000) / scale;
			assert_int_equal(act_bins_fill(&bins, &value, 1), 0);
			assert_int_equal(bins.above, 1);
		}
}

static void test_log_bins(void **state)
{
	static const double values[] = { 0, -5, 0.999, 1, 1.999, 2, 3.999, 4, 7, 8, 15.999, 16,
					 1e300, DBL_MAX, DBL_MIN };
	uint64_t bin[4];
	struct act_bins bins = { .min = 1, .is_log = true, .count = 4, .bin = bin };

	(void)state;
	assert_int_equal(act_bins_fill(&bins, VALUES(values)), 0);
	assert_int_equal(bins.below, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(bin[i], 2);
	assert_int_equal(bins.above, 3);
	bins.min = DBL_MIN;
	assert_int_equal(act_bins_fill(&bins, VALUES(values)), 0);
	assert_int_equal(bins.below, 2);
	assert_int_equal(bin[0], 1);
	assert_int_equal(bins.above, 12);
}

static void test_bad_bins(void **state)
{
	uint64_t bin[2] = { 7, 7 };
	double value = 1;
	const struct act_bins bad[] = {
		{ .min = 0, .width = 0, .count = 2, .bin = bin },
		{ .min = 0, .width = -1, .count = 2, .bin = bin },
		{ .min = 0, .width = NAN, .count = 2, .bin = bin },
		{ .min = NAN, .width = 1, .count = 2, .bin = bin },
		{ .min = 0, .width = INFINITY, .count = 2, .bin = bin },
		{ .min = 0, .width = 1, .count = 0, .bin = bin },
		{ .min = 0, .is_log = true, .count = 2, .bin = bin },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct act_bins bins = bad[i];

		assert_int_equal(act_bins_fill(&bins, &value, 1), -EINVAL);
	}
	assert_int_equal(bin[0], 7);
}

static uint64_t random_bits(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state ^ *state >> 29;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void check_sort(const double *values, size_t n)
{
	double *mine = malloc((n + 1) * sizeof(*mine)), *theirs = malloc((n + 1) * sizeof(*theirs));

	memcpy(mine, values, n * sizeof(*mine));
	memcpy(theirs, values, n * sizeof(*mine));
	qsort(theirs, n, sizeof(*theirs), compare);
	assert_int_equal(act_sort(mine, n), 0);
	for (size_t i = 0; i < n; i++)
		assert_true(mine[i] == theirs[i]);
	free(mine);
	free(theirs);
}

static double any_double(uint64_t bits)
{
	double ret;

	memcpy(&ret, &bits, sizeof(ret));
	return isfinite(ret) ? ret : 0;
}

static void test_sort(void **state)
{
	static double values[20000];
	static const double special[] = { 0, -0.0, DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 5e-324,
					  -5e-324, 1, -1 };
	uint64_t seed = 1;

	(void)state;
	check_sort(VALUES(special));
	for (size_t n = 0; n < COUNT(values); n = n * 3 / 2 + 1) {
		for (size_t i = 0; i < n; i++)
			values[i] = any_double(random_bits(&seed));
		check_sort(values, n);
		for (size_t i = 0; i < n; i++) /* as latencies are */
			values[i] = 640 + (double)(random_bits(&seed) % 200);
		check_sort(values, n);
		for (size_t i = 0; i < n; i++)
			values[i] = (double)(random_bits(&seed) % 3) - 1;
		check_sort(values, n);
		for (size_t i = 0; i < n; i++)
			values[i] = -(double)i;
		check_sort(values, n);
	}
	for (size_t at = 0; at < 3; at++) {
		static const double bad[] = { NAN, -NAN, INFINITY, -INFINITY };

		for (size_t i = 0; i < COUNT(bad); i++) {
			double three[3] = { 1, 2, 3 };

			three[at] = bad[i];
			assert_int_equal(act_sort(three, 3), -EINVAL);
		}
	}
}

static void test_few(void **state)
{
	static const double five = 5, same[] = { 5, 5, 5, 5 }, two[] = { 1, 2 };
	struct act_description got;

	(void)state;
	assert_int_equal(act_describe(&five, &five, 0, &got), -EINVAL);
	assert_int_equal(act_describe(&five, &five, 1, &got), 0);
	assert_int_equal(got.n, 1);
	assert_true(got.min == 5 && got.median == 5 && got.max == 5 && got.mean == 5);
	assert_nan(got.sd);
	assert_nan(got.variance);
	assert_nan(got.lag1);
	assert_nan(act_mean_interval(got.mean, got.sd, 1, 0.95).low);
	assert_true(got.mad == 0);
	assert_int_equal(act_describe(same, same, 4, &got), 0);
	assert_true(got.sd == 0 && got.unique == 1);
	assert_nan(got.lag1);
	assert_int_equal(act_describe(two, two, 2, &got), 0);
	assert_near(got.median, 1.5);
	assert_near(got.sd, sqrt(0.5));
	assert_near(got.mad, 0.5);
}

/* 1e9 + 0.4, then 500 times 1e9 + 0.3 and 1e9 + 0.5 */
static void test_large_offset(void **state)
{
	struct act_description got;

	(void)state;
	set.n = 1001;
	set.value[0] = 1e9 + 0.4;
	for (size_t i = 1; i < set.n; i++)
		set.value[i] = i % 2 ? 1e9 + 0.3 : 1e9 + 0.5;
	memcpy(set.sorted, set.value, sizeof(set.value));
	act_sort(set.sorted, set.n);
	assert_int_equal(act_describe(set.value, set.sorted, set.n, &got), 0);
	assert_digits(got.sd, 0.1, 6);
	assert_digits(got.mad, 0.1, 6);
}

/* Median distance by the book, and what is farther than 3.5 of them. */
static void test_outliers(void **state)
{
	static const double values[] = { 10, 11, 9, 10, 12, 8, 10, 11, 30, -20 };
	static const double half_same[] = { 5, 5, 5, 5, 5, 9, 100 };
	double sorted[10];
	struct act_description got;

	(void)state;
	memcpy(sorted, values, sizeof(values));
	act_sort(sorted, 10);
	assert_int_equal(act_describe(values, sorted, 10, &got), 0);
	assert_near(got.mad, 1);
	assert_int_equal(got.outliers, 2);
	/* z of just 3.5 is none: 0.6745 * 5.189 = 3.49998, 0.6745 * 5.19 = 3.50066 */
	sorted[9] = 15.189;
	act_describe(values, sorted, 10, &got);
	assert_int_equal(got.outliers, 1);
	sorted[9] = 15.19;
	act_describe(values, sorted, 10, &got);
	assert_int_equal(got.outliers, 2);
	/* Without a measure of what is far nothing is. */
	assert_int_equal(act_describe(half_same, half_same, 7, &got), 0);
	assert_true(got.mad == 0);
	assert_int_equal(got.outliers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nist),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_quantile_types),
		cmocka_unit_test(test_quantile_intervals),
		cmocka_unit_test(test_frequent),
		cmocka_unit_test(test_bins),
		cmocka_unit_test(test_bin_edges),
		cmocka_unit_test(test_log_bins),
		cmocka_unit_test(test_bad_bins),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_large_offset),
		cmocka_unit_test(test_outliers),
	};

	return cmocka_run_group_tests_name("stats-describe", tests, NULL, NULL);
}

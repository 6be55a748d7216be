/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "figures.h"
#include "stats/law.h"

/* Series, laws, verdicts, many tests, plans.  References: R 4.2.2, HdrHistogram_c. */

static struct set set;

static void check_series(const char *name, const char *q1, const char *q10, const char *tau)
{
	struct act_test test;

	read_set(name, &set);
	assert_printed(act_ljung_box(set.value, set.n, 1).statistic, q1);
	assert_printed(act_ljung_box(set.value, set.n, 10).statistic, q10);
	assert_near(act_ljung_box(set.value, set.n, 10).df, 10);
	assert_int_equal(act_kendall(set.value, set.n, &test), 0);
	assert_printed(test.statistic, tau);
}

static void test_series(void **state)
{
	(void)state;
	check_series("lew", "19.17198048", "815.5394423", ".002163142347");
	check_series("mavro", "46.68452329", "179.9995949", ".3794362667");
	check_series("michelso", "29.51186455", "39.72610685", "-.261182799");
	check_series("lottery", "3.233116075", "13.78094672", "-.06022797449");
	assert_printed(act_ljung_box(set.value, set.n, 1).p, ".0721633");
	assert_printed(act_ljung_box(set.value, set.n, 10).p, ".18322");
	assert_printed(act_effective_n(50, 0.937989183438248), "1.59988");
	assert_printed(act_effective_n(100, 0.535199668621283), "30.2762");
	assert_near(act_effective_n(100, -0.5), 100);
	assert_nan(act_effective_n(100, NAN));
}

static void test_series_edges(void **state)
{
	static const double same[] = { 2, 2, 2, 2 };
	struct act_test test;

	(void)state;
	assert_nan(act_autocorrelation(VALUES(same), 1));
	assert_nan(act_autocorrelation(same, 1, 1));
	assert_nan(act_autocorrelation(same, 0, 0));
	assert_nan(act_ljung_box(VALUES(same), 1).p);
	assert_nan(act_ljung_box(VALUES(same), 4).p);
	assert_nan(act_ljung_box(VALUES(same), 0).p);
	assert_int_equal(act_kendall(VALUES(same), &test), 0);
	assert_nan(test.statistic);
	assert_nan(test.p);
	assert_int_equal(act_kendall(same, 1, &test), 0);
	assert_nan(test.statistic);
	assert_int_equal(act_kendall(same, 0, &test), -EINVAL);
}

/* By counting all pairs, and all orders. */
static void test_kendall(void **state)
{
	static const double up[] = { 1, 2, 3, 4, 5 };
	double values[80];
	struct act_test test;
	uint64_t seed = 5;

	(void)state;
	assert_int_equal(act_kendall(VALUES(up), &test), 0);
	assert_near(test.statistic, 1);
	assert_near(test.p, 2. / 120);
	assert_true(test.is_exact);
	assert_int_equal(act_kendall((const double[]){ 5, 4, 3, 2, 1 }, 5, &test), 0);
	assert_near(test.statistic, -1);
	assert_near(test.p, 2. / 120);
	for (size_t n = 2; n <= 80; n++) {
		double s = 0, tied = 0, pairs = (double)(n * (n - 1)) / 2;

		for (size_t i = 0; i < n; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			values[i] = (double)(seed >> 40 & 63);
		}
		for (size_t i = 0; i < n; i++)
			for (size_t j = i + 1; j < n; j++) {
				s += (values[j] > values[i]) - (values[j] < values[i]);
				tied += values[i] == values[j];
			}
		assert_int_equal(act_kendall(values, n, &test), 0);
		if (tied < pairs)
			assert_near(test.statistic, s / sqrt(pairs * (pairs - tied)));
		assert_true(test.p > 0 && test.p <= 1);
	}
	/* R: cor.test(1:50, c(2:50, 1), method = "kendall"): S = 1127, no longer exact */
	for (int i = 0; i < 50; i++)
		values[i] = i < 49 ? i + 2 : 1;
	assert_int_equal(act_kendall(values, 50, &test), 0);
	assert_false(test.is_exact);
	assert_near(test.statistic, 1127. / 1225);
	assert_near(test.p, law_normal_p(1127 / sqrt(50. * 49 * 105 / 18)));
}

static void test_laws(void **state)
{
	static const struct {
		double df;
		const char *t;
	} student[] = {
		{ 1, "12.7062047362" }, { 2, "4.30265272975" }, { 3, "3.18244630528" },
		{ 5, "2.57058183564" }, { 10, "2.22813885199" }, { 28, "2.0484071418" },
		{ 29, "2.04522964213" }, { 30, "2.0422724563" }, { 120, "1.97993040508" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(student); i++) {
		double t = law_student_quantile(0.95, student[i].df);

		assert_printed(t, student[i].t);
		assert_near(law_student_p(t, student[i].df), 0.05);
	}
	assert_near(law_normal_quantile(0.975), 1.95996398454005);
	assert_near(law_chi_squared_above(3.84145882069, 1), 0.05);
	assert_near(law_chi_squared_above(9.48772903678, 4), 0.05);
	assert_near(law_chi_squared_above(18.3070380533, 10), 0.05);
	assert_near(law_choose(50, 25), 126410606437752.);
	assert_near(law_choose(5, 0), 1);
	assert_near(law_choose(5, 6), 0);
	assert_true(law_choose(1e7, 5e6) == INFINITY);
}

/* Sums of the exact laws are 1, and their ends what they must be. */
static void test_rank_laws(void **state)
{
	uint32_t ranks[98];
	struct rank_law law;

	(void)state;
	for (uint32_t i = 0; i < 98; i++)
		ranks[i] = i + 1;
	assert_int_equal(law_rank_sum(ranks, 98, 49, &law), 0);
	assert_near(law_below(&law, law.max), 1);
	assert_near(law.p[49 * 50 / 2], 1 / law_choose(98, 49));
	assert_near(law_below(&law, 49 * 50 / 2 - 1), 0);
	law_free(&law);
	/* R: pwilcox(10, 5, 5), pwilcox(800, 49, 49) */
	assert_int_equal(law_rank_sum(ranks, 10, 5, &law), 0);
	assert_near(law_below(&law, 15 + 2), 4. / 252);
	law_free(&law);
	assert_int_equal(law_signed_rank(ranks, 60, &law), 0);
	assert_near(law_below(&law, law.max), 1);
	assert_near(law.p[0], ldexp(1, -60));
	law_free(&law);
	assert_int_equal(law_inversions(49, &law), 0);
	assert_near(law_below(&law, law.max), 1);
	assert_near(law.p[1] / law.p[0], 48);
	law_free(&law);
	assert_int_equal(law_rank_sum(ranks, 3, 4, &law), -EINVAL);
}

/* Whatever it is asked, R's library says nothing: the library is silent. */
static void test_silence(void **state)
{
	static const double odd[] = { NAN, -INFINITY, INFINITY, -1e300, -40, -1, 0, 1e-300, 0.3, 1,
				      2, 37, 38, 1e5, 1e17, 1e300 };
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
	FILE *said = tmpfile();
	struct stat stat;
	double sum = 0;

	(void)state;
	assert_non_null(said);
	fflush(stdout);
	fflush(stderr);
	dup2(fileno(said), STDOUT_FILENO);
	dup2(fileno(said), STDERR_FILENO);
	for (size_t i = 0; i < COUNT(odd); i++)
		for (size_t j = 0; j < COUNT(odd); j++) {
			double x = odd[i], y = odd[j];

			sum += law_student_p(x, y) + law_student_quantile(x, y);
			sum += law_normal_p(x) + law_normal_below(x) + law_normal_quantile(x);
			sum += law_chi_squared_above(x, y);
			sum += law_binomial_below(x, 1000, y) + law_binomial_above(x, 1000, y);
			for (double shift = -50; shift <= 50; shift += 0.7)
				sum += law_student_shifted(x, y, shift);
			sum += act_t_power(y, x, 1, 0.05, true) + act_t_power(x, y, 1, 1e-9, false);
			sum += act_t_needed(x, 1, 0.05, 0.9, true);
		}
	fflush(stdout);
	fflush(stderr);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	assert_int_equal(fstat(fileno(said), &stat), 0);
	assert_int_equal(stat.st_size, 0);
	assert_true(isnan(sum));
	fclose(said);
}

static void check_verdict(double low, double high, double noise, enum act_verdict verdict)
{
	const struct act_interval ratio = { low, high, 0.95 };

	assert_string_equal(act_verdict_word(act_decide(&ratio, 0.01, noise)),
			    act_verdict_word(verdict));
}

static void test_verdicts(void **state)
{
	const struct act_interval exact = { 1, 1, 0.95 };

	(void)state;
	check_verdict(1.02, 1.04, 0, ACT_SLOWER);
	check_verdict(0.96, 0.98, 0, ACT_FASTER);
	check_verdict(0.995, 1.005, 0, ACT_EQUIVALENT);
	check_verdict(0.98, 1.03, 0, ACT_INCONCLUSIVE);
	check_verdict(0.98, 1.005, 0, ACT_INCONCLUSIVE);
	/* Surely slower, and surely not by what matters. */
	check_verdict(1.001, 1.005, 0, ACT_EQUIVALENT);
	check_verdict(1.001, 1.02, 0, ACT_SLOWER);
	check_verdict(1, 1.02, 0, ACT_INCONCLUSIVE);
	/* Runs of the same differ as much. */
	check_verdict(1.02, 1.04, 0.05, ACT_INCONCLUSIVE);
	check_verdict(1.02, 1.04, 0.02, ACT_SLOWER);
	check_verdict(0.96, 0.98, 0.05, ACT_INCONCLUSIVE);
	check_verdict(0.995, 1.005, 0.02, ACT_INCONCLUSIVE);
	check_verdict(0.995, 1.005, 0.005, ACT_EQUIVALENT);
	check_verdict(1.02, 1.04, NAN, ACT_SLOWER);
	check_verdict(0.995, 1.005, NAN, ACT_EQUIVALENT);
	check_verdict(NAN, NAN, 0, ACT_INCONCLUSIVE);
	check_verdict(-INFINITY, INFINITY, 0, ACT_INCONCLUSIVE);
	check_verdict(0.5073538332, 7.294093983, 0, ACT_INCONCLUSIVE);
	assert_int_equal(act_decide(&exact, 0, 0), ACT_INCONCLUSIVE);
	assert_string_equal(act_verdict_word(ACT_SLOWER), "slower");
	assert_string_equal(act_verdict_word(ACT_FASTER), "faster");
	assert_string_equal(act_verdict_word(ACT_EQUIVALENT), "equivalent");
	assert_string_equal(act_verdict_word(ACT_INCONCLUSIVE), "inconclusive");
}

static void check_adjusted(int (*adjust)(double *, size_t), const double *raw,
			   const char *const *expected)
{
	/* Backwards and every second as well: the order given is kept. */
	static const size_t orders[][5] = { { 0, 1, 2, 3, 4 }, { 4, 3, 2, 1, 0 },
					    { 2, 0, 4, 1, 3 } };

	for (size_t o = 0; o < COUNT(orders); o++) {
		double p[6];

		for (size_t i = 0; i < 5; i++)
			p[i] = raw[orders[o][i]];
		p[5] = NAN; /* could not be tested */
		assert_int_equal(adjust(p, 6), 0);
		for (size_t i = 0; i < 5; i++)
			assert_printed(p[i], expected[orders[o][i]]);
		assert_nan(p[5]);
	}
}

static void test_many(void **state)
{
	static const double first[] = { .0001, .003, .019, .04, .8 };
	static const double second[] = { .01, .02, .03, .04, .05 };

	(void)state;
	check_adjusted(act_holm, first,
		       (const char *const[]){ ".0005", ".012", ".057", ".08", ".8" });
	check_adjusted(act_benjamini_hochberg, first,
		       (const char *const[]){ ".0005", ".0075", ".0316666667", ".05", ".8" });
	check_adjusted(act_holm, second,
		       (const char *const[]){ ".05", ".08", ".09", ".09", ".09" });
	check_adjusted(act_benjamini_hochberg, second,
		       (const char *const[]){ ".05", ".05", ".05", ".05", ".05" });
	assert_int_equal(act_holm(NULL, 0), 0);
	assert_int_equal(act_benjamini_hochberg(NULL, 0), 0);
}

static void test_plan(void **state)
{
	double log_effect = log1p(0.01), pairs, normal;

	(void)state;
	/* R: power.t.test(); it searches n no closer than this. */
	assert_digits(act_t_needed(1, 1, 0.05, 0.9, false), 22.0210977, 6.5);
	assert_digits(act_t_needed(0.01, 0.02, 0.05, 0.8, false), 63.7657637, 8);
	assert_digits(act_t_needed(0.01, 0.02, 0.05, 0.8, true), 33.3672041, 8);
	assert_near(act_t_power(act_t_needed(1, 1, 0.05, 0.9, false), 1, 1, 0.05, false), 0.9);
	assert_near(act_t_power(20, 1, 1, 0.05, false), .868952801692498);
	assert_nan(act_t_needed(0, 1, 0.05, 0.8, true));
	assert_nan(act_t_needed(1, 0, 0.05, 0.8, true));
	assert_nan(act_t_needed(1, 1, 0.05, 1, true));
	assert_true(act_t_needed(1e-200, 1, 0.05, 0.8, true) == INFINITY);
	/* The t-test's, times pi / 3 for ranks: a little more than by the normal law. */
	pairs = act_t_needed(log_effect, 0.02, 0.05, 0.8, true) * M_PI / 3;
	normal = pow((1.95996398454005 + 0.841621233572914) * 0.02 / log_effect, 2) * M_PI / 3;
	assert_true(pairs > normal + 1 && pairs < normal + 3);
	assert_near(act_pairs_needed(0.02, 0.01, 0.05, 0.8), ceil(pairs));
	assert_near(act_pairs_needed(0.02, -1 + 1 / 1.01, 0.05, 0.8), ceil(pairs));
	assert_near(act_detectable(0.02, pairs, 0.05, 0.8), 0.01);
	/* Of many it is that of the normal law. */
	normal = pow((1.95996398454005 + 0.841621233572914) * 2 / log_effect, 2) * M_PI / 3;
	assert_digits(act_pairs_needed(2, 0.01, 0.05, 0.8), normal, 4);
	assert_near(act_detectable(0, 10, 0.05, 0.8), 0);
	assert_nan(act_detectable(0.02, 5, 0.05, 0.8));
	/* Fewer than six pairs never reach 0.05. */
	assert_near(act_pairs_needed(0, 0.01, 0.05, 0.8), 6);
	assert_near(act_pairs_needed(1e-9, 0.01, 0.0625, 0.8), 5);
	assert_true(act_pairs_needed(0.02, 0, 0.05, 0.8) == INFINITY);
	assert_nan(act_pairs_needed(NAN, 0.01, 0.05, 0.8));
	assert_nan(act_pairs_needed(-1, 0.01, 0.05, 0.8));
	assert_nan(act_pairs_needed(0.02, -2, 0.05, 0.8));
	assert_nan(act_pairs_needed(0.02, 0.01, 1, 0.8));
	assert_nan(act_detectable(NAN, 10, 0.05, 0.8));
	assert_nan(act_detectable(0.02, 10, 0, 0.8));
}

/* HdrHistogram_c, test/hdr_histogram_test.c: 10000 times 1000, and once 10^8. */
static void test_omission(void **state)
{
	static double raw[10001];
	static const struct {
		double percent, before, after;
	} known[] = {
		{ 30, 1000, 1000 }, { 50, 1000, 1000 }, { 75, 1000, 5e7 }, { 90, 1000, 8e7 },
		{ 99, 1000, 9.8e7 }, { 99.99, 1000, 1e8 }, { 99.999, 1e8, 1e8 }, { 100, 1e8, 1e8 },
	};
	struct act_summary before, after;
	double *values;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 10000; i++)
		raw[i] = 1000;
	raw[10000] = 1e8;
	assert_int_equal(act_correct_omission(VALUES(raw), 10000, &values, &n), 0);
	assert_int_equal(n, 20000);
	assert_int_equal(act_summarize(VALUES(raw), &before), 0);
	assert_int_equal(act_summarize(values, n, &after), 0);
	assert_printed(before.mean, "10998.900109989");
	/* To 0.1 %: HdrHistogram keeps three digits. */
	assert_digits(after.mean, 25003000, 3);
	act_sort(values, n);
	for (size_t i = 0; i < COUNT(known); i++) {
		double p = known[i].percent / 100;

		assert_digits(act_quantile_nearest(VALUES(raw), p), known[i].before, 3);
		assert_digits(act_quantile_nearest(values, n, p), known[i].after, 3);
	}
	free(values);
}

static void test_omission_edges(void **state)
{
	static const double three[] = { 20e6, 30e6, 100e6 }, edge[] = { 5, 9.999, 10, 15, -3 };
	static const double huge[] = { 1e300 };
	double *values;
	size_t n;

	(void)state;
	assert_near(act_quantile_nearest(VALUES(three), 0.5), 30e6);
	assert_near(act_quantile_nearest(VALUES(three), 0.3333), 20e6);
	assert_int_equal(act_correct_omission(VALUES(edge), 5, &values, &n), 0);
	/* 10 would have kept one call waiting for 5, 15 two: for 10 and 5. */
	assert_int_equal(n, 8);
	assert_near(values[3], 5);
	assert_near(values[5], 10);
	assert_near(values[6], 5);
	free(values);
	assert_int_equal(act_correct_omission(VALUES(huge), 1, &values, &n), -E2BIG);
	assert_int_equal(act_correct_omission(VALUES(edge), 0, &values, &n), -EINVAL);
	assert_int_equal(act_correct_omission(VALUES(edge), NAN, &values, &n), -EINVAL);
	assert_int_equal(act_correct_omission(VALUES(edge), INFINITY, &values, &n), -EINVAL);
	assert_int_equal(act_correct_omission(edge, 0, 5, &values, &n), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_series_edges),
		cmocka_unit_test(test_kendall),
		cmocka_unit_test(test_laws),
		cmocka_unit_test(test_rank_laws),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_plan),
		cmocka_unit_test(test_omission),
		cmocka_unit_test(test_omission_edges),
	};

	return cmocka_run_group_tests_name("stats-decide", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "figures.h"
#include "stats/rank.h"

/*
 * Two sets.  References: R 4.2.2 (t.test, wilcox.test), exact laws with ties by
 * enumeration, the manuals of ministat and benchstat, golang/perf's and pragmastat's
 * own tests.
 */
static const double sleep_a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2 };
static const double sleep_b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 };
static const double iguana[] = { 50, 200, 150, 400, 750, 400, 150 };
static const double chameleon[] = { 150, 400, 720, 500, 930 };
static const double permeability_x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73,
					 1.46 };
static const double permeability_y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
static const double json_old[] = { 1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774 };
static const double json_new[] = { 1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425 };
static const double gob_old[] = { 3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062 };
static const double gob_new[] = { 3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062 };
static const double small_a[] = { 10.1, 10.3, 9.9, 10.0, 10.2 };
static const double small_b[] = { 11.0, 11.2, 10.9, 11.1, 11.3 };

static struct act_summary summarize(const double *values, size_t n)
{
	struct act_summary ret;

	assert_int_equal(act_summarize(values, n, &ret), 0);
	assert_true(ret.n == (double)n);
	return ret;
}

/* What t-tests say of two sets, as text; NULL: not known. */
struct means {
	const char *t, *df, *p, *low, *high;
};

static void check_means(struct act_test test, struct act_interval interval,
			const struct means *known)
{
	assert_printed(test.statistic, known->t);
	assert_printed(test.df, known->df);
	if (known->p)
		assert_printed(test.p, known->p);
	assert_true(test.p_floor == 0);
	if (!known->low)
		return;
	assert_printed(interval.low, known->low);
	assert_printed(interval.high, known->high);
}

static void check_welch(const double *a, size_t na, const double *b, size_t nb,
			const struct means *known)
{
	struct act_summary x = summarize(a, na), y = summarize(b, nb);

	check_means(act_welch(&x, &y), act_welch_interval(&x, &y, 0.95), known);
}

static void check_student(const double *a, size_t na, const double *b, size_t nb,
			  const struct means *known)
{
	struct act_summary x = summarize(a, na), y = summarize(b, nb);

	check_means(act_student(&x, &y), act_student_interval(&x, &y, 0.95), known);
}

/* U of a; p as the function chooses it, by the normal laws, and exact. */
struct ranks {
	const char *u, *chosen, *continuous, *plain, *exact;
};

static void check_ranks(const double *a, size_t na, const double *b, size_t nb,
			const struct ranks *known)
{
	double *x = malloc(na * sizeof(*x)), *y = malloc(nb * sizeof(*y)), p = NAN;
	struct rank_sum sum;
	struct act_test test;

	memcpy(x, a, na * sizeof(*x));
	memcpy(y, b, nb * sizeof(*y));
	act_sort(x, na);
	act_sort(y, nb);
	rank_sum_of(x, na, y, nb, &sum);
	assert_int_equal(act_mann_whitney(a, na, b, nb, &test), 0);
	assert_printed(test.statistic, known->u);
	assert_nan(test.df);
	assert_near(act_a12(a, na, b, nb), 1 - test.statistic / (double)(na * nb));
	if (known->chosen)
		assert_printed(test.p, known->chosen);
	if (known->continuous)
		assert_printed(rank_sum_normal(&sum, true), known->continuous);
	if (known->plain)
		assert_printed(rank_sum_normal(&sum, false), known->plain);
	if (known->exact) {
		assert_int_equal(rank_sum_exact(&sum, &p), 0);
		assert_printed(p, known->exact);
		assert_true(test.is_exact && test.p == p);
	}
	free(x);
	free(y);
}

static void check_shift(const double *a, size_t na, const double *b, size_t nb, double level,
			double shift, double low, double high)
{
	struct act_interval interval;
	double got;

	assert_int_equal(act_shift(a, na, b, nb, level, &got, &interval), 0);
	assert_within(got, shift, 1e-10 * fmax(fabs(shift), 1));
	assert_within(interval.low, low, 1e-10 * fmax(fabs(low), 1));
	assert_within(interval.high, high, 1e-10 * fmax(fabs(high), 1));
}

static double shift_level(const double *a, size_t na, const double *b, size_t nb)
{
	struct act_interval interval;
	double shift;

	assert_int_equal(act_shift(a, na, b, nb, 0.95, &shift, &interval), 0);
	return interval.level;
}

static void check_ratio(const double *a, size_t na, const double *b, size_t nb, const char *ratio,
			const char *low, const char *high)
{
	struct act_interval interval;
	double got;

	assert_int_equal(act_ratio(a, na, b, nb, 0.95, &got, &interval), 0);
	assert_printed(got, ratio);
	assert_printed(interval.low, low);
	assert_printed(interval.high, high);
}

static void check_ratio_of_means(const double *a, size_t na, const double *b, size_t nb,
				 const char *ratio, const char *low, const char *high)
{
	struct act_summary x = summarize(a, na), y = summarize(b, nb);
	struct act_interval interval;
	double got;

	interval = act_ratio_of_means(&x, &y, 0.95, &got);
	assert_printed(got, ratio);
	assert_printed(interval.low, low);
	assert_printed(interval.high, high);
}

static void test_sleep(void **state)
{
	(void)state;
	assert_near(summarize(VALUES(sleep_a)).mean, 0.75);
	assert_near(summarize(VALUES(sleep_b)).mean, 2.33);
	assert_near(summarize(VALUES(sleep_a)).sd, 1.78900965775916);
	assert_near(summarize(VALUES(sleep_b)).sd, 2.00224873579683);
	check_welch(VALUES(sleep_a), VALUES(sleep_b),
		    &(struct means){ "1.86081346748685", "17.7764735161785", "0.0793941401873582",
				     "-0.20548323071171", "3.36548323071171" });
	check_student(VALUES(sleep_a), VALUES(sleep_b),
		      &(struct means){ "1.86081346748685", "18", "0.0791867142159382",
				       "-0.2038740322876", "3.3638740322876" });
	check_ranks(VALUES(sleep_a), VALUES(sleep_b),
		    &(struct ranks){ "25.5", "0.0658165364048", "0.0693275754336266",
				     "0.0637222501550252", "0.0658165364048" });
	assert_near(act_a12(VALUES(sleep_a), VALUES(sleep_b)), 0.745);
	/* R's wilcox.test searches for a root and prints 1.346388 [-0.09995, 3.59995]. */
	check_shift(VALUES(sleep_a), VALUES(sleep_b), 0.95, 1.35, -0.1, 3.6);
	assert_printed(shift_level(VALUES(sleep_a), VALUES(sleep_b)), "0.9567429475");
}

static void test_ministat(void **state)
{
	struct act_summary a = summarize(VALUES(iguana)), b = summarize(VALUES(chameleon));
	struct act_interval wide = act_student_interval(&a, &b, 0.95);
	struct act_interval narrow = act_student_interval(&a, &b, 0.8);

	(void)state;
	assert_near(a.mean, 300);
	assert_near(b.mean, 540);
	assert_near(a.sd, 238.047614284762);
	assert_near(b.sd, 299.081928574764);
	assert_printed(240 - wide.low, "344.63893128442");
	assert_printed(wide.high - 240, "344.63893128442");
	/* ministat's own table of t has fewer digits: 212.215 */
	assert_printed(240 - narrow.low, "212.243461926377");
	check_student(VALUES(iguana), VALUES(chameleon),
		      &(struct means){ "1.55163353856675", "10", "0.151796815211075", NULL, NULL });
	check_welch(VALUES(iguana), VALUES(chameleon),
		    &(struct means){ "1.48883953099072", "7.42542832124251", "0.177721841543405",
				     "-136.793175816864", "616.793175816864" });
	check_ranks(VALUES(chameleon), VALUES(iguana),
		    &(struct ranks){ "26", "0.188131313131", "0.187584805059611", NULL,
				     "0.188131313131" });
	assert_printed(act_a12(VALUES(iguana), VALUES(chameleon)), "0.7428571429");
	check_shift(VALUES(iguana), VALUES(chameleon), 0.95, 250, -50, 570);
	assert_printed(shift_level(VALUES(iguana), VALUES(chameleon)), "0.952020202");
	assert_printed(act_cohen_d(&a, &b), "0.908543570086");
	check_ratio_of_means(VALUES(iguana), VALUES(chameleon), "1.8", "0.5073538332",
			     "7.294093983");
}

static void test_permeability(void **state)
{
	struct rank_sum sum;
	double x[10], y[5];

	(void)state;
	memcpy(x, permeability_x, sizeof(x));
	memcpy(y, permeability_y, sizeof(y));
	act_sort(x, 10);
	act_sort(y, 5);
	rank_sum_of(x, 10, y, 5, &sum);
	/* One-sided, as R's example has it. */
	assert_printed(rank_sum_normal(&sum, false) / 2, "0.110335680959923");
	check_ranks(VALUES(permeability_x), VALUES(permeability_y),
		    &(struct ranks){ "35", "0.254412254412254", "0.244623605126983", NULL,
				     "0.254412254412254" });
	check_shift(VALUES(permeability_y), VALUES(permeability_x), 0.95, 0.305, -0.15, 0.76);
	assert_printed(shift_level(VALUES(permeability_y), VALUES(permeability_x)), "0.96003996");
	check_welch(VALUES(permeability_y), VALUES(permeability_x),
		    &(struct means){ "2.04138309221007", "12.9705384432575", "0.0621013437810785",
				     NULL, NULL });
}

/* R's ?t.test: one outlier hides the shift from t, not from ranks. */
static void test_outlier(void **state)
{
	double a[10], b[15];

	(void)state;
	for (int i = 0; i < 10; i++)
		a[i] = i + 1;
	for (int i = 0; i < 14; i++)
		b[i] = i + 7;
	b[14] = 200;
	check_welch(a, 10, b, 14,
		    &(struct means){ "5.43492976389406", "21.982212340189", "1.85528183251181e-05",
				     "4.94719827484184", "11.0528017251582" });
	check_ranks(a, 10, b, 14, &(struct ranks){ "8", NULL, "0.000313107774758741", NULL, NULL });
	check_welch(a, 10, b, 15,
		    &(struct means){ "1.63290263320121", "14.1645989530125", "0.124513498089745",
				     "-6.37623322043525", "47.2428998871019" });
	check_ranks(a, 10, b, 15, &(struct ranks){ "8", NULL, "0.000222850297665684", NULL, NULL });
}

static void test_golang(void **state)
{
	static const double a[] = { 2, 1, 3, 4 }, b[] = { 6, 5, 7, 9 }, c[] = { 2, 1, 3, 5 };
	static const double far[] = { 12, 11, 13, 15 }, mixed[] = { 0, 4, 6, 7 };
	static const double ones[] = { 1, 1, 1, 1, 1 }, twos[] = { 2, 2, 2, 2 };
	static const double six[] = { -8, 2, 3, 4, 5, 6 };
	static double evens[500], odds[600];
	struct act_summary set = summarize(VALUES(six));
	struct act_interval mean = act_mean_interval(set.mean, set.sd, 6, 0.95);

	(void)state;
	check_welch(VALUES(b), VALUES(a),
		    &(struct means){ "-3.9703446152237674", "5.584615384615385",
				     "0.0085128631313781695", NULL, NULL });
	check_student(VALUES(b), VALUES(a),
		      &(struct means){ "-3.9703446152237674", "6", "0.0073640592242113214", NULL,
				       NULL });
	check_ranks(VALUES(c), VALUES(far),
		    &(struct ranks){ "0", "0.0285714285714", NULL, NULL, "0.0285714285714" });
	check_ranks(VALUES(c), VALUES(mixed),
		    &(struct ranks){ "5", "0.4857142857142857", NULL, NULL,
				     "0.4857142857142857" });
	check_ranks(VALUES(c), VALUES(ones),
		    &(struct ranks){ "17.5", "0.047619047619", NULL, NULL, "0.047619047619" });
	check_ranks(VALUES(c), VALUES(twos),
		    &(struct ranks){ "10", "0.714285714286", NULL, NULL, "0.714285714286" });
	for (int i = 0; i < 500; i++)
		evens[i] = 2 * i;
	for (int i = 0; i < 600; i++)
		odds[i] = 2 * i - 41;
	check_ranks(evens, 500, odds, 600,
		    &(struct ranks){ "135250", "0.0049335360814172", NULL, NULL, NULL });
	memcpy(odds, evens, 30 * sizeof(*odds));
	check_ranks(evens, 500, odds, 600,
		    &(struct ranks){ "134845", "0.0038703814239618", NULL, NULL, NULL });
	assert_near(set.mean, 2);
	assert_near(mean.low, -3.351092806089359);
	assert_near(mean.high, 7.351092806089359);
}

static void check_median(const double *values, size_t n, double median, double low, double high)
{
	double sorted[10];
	struct act_interval interval;

	memcpy(sorted, values, n * sizeof(*sorted));
	act_sort(sorted, n);
	interval = act_quantile_interval(sorted, n, 0.5, 0.95);
	assert_near(act_quantile(sorted, n, 0.5), median);
	assert_near(interval.low, low);
	assert_near(interval.high, high);
}

static void test_benchstat(void **state)
{
	(void)state;
	check_median(VALUES(json_old), 1718, 1707, 1736);
	check_median(VALUES(json_new), 1422.5, 1412, 1426);
	assert_printed(100 * (1422.5 / 1718 - 1), "-17.20023283");
	check_ranks(VALUES(json_old), VALUES(json_new),
		    &(struct ranks){ "100", "1.08250882245e-05", NULL, NULL, "1.08250882245e-05" });
	check_shift(VALUES(json_old), VALUES(json_new), 0.95, -296.5, -312, -284);
	check_ratio(VALUES(json_old), VALUES(json_new), "0.8266081664", "0.8195008706",
		    "0.8336262449");
	check_welch(VALUES(json_old), VALUES(json_new),
		    &(struct means){ "-40.36059112", "13.20306037", NULL, NULL, NULL });

	check_median(VALUES(gob_old), 3065.5, 3059, 3075);
	check_median(VALUES(gob_new), 3070, 3060, 3135);
	check_ranks(VALUES(gob_old), VALUES(gob_new),
		    &(struct ranks){ "39.5", "0.44610188573", "0.448666623088", NULL,
				     "0.44610188573" });
	check_shift(VALUES(gob_old), VALUES(gob_new), 0.95, 3, -5, 23);
	check_ratio(VALUES(gob_old), VALUES(gob_new), "1.000980232", "0.9983681462", "1.007506527");
}

static void test_small(void **state)
{
	struct act_test test;

	(void)state;
	check_welch(VALUES(small_a), VALUES(small_b),
		    &(struct means){ "10", "8", "8.48818152763e-06", "0.76939958648",
				     "1.23060041352" });
	check_ranks(VALUES(small_a), VALUES(small_b),
		    &(struct ranks){ "0", "0.00793650793651", NULL, NULL, "0.00793650793651" });
	check_ratio_of_means(VALUES(small_a), VALUES(small_b), "1.099009901", "1.070534358",
			     "1.128316253");
	assert_int_equal(act_permutation(VALUES(small_a), VALUES(small_b), 1, &test), 0);
	assert_near(test.p, 2. / 252);
}

/* Exact, corrected and not: they lie on both sides of 0.05. */
static void test_ties(void **state)
{
	static const double a[] = { 1, 2, 2, 3, 3, 3, 4 }, b[] = { 2, 3, 4, 4, 5, 5, 6 };

	(void)state;
	check_ranks(VALUES(a), VALUES(b),
		    &(struct ranks){ "8.5", "0.0501165501166", "0.0430514327289", "0.0367549610545",
				     "0.0501165501166" });
}

/* The two halves of one process of NIST's: drift, and nothing else. */
static void check_halves(const char *name, const char *welch, const char *u, const char *ranks)
{
	static struct set set;
	struct act_summary first, last;
	struct act_test test;
	size_t half;

	read_set(name, &set);
	half = set.n / 2;
	first = summarize(set.value, half);
	last = summarize(set.value + half, half);
	assert_printed(act_welch(&first, &last).p, welch);
	assert_int_equal(act_mann_whitney(set.value, half, set.value + half, half, &test), 0);
	assert_false(test.is_exact);
	assert_true(test.p_floor == 0);
	assert_printed(test.statistic, u);
	assert_printed(test.p, ranks);
}

static void test_halves(void **state)
{
	static struct set set;
	struct act_summary first, last;
	struct act_interval interval;
	double shift;

	(void)state;
	check_halves("michelso", ".00950359577678", "1656", ".00510251055558");
	check_halves("lottery", ".346430337244", "6387.5", ".337617354685");
	check_halves("lew", ".897529204598", "4911", ".828797200932");
	read_set("michelso", &set);
	first = summarize(set.value, 50);
	last = summarize(set.value + 50, 50);
	assert_near(first.mean, 299.8728);
	assert_near(last.mean, 299.832);
	assert_printed(act_welch(&last, &first).statistic, "2.6599789841");
	assert_printed(act_welch(&last, &first).df, "77.023158809");
	assert_int_equal(act_shift(set.value + 50, 50, set.value, 50, 0.95, &shift, &interval), 0);
	/* A difference of numbers near 300: 1e-10 of these. */
	assert_within(shift, 0.04, 3e-12);
}

/* kernbench as it was: only "mean sd n" is known. */
static void test_summaries(void **state)
{
	static const double base[] = { 166.2, 166.9, 166.4, 166.7, 166.5 };
	static const double new[] = { 167.9, 168.2, 167.5, 168.0, 167.7 };
	struct act_summary a = summarize(VALUES(base)), b = summarize(VALUES(new));
	struct act_summary given = { 166.54, a.sd, 5 };
	/* The set of a FreeBSD manual, of which only this is printed. */
	const struct act_summary one = { 36105.6, 31.165686, 5 }, two = { 36142.6, 49.952978, 5 };

	(void)state;
	assert_near(a.mean, 166.54);
	assert_near(b.mean, 167.86);
	assert_printed(a.sd, ".2701851217");
	assert_printed(b.sd, ".2701851217");
	assert_printed(100 * (b.mean / a.mean - 1), "0.7926023778");
	check_welch(VALUES(base), VALUES(new),
		    &(struct means){ "7.724715715", "8", "5.613686e-05", NULL, NULL });
	assert_near(act_welch(&given, &b).p, act_welch(&a, &b).p);
	/* "No difference proven at 95.0% confidence" */
	assert_true(act_student(&one, &two).p > 0.05);
	assert_true(act_student_interval(&one, &two, 0.95).low < 0);
}

/* Heritage 1: "300 without, 540 with" alone would read +80 %. */
static void test_overhead(void **state)
{
	struct act_summary no = summarize(VALUES(iguana)), yes = summarize(VALUES(chameleon));
	struct act_summary noise = { 1, 100, 5 }, none = { 0, 1, 5 };
	struct act_interval interval;
	double ratio;

	(void)state;
	interval = act_ratio_of_means(&no, &yes, 0.95, &ratio);
	assert_printed(100 * (ratio - 1), "80");
	assert_printed(100 * (interval.low - 1), "-49.3");
	assert_printed(100 * (interval.high - 1), "629");
	interval = act_ratio_of_means(&noise, &yes, 0.95, &ratio);
	assert_near(ratio, 540);
	assert_true(interval.low == -INFINITY && interval.high == INFINITY);
	interval = act_ratio_of_means(&none, &yes, 0.95, &ratio);
	assert_nan(ratio);
	assert_true(interval.low == -INFINITY && interval.high == INFINITY);
	no.sd = NAN;
	assert_nan(act_ratio_of_means(&no, &yes, 0.95, &ratio).low);
}

static void check_floor(size_t n, const char *floor)
{
	double a[10], b[10];
	struct act_test test;

	for (size_t i = 0; i < n; i++) {
		a[i] = (double)i;
		b[i] = (double)i + 100;
	}
	assert_int_equal(act_mann_whitney(a, n, b, n, &test), 0);
	assert_printed(test.p, floor);
	assert_printed(test.p_floor, floor);
}

static void test_floors(void **state)
{
	static const char *const floors[] = { ".333333", ".1", ".0285714286", ".0079365079",
					      ".0021645022", ".0005827506", ".0001554002",
					      "4.1135335e-05", "1.0825088e-05" };

	(void)state;
	for (size_t i = 0; i < COUNT(floors); i++)
		check_floor(i + 2, floors[i]);
}

/*
 * pragmastat's bounds leave out one figure more at each end than ours and R's: at
 * {1..5} and {3..7} theirs hold 94.4 %, not the 95 % asked for.  Held against ours
 * at the level that theirs have in truth.
 */
static void test_pragmastat(void **state)
{
	static const double a[] = { 0, 2, 4, 6, 8 }, b[] = { 10, 12, 14, 16, 18 };
	static const double five[] = { 1, 2, 3, 4, 5 }, off[] = { 3, 4, 5, 6, 7 };
	static const double three[] = { 3, 3, 3, 3, 3 }, fives[] = { 5, 5, 5, 5, 5 };
	double left[30], right[30];

	(void)state;
	check_shift(VALUES(b), VALUES(a), 1 - 14. / 252, -10, -14, -6);
	check_shift(VALUES(off), VALUES(five), 1 - 14. / 252, -2, -4, 0);
	check_shift(VALUES(off), VALUES(five), 1 - 4. / 252, -2, -5, 1);
	check_shift(VALUES(off), VALUES(five), 0.95, -2, -5, 1);
	check_shift(VALUES(fives), VALUES(three), 0.99, -2, -2, -2);
	for (int i = 0; i < 30; i++) {
		left[i] = i + 1;
		right[i] = i + 21;
	}
	check_shift(right, 30, left, 30, 1 - 1e-4, -20, -30, -10);
}

static void test_pragmastat_ratios(void **state)
{
	static const double a[] = { 1, 2, 4, 8, 16 }, b[] = { 2, 4, 8, 16, 32 };
	static const double tens[] = { 10, 20, 40, 80, 160 };
	static const double five[] = { 1, 2, 3, 4, 5 }, next[] = { 2, 3, 4, 5, 6 };
	static const double three[] = { 3, 3, 3, 3, 3 }, fives[] = { 5, 5, 5, 5, 5 };
	static const struct {
		const double *a, *b;
		double level, ratio, low, high;
	} known[] = {
		{ b, a, 0.95, 0.5, NAN, NAN },
		{ tens, b, 0.95, 0.2, NAN, NAN },
		{ next, five, 1 - 14. / 252, NAN, 1. / 3, 1.5 },
		{ next, five, 1 - 4. / 252, NAN, 0.2, 2 },
		{ fives, three, 0.95, 0.6, 0.6, 0.6 },
		{ next, next, 1 - 14. / 252, 1, 0.5, 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		struct act_interval interval;
		double ratio;

		assert_int_equal(act_ratio(known[i].a, 5, known[i].b, 5, known[i].level, &ratio,
					   &interval), 0);
		if (!isnan(known[i].ratio))
			assert_near(ratio, known[i].ratio);
		if (!isnan(known[i].low)) {
			assert_near(interval.low, known[i].low);
			assert_near(interval.high, known[i].high);
		}
	}
}

/* Every figure, written down and sorted. */
static void check_selection(const double *a, size_t na, const double *b, size_t nb)
{
	static double all[60 * 60];
	struct act_interval interval;
	size_t n = na * nb, k = 0;
	double shift, middle;

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			all[k++] = b[j] - a[i];
	act_sort(all, n);
	middle = n % 2 ? all[n / 2] : all[n / 2 - 1] / 2 + all[n / 2] / 2;
	assert_int_equal(act_shift(a, na, b, nb, 0.95, &shift, &interval), 0);
	assert_true(shift == middle);
	if (isnan(interval.low))
		return;
	/* Symmetric: as many figures below the one end as above the other. */
	for (k = 0; k < n && all[k] < interval.low; k++)
		;
	while (k < n && all[k] == interval.low && !(all[n - 1 - k] == interval.high))
		k++;
	assert_true(all[k] == interval.low && all[n - 1 - k] == interval.high);
}

static void test_selection(void **state)
{
	double a[60], b[60];
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 400; round++) {
		size_t na = (size_t)(round * 7 % 60) + 1, nb = (size_t)(round * 11 % 60) + 1;

		for (size_t i = 0; i < 60; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
			a[i] = (double)(int64_t)(seed >> (round % 3 ? 40 : 60)) - 5;
			b[i] = (double)(int64_t)(seed >> 8 & 0xffffff) / (round % 2 ? 3 : 1e6);
		}
		check_selection(a, na, b, nb);
	}
}

/* All distances, written down; and pragmastat's own tests. */
static void test_spread(void **state)
{
	static const double a[] = { 0, 3, 6, 9, 12 }, b[] = { 0, 2, 4, 6, 8 };
	static double all[40 * 39 / 2];
	double values[40], got;

	(void)state;
	assert_int_equal(act_spread(VALUES(b), &got), 0);
	assert_near(got, 4);
	assert_int_equal(act_disparity(VALUES(b), VALUES(a), &got), 0);
	assert_near(got, 0.4);
	assert_int_equal(act_disparity(VALUES(a), VALUES(b), &got), 0);
	assert_near(got, -0.4);
	assert_int_equal(act_disparity(a, 1, VALUES(b), &got), 0);
	assert_nan(got);
	assert_int_equal(act_spread(a, 0, &got), -EINVAL);
	for (size_t n = 2; n <= 40; n++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			values[i] = (double)(i * 7919 % 41) / 3;
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < i; j++)
				all[count++] = fabs(values[i] - values[j]);
		act_sort(all, count);
		assert_int_equal(act_spread(values, n, &got), 0);
		assert_near(got, act_quantile(all, count, 0.5));
	}
}

static void test_edges(void **state)
{
	static const double fives[] = { 5, 5, 5, 5 }, sixes[] = { 6, 6, 6, 6 };
	static const double negative[] = { -1, -2, -3, -4 }, zeros[] = { 0, 0, 0, 1 };
	static const double bad[] = { 1, NAN, 3 };
	struct act_summary a = summarize(VALUES(fives)), b = summarize(VALUES(sixes));
	struct act_interval interval;
	struct act_test test;
	double got;

	(void)state;
	/* No spread: the ratio is exact, t is not defined. */
	assert_int_equal(act_ratio(VALUES(fives), VALUES(sixes), 0.95, &got, &interval), 0);
	assert_true(got == 1.2 && interval.low == 1.2 && interval.high == 1.2);
	check_floor(4, "0.0285714");
	assert_int_equal(act_mann_whitney(VALUES(fives), VALUES(sixes), &test), 0);
	assert_printed(test.p, ".0285714");
	assert_nan(act_welch(&a, &b).p);
	assert_nan(act_welch(&a, &b).statistic);
	assert_nan(act_student(&a, &b).p);
	assert_nan(act_welch_interval(&a, &b, 0.95).low);
	/* All the same: nothing out of the ordinary. */
	assert_int_equal(act_mann_whitney(VALUES(fives), VALUES(fives), &test), 0);
	assert_true(test.p == 1 && test.is_exact);

	check_shift(VALUES(negative), VALUES(fives), 0.95, 7.5, 6, 9);
	assert_int_equal(act_ratio(VALUES(negative), VALUES(fives), 0.95, &got, &interval), -EDOM);
	assert_int_equal(act_ratio(VALUES(fives), VALUES(zeros), 0.95, &got, &interval), -EDOM);
	assert_int_equal(act_shift(VALUES(bad), VALUES(fives), 0.95, &got, &interval), -EINVAL);
	assert_int_equal(act_shift(bad, 0, VALUES(fives), 0.95, &got, &interval), -EINVAL);
	assert_int_equal(act_shift(VALUES(fives), VALUES(sixes), 1, &got, &interval), -EINVAL);
	assert_int_equal(act_shift(VALUES(fives), VALUES(sixes), NAN, &got, &interval), -EINVAL);
	assert_int_equal(act_mann_whitney(fives, 0, VALUES(sixes), &test), -EINVAL);
	assert_nan(act_a12(fives, 0, VALUES(sixes)));
	assert_int_equal(act_summarize(fives, 0, &a), -EINVAL);
	/* Too few for the level. */
	assert_int_equal(act_shift(fives, 3, sixes, 3, 0.95, &got, &interval), 0);
	assert_near(got, 1);
	assert_nan(interval.low);
	assert_nan(interval.level);
}

static void test_permutation(void **state)
{
	static double many[200], other[200];
	struct act_test test, again;

	(void)state;
	assert_int_equal(act_permutation(VALUES(iguana), VALUES(chameleon), 1, &test), 0);
	assert_near(test.statistic, 240);
	assert_true(test.is_exact);
	assert_printed(test.p, "0.181818181818");
	assert_near(test.p, 144. / 792);
	assert_near(test.p_floor, 1. / 792);
	/* The same either way round. */
	assert_int_equal(act_permutation(VALUES(chameleon), VALUES(iguana), 1, &again), 0);
	assert_true(again.p == test.p && again.statistic == -test.statistic);
	/* Drawn: near Welch's, and the same from the same seed. */
	for (int i = 0; i < 200; i++) {
		many[i] = i * 7 % 101;
		other[i] = i * 11 % 103 + 4;
	}
	assert_int_equal(act_permutation(VALUES(many), VALUES(other), 5, &test), 0);
	assert_false(test.is_exact);
	assert_within(test.p, act_welch(&(struct act_summary){ summarize(VALUES(many)).mean,
							      summarize(VALUES(many)).sd, 200 },
					&(struct act_summary){ summarize(VALUES(other)).mean,
							      summarize(VALUES(other)).sd, 200 }).p,
		      0.01);
	assert_int_equal(act_permutation(VALUES(many), VALUES(other), 5, &again), 0);
	assert_true(again.p == test.p);
	assert_int_equal(act_permutation(many, 0, VALUES(other), 5, &again), -EINVAL);
}

/* What is added to all is found at each quantile; pairs leave no doubt of it. */
static void test_quantile_shifts(void **state)
{
	static const double p[] = { 0.1, 0.5, 0.9 };
	struct act_shift_options options = { .is_paired = true, .level = 0.95, .seed = 7 };
	struct act_quantile_shift shift[3], again[3];
	double a[101], b[101];

	(void)state;
	for (int i = 0; i < 101; i++) {
		a[i] = 100 + (i * 37) % 101;
		b[i] = a[i] + 5;
	}
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, p, 3, shift), 0);
	for (int i = 0; i < 3; i++) {
		assert_near(shift[i].a, 100 + 100 * p[i]);
		assert_near(shift[i].shift, 5);
		assert_near(shift[i].interval.low, 5);
		assert_near(shift[i].interval.high, 5);
	}

	/* Drawn one by one they leave some; the same seed leaves the same. */
	options.is_paired = false;
	options.is_ratio = true;
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, p, 3, shift), 0);
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, p, 3, again), 0);
	assert_memory_equal(shift, again, sizeof(shift));
	for (int i = 0; i < 3; i++) {
		assert_near(shift[i].shift, (105 + 100 * p[i]) / (100 + 100 * p[i]));
		assert_true(shift[i].interval.low < shift[i].shift);
		assert_true(shift[i].interval.high > shift[i].shift);
	}

	/*
	 * The median of 101 values 100, 101, ...: by order statistics its 95 % interval is
	 * x(41) to x(61), +- 10; of a difference of two such medians sqrt(2) as much.
	 */
	options.is_ratio = false;
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, p, 3, shift), 0);
	assert_within(shift[1].interval.high - shift[1].shift, 10 * sqrt(2), 1.5);
	assert_within(shift[1].shift - shift[1].interval.low, 10 * sqrt(2), 1.5);

	/* Too few to draw from; what is wrong. */
	assert_int_equal(act_quantile_shifts(a, 19, b, 101, &options, p, 3, shift), 0);
	assert_true(isnan(shift[0].interval.low));
	assert_false(isnan(shift[0].shift));
	assert_int_equal(act_quantile_shifts(a, 0, b, 101, &options, p, 3, shift), -EINVAL);
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, (double[]){ 0.5, 0.1 }, 2,
					     shift), -EINVAL);
	assert_int_equal(act_quantile_shifts(a, 101, b, 101, &options, (double[]){ 1.1 }, 1, shift),
			 -EINVAL);
	options.is_paired = true;
	assert_int_equal(act_quantile_shifts(a, 101, b, 100, &options, p, 3, shift), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile_shifts),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_ministat),
		cmocka_unit_test(test_permeability),
		cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_golang),
		cmocka_unit_test(test_benchstat),
		cmocka_unit_test(test_small),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_halves),
		cmocka_unit_test(test_summaries),
		cmocka_unit_test(test_overhead),
		cmocka_unit_test(test_floors),
		cmocka_unit_test(test_pragmastat),
		cmocka_unit_test(test_pragmastat_ratios),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_permutation),
	};

	return cmocka_run_group_tests_name("stats-sets", tests, NULL, NULL);
}

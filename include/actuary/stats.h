/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_STATS_H
#define ACTUARY_STATS_H

/*
 * Describing and comparing samples: pure functions, no I/O, no state.
 *
 * Samples are doubles, all finite; whoever reads them refuses others.  A figure
 * that a set of samples does not have (the sd of one, an interval of five) is
 * NaN, which callers print as "-", never as a number.  Functions that need room
 * return 0 or -ENOMEM; -EINVAL is a caller's mistake (an empty set, a level that
 * is none).  Levels are two-sided: 0.95 is a 95 % interval.
 *
 * actuary-compare(1) names the source of each formula.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An interval, and the level that it has in truth: exact laws are discrete. */
struct act_interval {
	double low, high; /* NaN: too few samples; infinite: unbounded */
	double level;     /* achieved, 0.951171875 */
};

/* ---- One set ---- */

struct act_description {
	uint64_t n;
	double min, max, sum, mean, median;
	double variance, sd;   /* n - 1; NaN below two */
	double mad;            /* median absolute deviation, not scaled */
	double lag1;           /* autocorrelation, NIST's definition; in the order given */
	uint64_t unique;       /* different values */
	uint64_t outliers;     /* modified z above 3.5 (Iglewicz and Hoaglin 1993) */
};

/* Sorts in place, ascending, without further room.  -EINVAL: not all were finite. */
int act_sort(double *values, size_t n);

/* @values in the order they were taken; @sorted the same, sorted.  n >= 1. */
int act_describe(const double *values, const double *sorted, size_t n,
		 struct act_description *ret);

/* Quantile of sorted values, type 7 (Hyndman and Fan 1996); 0 <= p <= 1. */
double act_quantile(const double *sorted, size_t n, double p);

/* The value of rank ceil(np), type 1: one that was measured. */
double act_quantile_nearest(const double *sorted, size_t n, double p);

/* By order statistics; NaN when n is too small for the level. */
struct act_interval act_quantile_interval(const double *sorted, size_t n, double p,
					  double level);

/* Mean with Student's interval. */
struct act_interval act_mean_interval(double mean, double sd, size_t n, double level);

/* The values that come most often: count descending, then value ascending. */
struct act_frequent {
	double value;
	uint64_t count;
};
size_t act_most_frequent(const double *sorted, size_t n, struct act_frequent *ret, size_t room);

/* ---- Histogram ---- */

struct act_bins {
	double min, width; /* bin i holds [min + i * width, min + (i + 1) * width) */
	bool is_log;       /* then edges are min * 2^i, width unused; min > 0 */
	size_t count;
	uint64_t below, above; /* out of range */
	uint64_t *bin;     /* the caller's, @count of them */
};
/*
 * Counts from zero; below + bins + above == n, always.  What is as near to an edge as
 * rounding brings it lies on it: 299.65 is in the second bin from 299.60 by 0.05.
 */
int act_bins_fill(struct act_bins *bins, const double *values, size_t n);

/* ---- Two sets ---- */

/* A test: what was computed, and the probability of it or more by chance. */
struct act_test {
	double statistic;
	double df;      /* NaN: none */
	double p;       /* two-sided */
	double p_floor; /* the least that so few samples can give; 0: none */
	bool is_exact;
};

struct act_summary { /* of a set of which only this is known */
	double mean, sd;
	double n;
};

int act_summarize(const double *values, size_t n, struct act_summary *ret);

/* NaN statistic and p where there is no spread. */
struct act_test act_welch(const struct act_summary *a, const struct act_summary *b);
struct act_interval act_welch_interval(const struct act_summary *a, const struct act_summary *b,
				       double level); /* of mean b - mean a */
struct act_test act_student(const struct act_summary *a, const struct act_summary *b);
struct act_interval act_student_interval(const struct act_summary *a,
					 const struct act_summary *b, double level);

double act_cohen_d(const struct act_summary *a, const struct act_summary *b); /* b - a */

/*
 * Statistic is U of a (pairs in which a is larger, ties half).  Exact below 50 a side, with
 * ties up to 25; else normal, with their correction and that for continuity.
 */
int act_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
		     struct act_test *ret);
double act_a12(const double *a, size_t na, const double *b, size_t nb); /* P(b>a) + P(=)/2 */

/*
 * Hodges-Lehmann shift b - a with Moses' interval, exact below 50 a side.  Room for a copy of
 * each; 2 * 100,000 take some 25 ms.
 */
int act_shift(const double *a, size_t na, const double *b, size_t nb, double level,
	      double *ret_shift, struct act_interval *ret_interval);
/* The same as a ratio b / a, on a logarithmic scale; -EDOM unless all are > 0. */
int act_ratio(const double *a, size_t na, const double *b, size_t nb, double level,
	      double *ret_ratio, struct act_interval *ret_interval);
/* Ratio of means b / a, Kalibera and Jones' (Fieller's) interval. */
struct act_interval act_ratio_of_means(const struct act_summary *a, const struct act_summary *b,
				       double level, double *ret_ratio);
/*
 * Median of |x - y| over all pairs of a set (Shamos 1976), and the shift in units of it, pooled
 * by n: an effect size that outliers leave alone.  NaN of one value, and without spread.
 */
int act_spread(const double *values, size_t n, double *ret);
int act_disparity(const double *a, size_t na, const double *b, size_t nb, double *ret);
/* Exact up to 2^20 ways, else sampled from @seed: difference of means b - a. */
int act_permutation(const double *a, size_t na, const double *b, size_t nb, uint64_t seed,
		    struct act_test *ret);

/* ---- Quantiles of two ---- */

struct act_shift_options {
	bool is_paired; /* a[i] belongs to b[i]: pairs are drawn, not values */
	bool is_ratio;  /* b / a, else b - a */
	double level;
	uint64_t seed;  /* the same one draws the same */
};

struct act_quantile_shift {
	double p, a, b, shift;
	struct act_interval interval; /* NaN: too few values to draw from, or too many */
};

/*
 * The shift function (Doksum 1974): how far each quantile of @b, of type 7, is from that
 * of @a; @p rises.  Intervals hold one by one, not all together: percentiles of
 * ACT_RESAMPLES resamples (Efron 1979), from 20 values a side on, below which they are
 * too narrow.  -EINVAL: no values, pairs of different number, a level or a @p that is none.
 */
#define ACT_RESAMPLES 10000
#define ACT_RESAMPLED_LEAST 20
#define ACT_RESAMPLED_MOST 10000
int act_quantile_shifts(const double *a, size_t na, const double *b, size_t nb,
			const struct act_shift_options *options, const double *p, size_t np,
			struct act_quantile_shift *ret);

/* ---- Pairs ---- */

/*
 * Makes one of two: the differences of neighbouring pairs that ran in opposite order
 * become their mean, in place, in which what the order does is not contained.  Such
 * blocks are what is drawn at random where orders are balanced (AB BA, or BA AB), and
 * an interval of them is neither too wide nor too narrow however slots differ.  A pair
 * without such a neighbour stays as it is; so do all below ACT_BLOCKS_LEAST pairs, of
 * which blocks would be too few, and all where @is_reversed is NULL.  Returns how many
 * differences there are then.
 */
#define ACT_BLOCKS_LEAST 20
size_t act_blocks(double *d, const bool *is_reversed, size_t n);

/* Signed rank of differences: zeros by Pratt, ties by the exact law up to 60. */
int act_signed_rank(const double *d, size_t n, struct act_test *ret);
/* Pseudomedian of differences with its signed-rank interval (Walsh averages), exact up to 60. */
int act_pseudomedian(const double *d, size_t n, double level, double *ret_median,
		     struct act_interval *ret_interval);
struct act_test act_paired_t(const double *d, size_t n);
/* Permutation of pairs, that is of signs: the mean.  Exact up to 20. */
int act_sign_flip(const double *d, size_t n, uint64_t seed, struct act_test *ret);

/* ---- Is the series sound? ---- */

double act_autocorrelation(const double *values, size_t n, size_t lag);
struct act_test act_ljung_box(const double *values, size_t n, size_t lags);
int act_kendall(const double *values, size_t n, struct act_test *ret); /* tau-b with the index */
double act_effective_n(double n, double lag1); /* never more than n */

/* ---- Deciding ---- */

enum act_verdict {
	ACT_INCONCLUSIVE,
	ACT_EQUIVALENT, /* the interval lies inside +- bound */
	ACT_SLOWER,     /* b is larger: it lies above 1 */
	ACT_FASTER,
};
/*
 * By the interval of the ratio b / a against a practical bound (0.01 is 1 %).
 * An effect smaller than @noise (half the A/A interval; 0, NaN: not known) decides nothing, and
 * noise as large as the bound leaves nothing equivalent.
 */
enum act_verdict act_decide(const struct act_interval *ratio, double bound, double noise);
const char *act_verdict_word(enum act_verdict verdict);

/* Adjusted p, in place, in the order given. */
int act_holm(double *p, size_t n);
int act_benjamini_hochberg(double *p, size_t n);

/*
 * Whole pairs needed by the signed-rank test so that an effect of @effect (0.01) is found with
 * @power at level 1 - @alpha: those of the t-test times pi / 3, and no fewer than have a p
 * below alpha at all.
 */
double act_pairs_needed(double sd_log_ratio, double effect, double alpha, double power);
/* The smallest effect that @n pairs find; NaN: so few find none. */
double act_detectable(double sd_log_ratio, double n, double alpha, double power);

/* The t-test's n of each set, or of pairs, and its power, as R's power.t.test. */
double act_t_power(double n, double effect, double sd, double alpha, bool is_paired);
double act_t_needed(double effect, double sd, double alpha, double power, bool is_paired);

/*
 * HdrHistogram's correction of coordinated omission: the values, each followed by those that
 * one call in @interval would have seen meanwhile.  To be freed.  -E2BIG: over 2^30 of them.
 */
int act_correct_omission(const double *values, size_t n, double interval,
			 double **ret_values, size_t *ret_n);

#ifdef __cplusplus
}
#endif

#endif

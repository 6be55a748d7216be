/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>

#include <actuary/stats.h>

#include "stats/law.h"
#include "stats/means.h"

long double sum_of(const double *values, size_t n)
{
	long double ret = 0;

	for (size_t i = 0; i < n; i++)
		ret += values[i];
	return ret;
}

/*
 * The corrected two-pass algorithm of Chan, Golub and LeVeque 1983: the second
 * term is what rounding left in the mean.
 */
long double squares_about(const double *values, size_t n, long double mean)
{
	long double squares = 0, rest = 0;

	for (size_t i = 0; i < n; i++) {
		long double off = values[i] - mean;

		squares += off * off;
		rest += off;
	}
	return squares - rest * rest / n;
}

int act_summarize(const double *values, size_t n, struct act_summary *ret)
{
	long double mean;

	if (n == 0)
		return -EINVAL;
	mean = sum_of(values, n) / n;
	*ret = (struct act_summary){
		.mean = (double)mean,
		.sd = n > 1 ? (double)sqrtl(squares_about(values, n, mean) / (n - 1)) : NAN,
		.n = (double)n,
	};
	return 0;
}

struct act_interval act_mean_interval(double mean, double sd, size_t n, double level)
{
	double half = law_student_quantile(level, (double)n - 1) * sd / sqrt((double)n);

	return (struct act_interval){ mean - half, mean + half, level };
}

/* A difference of means, its standard error and the degrees of freedom of that. */
struct contrast {
	double difference, error, df;
};

static bool has_spread(const struct act_summary *set)
{
	return set->n >= 2 && set->sd >= 0 && isfinite(set->sd);
}

/* Welch 1947, degrees of freedom by Satterthwaite 1946, as they come. */
static struct contrast contrast_welch(const struct act_summary *a, const struct act_summary *b)
{
	double va = a->sd * a->sd / a->n, vb = b->sd * b->sd / b->n, v = va + vb;
	double part_a = va / v, part_b = vb / v;

	if (!has_spread(a) || !has_spread(b) || !(v > 0))
		return (struct contrast){ b->mean - a->mean, NAN, NAN };
	return (struct contrast){
		b->mean - a->mean,
		sqrt(v),
		1 / (part_a * part_a / (a->n - 1) + part_b * part_b / (b->n - 1)),
	};
}

/* Student 1908: one variance for both. */
static struct contrast contrast_student(const struct act_summary *a, const struct act_summary *b)
{
	double df = a->n + b->n - 2;
	double squares = (a->n - 1) * a->sd * a->sd + (b->n - 1) * b->sd * b->sd;

	if (!has_spread(a) || !has_spread(b) || !(squares > 0))
		return (struct contrast){ b->mean - a->mean, NAN, NAN };
	return (struct contrast){
		b->mean - a->mean,
		sqrt(squares / df * (1 / a->n + 1 / b->n)),
		df,
	};
}

static struct act_test contrast_test(struct contrast contrast)
{
	double t = contrast.difference / contrast.error;

	return (struct act_test){
		.statistic = t,
		.df = contrast.df,
		.p = law_student_p(t, contrast.df),
	};
}

static struct act_interval contrast_interval(struct contrast contrast, double level)
{
	double half = law_student_quantile(level, contrast.df) * contrast.error;

	return (struct act_interval){
		contrast.difference - half, contrast.difference + half, level
	};
}

struct act_test act_welch(const struct act_summary *a, const struct act_summary *b)
{
	return contrast_test(contrast_welch(a, b));
}

struct act_interval act_welch_interval(const struct act_summary *a, const struct act_summary *b,
				       double level)
{
	return contrast_interval(contrast_welch(a, b), level);
}

struct act_test act_student(const struct act_summary *a, const struct act_summary *b)
{
	return contrast_test(contrast_student(a, b));
}

struct act_interval act_student_interval(const struct act_summary *a,
					 const struct act_summary *b, double level)
{
	return contrast_interval(contrast_student(a, b), level);
}

struct act_test act_paired_t(const double *d, size_t n)
{
	struct act_summary set = { NAN, NAN, (double)n };

	if (act_summarize(d, n, &set) || !(set.sd > 0))
		return (struct act_test){ NAN, NAN, NAN, 0, false };
	return contrast_test((struct contrast){ set.mean, set.sd / sqrt(set.n), set.n - 1 });
}

double act_cohen_d(const struct act_summary *a, const struct act_summary *b)
{
	struct contrast contrast = contrast_student(a, b);

	return contrast.difference / (contrast.error / sqrt(1 / a->n + 1 / b->n));
}

static double squared_half(const struct act_summary *set, double level)
{
	double half = law_student_quantile(level, set->n - 1) * set->sd / sqrt(set->n);

	return half * half;
}

/*
 * Fieller's interval as in Kalibera and Jones, "Quantifying Performance Changes with
 * Effect Size Confidence Intervals" (2012), arXiv 2007.10899.  Where the mean of a
 * is not told from zero, no ratio can be excluded.
 */
struct act_interval act_ratio_of_means(const struct act_summary *a, const struct act_summary *b,
				       double level, double *ret_ratio)
{
	double a2 = a->mean * a->mean, b2 = b->mean * b->mean, ab = a->mean * b->mean;
	double ha2 = squared_half(a, level), hb2 = squared_half(b, level);
	double root = sqrt(a2 * hb2 + ha2 * b2 - ha2 * hb2), below = a2 - ha2;

	*ret_ratio = a2 > 0 ? b->mean / a->mean : NAN;
	if (!has_spread(a) || !has_spread(b))
		return (struct act_interval){ NAN, NAN, NAN };
	if (!(below > 0))
		return (struct act_interval){ -INFINITY, INFINITY, level };
	return (struct act_interval){ (ab - root) / below, (ab + root) / below, level };
}

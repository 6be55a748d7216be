/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_LAW_H
#define STATS_LAW_H

/*
 * The laws that figures are held against.  Distributions are R's; those of ranks
 * are counted here, since R's keep their tables in globals and know no ties.
 * A parameter that makes no sense gives NaN.
 */
#include <stddef.h>
#include <stdint.h>

/* P(|T| >= |t|), and the t with P(|T| <= t) = level. */
double law_student_p(double t, double df);
double law_student_quantile(double level, double df);
/* P(T > t) where the mean is @shift standard errors off. */
double law_student_shifted(double t, double df, double shift);

double law_normal_below(double z);
double law_normal_p(double z); /* P(|Z| >= |z|) */
double law_normal_quantile(double p);

/*
 * What may lie beyond each end of an interval of that level.  A little more is let
 * by, so that a probability which is just that much in truth is not refused.
 */
double law_tail(double level);

double law_chi_squared_above(double q, double df);

/* P(B <= k), P(B >= k) for n trials. */
double law_binomial_below(double k, double n, double p);
double law_binomial_above(double k, double n, double p);

/* C(n, k), rounded where it is too large to be exact. */
double law_choose(double n, double k);

/*
 * The law of a rank statistic: the probability of each sum from 0 to @max.
 * Ranks are doubled, so that those of ties are whole.
 */
struct rank_law {
	size_t max;
	double *p; /* max + 1 of them */
};

/* Each of @n doubled ranks is counted with probability 1/2. */
int law_signed_rank(const uint32_t *ranks, size_t n, struct rank_law *ret);
/* Just @chosen of them are, each choice as likely as the other. */
int law_rank_sum(const uint32_t *ranks, size_t n, size_t chosen, struct rank_law *ret);
/* S of Kendall for @n different values: how many pairs are in the wrong order. */
int law_inversions(size_t n, struct rank_law *ret);
void law_free(struct rank_law *law);

/* P(sum <= k), added up from below. */
double law_below(const struct rank_law *law, size_t k);
/* P(sum is as far from @center, or more, as @sum is): the two-sided p. */
double law_beyond(const struct rank_law *law, double sum, double center);

#endif

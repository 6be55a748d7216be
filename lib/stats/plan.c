/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include <actuary/stats.h>

#include "stats/law.h"

/* A signed-rank test needs pi / 3 times the pairs of a t-test, where the law is normal. */
#define RELATIVE_COST (M_PI / 3)

static bool is_probability(double p)
{
	return p > 0 && p < 1;
}

/* Fewer can have no p below alpha, whatever they are: 2 / 2^n is the least. */
static double pairs_least(double alpha)
{
	return ceil(1 - log2(alpha));
}

double act_t_power(double n, double effect, double sd, double alpha, bool is_paired)
{
	double df = is_paired ? n - 1 : 2 * (n - 1);
	double shift = fabs(effect) / sd * sqrt(is_paired ? n : n / 2);

	if (!(sd > 0) || !is_probability(alpha))
		return NAN;
	return law_student_shifted(law_student_quantile(1 - alpha, df), df, shift);
}

/* Power rises with n: doubled until it is enough, then halved down to the last digit. */
double act_t_needed(double effect, double sd, double alpha, double power, bool is_paired)
{
	double low = 2, high = 2;

	if (isnan(act_t_power(high, effect, sd, alpha, is_paired)) || !is_probability(power) ||
	    !(fabs(effect) > 0))
		return NAN;
	while (act_t_power(high, effect, sd, alpha, is_paired) < power) {
		low = high;
		high *= 2;
		if (high > 1e15)
			return INFINITY;
	}
	for (int i = 0; i < 60 && low < high; i++) {
		double middle = low + (high - low) / 2;

		if (act_t_power(middle, effect, sd, alpha, is_paired) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * For many pairs this is (z(1 - alpha / 2) + z(power))^2 sd^2 / ln(1 + effect)^2 * pi / 3;
 * for few, whose sd is not known either, Student's law asks for some more.
 */
double act_pairs_needed(double sd_log_ratio, double effect, double alpha, double power)
{
	double shift = log1p(effect), pairs;

	if (!(sd_log_ratio >= 0) || isnan(shift))
		return NAN;
	if (!is_probability(alpha) || !is_probability(power))
		return NAN;
	if (sd_log_ratio <= 0)
		return pairs_least(alpha);
	if (!(fabs(shift) > 0))
		return INFINITY;
	pairs = act_t_needed(shift, sd_log_ratio, alpha, power, true) * RELATIVE_COST;
	return fmax(ceil(pairs), pairs_least(alpha));
}

/* Power rises with the shift, counted in standard errors: halved to the last digit. */
static double shift_needed(double df, double alpha, double power)
{
	double t = law_student_quantile(1 - alpha, df), low = 0, high = 1;

	while (law_student_shifted(t, df, high) < power && high < 1e6)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = low + (high - low) / 2;

		if (law_student_shifted(t, df, middle) < power)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double act_detectable(double sd_log_ratio, double n, double alpha, double power)
{
	double worth = n / RELATIVE_COST;

	if (!(sd_log_ratio >= 0) || !is_probability(alpha) || !is_probability(power) ||
	    !(n >= pairs_least(alpha)) || !(worth > 1.5))
		return NAN;
	return expm1(shift_needed(worth - 1, alpha, power) * sd_log_ratio / sqrt(worth));
}

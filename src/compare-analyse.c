/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of one metric of two arms; actuary-compare(1) names their sources.
 * The headline is the Hodges-Lehmann estimate with its exact interval: of the logarithms of
 * pairs where there are pairs, of the two sets (Moses) where there are none.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the least effect that is found is stated for. */
#define POWER 0.8

static const struct act_interval no_interval = { NAN, NAN, NAN };
static const struct act_test no_test = { NAN, NAN, NAN, 0, false };

/* ---- Sets ---- */

static struct act_description describe_summary(const struct act_summary *summary)
{
	return (struct act_description){
		.n = (uint64_t)summary->n, .min = NAN, .max = NAN,
		.sum = summary->mean * summary->n, .mean = summary->mean, .median = NAN,
		.variance = summary->sd * summary->sd, .sd = summary->sd, .mad = NAN, .lag1 = NAN,
	};
}

int set_prepare(struct set *set)
{
	int ret;

	if (!set->value) {
		set->description = describe_summary(&set->summary);
		return 0;
	}
	set->sorted = malloc(set->n * sizeof(*set->sorted));
	if (!set->sorted)
		return -ENOMEM;
	memcpy(set->sorted, set->value, set->n * sizeof(*set->sorted));
	ret = act_sort(set->sorted, set->n);
	if (ret == 0)
		ret = act_describe(set->value, set->sorted, set->n, &set->description);
	if (ret == 0)
		ret = act_summarize(set->value, set->n, &set->summary);
	return ret;
}

/* ---- The scale ---- */

static bool is_positive(const struct set *set)
{
	return set->value ? set->description.min > 0 : set->summary.mean > 0;
}

static int choose_scale(struct comparison *c, const struct method *method, const char **ret_why)
{
	bool is_positive_both = is_positive(c->base) && is_positive(c->other);

	if (method->scale == SCALE_RATIO && !is_positive_both) {
		*ret_why = "there is no ratio of values that are not positive";
		return -EINVAL;
	}
	c->is_ratio = is_positive_both && method->scale != SCALE_DIFFERENCE;
	return 0;
}

static int choose_pairing(struct comparison *c, const struct method *method, const char **ret_why)
{
	bool has_values = c->base->value && c->other->value;
	bool has_pairs = sets_share_pairs(c->base, c->other);

	if (method->pairing == PAIRING_PAIRED && !has_values) {
		*ret_why = "a summary has no values that could be paired";
		return -EINVAL;
	}
	c->is_paired = method->pairing == PAIRING_PAIRED ||
		       (method->pairing == PAIRING_AUTO && has_pairs);
	c->is_by_means = !has_values;
	return c->is_paired ? pairs_make(c->base, c->other, !has_pairs, &c->pairs, ret_why) : 0;
}

/* ---- Figures ---- */

static void compare_means(struct comparison *c, double level)
{
	const struct act_summary *a = &c->base->summary, *b = &c->other->summary;

	c->welch_interval = act_welch_interval(a, b, level);
	c->welch = act_welch(a, b);
	c->student = act_student(a, b);
	c->cohen_d = act_cohen_d(a, b);
	c->mean_shift = b->mean - a->mean;
	c->mean_shift_interval = c->welch_interval;
	if (a->mean > 0 && b->mean > 0)
		c->mean_ratio_interval = act_ratio_of_means(a, b, level, &c->mean_ratio);
}

static double covariance(const struct pairs *pairs, double mean_base, double mean_other)
{
	double sum = 0;

	for (size_t i = 0; i < pairs->n; i++)
		sum += (pairs->base[i] - mean_base) * (pairs->other[i] - mean_other);
	return sum / (double)(pairs->n - 1);
}

/*
 * Fieller 1954, where the means are those of pairs: the ratios r for which the mean of
 * other - r * base cannot be told from zero.
 */
static struct act_interval fieller(const struct pairs *pairs, const struct act_summary *a,
				   const struct act_summary *b, double level)
{
	double half = act_mean_interval(0, 1, pairs->n, level).high, h = half * half;
	double square = a->mean * a->mean - h * a->sd * a->sd;
	double cross = a->mean * b->mean - h * covariance(pairs, a->mean, b->mean);
	double rest = b->mean * b->mean - h * b->sd * b->sd;
	double root = sqrt(fmax(cross * cross - square * rest, 0));

	if (isnan(half))
		return no_interval;
	if (!(square > 0))
		return (struct act_interval){ -INFINITY, INFINITY, level };
	return (struct act_interval){ (cross - root) / square, (cross + root) / square, level };
}

/* Of the pairs alone, and each within itself; @d has their differences. */
static int compare_paired_means(struct comparison *c, const double *d, double level)
{
	const struct pairs *pairs = &c->pairs;
	struct act_summary a = { 0 }, b = { 0 }, of_d = { 0 };
	int ret = act_summarize(pairs->base, pairs->n, &a);

	if (ret == 0)
		ret = act_summarize(pairs->other, pairs->n, &b);
	if (ret == 0)
		ret = act_summarize(d, pairs->n, &of_d);
	if (ret < 0)
		return ret;
	c->mean_shift = of_d.mean;
	c->mean_shift_interval = act_mean_interval(of_d.mean, of_d.sd, pairs->n, level);
	if (!c->is_ratio)
		return 0;
	c->mean_ratio = b.mean / a.mean;
	c->mean_ratio_interval = fieller(pairs, &a, &b, level);
	return 0;
}

static int compare_ranks(struct comparison *c)
{
	const struct set *a = c->base, *b = c->other;

	c->a12 = act_a12(a->value, a->n, b->value, b->n);
	return act_mann_whitney(a->value, a->n, b->value, b->n, &c->mann_whitney);
}

static int compare_unpaired(struct comparison *c, double level)
{
	const struct set *a = c->base, *b = c->other;
	int ret = act_shift(a->value, a->n, b->value, b->n, level, &c->shift,
			    &c->shift_interval);

	if (ret == 0 && c->is_ratio)
		ret = act_ratio(a->value, a->n, b->value, b->n, level, &c->effect, &c->interval);
	c->test = c->mann_whitney;
	return ret;
}

static double deviation(const double *values, size_t n)
{
	struct act_summary summary;

	return act_summarize(values, n, &summary) == 0 ? summary.sd : NAN;
}

/* The effect as a ratio, and what such pairs can find. */
static int compare_logs(struct comparison *c, double *d, const struct method *method)
{
	double sd, units;
	size_t n;
	int ret;

	pairs_differences(&c->pairs, true, d);
	n = act_blocks(d, c->pairs.is_base_first, c->pairs.n);
	ret = act_pseudomedian(d, n, method->level, &c->effect, &c->interval);
	if (ret < 0)
		return ret;
	c->effect = exp(c->effect);
	c->interval.low = exp(c->interval.low);
	c->interval.high = exp(c->interval.high);
	c->paired_t = act_paired_t(d, n);
	sd = deviation(d, n);
	c->detectable = act_detectable(sd, (double)n, 1 - method->level, POWER);
	if (method->bound > 0) {
		units = act_pairs_needed(sd, method->bound, 1 - method->level, POWER);
		c->pairs_needed = ceil(units * (double)c->pairs.n / (double)n);
	}
	return act_signed_rank(d, n, &c->test);
}

static int compare_paired(struct comparison *c, const struct method *method)
{
	size_t n = c->pairs.n;
	double *d = malloc(n * sizeof(*d));
	int ret;

	if (!d)
		return -ENOMEM;
	pairs_differences(&c->pairs, false, d);
	ret = compare_paired_means(c, d, method->level);
	n = c->pairs.units = act_blocks(d, c->pairs.is_base_first, n);
	if (ret == 0)
		ret = act_pseudomedian(d, n, method->level, &c->shift, &c->shift_interval);
	if (ret == 0 && c->is_ratio) {
		ret = compare_logs(c, d, method);
	} else if (ret == 0) {
		c->paired_t = act_paired_t(d, n);
		ret = act_signed_rank(d, n, &c->test);
	}
	free(d);
	return ret;
}

/* Where only means are known they are the headline. */
static void take_means(struct comparison *c)
{
	c->shift = c->mean_shift;
	c->shift_interval = c->mean_shift_interval;
	c->test = c->welch;
	c->effect = c->mean_ratio;
	c->interval = c->mean_ratio_interval;
}

/* ---- The verdict ---- */

static enum act_verdict decide_difference(const struct act_interval *interval)
{
	if (interval->low > 0)
		return ACT_SLOWER;
	return interval->high < 0 ? ACT_FASTER : ACT_INCONCLUSIVE;
}

static enum act_verdict decide(const struct comparison *c)
{
	if (!c->is_ratio)
		return decide_difference(&c->interval);
	return act_decide(&c->interval, c->bound,
			  isnan(c->metric->noise) ? 0 : c->metric->noise);
}

/*
 * An interval is one of many: what it alone would decide stands only if its p, held
 * against those of its family, is small, too.
 */
void comparison_adjust(struct comparison *c, double p_adjusted, double level)
{
	bool is_difference = c->verdict == ACT_SLOWER || c->verdict == ACT_FASTER;

	c->p_adjusted = p_adjusted;
	if (is_difference && !(p_adjusted <= 1 - level))
		c->verdict = ACT_INCONCLUSIVE;
}

const char *comparison_word(const struct comparison *c)
{
	if (c->metric->is_time)
		return act_verdict_word(c->verdict);
	switch (c->verdict) {
	case ACT_SLOWER:
		return "larger";
	case ACT_FASTER:
		return "smaller";
	default:
		return act_verdict_word(c->verdict);
	}
}

/* ---- All of it ---- */

static int compute(struct comparison *c, const struct method *method, const char **ret_why)
{
	int ret;

	if (c->base->n < 2 || c->other->n < 2) {
		*ret_why = "one value tells nothing of chance: each side takes two at least";
		return -EINVAL;
	}
	ret = choose_scale(c, method, ret_why);
	if (ret == 0)
		ret = choose_pairing(c, method, ret_why);
	if (ret == 0 && c->is_paired && c->pairs.n < 2) {
		*ret_why = "one pair tells nothing of chance: two are the least";
		ret = -EINVAL;
	}
	if (ret < 0)
		return ret;
	compare_means(c, method->level);
	if (c->is_by_means) {
		take_means(c);
	} else {
		ret = compare_ranks(c);
		if (ret == 0)
			ret = c->is_paired ? compare_paired(c, method) :
					     compare_unpaired(c, method->level);
	}
	if (ret < 0)
		return ret;
	if (!c->is_ratio) {
		c->effect = c->shift;
		c->interval = c->shift_interval;
	}
	c->verdict = decide(c);
	return comparison_judge(c, method);
}

static void init(struct comparison *c)
{
	*c = (struct comparison){
		.effect = NAN, .interval = no_interval, .test = no_test, .p_adjusted = NAN,
		.shift = NAN, .shift_interval = no_interval,
		.mean_ratio = NAN, .mean_ratio_interval = no_interval,
		.mean_shift = NAN, .mean_shift_interval = no_interval,
		.welch_interval = no_interval,
		.welch = no_test, .student = no_test, .mann_whitney = no_test,
		.paired_t = no_test, .a12 = NAN, .cohen_d = NAN,
		.detectable = NAN, .pairs_needed = NAN,
	};
}

int comparison_make(const struct comparable *all, size_t metric, size_t base, size_t other,
		    const struct method *method, struct comparison *ret, const char **ret_why)
{
	int err;

	init(ret);
	ret->metric = &all->metric[metric];
	ret->base_arm = &all->arm[base];
	ret->other_arm = &all->arm[other];
	ret->base = &ret->base_arm->set[metric];
	ret->other = &ret->other_arm->set[metric];
	ret->bound = method->bound;
	ret->is_explored = method->explores;
	err = compute(ret, method, ret_why);
	if (err < 0)
		comparison_release(ret);
	return err;
}

void comparison_release(struct comparison *c)
{
	pairs_release(&c->pairs);
	for (size_t i = 0; i < c->notes; i++)
		free(c->note[i].text);
	free(c->note);
	c->note = NULL;
	c->notes = 0;
}

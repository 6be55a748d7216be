/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is doubtful about a comparison: each doubt is one line, a warning or a remark. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A warning about the series itself is given from this p on: with 0.05 one in twenty sound
 * comparisons would have it.
 */
#define DOUBT 0.01
/* So many values are needed to say anything of their order. */
enum { LEAST_ORDERED = 8, LAGS = 5 };

const char *note_word(enum note_kind kind)
{
	static const char *const words[] = {
		[NOTE_TOO_FEW] = "too-few", [NOTE_EXCLUDED] = "excluded",
		[NOTE_UNPAIRED] = "unpaired", [NOTE_SCALE] = "scale",
		[NOTE_NO_SPREAD] = "no-spread", [NOTE_RESOLUTION] = "resolution",
		[NOTE_ORDER] = "order", [NOTE_DRIFT] = "drift",
		[NOTE_CORRELATED] = "correlated", [NOTE_TAIL] = "tail",
		[NOTE_OUTLIERS] = "outliers", [NOTE_TICKS] = "ticks",
		[NOTE_NOISE] = "noise",
	};

	return words[kind];
}

__attribute__((format(printf, 4, 5)))
static int add(struct comparison *c, enum note_kind kind, bool is_warning, const char *format, ...)
{
	struct note *notes = realloc(c->note, (c->notes + 1) * sizeof(*notes));
	char *text = NULL;
	va_list args;
	int length;

	if (!notes)
		return -ENOMEM;
	c->note = notes;
	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	notes[c->notes++] = (struct note){ kind, is_warning, text };
	return 0;
}

/* ---- How much there is ---- */

static int judge_number(struct comparison *c, const struct method *method)
{
	char text[NUMBER_ROOM];

	if (c->is_by_means)
		return 0;
	if (c->test.p_floor >= 1)
		return add(c, NOTE_NO_SPREAD, true, "not one of %zu pairs differs", c->pairs.n);
	if (c->test.p_floor > 1 - method->level)
		return add(c, NOTE_TOO_FEW, true,
			   "with %zu %s no p can be below %s: too few to show a difference",
			   c->is_paired ? c->pairs.n : c->base->n + c->other->n,
			   c->is_paired ? "pairs" : "values", p_text(c->test.p_floor, text));
	if (isnan(c->interval.low))
		return add(c, NOTE_TOO_FEW, true, "too few values for an interval of this level");
	return 0;
}

static int judge_excluded(struct comparison *c)
{
	if (!c->is_paired || !c->pairs.missing)
		return 0;
	return add(c, NOTE_EXCLUDED, true, "%zu %s no partner and %s left out", c->pairs.missing,
		   c->pairs.missing == 1 ? "value has" : "values have",
		   c->pairs.missing == 1 ? "is" : "are");
}

/* ---- What they are ---- */

static double least(const struct set *set)
{
	return set->value ? set->description.min : set->summary.mean;
}

static int judge_scale(struct comparison *c, const struct method *method)
{
	const struct set *set = least(c->base) < least(c->other) ? c->base : c->other;

	if (c->is_ratio || method->scale != SCALE_AUTO)
		return 0;
	return add(c, NOTE_SCALE, false,
		   "compared by differences, for which --bound means nothing: "
		   "%g has no logarithm", least(set));
}

/* Different values of both, and the smallest step between two of them. */
static size_t count_steps(const struct set *a, const struct set *b, double *ret_step)
{
	size_t i = 0, j = 0, unique = 0;
	double last = NAN;

	*ret_step = INFINITY;
	while (i < a->n || j < b->n) {
		bool is_a = j == b->n || (i < a->n && a->sorted[i] <= b->sorted[j]);
		double value = is_a ? a->sorted[i++] : b->sorted[j++];

		if (value == last)
			continue;
		if (unique)
			*ret_step = fmin(*ret_step, value - last);
		unique++;
		last = value;
	}
	return unique;
}

static int judge_resolution(struct comparison *c)
{
	size_t total = c->base->n + c->other->n, unique;
	double step;
	int ret = 0;

	if (c->is_by_means)
		return 0;
	if (c->base->description.sd == 0 && c->other->description.sd == 0)
		ret = add(c, NOTE_NO_SPREAD, true,
			  "no spread within either: t is undefined, and so is chance");
	unique = count_steps(c->base, c->other, &step);
	if (ret == 0 && unique <= total / 2 && step >= fabs(c->shift))
		ret = add(c, NOTE_RESOLUTION, true,
			  "%zu values, but only %zu different ones: the difference is no more "
			  "than one step of the measure", total, unique);
	return ret;
}

static int judge_outliers(struct comparison *c)
{
	uint64_t base = c->base->description.outliers, other = c->other->description.outliers;

	if (!base && !other)
		return 0;
	return add(c, NOTE_OUTLIERS, false,
		   "far from the others (modified z above 3.5), and kept: %zu of %zu in %s, "
		   "%zu of %zu in %s", (size_t)base, c->base->n, c->base_arm->name, (size_t)other,
		   c->other->n, c->other_arm->name);
}

/* The middle tells of the typical case, the mean of the sum: both are costs. */
static int judge_tail(struct comparison *c)
{
	double half = (c->interval.high - c->interval.low) / 2;
	bool is_shown = c->interval.low > 1 || c->interval.high < 1 ||
			c->mean_ratio_interval.low > 1 || c->mean_ratio_interval.high < 1;
	bool is_opposite = (c->effect > 1) != (c->mean_ratio > 1);
	char middle[NUMBER_ROOM], mean[NUMBER_ROOM];

	if (!c->is_ratio || c->is_by_means || isnan(half) || isnan(c->mean_ratio))
		return 0;
	if (!(fabs(c->mean_ratio - c->effect) > half) && !(is_opposite && is_shown))
		return 0;
	return add(c, NOTE_TAIL, true,
		   "the tail may have moved: the mean changed by %s, the middle by %s",
		   percent_text(c->mean_ratio - 1, mean), percent_text(c->effect - 1, middle));
}

/* ---- Their order ---- */

static int judge_drift(struct comparison *c, const double *values, size_t n, const char *what)
{
	struct act_test trend;
	int ret = act_kendall(values, n, &trend);
	char text[NUMBER_ROOM];

	if (ret < 0 || !(trend.p < DOUBT))
		return ret;
	return add(c, NOTE_DRIFT, true, "%s: they drift (Kendall's tau with time %.2f, p %s)", what,
		   trend.statistic, p_text(trend.p, text));
}

static int judge_correlation(struct comparison *c, const double *values, size_t n,
			     const char *what)
{
	double lag1 = act_autocorrelation(values, n, 1);
	struct act_test test = act_ljung_box(values, n, LAGS);
	char text[NUMBER_ROOM];

	if (!(test.p < DOUBT) || !(lag1 > 2 / sqrt((double)n)))
		return 0;
	return add(c, NOTE_CORRELATED, true,
		   "%s: neighbours are alike (lag 1: %.2f, Ljung-Box p %s); %zu are worth %.0f",
		   what, lag1, p_text(test.p, text), n, act_effective_n((double)n, lag1));
}

static int judge_series(struct comparison *c, const double *values, size_t n, const char *what)
{
	int ret;

	if (n < LEAST_ORDERED)
		return 0;
	ret = judge_drift(c, values, n, what);
	return ret < 0 ? ret : judge_correlation(c, values, n, what);
}

/* Whether the one that ran second is slower or faster for that alone. */
static int judge_slots(struct comparison *c, double *d, double level)
{
	struct act_interval interval;
	double middle;
	int ret;

	if (!c->pairs.is_base_first)
		return 0;
	for (size_t i = 0; i < c->pairs.n; i++)
		if (!c->pairs.is_base_first[i])
			d[i] = -d[i];
	ret = act_pseudomedian(d, c->pairs.n, level, &middle, &interval);
	if (ret < 0 || !(interval.low > 0 || interval.high < 0))
		return ret;
	return add(c, NOTE_ORDER, true, "the second of a pair is %s than the first, whichever it is",
		   middle > 0 ? "larger" : "smaller");
}

static int judge_pairs(struct comparison *c, double level)
{
	double *d = malloc(c->pairs.n * sizeof(*d));
	int ret;

	if (!d)
		return -ENOMEM;
	pairs_differences(&c->pairs, c->is_ratio, d);
	ret = judge_series(c, d, c->pairs.n, c->is_ratio ? "ratios" : "differences");
	if (ret == 0)
		ret = judge_slots(c, d, level);
	free(d);
	if (ret == 0 && c->base_arm->file != c->other_arm->file && c->base->pair)
		ret = add(c, NOTE_UNPAIRED, false, "pairs of different files go by their numbers: "
			  "right if both were run side by side, else --unpaired");
	return ret;
}

static int judge_order(struct comparison *c, double level)
{
	int ret;

	if (c->is_by_means)
		return 0;
	if (c->is_paired)
		return judge_pairs(c, level);
	ret = judge_series(c, c->base->value, c->base->n, c->base_arm->name);
	if (ret == 0)
		ret = judge_series(c, c->other->value, c->other->n, c->other_arm->name);
	if (ret == 0)
		ret = add(c, NOTE_UNPAIRED, false,
			  "not paired: what changed with time between the arms counts as theirs");
	return ret;
}

/*
 * Most kernels see at each tick in what mode a task is, and divide its exact time by that
 * (kernel/sched/cputime.c, cputime_adjust()): of short tasks the parts are drawn by lot.
 */
static int judge_ticks(struct comparison *c)
{
	const char *name = c->metric->name;

	if (strcmp(name, "user_ns") != 0 && strcmp(name, "system_ns") != 0)
		return 0;
	return add(c, NOTE_TICKS, true,
		   "the kernel tells user from system time by ticks only: trust cpu_ns");
}

static int judge_noise(struct comparison *c)
{
	double noise = c->metric->noise;
	char found[NUMBER_ROOM], floor[NUMBER_ROOM];

	if (isnan(noise) || !c->is_ratio || fabs(c->effect - 1) > noise)
		return 0;
	return add(c, NOTE_NOISE, true,
		   "%s is no more than what runs of the same differ by (%s, %zu A/A pairs)",
		   percent_text(c->effect - 1, found), percent_text(noise, floor),
		   c->metric->noise_pairs);
}

int comparison_judge(struct comparison *c, const struct method *method)
{
	int ret = judge_number(c, method);

	if (ret == 0)
		ret = judge_excluded(c);
	if (ret == 0)
		ret = judge_scale(c, method);
	if (ret == 0)
		ret = judge_resolution(c);
	if (ret == 0)
		ret = judge_ticks(c);
	if (ret == 0)
		ret = judge_noise(c);
	if (ret == 0)
		ret = judge_order(c, method->level);
	if (ret == 0)
		ret = judge_tail(c);
	if (ret == 0)
		ret = judge_outliers(c);
	return ret;
}

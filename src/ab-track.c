/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ab.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "base/clock.h"
#include "msg.h"
#include "out.h"

#define LEVEL 0.95

/* ---- The run's value: the median of its samples, as compare takes it ---- */

/* The primary metric's place among the values; SIZE_MAX: it is the series. */
static size_t primary_of(const struct workload *workload)
{
	size_t n = 0;

	for (; n < HARNESS_METRICS; n++)
		if (strcmp(harness_metrics[n].name, workload->primary) == 0)
			return n;
	for (const struct metric *own = workload->metrics; own && own->name; own++, n++)
		if (strcmp(own->name, workload->primary) == 0)
			return n;
	return SIZE_MAX;
}

/* Sizes are states, of no operation. */
static bool is_per_op(const char *metric)
{
	size_t length = strlen(metric);

	return length < 6 || strcmp(metric + length - 6, "_bytes") != 0;
}

int ab_track_sample(struct ab *ab, const struct sample *sample)
{
	const char *name = ab->work.workload->primary;
	size_t primary = primary_of(ab->work.workload);
	double value;

	ab->ops += sample->ops;
	if (sample->is_warmup)
		return 0;
	if (primary == SIZE_MAX)
		return vector_append(&ab->value, sample->series, sample->series_count);
	value = sample->value[primary] / (is_per_op(name) ? sample->ops : 1);
	return isfinite(value) ? vector_push(&ab->value, value) : 0;
}

double ab_run_value(struct ab *ab)
{
	struct vector *value = &ab->value;

	if (!value->n || act_sort(value->value, value->n) < 0)
		return NAN;
	return act_quantile(value->value, value->n, 0.5);
}

int ab_track_pair(struct ab *ab, const double *value, const size_t *slot)
{
	int ret = 0;

	/* Zero and less have no logarithm; compare has other means for them. */
	for (size_t i = 1; ret == 0 && i < ab->conditions; i++)
		if (value[0] > 0 && value[i] > 0) {
			ret = vector_push(&ab->arm[i].difference, log(value[i] / value[0]));
			if (ret == 0)
				ret = vector_push(&ab->arm[i].reversed, slot[i] < slot[0]);
		}
	return ret;
}

/* ---- The interval so far ---- */

/* As compare does it at the end. */
static int estimate(const struct ab_arm *arm, double *ret_middle, struct act_interval *ret)
{
	size_t n = arm->difference.n;
	double *d = malloc(n * sizeof(*d));
	bool *is_reversed = malloc(n * sizeof(*is_reversed));
	int err = d && is_reversed ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n; i++) {
		d[i] = arm->difference.value[i];
		is_reversed[i] = arm->reversed.value[i] > 0;
	}
	if (!err)
		err = act_pseudomedian(d, act_blocks(d, is_reversed, n), LEVEL, ret_middle, ret);
	free(is_reversed);
	free(d);
	return err;
}

static bool interval_of(const struct ab_arm *arm, double *ret_ratio, struct act_interval *ret)
{
	double middle;

	if (!arm->difference.n || estimate(arm, &middle, ret) < 0 ||
	    !isfinite(ret->low) || !isfinite(ret->high))
		return false;
	*ret_ratio = exp(middle);
	ret->low = exp(ret->low);
	ret->high = exp(ret->high);
	return true;
}

bool ab_is_narrow(const struct ab *ab)
{
	for (size_t i = 1; i < ab->conditions; i++) {
		struct act_interval interval;
		double ratio;

		if (ab->arm[i].difference.n < AB_LEAST ||
		    !interval_of(&ab->arm[i], &ratio, &interval) ||
		    interval.high - interval.low > ab->width)
			return false;
	}
	return true;
}

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* How long it goes on, as far as that can be known. */
static void tell_left(const struct ab *ab, char *text, size_t room)
{
	uint64_t took_ns = clock_monotonic_ns() - ab->began_ns, left_ns;
	char left[64];

	*text = '\0';
	if (!ab->done || !isnan(ab->width))
		return;
	left_ns = (uint64_t)((double)took_ns * (double)(ab->pairs - ab->done) / (double)ab->done);
	left[format_duration(left_ns, left, sizeof(left))] = '\0';
	snprintf(text, room, ", %s left", left);
}

void ab_tell_progress(const struct ab *ab)
{
	char text[512] = "", left[80];
	size_t length = 0;

	for (size_t i = 1; i < ab->conditions && length < sizeof(text); i++) {
		struct act_interval interval;
		double ratio;

		if (interval_of(&ab->arm[i], &ratio, &interval))
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "; %s %+.2f %% [%+.2f, %+.2f]",
						   ab->condition[i].name, percent(ratio),
						   percent(interval.low), percent(interval.high));
	}
	tell_left(ab, left, sizeof(left));
	msg_progress("pair %" PRIu64 " of %s%" PRIu64 "%s%s", ab->done + 1,
		     isnan(ab->width) ? "" : "at most ", ab->pairs, left, text);
}

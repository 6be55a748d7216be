/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shift function (Doksum 1974): what becomes of each quantile. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "stats/draw.h"

/* One side: its values sorted, and how often each was drawn. */
struct side {
	size_t n;
	double *sorted;
	size_t *rank;   /* of the i'th as it was given */
	uint32_t *count;
};

struct placed {
	double value;
	size_t at;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

static void side_free(struct side *side)
{
	free(side->sorted);
	free(side->rank);
	free(side->count);
}

static int side_init(struct side *side, const double *values, size_t n)
{
	struct placed *placed = malloc(n * sizeof(*placed));

	*side = (struct side){
		.n = n, .sorted = malloc(n * sizeof(double)), .rank = malloc(n * sizeof(size_t)),
		.count = malloc(n * sizeof(uint32_t)),
	};
	if (!placed || !side->sorted || !side->rank || !side->count) {
		free(placed);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		placed[i] = (struct placed){ values[i], i };
	qsort(placed, n, sizeof(*placed), compare_placed);
	for (size_t i = 0; i < n; i++) {
		side->sorted[i] = placed[i].value;
		side->rank[placed[i].at] = i;
	}
	free(placed);
	return 0;
}

/* The k'th, from 0, of all that were drawn, sorted; *at and *below go on from the last call. */
static double drawn_at(const struct side *side, size_t k, size_t *at, size_t *below)
{
	while (*below + side->count[*at] <= k)
		*below += side->count[(*at)++];
	return side->sorted[*at];
}

/* Quantiles of type 7 of what was drawn; @p rises. */
static void drawn_quantiles(const struct side *side, const double *p, size_t np, double *ret)
{
	size_t at = 0, below = 0;

	for (size_t i = 0; i < np; i++) {
		double place = (double)(side->n - 1) * p[i], part = place - floor(place);
		size_t k = (size_t)place;

		ret[i] = drawn_at(side, k, &at, &below);
		if (part > 0) {
			size_t next = at, next_below = below;

			ret[i] = (1 - part) * ret[i] + part * drawn_at(side, k + 1, &next, &next_below);
		}
	}
}

static double shift(double a, double b, bool is_ratio)
{
	return is_ratio ? b / a : b - a;
}

/* Pairs are drawn as pairs, else each side by itself. */
static void resample(struct side *a, struct side *b, bool is_paired, uint64_t *state)
{
	memset(a->count, 0, a->n * sizeof(*a->count));
	memset(b->count, 0, b->n * sizeof(*b->count));
	for (size_t i = 0; i < a->n; i++) {
		size_t drawn = draw_below(state, a->n);

		a->count[a->rank[drawn]]++;
		if (is_paired)
			b->count[b->rank[drawn]]++;
	}
	for (size_t i = 0; !is_paired && i < b->n; i++)
		b->count[b->rank[draw_below(state, b->n)]]++;
}

/* The middle @level of the resampled shifts: the percentile interval (Efron 1979). */
static int find_bands(struct side *a, struct side *b, const struct act_shift_options *options,
		      const double *p, size_t np, struct act_quantile_shift *ret)
{
	double *drawn = malloc(np * ACT_RESAMPLES * sizeof(*drawn));
	double *qa = malloc(2 * np * sizeof(*qa)), *qb = qa ? qa + np : NULL;
	uint64_t state = options->seed;
	int err = drawn && qa ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < ACT_RESAMPLES; i++) {
		resample(a, b, options->is_paired, &state);
		drawn_quantiles(a, p, np, qa);
		drawn_quantiles(b, p, np, qb);
		for (size_t k = 0; k < np; k++)
			drawn[k * ACT_RESAMPLES + i] = shift(qa[k], qb[k], options->is_ratio);
	}
	for (size_t k = 0; !err && k < np; k++) {
		double *of_k = drawn + k * ACT_RESAMPLES;

		err = act_sort(of_k, ACT_RESAMPLES);
		if (!err)
			ret[k].interval = (struct act_interval){
				act_quantile(of_k, ACT_RESAMPLES, (1 - options->level) / 2),
				act_quantile(of_k, ACT_RESAMPLES, (1 + options->level) / 2),
				options->level,
			};
	}
	free(qa);
	free(drawn);
	return err;
}

int act_quantile_shifts(const double *a, size_t na, const double *b, size_t nb,
			const struct act_shift_options *options, const double *p, size_t np,
			struct act_quantile_shift *ret)
{
	struct side of_a = { 0 }, of_b = { 0 };
	bool has_bands = na >= ACT_RESAMPLED_LEAST && nb >= ACT_RESAMPLED_LEAST &&
			 na <= ACT_RESAMPLED_MOST && nb <= ACT_RESAMPLED_MOST;
	int err;

	if (!na || !nb || (options->is_paired && na != nb) ||
	    !(options->level > 0 && options->level < 1))
		return -EINVAL;
	for (size_t i = 0; i < np; i++)
		if (!(p[i] >= 0 && p[i] <= 1) || (i && p[i] < p[i - 1]))
			return -EINVAL;
	err = side_init(&of_a, a, na);
	if (!err)
		err = side_init(&of_b, b, nb);
	for (size_t i = 0; !err && i < np; i++) {
		ret[i].p = p[i];
		ret[i].a = act_quantile(of_a.sorted, na, p[i]);
		ret[i].b = act_quantile(of_b.sorted, nb, p[i]);
		ret[i].shift = shift(ret[i].a, ret[i].b, options->is_ratio);
		ret[i].interval = (struct act_interval){ NAN, NAN, NAN };
	}
	if (!err && has_bands)
		err = find_bands(&of_a, &of_b, options, p, np, ret);
	side_free(&of_a);
	side_free(&of_b);
	return err;
}

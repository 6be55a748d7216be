/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MATRIX_H
#define STATS_MATRIX_H

/*
 * The figures of all pairs of two sorted sets, or of one with itself: never written
 * down, for there are 10^10 of them for 10^5 samples.  Rows and columns are sorted
 * in themselves (subtraction, division and halving round monotonically), so that
 * those up to a bound are counted in one walk along the stairs.
 */
#include <stddef.h>
#include <stdint.h>

#include <actuary/stats.h>

enum matrix_figure {
	MATRIX_DIFFERENCE, /* b - a */
	MATRIX_RATIO,      /* b / a, both > 0 */
	MATRIX_WALSH,      /* (a[i] + a[j]) / 2 for i <= j */
};

struct matrix {
	enum matrix_figure figure;
	const double *a, *b; /* sorted; the same for MATRIX_WALSH */
	size_t na, nb;
};

uint64_t matrix_size(const struct matrix *matrix);

/* The k-th smallest figure, 1 <= k <= size: just that number, not one near it. */
double matrix_select(const struct matrix *matrix, uint64_t k);

/* The middle one, or the mean of the middle two: of ratios, the geometric. */
double matrix_median(const struct matrix *matrix);

/* From the k-th smallest to the k-th largest; k = 0: no interval. */
struct act_interval matrix_interval(const struct matrix *matrix, uint64_t k, double level);

#endif

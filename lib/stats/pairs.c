/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <actuary/stats.h>

#include "stats/law.h"
#include "stats/margin.h"
#include "stats/matrix.h"
#include "stats/rank.h"
#include "stats/sorted.h"

/*
 * Differences sorted by value are, outwards from the zeros, sorted by size on both
 * sides: @below of them from the end of the negative ones, @above from the start of
 * the positive ones.  Pratt 1959: zeros take the lowest ranks and are then left out.
 */
static void rank_signed(const double *below, size_t nbelow, const double *above, size_t nabove,
			size_t zeros, struct signed_rank *ret)
{
	size_t i = 0, j = 0;

	*ret = (struct signed_rank){ .n = nbelow + nabove };
	while (i < nbelow || j < nabove) {
		double down = i < nbelow ? below[i] : INFINITY;
		double up = j < nabove ? above[j] : INFINITY;
		double size = fmin(down, up);
		size_t negative = run_of(below + i, nbelow - i, size);
		size_t positive = run_of(above + j, nabove - j, size);
		size_t group = negative + positive, doubled = 2 * (zeros + i + j) + group + 1;
		double rank = (double)doubled / 2;

		ret->v += rank * (double)positive;
		ret->sum += rank * (double)group;
		ret->squares += rank * rank * (double)group;
		for (size_t k = i + j; ret->n <= RANKS_EXACT && k < i + j + group; k++)
			ret->ranks[k] = (uint32_t)doubled;
		i += negative;
		j += positive;
	}
}

static void turn_over(double *values, size_t n)
{
	for (size_t i = 0; i < (n + 1) / 2; i++) {
		double value = -values[i];

		values[i] = -values[n - 1 - i];
		values[n - 1 - i] = value;
	}
}

int signed_rank_of(const double *d, size_t n, struct signed_rank *ret)
{
	size_t below = 0, zeros;
	double *sorted;
	int err = sorted_copy(d, n, &sorted);

	if (err)
		return err;
	while (below < n && sorted[below] < 0)
		below++;
	zeros = run_of(sorted + below, n - below, 0);
	turn_over(sorted, below);
	rank_signed(sorted, below, sorted + below + zeros, n - below - zeros, zeros, ret);
	free(sorted);
	return 0;
}

/* The variance is right with ties and zeros as it is: each rank comes or does not. */
double signed_rank_normal(const struct signed_rank *ranks, bool is_continuous)
{
	double far = fmax(fabs(ranks->v - ranks->sum / 2) - (is_continuous ? 0.5 : 0), 0);

	return ranks->squares > 0 ? law_normal_p(far / sqrt(ranks->squares / 4)) : 1;
}

int signed_rank_exact(const struct signed_rank *ranks, double *ret_p)
{
	struct rank_law law;
	int err = law_signed_rank(ranks->ranks, ranks->n, &law);

	if (err)
		return err;
	*ret_p = law_beyond(&law, 2 * ranks->v, ranks->sum);
	law_free(&law);
	return 0;
}

size_t act_blocks(double *d, const bool *is_reversed, size_t n)
{
	size_t blocks = 0;

	if (!is_reversed || n < ACT_BLOCKS_LEAST)
		return n;
	for (size_t i = 0; i < n; blocks++) {
		bool is_block = i + 1 < n && is_reversed[i] != is_reversed[i + 1];

		d[blocks] = is_block ? d[i] / 2 + d[i + 1] / 2 : d[i];
		i += is_block ? 2 : 1;
	}
	return blocks;
}

int act_signed_rank(const double *d, size_t n, struct act_test *ret)
{
	struct act_test test = { .df = NAN };
	struct signed_rank ranks;
	int err = signed_rank_of(d, n, &ranks);

	if (err)
		return err;
	test.statistic = ranks.v;
	test.is_exact = n <= MARGIN_EXACT_PAIRS;
	if (test.is_exact) {
		test.p_floor = fmin(1, ldexp(2, -(int)ranks.n));
		err = signed_rank_exact(&ranks, &test.p);
	} else {
		test.p = signed_rank_normal(&ranks, true);
	}
	if (!err)
		*ret = test;
	return err;
}

int act_pseudomedian(const double *d, size_t n, double level, double *ret_median,
		     struct act_interval *ret_interval)
{
	struct matrix matrix;
	struct margin margin;
	double *sorted;
	int err;

	if (!(level > 0 && level < 1))
		return -EINVAL;
	err = sorted_copy(d, n, &sorted);
	if (err)
		return err;
	err = margin_signed_rank(n, level, &margin);
	if (!err) {
		matrix = (struct matrix){ MATRIX_WALSH, sorted, sorted, n, n };
		*ret_median = matrix_median(&matrix);
		*ret_interval = matrix_interval(&matrix, margin.k, margin.level);
	}
	free(sorted);
	return err;
}

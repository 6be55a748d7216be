/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>

#include "stats/law.h"
#include "stats/rank.h"
#include "stats/sorted.h"

/* The exact law costs n^4: as R does without ties, and to 25 a side with them. */
#define EXACT_WITHOUT_TIES 49
#define EXACT_WITH_TIES    25

static double smaller(const double *a, size_t na, const double *b, size_t nb)
{
	if (na == 0 || nb == 0)
		return na ? *a : *b;
	return fmin(*a, *b);
}

/* One group of equal values after the other, over both sets. */
void rank_sum_of(const double *a, size_t na, const double *b, size_t nb, struct rank_sum *ret)
{
	size_t i = 0, j = 0;

	ret->na = na;
	ret->nb = nb;
	ret->u = ret->ties = 0;
	while (i < na || j < nb) {
		double value = smaller(a + i, na - i, b + j, nb - j);
		size_t in_a = run_of(a + i, na - i, value), in_b = run_of(b + j, nb - j, value);
		double group = (double)(in_a + in_b);

		ret->u += (double)in_a * ((double)j + (double)in_b / 2);
		ret->ties += group * (group * group - 1);
		for (size_t k = i + j; na + nb <= RANKS_EXACT && k < i + j + in_a + in_b; k++)
			ret->ranks[k] = (uint32_t)(2 * (i + j) + in_a + in_b + 1);
		i += in_a;
		j += in_b;
	}
}

/* Both tails of a normal law; where nothing varies, nothing is out of the ordinary. */
static double normal_p(double off, double variance, bool is_continuous)
{
	double far = fmax(fabs(off) - (is_continuous ? 0.5 : 0), 0);

	return variance > 0 ? law_normal_p(far / sqrt(variance)) : 1;
}

double rank_sum_normal(const struct rank_sum *sum, bool is_continuous)
{
	double a = (double)sum->na, b = (double)sum->nb, n = a + b;
	double variance = a * b / 12 * (n + 1 - sum->ties / (n * (n - 1)));

	return normal_p(sum->u - a * b / 2, variance, is_continuous);
}

/* P(|U - mean| >= |u - mean|), given these ties. */
int rank_sum_exact(const struct rank_sum *sum, double *ret_p)
{
	double a = (double)sum->na, n = a + (double)sum->nb;
	struct rank_law law;
	int err = law_rank_sum(sum->ranks, sum->na + sum->nb, sum->na, &law);

	if (err)
		return err;
	*ret_p = law_beyond(&law, 2 * sum->u + a * (a + 1), a * (n + 1));
	law_free(&law);
	return 0;
}

static int rank_sum_of_unsorted(const double *a, size_t na, const double *b, size_t nb,
				struct rank_sum *ret)
{
	double *sorted_a = NULL, *sorted_b = NULL;
	int err = sorted_copy(a, na, &sorted_a);

	if (!err)
		err = sorted_copy(b, nb, &sorted_b);
	if (!err)
		rank_sum_of(sorted_a, na, sorted_b, nb, ret);
	free(sorted_a);
	free(sorted_b);
	return err;
}

int act_mann_whitney(const double *a, size_t na, const double *b, size_t nb,
		     struct act_test *ret)
{
	struct act_test test = { .df = NAN };
	struct rank_sum sum;
	size_t most;
	int err = rank_sum_of_unsorted(a, na, b, nb, &sum);

	if (err)
		return err;
	most = sum.ties > 0 ? EXACT_WITH_TIES : EXACT_WITHOUT_TIES;
	test.statistic = sum.u;
	test.is_exact = na <= most && nb <= most;
	if (test.is_exact) {
		test.p_floor = fmin(1, 2 / law_choose((double)(na + nb), (double)na));
		err = rank_sum_exact(&sum, &test.p);
	} else {
		test.p = rank_sum_normal(&sum, true);
	}
	if (!err)
		*ret = test;
	return err;
}

double act_a12(const double *a, size_t na, const double *b, size_t nb)
{
	struct rank_sum sum;

	if (rank_sum_of_unsorted(a, na, b, nb, &sum))
		return NAN;
	return 1 - sum.u / ((double)na * (double)nb);
}

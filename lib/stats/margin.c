/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "stats/law.h"
#include "stats/margin.h"

/* The law's sums below @least are impossible. */
static struct margin margin_by_law(const struct rank_law *law, size_t least, double level)
{
	struct margin ret = { 0, NAN };
	double tail = law_tail(level), missed = 0;

	for (size_t sum = least; sum <= law->max; sum++) {
		missed += law->p[sum];
		if (missed > tail)
			break;
		ret.k++;
		ret.level = 1 - 2 * missed;
	}
	return ret;
}

static struct margin margin_by_normal(double figures, double deviation, double level)
{
	double k = floor(figures / 2 - law_normal_quantile(1 - (1 - level) / 2) * deviation);

	if (k < 1)
		return (struct margin){ 0, NAN };
	return (struct margin){
		(uint64_t)k,
		1 - law_normal_p((k - 0.5 - figures / 2) / deviation),
	};
}

int margin_moses(size_t na, size_t nb, double level, struct margin *ret)
{
	uint32_t ranks[2 * MARGIN_EXACT_SETS];
	struct rank_law law;
	int err;

	if (na >= MARGIN_EXACT_SETS || nb >= MARGIN_EXACT_SETS) {
		double a = (double)na, b = (double)nb;

		*ret = margin_by_normal(a * b, sqrt(a * b * (a + b + 1) / 12), level);
		return 0;
	}
	for (size_t i = 0; i < na + nb; i++)
		ranks[i] = (uint32_t)i + 1;
	err = law_rank_sum(ranks, na + nb, na, &law);
	if (err)
		return err;
	*ret = margin_by_law(&law, na * (na + 1) / 2, level);
	law_free(&law);
	return 0;
}

int margin_signed_rank(size_t n, double level, struct margin *ret)
{
	uint32_t ranks[MARGIN_EXACT_PAIRS];
	struct rank_law law;
	int err;

	if (n > MARGIN_EXACT_PAIRS) {
		double p = (double)n;

		*ret = margin_by_normal(p * (p + 1) / 2,
					sqrt(p * (p + 1) * (2 * p + 1) / 24), level);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		ranks[i] = (uint32_t)i + 1;
	err = law_signed_rank(ranks, n, &law);
	if (err)
		return err;
	*ret = margin_by_law(&law, 0, level);
	law_free(&law);
	return 0;
}

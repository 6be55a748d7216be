/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <actuary/stats.h>

enum act_verdict act_decide(const struct act_interval *ratio, double bound, double noise)
{
	double low = ratio->low, high = ratio->high;

	/* Also false for NaN. */
	if (!(low <= high))
		return ACT_INCONCLUSIVE;
	if (isnan(noise))
		noise = 0;
	/* Schuirmann 1987, if runs of the same can be told from a change of that size. */
	if (low > 1 - bound && high < 1 + bound)
		return noise < bound ? ACT_EQUIVALENT : ACT_INCONCLUSIVE;
	if (low > 1 && sqrt(low) * sqrt(high) - 1 >= noise)
		return ACT_SLOWER;
	if (high < 1 && 1 - sqrt(fmax(low, 0)) * sqrt(fmax(high, 0)) >= noise)
		return ACT_FASTER;
	return ACT_INCONCLUSIVE;
}

const char *act_verdict_word(enum act_verdict verdict)
{
	switch (verdict) {
	case ACT_EQUIVALENT:
		return "equivalent";
	case ACT_SLOWER:
		return "slower";
	case ACT_FASTER:
		return "faster";
	case ACT_INCONCLUSIVE:
		break;
	}
	return "inconclusive";
}

/* ---- Many tests ---- */

struct place {
	double p;
	size_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

/* Those that have a p, ascending: a test that could not be done is none of the family. */
static int sort_places(const double *p, size_t n, struct place **ret, size_t *ret_n)
{
	struct place *places = calloc(n ? n : 1, sizeof(*places));
	size_t used = 0;

	if (!places)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			places[used++] = (struct place){ p[i], i };
	qsort(places, used, sizeof(*places), compare_places);
	*ret = places;
	*ret_n = used;
	return 0;
}

/* Holm 1979: the smallest of m is held against alpha / m, the next against alpha / (m - 1). */
int act_holm(double *p, size_t n)
{
	struct place *places;
	size_t used;
	double most = 0;
	int err = sort_places(p, n, &places, &used);

	if (err)
		return err;
	for (size_t i = 0; i < used; i++) {
		most = fmax(most, fmin(places[i].p * (double)(used - i), 1));
		p[places[i].at] = most;
	}
	free(places);
	return 0;
}

/* Benjamini and Hochberg 1995. */
int act_benjamini_hochberg(double *p, size_t n)
{
	struct place *places;
	size_t used;
	double least = 1;
	int err = sort_places(p, n, &places, &used);

	if (err)
		return err;
	for (size_t i = used; i > 0; i--) {
		least = fmin(least, places[i - 1].p * (double)used / (double)i);
		p[places[i - 1].at] = least;
	}
	free(places);
	return 0;
}

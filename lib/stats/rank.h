/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_RANK_H
#define STATS_RANK_H

/*
 * What rank tests are made of.  Ranks of equal values are their mean, and are kept
 * doubled, so that they are whole.
 */
#include <stddef.h>
#include <stdint.h>

#include <actuary/stats.h>

#define RANKS_EXACT 100 /* so many are kept for an exact law; enough for all of them */

struct rank_sum {
	size_t na, nb;
	double u;    /* pairs in which a is larger, ties half */
	double ties; /* sum of t^3 - t over groups of equal values */
	uint32_t ranks[RANKS_EXACT]; /* of all, ascending; only where na + nb fit */
};

/* Both sorted. */
void rank_sum_of(const double *a, size_t na, const double *b, size_t nb, struct rank_sum *ret);
double rank_sum_normal(const struct rank_sum *sum, bool is_continuous);
int rank_sum_exact(const struct rank_sum *sum, double *ret_p);

struct signed_rank {
	size_t n;       /* differences that are not zero */
	double v;       /* sum of the ranks of those above zero, by Pratt: zeros have ranks */
	double sum;     /* of all ranks but those of zeros */
	double squares; /* of these */
	uint32_t ranks[RANKS_EXACT]; /* of these; only where n fits */
};

int signed_rank_of(const double *d, size_t n, struct signed_rank *ret);
double signed_rank_normal(const struct signed_rank *ranks, bool is_continuous);
int signed_rank_exact(const struct signed_rank *ranks, double *ret_p);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MARGIN_H
#define STATS_MARGIN_H

/*
 * An interval by ranks goes from the k-th smallest figure to the k-th largest, with
 * the largest k for which P(statistic < k) is no more than the tail.  0: even the
 * whole range has not the level asked for.
 */
#include <stddef.h>
#include <stdint.h>

struct margin {
	uint64_t k;
	double level; /* achieved */
};

/* Exact below this many in each set, as in R; else by the normal law. */
#define MARGIN_EXACT_SETS 50
/* The same for pairs. */
#define MARGIN_EXACT_PAIRS 60

int margin_moses(size_t na, size_t nb, double level, struct margin *ret);
int margin_signed_rank(size_t n, double level, struct margin *ret);

#endif

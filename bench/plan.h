/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PLAN_H
#define BENCH_PLAN_H

/*
 * In which order runs are made: the randomised complete block design.
 *
 * A pair is one run of each condition, next to each other, in an order drawn at
 * random but balanced: permuted blocks of two pairs, of which the second has the
 * reverse order of the first (AB BA, or BA AB).  Pairs of the baseline with itself,
 * A/A, are mixed in at random.  All of it follows from the seed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_CONDITIONS_MAX 8

struct plan_pair {
	bool is_aa;
	size_t slots;                           /* runs of it */
	size_t condition[PLAN_CONDITIONS_MAX];  /* of each slot */
};

struct plan {
	uint64_t state[4];   /* of the generator */
	size_t conditions;
	double aa;           /* share of all pairs that are A/A, below 1 */
	uint64_t ab_pairs, aa_pairs; /* planned so far */
	bool has_reverse;    /* the block's second pair is still to come */
	size_t reverse[PLAN_CONDITIONS_MAX];
};

/* @conditions: 2 to PLAN_CONDITIONS_MAX. */
void plan_init(struct plan *plan, uint64_t seed, size_t conditions, double aa);

/*
 * The next batch: @pairs of the conditions and the A/A pairs that belong to so
 * many.  To be freed; NULL: no memory.
 */
struct plan_pair *plan_batch(struct plan *plan, uint64_t pairs, size_t *ret_count);

/* A number below @limit, all equally likely; for tests, too. */
uint64_t plan_draw(struct plan *plan, uint64_t limit);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "stats/matrix.h"
#include "stats/sorted.h"

uint64_t matrix_size(const struct matrix *matrix)
{
	uint64_t na = matrix->na, nb = matrix->nb;

	return matrix->figure == MATRIX_WALSH ? na * (na + 1) / 2 : na * nb;
}

static inline double figure(const struct matrix *matrix, size_t i, size_t j)
{
	switch (matrix->figure) {
	case MATRIX_DIFFERENCE:
		return matrix->b[j] - matrix->a[i];
	case MATRIX_RATIO:
		return matrix->b[j] / matrix->a[i];
	case MATRIX_WALSH:
		break;
	}
	return matrix->a[i] / 2 + matrix->b[j] / 2;
}

/* What was found on a walk: how many are up to the bound, the last of them, the next beyond. */
struct walk {
	uint64_t count;
	double last, next;
};

#define WALK_START ((struct walk){ 0, -INFINITY, INFINITY })

static inline void walk_see(struct walk *walk, double figure, bool is_beyond)
{
	if (is_beyond)
		walk->next = figure < walk->next ? figure : walk->next;
	else
		walk->last = figure > walk->last ? figure : walk->last;
}

/*
 * Rows fall from one to the next, so that more and more columns are up to the bound.
 * What is not seen again in a later row is there less than it was: no new last one.
 */
static struct walk walk_two(const struct matrix *matrix, double bound)
{
	struct walk walk = WALK_START;
	size_t j = 0;

	for (size_t i = 0; i < matrix->na; i++) {
		for (; j < matrix->nb; j++) {
			double seen = figure(matrix, i, j);

			walk_see(&walk, seen, seen > bound);
			if (seen > bound)
				break;
		}
		walk.count += j;
	}
	return walk;
}

/*
 * Rows rise, and it is the other way round.  The whole square has each pair twice and
 * each value once with itself.
 */
static struct walk walk_one(const struct matrix *matrix, double bound)
{
	struct walk walk = WALK_START;
	size_t j = matrix->na;

	for (size_t i = 0; i < matrix->na; i++) {
		for (; j > 0; j--) {
			double seen = figure(matrix, i, j - 1);

			walk_see(&walk, seen, seen > bound);
			if (seen <= bound)
				break;
		}
		walk.count += j + (matrix->a[i] <= bound);
	}
	walk.count /= 2;
	return walk;
}

static struct walk walk_to(const struct matrix *matrix, double bound)
{
	return matrix->figure == MATRIX_WALSH ? walk_one(matrix, bound) : walk_two(matrix, bound);
}

/* Doubles as integers in the same order. */
#define SIGN (UINT64_C(1) << 63)

static uint64_t to_key(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double from_key(uint64_t key)
{
	uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Where the figure that is looked for must be. */
struct bracket {
	double low, high;     /* both of them figures */
	uint64_t below, upto; /* how many are less than low, and up to high */
};

/* Halfway of the doubles there are between: at most 64 times, whatever the figures. */
static double guess_half(const struct bracket *bracket)
{
	uint64_t low = to_key(bracket->low), high = to_key(bracket->high);

	return from_key(low + (high - low) / 2);
}

/*
 * Where the k-th figure would be if they lay evenly, by turns a little less and a
 * little more, so that both ends come near; each third time, half.
 */
static double guess(const struct bracket *bracket, uint64_t k, unsigned int round)
{
	double figures = (double)(bracket->upto - bracket->below);
	double rank = (double)(k - bracket->below), margin = pow(figures, 0.75);
	double at = rank + (round % 3 ? margin : -margin);
	double ret = bracket->low + (bracket->high - bracket->low) * at / figures;

	/* Also false for what is beyond doubles. */
	if (round % 3 == 2 || !(ret >= bracket->low && ret < bracket->high))
		return guess_half(bracket);
	return ret;
}

/*
 * As Monahan (1984) and Johnson and Mizoguchi (1978), but with a bracket of values
 * instead of one for each row: no room, no chance, and the figure itself.
 */
double matrix_select(const struct matrix *matrix, uint64_t k)
{
	bool is_walsh = matrix->figure == MATRIX_WALSH;
	struct bracket bracket = {
		.low = figure(matrix, is_walsh ? 0 : matrix->na - 1, 0),
		.high = figure(matrix, is_walsh ? matrix->na - 1 : 0, matrix->nb - 1),
		.upto = matrix_size(matrix),
	};

	for (unsigned int round = 0; bracket.low < bracket.high; round++) {
		struct walk walk = walk_to(matrix, guess(&bracket, k, round));

		if (walk.count >= k) {
			bracket.high = walk.last;
			bracket.upto = walk.count;
		} else {
			bracket.low = walk.next;
			bracket.below = walk.count;
		}
	}
	return bracket.low + 0.0; /* -0 becomes 0 */
}

double matrix_median(const struct matrix *matrix)
{
	uint64_t size = matrix_size(matrix), k = (size + 1) / 2;
	double low = matrix_select(matrix, k);
	struct walk walk;

	if (size % 2)
		return low;
	walk = walk_to(matrix, low);
	if (walk.count > k)
		return low;
	return matrix->figure == MATRIX_RATIO ? sqrt(low) * sqrt(walk.next)
					      : midpoint(low, walk.next);
}

struct act_interval matrix_interval(const struct matrix *matrix, uint64_t k, double level)
{
	if (k == 0)
		return (struct act_interval){ NAN, NAN, NAN };
	return (struct act_interval){
		matrix_select(matrix, k),
		matrix_select(matrix, matrix_size(matrix) + 1 - k),
		level,
	};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
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

/* What was found on a walk: how many are up to the bound, and the first beyond it. */
struct walk {
	uint64_t count;
	double next;
};

/* Rows fall from one to the next, so that more and more columns are up to the bound. */
static struct walk walk_two(const struct matrix *matrix, double bound)
{
	struct walk walk = { 0, INFINITY };
	size_t j = 0;

	for (size_t i = 0; i < matrix->na; i++) {
		while (j < matrix->nb && figure(matrix, i, j) <= bound)
			j++;
		walk.count += j;
		if (j < matrix->nb)
			walk.next = fmin(walk.next, figure(matrix, i, j));
	}
	return walk;
}

/* Rows rise.  The whole square has each pair twice and each value once with itself. */
static struct walk walk_one(const struct matrix *matrix, double bound)
{
	struct walk walk = { 0, INFINITY };
	size_t j = matrix->na;

	for (size_t i = 0; i < matrix->na; i++) {
		while (j > 0 && figure(matrix, i, j - 1) > bound)
			j--;
		walk.count += j + (matrix->a[i] <= bound);
		if (j < matrix->na)
			walk.next = fmin(walk.next, figure(matrix, i, j));
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

/*
 * Monahan (1984) and Johnson and Mizoguchi (1978) halve the figures that are left;
 * this halves the doubles between the smallest and the largest figure.  No more
 * than 64 walks, no room, no chance: the first double that k figures do not exceed
 * is the k-th.
 */
double matrix_select(const struct matrix *matrix, uint64_t k)
{
	bool is_walsh = matrix->figure == MATRIX_WALSH;
	uint64_t low = to_key(figure(matrix, is_walsh ? 0 : matrix->na - 1, 0));
	uint64_t high = to_key(figure(matrix, is_walsh ? matrix->na - 1 : 0, matrix->nb - 1));

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (walk_to(matrix, from_key(middle)).count >= k)
			high = middle;
		else
			low = middle + 1;
	}
	return from_key(high) + 0.0; /* -0 becomes 0 */
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

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_VECTOR_H
#define BENCH_VECTOR_H

#include <stddef.h>

/* Numbers that become more.  All zero is an empty one. */
struct vector {
	double *value;
	size_t n, room;
};

int vector_reserve(struct vector *vector, size_t more); /* 0 or -ENOMEM */
int vector_append(struct vector *vector, const double *values, size_t count);
void vector_release(struct vector *vector);

static inline int vector_push(struct vector *vector, double value)
{
	if (vector->n == vector->room) {
		int ret = vector_reserve(vector, 1);

		if (ret < 0)
			return ret;
	}
	vector->value[vector->n++] = value;
	return 0;
}

#endif

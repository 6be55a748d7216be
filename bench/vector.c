/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/vector.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 64

int vector_reserve(struct vector *vector, size_t more)
{
	size_t room = vector->room ? vector->room : ROOM_FIRST;
	double *value;

	if (more <= vector->room - vector->n)
		return 0;
	if (more > SIZE_MAX / sizeof(*value) / 4 - vector->n)
		return -ENOMEM;
	while (room < vector->n + more)
		room *= 2;
	value = realloc(vector->value, room * sizeof(*value));
	if (!value)
		return -ENOMEM;
	vector->value = value;
	vector->room = room;
	return 0;
}

int vector_append(struct vector *vector, const double *values, size_t count)
{
	int ret = count ? vector_reserve(vector, count) : 0;

	if (ret < 0 || !count)
		return ret;
	memcpy(vector->value + vector->n, values, count * sizeof(*values));
	vector->n += count;
	return 0;
}

void vector_release(struct vector *vector)
{
	free(vector->value);
	*vector = (struct vector){ 0 };
}

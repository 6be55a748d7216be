/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SORTED_H
#define STATS_SORTED_H

#include <stddef.h>

/* A sorted copy of @n >= 1 values, to be freed; -EINVAL: not all are numbers. */
int sorted_copy(const double *values, size_t n, double **ret);

/* How many values at the beginning are equal to @value. */
size_t run_of(const double *values, size_t n, double value);

/* The mean of two, by halves: their sum may be beyond doubles. */
double midpoint(double low, double high);

#endif

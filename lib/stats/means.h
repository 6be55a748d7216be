/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MEANS_H
#define STATS_MEANS_H

#include <stddef.h>

/* In extended precision: what a set of numbers that differ in their last digits needs. */
long double sum_of(const double *values, size_t n);

/* Of squares of what they are off @mean, which is theirs. */
long double squares_about(const double *values, size_t n, long double mean);

#endif

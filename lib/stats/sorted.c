/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "stats/sorted.h"

int sorted_copy(const double *values, size_t n, double **ret)
{
	double *copy;
	int err;

	if (n == 0)
		return -EINVAL;
	copy = malloc(n * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	memcpy(copy, values, n * sizeof(*copy));
	err = act_sort(copy, n);
	if (err) {
		free(copy);
		return err;
	}
	*ret = copy;
	return 0;
}

size_t run_of(const double *values, size_t n, double value)
{
	size_t ret = 0;

	while (ret < n && values[ret] == value)
		ret++;
	return ret;
}

double midpoint(double low, double high)
{
	return low == high ? low : low / 2 + high / 2;
}

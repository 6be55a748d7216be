/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long the library takes for many samples, and how much memory the process had. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <actuary/stats.h>

#define MANY 5000000
#define FEW  100000

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Says how long it was since the last call. */
static void lap(const char *what)
{
	static double last;
	double this = now();
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	if (what)
		printf("%8.1f ms  %6ld KiB  %s\n", (this - last) * 1e3, usage.ru_maxrss, what);
	last = now();
}

static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(*state >> 11) / 9007199254740992.;
}

/* Whole nanoseconds with a long tail, as latencies are; or as many digits as there are. */
static void fill(double *values, size_t n, int is_whole, uint64_t seed)
{
	for (size_t i = 0; i < n; i++) {
		double value = 640 - 40 * log(1 - uniform(&seed)) / (0.05 + uniform(&seed));

		values[i] = is_whole ? floor(value) : value;
	}
}

static int describe(double *values, double *sorted, int is_whole)
{
	static const double levels[] = { 0.5, 0.9, 0.99, 0.999, 0.9999 };
	struct act_description all;
	struct act_frequent most[5];
	struct act_interval interval;
	uint64_t bin[100];
	struct act_bins bins = { .min = 640, .width = 10, .count = 100, .bin = bin };

	fill(values, MANY, is_whole, 1);
	memcpy(sorted, values, MANY * sizeof(*values));
	lap(NULL);
	if (act_sort(sorted, MANY))
		return 1;
	lap("sort");
	if (act_describe(values, sorted, MANY, &all))
		return 1;
	lap("describe");
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		interval = act_quantile_interval(sorted, MANY, levels[i], 0.95);
		if (!(interval.low <= act_quantile(sorted, MANY, levels[i])))
			return 1;
	}
	lap("five quantiles with intervals");
	act_most_frequent(sorted, MANY, most, 5);
	lap("most frequent");
	if (act_bins_fill(&bins, values, MANY))
		return 1;
	lap("bins");
	return 0;
}

static int compare(double *a, double *b)
{
	struct act_interval interval;
	struct act_test test;
	double middle;

	fill(a, FEW, 1, 2);
	fill(b, FEW, 0, 3);
	lap(NULL);
	if (act_shift(a, FEW, b, FEW, 0.95, &middle, &interval))
		return 1;
	lap("shift with interval");
	if (act_ratio(a, FEW, b, FEW, 0.95, &middle, &interval))
		return 1;
	lap("ratio with interval");
	if (act_mann_whitney(a, FEW, b, FEW, &test))
		return 1;
	lap("Mann-Whitney");
	if (act_pseudomedian(b, FEW, 0.95, &middle, &interval))
		return 1;
	lap("pseudomedian with interval");
	if (act_signed_rank(b, FEW, &test))
		return 1;
	lap("signed rank");
	if (act_kendall(b, FEW, &test))
		return 1;
	lap("Kendall's tau");
	return 0;
}

int main(void)
{
	double *values = malloc(MANY * sizeof(*values)), *sorted = malloc(MANY * sizeof(*sorted));
	int ret = 1;

	if (!values || !sorted)
		goto out;
	printf("%d whole numbers\n", MANY);
	ret = describe(values, sorted, 1);
	printf("%d with all digits\n", MANY);
	ret = ret || describe(values, sorted, 0);
	printf("2 sets of %d\n", FEW);
	ret = ret || compare(values, sorted);
out:
	free(values);
	free(sorted);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#define STEP 32u /* buckets by which the span grows at least: a power of two of values */
#define FEW_BYTES (HISTOGRAM_FEW * sizeof(uint64_t))

uint64_t histogram_middle(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < 64)
		return bucket;
	shift = bucket / 32 - 1;
	return ((uint64_t)(bucket - 32 * shift) << shift) + (UINT64_C(1) << shift) / 2;
}

static void *allocate(size_t size, struct histogram_budget *budget)
{
	void *memory = budget->bytes + size <= budget->limit ? calloc(1, size) : NULL;

	if (memory)
		budget->bytes += size;
	return memory;
}

static void give_up(struct histogram *histogram)
{
	histogram_release(histogram);
	histogram->is_given_up = true;
}

/* Makes the span reach to @bucket. */
static void widen(struct histogram *histogram, unsigned int bucket, struct histogram_budget *budget)
{
	unsigned int low = histogram->low, high = low + histogram->span;
	unsigned int new_low = bucket / STEP * STEP, new_high = new_low + STEP;
	uint32_t *counter;

	if (histogram->span && low < new_low)
		new_low = low;
	if (histogram->span && high > new_high)
		new_high = high;
	counter = allocate((new_high - new_low) * sizeof(*counter), budget);
	if (!counter) {
		give_up(histogram);
		return;
	}
	if (histogram->span)
		memcpy(counter + (low - new_low), histogram->counter,
		       histogram->span * sizeof(*counter));
	budget->bytes -= histogram->span * sizeof(*counter);
	free(histogram->counter);
	histogram->counter = counter;
	histogram->low = (uint16_t)new_low;
	histogram->span = (uint16_t)(new_high - new_low);
}

static void count_value(struct histogram *histogram, uint64_t value,
			struct histogram_budget *budget)
{
	unsigned int bucket = histogram_bucket(value);

	if (bucket - histogram->low >= histogram->span)
		widen(histogram, bucket, budget);
	if (histogram->span && histogram->counter[bucket - histogram->low] < UINT32_MAX)
		histogram->counter[bucket - histogram->low]++;
}

static void keep_few(struct histogram *histogram, uint64_t value, struct histogram_budget *budget)
{
	if (!histogram->few)
		histogram->few = allocate(FEW_BYTES, budget);
	if (histogram->few)
		histogram->few[histogram->few_count++] = value;
	else
		give_up(histogram);
}

/* From values to counters. */
static void count_few(struct histogram *histogram, struct histogram_budget *budget)
{
	uint64_t few[HISTOGRAM_FEW];
	size_t count = histogram->few_count;

	if (!count)
		return;
	memcpy(few, histogram->few, sizeof(few));
	budget->bytes -= FEW_BYTES;
	free(histogram->few);
	histogram->few = NULL;
	histogram->few_count = 0;
	for (size_t i = 0; i < count && !histogram->is_given_up; i++)
		count_value(histogram, few[i], budget);
}

void histogram_add_slowly(struct histogram *histogram, uint64_t value,
			  struct histogram_budget *budget)
{
	if (histogram->is_given_up || value >= ACT_UNKNOWN)
		return;
	if (!histogram->span && histogram->few_count < HISTOGRAM_FEW) {
		keep_few(histogram, value, budget);
		return;
	}
	count_few(histogram, budget);
	if (!histogram->is_given_up)
		count_value(histogram, value, budget);
}

static uint64_t total(const struct histogram *histogram)
{
	uint64_t sum = histogram->few_count;

	for (size_t i = 0; i < histogram->span; i++)
		sum += histogram->counter[i];
	return sum;
}

static int compare_values(const void *a_void, const void *b_void)
{
	const uint64_t *a = a_void, *b = b_void;

	return *a < *b ? -1 : *a > *b;
}

static uint64_t rank_few(const struct histogram *histogram, uint64_t rank)
{
	uint64_t few[HISTOGRAM_FEW];

	memcpy(few, histogram->few, histogram->few_count * sizeof(*few));
	qsort(few, histogram->few_count, sizeof(*few), compare_values);
	return few[rank - 1];
}

static uint64_t rank_counted(const struct histogram *histogram, uint64_t rank)
{
	for (unsigned int i = 0; i < histogram->span; i++) {
		if (rank <= histogram->counter[i])
			return histogram_middle(histogram->low + i);
		rank -= histogram->counter[i];
	}
	return ACT_UNKNOWN;
}

uint64_t histogram_quantile(const struct histogram *histogram, double quantile)
{
	uint64_t count = total(histogram);
	double exact = quantile * (double)count;
	uint64_t rank = exact > 1 ? (uint64_t)exact : 1;

	if (!count || histogram->is_given_up)
		return ACT_UNKNOWN;
	if ((double)rank < exact)
		rank++;
	if (rank > count)
		rank = count;
	return histogram->span ? rank_counted(histogram, rank) : rank_few(histogram, rank);
}

void histogram_release(struct histogram *histogram)
{
	free(histogram->counter);
	free(histogram->few);
	*histogram = (struct histogram){ 0 };
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#define BUCKETS (HISTOGRAM_PAGES * HISTOGRAM_PAGE)

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

static void count_bucket(struct histogram *histogram, unsigned int bucket,
			 struct histogram_budget *budget)
{
	uint32_t **page = &histogram->pages->page[bucket / HISTOGRAM_PAGE];
	uint32_t *counter;

	if (!*page)
		*page = allocate(HISTOGRAM_PAGE * sizeof(**page), budget);
	if (!*page) {
		give_up(histogram);
		return;
	}
	counter = &(*page)[bucket % HISTOGRAM_PAGE];
	*counter += *counter < UINT32_MAX;
}

static void open_pages(struct histogram *histogram, struct histogram_budget *budget)
{
	uint64_t few[HISTOGRAM_FEW];
	size_t count = histogram->few_count;

	histogram->pages = allocate(sizeof(*histogram->pages), budget);
	if (!histogram->pages) {
		give_up(histogram);
		return;
	}
	memcpy(few, histogram->few, count * sizeof(*few));
	budget->bytes -= sizeof(few);
	free(histogram->few);
	histogram->few = NULL;
	histogram->few_count = 0;
	for (size_t i = 0; i < count && histogram->pages; i++)
		count_bucket(histogram, histogram_bucket(few[i]), budget);
}

static void keep_few(struct histogram *histogram, uint64_t value, struct histogram_budget *budget)
{
	if (!histogram->few)
		histogram->few = allocate(HISTOGRAM_FEW * sizeof(*histogram->few), budget);
	if (histogram->few)
		histogram->few[histogram->few_count++] = value;
	else
		give_up(histogram);
}

void histogram_add_slowly(struct histogram *histogram, uint64_t value,
			  struct histogram_budget *budget)
{
	if (histogram->is_given_up || value >= ACT_UNKNOWN)
		return;
	if (!histogram->pages && histogram->few_count < HISTOGRAM_FEW) {
		keep_few(histogram, value, budget);
		return;
	}
	if (!histogram->pages)
		open_pages(histogram, budget);
	if (histogram->pages)
		count_bucket(histogram, histogram_bucket(value), budget);
}

static uint64_t total(const struct histogram *histogram)
{
	uint64_t sum = histogram->few_count;

	for (size_t i = 0; histogram->pages && i < HISTOGRAM_PAGES; i++)
		for (size_t j = 0; histogram->pages->page[i] && j < HISTOGRAM_PAGE; j++)
			sum += histogram->pages->page[i][j];
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

static uint64_t rank_pages(const struct histogram_pages *pages, uint64_t rank)
{
	for (unsigned int bucket = 0; bucket < BUCKETS; bucket++) {
		const uint32_t *page = pages->page[bucket / HISTOGRAM_PAGE];
		uint64_t count = page ? page[bucket % HISTOGRAM_PAGE] : 0;

		if (rank <= count)
			return histogram_middle(bucket);
		rank -= count;
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
	return histogram->pages ? rank_pages(histogram->pages, rank) : rank_few(histogram, rank);
}

void histogram_release(struct histogram *histogram)
{
	for (size_t i = 0; histogram->pages && i < HISTOGRAM_PAGES; i++)
		free(histogram->pages->page[i]);
	free(histogram->pages);
	free(histogram->few);
	*histogram = (struct histogram){ 0 };
}

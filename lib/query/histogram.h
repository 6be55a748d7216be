/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUERY_HISTOGRAM_H
#define QUERY_HISTOGRAM_H

/*
 * Quantiles of any number of values in little memory: a log-linear histogram.
 *
 * Values below 64 have a bucket each.  Above, each power of two is divided into
 * 32 buckets of equal width, so a bucket that begins at b is at most b / 32
 * wide, and its middle is at most b / 64 from any value in it: a quantile is
 * within 1/64 (1.6 %) of the value that has its rank.
 *
 * Memory comes as needed: the first values are kept as they are, and give exact
 * quantiles; then counters for the span of buckets that occur, which grows.
 * Zeroes are an empty histogram.
 */
#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_FEW 16 /* values kept as they are */
#define HISTOGRAM_BUCKETS 1888 /* values below 2^63 have */

/* How much memory all histograms together use, and may use. */
struct histogram_budget {
	size_t bytes, limit;
};

struct histogram {
	uint32_t *counter; /* of bucket low and the next ones, span of them */
	uint64_t *few;     /* the values, while there are no counters */
	uint16_t low, span;
	uint16_t few_count;
	uint16_t is_given_up; /* no memory for it: has no quantiles */
};

/* Without a branch, which would be mispredicted between 0 and larger values. */
static inline unsigned int histogram_bucket(uint64_t value)
{
	unsigned int shift = 58 - (unsigned int)__builtin_clzll(value | 63);

	return 32 * shift + (unsigned int)(value >> shift);
}

/* The middle of a bucket. */
uint64_t histogram_middle(unsigned int bucket);

/* What histogram_add() does where there is no counter yet. */
void histogram_add_slowly(struct histogram *histogram, uint64_t value,
			  struct histogram_budget *budget);

/* Values from 2^63 on, which no kernel sends, are left out.  Counters stop at 2^32 - 1. */
static inline void histogram_add(struct histogram *histogram, uint64_t value,
				 struct histogram_budget *budget)
{
	unsigned int at = histogram_bucket(value) - histogram->low;

	if (at >= histogram->span)
		histogram_add_slowly(histogram, value, budget);
	else if (!++histogram->counter[at])
		histogram->counter[at] = UINT32_MAX;
}

/*
 * The value of rank ceil(@quantile * count), at least 1, of the @count values
 * that were added.  ACT_UNKNOWN if there are none or it was given up.
 */
uint64_t histogram_quantile(const struct histogram *histogram, double quantile);

void histogram_release(struct histogram *histogram);

#endif

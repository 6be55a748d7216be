/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>

#include <actuary/stats.h>

/*
 * A radix sort in place, from the top (American flag): millions of samples are
 * not to need room for themselves a second time.  Digits are taken where values
 * begin to differ, since latencies share their upper bits.
 */
#define DIGIT_BITS 8
#define DIGITS     (1 << DIGIT_BITS)
#define FEW        48 /* for so many insertion is quicker */

typedef uint64_t __attribute__((may_alias)) pattern;

#define SIGN (UINT64_C(1) << 63)

/* Patterns of doubles in the order of their values: negative ones are turned over. */
static void to_keys(pattern *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i] ^= keys[i] & SIGN ? UINT64_MAX : SIGN;
}

static void from_keys(pattern *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		keys[i] ^= keys[i] & SIGN ? SIGN : UINT64_MAX;
}

static void sort_few(pattern *keys, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		size_t at = i;

		for (; at > 0 && keys[at - 1] > key; at--)
			keys[at] = keys[at - 1];
		keys[at] = key;
	}
}

static uint64_t differing(const pattern *keys, size_t n)
{
	uint64_t ret = 0;

	for (size_t i = 1; i < n; i++)
		ret |= keys[i] ^ keys[0];
	return ret;
}

static unsigned int digit(uint64_t key, unsigned int shift)
{
	return key >> shift & (DIGITS - 1);
}

/* Brings each key to those of its digit; @end gets where these end. */
static void deal(pattern *keys, size_t n, unsigned int shift, size_t end[DIGITS])
{
	size_t next[DIGITS], count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[digit(keys[i], shift)]++;
	for (unsigned int d = 0; d < DIGITS; d++) {
		next[d] = at;
		at += count[d];
		end[d] = at;
	}
	for (unsigned int d = 0; d < DIGITS; d++) {
		while (next[d] < end[d]) {
			uint64_t key = keys[next[d]];
			unsigned int to;

			while ((to = digit(key, shift)) != d) {
				uint64_t displaced = keys[next[to]];

				keys[next[to]++] = key;
				key = displaced;
			}
			keys[next[d]++] = key;
		}
	}
}

/* No deeper than a key has digits: what is dealt differs in lower bits only. */
static void sort_keys(pattern *keys, size_t n) // NOLINT(misc-no-recursion)
{
	size_t end[DIGITS], from = 0;
	unsigned int top, shift;
	uint64_t bits;

	if (n <= FEW) {
		sort_few(keys, n);
		return;
	}
	bits = differing(keys, n);
	if (!bits)
		return;
	top = 64 - (unsigned int)__builtin_clzll(bits);
	shift = top > DIGIT_BITS ? top - DIGIT_BITS : 0;
	deal(keys, n, shift, end);
	for (unsigned int d = 0; d < DIGITS; d++) {
		if (shift && end[d] - from > 1)
			sort_keys(keys + from, end[d] - from);
		from = end[d];
	}
}

int act_sort(double *values, size_t n)
{
	pattern *keys = (void *)values;

	to_keys(keys, n);
	sort_keys(keys, n);
	from_keys(keys, n);
	/* Whatever is no number sorts to the ends. */
	return n && !(isfinite(values[0]) && isfinite(values[n - 1])) ? -EINVAL : 0;
}

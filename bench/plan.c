/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Six pairs are the fewest that have a 95 % interval: fewer A/A pairs would tell nothing. */
#define AA_LEAST 6

static uint64_t rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

/* xoshiro256**, Blackman and Vigna 2018 (public domain). */
static uint64_t next(struct plan *plan)
{
	uint64_t *s = plan->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* Its state is filled by splitmix64, as its authors say. */
void plan_init(struct plan *plan, uint64_t seed, size_t conditions, double aa)
{
	*plan = (struct plan){ .conditions = conditions, .aa = aa };
	for (size_t i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
		plan->state[i] = z ^ z >> 31;
	}
}

uint64_t plan_draw(struct plan *plan, uint64_t limit)
{
	/* Below it, a remainder would come more often than others. */
	uint64_t least = -limit % limit, value;

	do
		value = next(plan);
	while (value < least);
	return value % limit;
}

static void shuffle(struct plan *plan, size_t *order, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = plan_draw(plan, i), swapped = order[i - 1];

		order[i - 1] = order[j];
		order[j] = swapped;
	}
}

static void draw_pair(struct plan *plan, struct plan_pair *pair)
{
	size_t n = plan->conditions;

	*pair = (struct plan_pair){ .slots = n };
	if (plan->has_reverse) {
		memcpy(pair->condition, plan->reverse, sizeof(plan->reverse));
		plan->has_reverse = false;
		return;
	}
	for (size_t i = 0; i < n; i++)
		pair->condition[i] = i;
	shuffle(plan, pair->condition, n);
	for (size_t i = 0; i < n; i++)
		plan->reverse[i] = pair->condition[n - 1 - i];
	plan->has_reverse = true;
}

/* So many A/A pairs that they are their share of all that is planned. */
static uint64_t aa_due(const struct plan *plan, uint64_t ab_pairs)
{
	double wanted = (double)ab_pairs * plan->aa / (1 - plan->aa);
	uint64_t due;

	if (plan->aa <= 0 || !ab_pairs)
		return 0;
	due = (uint64_t)llround(wanted);
	due = due < AA_LEAST ? AA_LEAST : due;
	return due > plan->aa_pairs ? due - plan->aa_pairs : 0;
}

struct plan_pair *plan_batch(struct plan *plan, uint64_t pairs, size_t *ret_count)
{
	uint64_t aa = aa_due(plan, plan->ab_pairs + pairs), left_aa = aa, left = pairs;
	struct plan_pair *batch = calloc(pairs + aa + 1, sizeof(*batch));

	if (!batch)
		return NULL;
	for (size_t i = 0; left + left_aa > 0; i++) {
		/* Each place is as likely as any other to be an A/A pair's. */
		if (plan_draw(plan, left + left_aa) < left_aa) {
			batch[i] = (struct plan_pair){ .is_aa = true, .slots = 2 };
			left_aa--;
		} else {
			draw_pair(plan, &batch[i]);
			left--;
		}
	}
	plan->ab_pairs += pairs;
	plan->aa_pairs += aa;
	*ret_count = pairs + aa;
	return batch;
}

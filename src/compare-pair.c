/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* A value's pair, and where it is. */
struct member {
	uint64_t pair;
	size_t at;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->pair > y->pair) - (x->pair < y->pair);
}

/* Sorted by pair; -EINVAL if one pair has two of them. */
static int sort_members(const struct set *set, struct member **ret)
{
	struct member *members = calloc(set->n, sizeof(*members));

	if (!members)
		return -ENOMEM;
	for (size_t i = 0; i < set->n; i++)
		members[i] = (struct member){ set->pair[i], i };
	qsort(members, set->n, sizeof(*members), compare_members);
	*ret = members;
	for (size_t i = 1; i < set->n; i++)
		if (members[i].pair == members[i - 1].pair)
			return -EINVAL;
	return 0;
}

static int reserve(struct pairs *pairs, size_t n, bool has_slots)
{
	pairs->base = calloc(n, sizeof(*pairs->base));
	pairs->other = calloc(n, sizeof(*pairs->other));
	pairs->is_base_first = has_slots ? calloc(n, sizeof(*pairs->is_base_first)) : NULL;
	return pairs->base && pairs->other && (pairs->is_base_first || !has_slots) ? 0 : -ENOMEM;
}

static void add(struct pairs *pairs, const struct set *base, size_t i, const struct set *other,
		size_t j)
{
	pairs->base[pairs->n] = base->value[i];
	pairs->other[pairs->n] = other->value[j];
	if (pairs->is_base_first)
		pairs->is_base_first[pairs->n] = base->slot[i] < other->slot[j];
	pairs->n++;
}

/* Both sorted: what both have is a pair, the rest is missing on the other side. */
static void join(struct pairs *pairs, const struct set *base, const struct member *of_base,
		 const struct set *other, const struct member *of_other)
{
	size_t i = 0, j = 0;

	while (i < base->n && j < other->n) {
		int order = compare_members(&of_base[i], &of_other[j]);

		if (order == 0)
			add(pairs, base, of_base[i].at, other, of_other[j].at);
		i += order <= 0;
		j += order >= 0;
	}
	pairs->missing = base->n - pairs->n + (other->n - pairs->n);
}

static int pair_by_number(const struct set *base, const struct set *other, struct pairs *pairs,
			  const char **ret_why)
{
	struct member *of_base = NULL, *of_other = NULL;
	int ret = sort_members(base, &of_base);

	if (ret == 0)
		ret = sort_members(other, &of_other);
	if (ret == -EINVAL)
		*ret_why = "a pair has two values of one arm; --unpaired ignores pairs";
	if (ret)
		goto out;
	join(pairs, base, of_base, other, of_other);
	if (!pairs->n) {
		*ret_why = "no pair has both arms; --unpaired compares all values";
		ret = -EINVAL;
	}
out:
	free(of_base);
	free(of_other);
	return ret;
}

static int pair_by_order(const struct set *base, const struct set *other, struct pairs *pairs,
			 const char **ret_why)
{
	if (base->n != other->n) {
		*ret_why = "to pair values by their order both arms must have as many of them";
		return -EINVAL;
	}
	for (size_t i = 0; i < base->n; i++)
		add(pairs, base, i, other, i);
	return 0;
}

int pairs_make(const struct set *base, const struct set *other, bool by_order,
	       struct pairs *ret, const char **ret_why)
{
	struct pairs pairs = { 0 };
	int err = reserve(&pairs, base->n < other->n ? base->n : other->n,
			  !by_order && base->slot && other->slot);

	if (err == 0)
		err = by_order ? pair_by_order(base, other, &pairs, ret_why) :
				 pair_by_number(base, other, &pairs, ret_why);
	if (err < 0) {
		pairs_release(&pairs);
		return err;
	}
	*ret = pairs;
	return 0;
}

/* Of equal ratios equal, as ties are to be; and of the largest and the least still finite. */
static double log_ratio(double base, double other)
{
	double ratio = other / base;

	return isnormal(ratio) ? log(ratio) : log(other) - log(base);
}

void pairs_differences(const struct pairs *pairs, bool is_log, double *ret)
{
	for (size_t i = 0; i < pairs->n; i++)
		ret[i] = is_log ? log_ratio(pairs->base[i], pairs->other[i]) :
				  pairs->other[i] - pairs->base[i];
}

void pairs_release(struct pairs *pairs)
{
	free(pairs->base);
	free(pairs->other);
	free(pairs->is_base_first);
	*pairs = (struct pairs){ 0 };
}

bool sets_share_pairs(const struct set *base, const struct set *other)
{
	return base->pair && other->pair && base->value && other->value;
}

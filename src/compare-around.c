/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else was different around the arms: every difference but the one that was meant. */
#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/result.h"

struct fact {
	char *key, *text; /* text NULL: could not be read */
	size_t order;     /* what is told later holds */
};

struct facts {
	struct fact *fact;
	size_t n, room;
	const struct result_header *header;
	const char *condition;
};

static int add_fact(struct facts *facts, const struct result_fact *fact)
{
	struct fact *copy;

	if (facts->n == facts->room) {
		size_t room = facts->room ? facts->room * 2 : 64;
		struct fact *grown = realloc(facts->fact, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		facts->fact = grown;
		facts->room = room;
	}
	copy = &facts->fact[facts->n];
	*copy = (struct fact){ .key = strdup(fact->key), .order = facts->n,
			       .text = fact->text ? strdup(fact->text) : NULL };
	facts->n++;
	return copy->key && (copy->text || !fact->text) ? 0 : -ENOMEM;
}

static int add_facts(struct facts *facts, const struct result_fact *fact, size_t n)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = add_fact(facts, &fact[i]);
	return ret;
}

static int take_run(void *arg, const struct result_run *run)
{
	struct facts *facts = arg;
	const char *condition = run->condition < facts->header->condition_count ?
				facts->header->conditions[run->condition] : NULL;

	if (run->is_aa || run->is_warmup)
		return 0;
	if (facts->condition && (!condition || strcmp(condition, facts->condition) != 0))
		return 0;
	return add_facts(facts, run->facts, run->fact_count);
}

static int compare_facts(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;
	int order = strcmp(x->key, y->key);

	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void free_facts(struct fact *facts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(facts[i].key);
		free(facts[i].text);
	}
}

/* The facts of a run and those that hold unless it says otherwise: the last of each key. */
static void settle(struct facts *facts)
{
	size_t n = 0;

	if (facts->n)
		qsort(facts->fact, facts->n, sizeof(*facts->fact), compare_facts);
	for (size_t i = 0; i < facts->n; i++) {
		struct fact fact = facts->fact[i];

		if (i + 1 < facts->n && strcmp(fact.key, facts->fact[i + 1].key) == 0)
			continue;
		facts->fact[i] = facts->fact[n];
		facts->fact[n++] = fact;
	}
	free_facts(facts->fact + n, facts->n - n);
	facts->n = n;
}

static void release(struct facts *facts)
{
	free_facts(facts->fact, facts->n);
	free(facts->fact);
}

/* Pipes were read to their end. */
static bool can_be_read_again(const char *path)
{
	struct stat st;

	return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* A file that was read a moment ago: what it tells no more is no longer known. */
static int read_facts(const struct origin *origin, struct facts *ret)
{
	const struct result_visitor visitor = { .run = take_run };
	struct result *result;
	struct act_why why;
	int err;

	*ret = (struct facts){ .condition = origin->condition };
	if (!origin->is_result || !can_be_read_again(origin->path) ||
	    result_open(origin->path, &result, &why) < 0)
		return 0;
	ret->header = result_header(result);
	err = add_facts(ret, ret->header->facts, ret->header->fact_count);
	if (err == 0)
		err = result_read(result, &visitor, ret, &why);
	result_close(result);
	ret->header = NULL;
	if (err == -ENOMEM)
		return err;
	settle(ret);
	return 0;
}

/* ---- Differences ---- */

static char *copy_text(const struct fact *fact)
{
	return fact && fact->text ? strdup(fact->text) : NULL;
}

static int add_difference(struct comparable *all, size_t arm, const struct fact *base,
			  const struct fact *other)
{
	struct difference *grown = realloc(all->difference,
					   (all->differences + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	all->difference = grown;
	grown[all->differences++] = (struct difference){
		.arm = arm, .key = strdup(base ? base->key : other->key),
		.base = copy_text(base), .other = copy_text(other),
	};
	return grown[all->differences - 1].key ? 0 : -ENOMEM;
}

static bool is_same_text(const struct fact *a, const struct fact *b)
{
	const char *x = a ? a->text : NULL, *y = b ? b->text : NULL;

	return x == y || (x && y && strcmp(x, y) == 0);
}

/* Both sorted by key. */
static int list_differences(struct comparable *all, size_t arm, const struct facts *base,
			    const struct facts *other)
{
	size_t i = 0, j = 0;
	int ret = 0;

	while (ret == 0 && (i < base->n || j < other->n)) {
		int order = i == base->n ? 1 : j == other->n ? -1 :
			    strcmp(base->fact[i].key, other->fact[j].key);
		const struct fact *a = order <= 0 ? &base->fact[i++] : NULL;
		const struct fact *b = order >= 0 ? &other->fact[j++] : NULL;

		if (!is_same_text(a, b))
			ret = add_difference(all, arm, a, b);
	}
	return ret;
}

int comparable_look_around(struct comparable *all, const struct origin *origins)
{
	struct facts base, other;
	int ret = read_facts(&origins[0], &base);

	for (size_t i = 1; ret == 0 && base.n && i < all->arms; i++) {
		ret = read_facts(&origins[i], &other);
		if (ret == 0 && other.n)
			ret = list_differences(all, i, &base, &other);
		release(&other);
	}
	release(&base);
	return ret;
}

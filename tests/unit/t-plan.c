/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/plan.h"

static struct plan_pair *batch(struct plan *plan, uint64_t pairs, size_t *ret_count)
{
	struct plan_pair *pair = plan_batch(plan, pairs, ret_count);

	assert_non_null(pair);
	return pair;
}

static void test_balance(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		size_t n, first = 0, aa = 0;
		struct plan plan;
		struct plan_pair *pair;

		plan_init(&plan, seed, 2, 0.25);
		pair = batch(&plan, 30, &n);
		assert_int_equal(n, 40);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(pair[i].slots, 2);
			aa += pair[i].is_aa;
			if (pair[i].is_aa) {
				assert_int_equal(pair[i].condition[0], 0);
				assert_int_equal(pair[i].condition[1], 0);
				continue;
			}
			assert_int_equal(pair[i].condition[0] + pair[i].condition[1], 1);
			first += pair[i].condition[0] == 0;
		}
		assert_int_equal(aa, 10);
		/* Each block of two has both orders. */
		assert_int_equal(first, 15);
		free(pair);
	}
}

/* Also across batches, and with an odd number of pairs in one. */
static void test_blocks(void **state)
{
	size_t order[7] = { 0 }, n, at = 0;
	struct plan plan;

	(void)state;
	plan_init(&plan, 7, 2, 0);
	for (size_t size = 3; size <= 4; size++) {
		struct plan_pair *pair = batch(&plan, size, &n);

		assert_int_equal(n, size);
		for (size_t i = 0; i < n; i++)
			order[at++] = pair[i].condition[0];
		free(pair);
	}
	for (size_t i = 0; i + 1 < 7; i += 2)
		assert_int_equal(order[i] + order[i + 1], 1);
}

static void test_many_conditions(void **state)
{
	size_t place[5] = { 0 }, n;
	struct plan plan;
	struct plan_pair *pair;

	(void)state;
	plan_init(&plan, 3, 5, 0);
	pair = batch(&plan, 40, &n);
	for (size_t i = 0; i < n; i++) {
		unsigned int seen = 0;

		for (size_t slot = 0; slot < 5; slot++) {
			seen |= 1u << pair[i].condition[slot];
			place[pair[i].condition[slot]] += slot;
		}
		assert_int_equal(seen, 0x1f);
	}
	/* Order and reverse order: each is in the middle on average, exactly. */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(place[i], 80);
	free(pair);
}

static void test_seed(void **state)
{
	struct plan_pair *a, *b, *c;
	struct plan plan;
	size_t n;

	(void)state;
	plan_init(&plan, 42, 2, 0.25);
	a = batch(&plan, 20, &n);
	plan_init(&plan, 42, 2, 0.25);
	b = batch(&plan, 20, &n);
	plan_init(&plan, 43, 2, 0.25);
	c = batch(&plan, 20, &n);
	assert_memory_equal(a, b, n * sizeof(*a));
	assert_memory_not_equal(a, c, n * sizeof(*a));
	free(a);
	free(b);
	free(c);
}

static void test_aa(void **state)
{
	static const struct {
		uint64_t pairs;
		double aa;
		size_t total;
	} cases[] = {
		{ 30, 0, 30 }, { 0, 0.25, 0 }, { 2, 0.25, 8 }, { 10, 0.5, 20 }, { 90, 0.1, 100 },
	};
	struct plan plan;
	size_t n, total = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		plan_init(&plan, 1, 2, cases[i].aa);
		free(batch(&plan, cases[i].pairs, &n));
		assert_int_equal(n, cases[i].total);
	}
	/* The share holds over many small batches, too. */
	plan_init(&plan, 1, 2, 0.25);
	for (size_t i = 0; i < 30; i++) {
		free(batch(&plan, 10, &n));
		total += n;
	}
	assert_int_equal(total, 400);
}

/* Both orders, and both kinds, come in every place: chi-square far from what chance gives. */
static void test_draw(void **state)
{
	size_t count[6] = { 0 };
	struct plan plan;
	double chi = 0;

	(void)state;
	plan_init(&plan, 99, 2, 0);
	for (size_t i = 0; i < 60000; i++)
		count[plan_draw(&plan, 6)]++;
	for (size_t i = 0; i < 6; i++)
		chi += ((double)count[i] - 10000) * ((double)count[i] - 10000) / 10000;
	assert_true(chi < 20.5); /* 5 degrees of freedom, 0.001 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_balance),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_many_conditions),
		cmocka_unit_test(test_seed),
		cmocka_unit_test(test_aa),
		cmocka_unit_test(test_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

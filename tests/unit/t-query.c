/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters and groups against a plain reckoning of the same records, on random
 * records from a fixed seed; histograms against sorted values.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/query.h>

#include "query/gather.h"
#include "query/histogram.h"
#include "query/intern.h"

#define ROWS 3000
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static uint64_t seed = 1;

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t below(uint64_t limit)
{
	return next_random() % limit;
}

/* Of any magnitude. */
static uint64_t any_magnitude(void)
{
	return next_random() >> (1 + below(63));
}

static uint64_t or_unknown(uint64_t value)
{
	return below(8) ? value : ACT_UNKNOWN;
}

/* ---- Random records ---- */

static const char *const names[] = { "sh", "make", "cc1", "a b", "x\ny", "longest-of-them", "" };

static void make_record(struct act_record *record)
{
	static const uint64_t statuses[] = { 0, 0, 0, 0x100, 0x300, 9, 11, 0x8b };

	act_record_clear(record);
	record->kind = 1 + below(3);
	record->pid = 1 + below(50);
	record->uid = or_unknown(below(4));
	record->status = or_unknown(statuses[below(COUNT(statuses))]);
	record->flags = or_unknown(below(2));
	record->end_ns = or_unknown(UINT64_C(1796083200000000000) + below(7200) * 1000000000);
	record->wall_ns = or_unknown(any_magnitude() >> 4);
	record->user_ns = or_unknown(below(1000000));
	record->system_ns = or_unknown(below(1000000));
	record->rss_max_bytes = or_unknown(below(1 << 30));
	record->rss_integral = or_unknown(below(3));
	record->nice = or_unknown(below(40) - 20);
	record->partial = below(2);
	strcpy(record->comm_text, names[below(COUNT(names))]);
	act_record_derive(record);
}

struct fixture {
	struct act_record records[ROWS];
	struct gather gather;
	struct act_batch batch;
	uint32_t rows[ROWS];
};

static void all_fields(struct act_field_set *ret_fields)
{
	*ret_fields = (struct act_field_set){ 0 };
	for (int field = 0; field < ACT_FIELDS; field++)
		act_field_set_add(ret_fields, field);
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct act_field_set fields;

	if (!fixture)
		return -1;
	all_fields(&fields);
	gather_select(&fixture->gather, &fields);
	for (size_t i = 0; i < ROWS; i++) {
		make_record(&fixture->records[i]);
		if (gather_append(&fixture->gather, &fixture->records[i]) < 0)
			return -1;
		fixture->rows[i] = (uint32_t)i;
	}
	*state = fixture;
	return gather_take(&fixture->gather, &fixture->batch) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	gather_release(&fixture->gather);
	free(fixture);
	return 0;
}

/* ---- Batches ---- */

static void test_gather(void **state)
{
	struct fixture *fixture = *state;
	const struct act_batch *batch = &fixture->batch;
	struct act_batch none;

	assert_int_equal(batch->rows, ROWS);
	assert_false(gather_take(&fixture->gather, &none));
	assert_int_equal(batch->text[ACT_F_comm].count, COUNT(names));
	for (size_t i = 0; i < ROWS; i++) {
		uint64_t text = batch->column[ACT_F_comm][i];

		assert_true(text < batch->text[ACT_F_comm].count);
		assert_string_equal(batch->text[ACT_F_comm].text[text],
				    fixture->records[i].comm_text);
		for (int field = 0; field < ACT_FIELDS; field++)
			if (field != ACT_F_comm)
				assert_int_equal(batch->column[field][i],
						 fixture->records[i].value[field]);
	}
}

static void test_intern(void **state)
{
	struct intern intern = { 0 };
	uint32_t number;
	char text[16];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			int length = snprintf(text, sizeof(text), "%u", i);

			assert_int_equal(intern_find(&intern, text, (size_t)length), -1);
			assert_int_equal(intern_add(&intern, text, (size_t)length, &number), 0);
			assert_int_equal(number, i);
			assert_int_equal(intern_add(&intern, text, (size_t)length, &number), 0);
			assert_int_equal(number, i);
		}
		assert_string_equal(intern_texts(&intern).text[4321], "4321");
		assert_int_equal(intern_find(&intern, "4321", 4), 4321);
		intern_clear(&intern);
		assert_int_equal(intern.count, 0);
	}
	intern_release(&intern);
}

/* ---- Filters ---- */

static bool in_range(uint64_t value, uint64_t min, uint64_t max)
{
	return value != ACT_UNKNOWN && value >= min && value <= max;
}

/* The contract of struct act_filter, word for word. */
static bool passes(const struct act_filter *filter, const struct act_record *record)
{
	bool is_known = record->status != ACT_UNKNOWN;

	if (!(record->kind & filter->kinds))
		return false;
	if (filter->comm && fnmatch(filter->comm, record->comm_text, 0))
		return false;
	if (filter->uid != ACT_UNKNOWN && record->uid != filter->uid)
		return false;
	if (filter->pid != ACT_UNKNOWN && record->pid != filter->pid)
		return false;
	if (filter->since_ns && !in_range(record->end_ns, filter->since_ns, UINT64_MAX))
		return false;
	if (filter->until_ns != UINT64_MAX && !(record->end_ns < filter->until_ns))
		return false;
	if (filter->longer_ns && !in_range(record->wall_ns, filter->longer_ns, UINT64_MAX))
		return false;
	if (filter->failed && !(is_known && (record->signal || record->code)))
		return false;
	if (filter->signal > 0 && record->signal != (uint64_t)filter->signal)
		return false;
	return filter->signal >= 0 || (is_known && record->signal);
}

static void random_filter(struct act_filter *filter)
{
	static const char *const patterns[] = { "sh", "*", "[a-m]*", "x*", "none", "a ?", "" };
	static const int signals[] = { -1, 9, 11, 15 };

	act_filter_init(filter);
	filter->kinds = (unsigned int)(1 + below(3));
	if (!below(3))
		filter->comm = patterns[below(COUNT(patterns))];
	if (!below(3))
		filter->uid = below(5);
	if (!below(6))
		filter->pid = below(60);
	if (!below(3))
		filter->since_ns = UINT64_C(1796083200000000000) + below(7200) * 1000000000;
	if (!below(3))
		filter->until_ns = UINT64_C(1796083200000000000) + below(7200) * 1000000000;
	if (!below(3))
		filter->longer_ns = any_magnitude() >> 4;
	filter->failed = !below(3);
	if (!below(3))
		filter->signal = signals[below(COUNT(signals))];
}

static void test_filter(void **state)
{
	struct fixture *fixture = *state;
	size_t passed = 0;

	for (int round = 0; round < 500; round++) {
		uint32_t rows[ROWS];
		struct act_filter filter;
		size_t count, at = 0;

		random_filter(&filter);
		count = act_filter_rows(&filter, &fixture->batch, rows);
		for (uint32_t i = 0; i < ROWS; i++)
			if (passes(&filter, &fixture->records[i])) {
				assert_true(at < count);
				assert_int_equal(rows[at++], i);
			}
		assert_int_equal(at, count);
		passed += count;
	}
	/* Not all of them were trivial. */
	assert_true(passed > 1000);
}

static void test_filter_fields(void **state)
{
	struct act_field_set fields = { 0 };
	struct act_filter filter;

	(void)state;
	act_filter_init(&filter);
	act_filter_fields(&filter, &fields);
	for (int field = 0; field < ACT_FIELDS; field++)
		assert_int_equal(act_field_set_has(&fields, field), field == ACT_F_kind);
	filter.signal = -1;
	filter.until_ns = 5;
	act_filter_fields(&filter, &fields);
	assert_true(act_field_set_has(&fields, ACT_F_status));
	assert_true(act_field_set_has(&fields, ACT_F_end_ns));
	assert_false(act_field_set_has(&fields, ACT_F_wall_ns));
}

/* ---- Histograms ---- */

static int compare_values(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void check_quantiles(uint64_t *values, size_t count, const struct histogram *histogram)
{
	static const double quantiles[] = { 0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };

	qsort(values, count, sizeof(*values), compare_values);
	for (size_t i = 0; i < COUNT(quantiles); i++) {
		double share = quantiles[i] * (double)count;
		size_t rank = (size_t)share + ((double)(size_t)share < share);
		uint64_t exact = values[rank ? rank - 1 : 0];
		uint64_t told = histogram_quantile(histogram, quantiles[i]);
		uint64_t error = told > exact ? told - exact : exact - told;

		assert_true(error <= (count > 16 ? exact / 64 : 0));
	}
}

/* Within 1/64 of the value of that rank, whatever the values; a few are exact. */
static void test_histogram(void **state)
{
	static const size_t counts[] = { 1, 2, 3, 15, 16, 17, 100, 1000, 20000 };

	(void)state;
	for (int round = 0; round < 60; round++) {
		size_t count = counts[below(COUNT(counts))];
		struct histogram_budget budget = { 0, 1 << 20 };
		struct histogram histogram = { 0 };
		uint64_t *values = calloc(count, sizeof(*values));

		assert_non_null(values);
		for (size_t i = 0; i < count; i++) {
			values[i] = round % 2 ? any_magnitude() : below(1000000);
			histogram_add(&histogram, values[i], &budget);
		}
		check_quantiles(values, count, &histogram);
		assert_true(budget.bytes <= HISTOGRAM_BUCKETS * sizeof(uint32_t));
		histogram_release(&histogram);
		free(values);
	}
}

static void test_histogram_edges(void **state)
{
	struct histogram_budget budget = { 0, 1 << 20 };
	struct histogram histogram = { 0 };

	(void)state;
	assert_int_equal(histogram_quantile(&histogram, 0.5), ACT_UNKNOWN);
	for (unsigned int bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++)
		assert_int_equal(histogram_bucket(histogram_middle(bucket)), bucket);
	for (uint64_t value = 1; value < 63; value++)
		for (int near = -1; near <= 1; near++) {
			uint64_t edge = (UINT64_C(1) << value) + (uint64_t)near;
			uint64_t middle = histogram_middle(histogram_bucket(edge));

			assert_true((middle > edge ? middle - edge : edge - middle) <= edge / 64);
		}
	histogram_add(&histogram, INT64_MAX, &budget);
	assert_true(histogram_quantile(&histogram, 1) > INT64_MAX - INT64_MAX / 64);
	histogram_release(&histogram);
	assert_int_equal(histogram_quantile(&histogram, 1), ACT_UNKNOWN);
}

/* Without memory it says that it does not know. */
static void test_histogram_budget(void **state)
{
	struct histogram_budget budget = { 0, 900 };
	struct histogram histogram = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		histogram_add(&histogram, i, &budget);
	assert_int_equal(histogram_quantile(&histogram, 1), 15);
	for (uint64_t i = 0; i < 40; i++)
		histogram_add(&histogram, UINT64_C(1) << i, &budget);
	assert_int_equal(histogram_quantile(&histogram, 1), ACT_UNKNOWN);
	assert_true(histogram.is_given_up);
	assert_true(budget.bytes <= budget.limit);
	histogram_release(&histogram);
}

/* ---- Groups ---- */

/* What a key is, by its contract; texts by their address in names[]. */
static uint64_t key_of(const struct act_key *key, const struct act_record *record)
{
	switch (key->type) {
	case ACT_KEY_EXIT:
		return record->status == ACT_UNKNOWN ? ACT_UNKNOWN : record->status & 0xff7f;
	case ACT_KEY_FORKED:
		return record->flags == ACT_UNKNOWN ? ACT_UNKNOWN : record->flags & 1;
	case ACT_KEY_MINUTE:
		return record->end_ns == ACT_UNKNOWN ? ACT_UNKNOWN :
		       record->end_ns - record->end_ns % UINT64_C(60000000000);
	case ACT_KEY_HOUR:
		return record->end_ns == ACT_UNKNOWN ? ACT_UNKNOWN :
		       record->end_ns - record->end_ns % UINT64_C(3600000000000);
	default:
		return record->value[key->field];
	}
}

static bool key_is(const struct act_groups *groups, size_t at, size_t k,
		   const struct act_key *key, const struct act_record *record)
{
	const char *text;
	size_t length;
	uint64_t value = act_groups_key(groups, at, k, &text, &length);

	if (key->type == ACT_KEY_FIELD && key->field == ACT_F_comm)
		return text && length == strlen(record->comm_text) &&
		       strcmp(text, record->comm_text) == 0;
	return value == key_of(key, record);
}

/* Which group a record belongs to. */
static size_t group_of(const struct act_groups *groups, const struct act_key *keys,
		       size_t key_count, const struct act_record *record)
{
	size_t count = act_groups_count(groups), found = SIZE_MAX;

	for (size_t at = 0; at < count; at++) {
		size_t k = 0;

		while (k < key_count && key_is(groups, at, k, &keys[k], record))
			k++;
		if (k < key_count)
			continue;
		assert_int_equal(found, SIZE_MAX);
		found = at;
	}
	assert_int_not_equal(found, SIZE_MAX);
	return found;
}

static const struct act_metric metrics[] = {
	{ .type = ACT_METRIC_COUNT },
	{ .type = ACT_METRIC_FAILED },
	{ .type = ACT_METRIC_SUM, .field = ACT_F_cpu_ns },
	{ .type = ACT_METRIC_MEAN, .field = ACT_F_cpu_ns },
	{ .type = ACT_METRIC_MIN, .field = ACT_F_cpu_ns },
	{ .type = ACT_METRIC_MAX, .field = ACT_F_rss_max_bytes },
	{ .type = ACT_METRIC_MEAN, .field = ACT_F_nice },
	{ .type = ACT_METRIC_MIN, .field = ACT_F_nice },
	{ .type = ACT_METRIC_MAX, .field = ACT_F_nice },
	{ .type = ACT_METRIC_SUM, .field = ACT_F_partial },
	{ .type = ACT_METRIC_RATIO, .field = ACT_F_rss_integral, .per = ACT_F_cpu_ns },
	{ .type = ACT_METRIC_QUANTILE, .field = ACT_F_wall_ns, .quantile = 0.5 },
	{ .type = ACT_METRIC_SUM, .field = ACT_F_majflt }, /* never known */
};

struct plain {
	uint64_t count, failed, cpu, cpu_known, cpu_min, rss_max, partial, status_known;
	int64_t nice_sum, nice_min, nice_max;
	uint64_t nice_known, rss_known;
	double over, per;
	uint64_t walls[ROWS];
	size_t wall_count;
};

static void add_plain(struct plain *plain, const struct act_record *record)
{
	int64_t nice = (int64_t)record->nice;

	plain->count++;
	plain->status_known += record->status != ACT_UNKNOWN;
	plain->failed += record->status != ACT_UNKNOWN && (record->signal || record->code);
	plain->partial += record->partial;
	if (record->cpu_ns != ACT_UNKNOWN) {
		if (!plain->cpu_known++ || record->cpu_ns < plain->cpu_min)
			plain->cpu_min = record->cpu_ns;
		plain->cpu += record->cpu_ns;
	}
	if (record->rss_max_bytes != ACT_UNKNOWN) {
		plain->rss_known++;
		if (record->rss_max_bytes > plain->rss_max)
			plain->rss_max = record->rss_max_bytes;
	}
	if (record->nice != ACT_UNKNOWN) {
		if (!plain->nice_known || nice < plain->nice_min)
			plain->nice_min = nice;
		if (!plain->nice_known++ || nice > plain->nice_max)
			plain->nice_max = nice;
		plain->nice_sum += nice;
	}
	if (record->rss_integral && record->rss_integral != ACT_UNKNOWN &&
	    record->cpu_ns != ACT_UNKNOWN) {
		plain->over += (double)record->rss_integral;
		plain->per += (double)record->cpu_ns;
	}
	if (record->wall_ns != ACT_UNKNOWN)
		plain->walls[plain->wall_count++] = record->wall_ns;
}

static void check_value(const struct act_groups *groups, size_t at, size_t metric,
			uint64_t known, uint64_t value)
{
	assert_int_equal(act_groups_value(groups, at, metric), known ? value : ACT_UNKNOWN);
}

static void check_real(const struct act_groups *groups, size_t at, size_t metric, double real)
{
	double told = act_groups_real(groups, at, metric);

	assert_int_equal(isnan(told), isnan(real));
	if (!isnan(real))
		assert_true(fabs(told - real) <= fabs(real) * 1e-12);
}

static void check_group(const struct act_groups *groups, size_t at, struct plain *plain)
{
	check_value(groups, at, 0, 1, plain->count);
	check_value(groups, at, 1, plain->status_known, plain->failed);
	check_value(groups, at, 2, plain->cpu_known, plain->cpu);
	check_real(groups, at, 3, plain->cpu_known ?
		   (double)plain->cpu / (double)plain->cpu_known : NAN);
	check_value(groups, at, 4, plain->cpu_known, plain->cpu_min);
	check_value(groups, at, 5, plain->rss_known, plain->rss_max);
	check_real(groups, at, 6, plain->nice_known ?
		   (double)plain->nice_sum / (double)plain->nice_known : NAN);
	check_value(groups, at, 7, plain->nice_known, (uint64_t)plain->nice_min);
	check_value(groups, at, 8, plain->nice_known, (uint64_t)plain->nice_max);
	check_value(groups, at, 9, 1, plain->partial);
	check_real(groups, at, 10, plain->per > 0 ? plain->over / plain->per : NAN);
	if (plain->wall_count) {
		uint64_t told = act_groups_value(groups, at, 11);
		uint64_t exact;

		qsort(plain->walls, plain->wall_count, sizeof(*plain->walls), compare_values);
		exact = plain->walls[(plain->wall_count + 1) / 2 - 1];
		assert_true((told > exact ? told - exact : exact - told) <= exact / 64);
	} else {
		check_value(groups, at, 11, 0, 0);
	}
	check_value(groups, at, 12, 0, 0);
}

static void check_groups(struct fixture *fixture, const struct act_key *keys, size_t key_count)
{
	const struct act_groups_options options = {
		.size = sizeof(options), .keys = keys, .key_count = key_count,
		.metrics = metrics, .metric_count = COUNT(metrics),
	};
	struct act_groups *groups;
	struct plain *plain;
	size_t count;

	assert_int_equal(act_groups_new(&options, &groups), 0);
	/* In pieces, as batches come. */
	for (size_t at = 0; at < ROWS; at += 100)
		assert_int_equal(act_groups_add(groups, &fixture->batch, fixture->rows + at, 100), 0);
	count = act_groups_count(groups);
	plain = calloc(count, sizeof(*plain));
	assert_non_null(plain);
	for (size_t i = 0; i < ROWS; i++)
		add_plain(&plain[group_of(groups, keys, key_count, &fixture->records[i])],
			  &fixture->records[i]);
	for (size_t at = 0; at < count; at++) {
		assert_true(plain[at].count > 0);
		check_group(groups, at, &plain[at]);
	}
	assert_false(act_groups_is_full(groups));
	free(plain);
	act_groups_free(groups);
}

static void test_groups(void **state)
{
	static const struct act_key comm = { ACT_KEY_FIELD, ACT_F_comm };
	static const struct act_key uid = { ACT_KEY_FIELD, ACT_F_uid };
	static const struct act_key several[] = {
		{ ACT_KEY_FIELD, ACT_F_comm }, { ACT_KEY_FORKED, 0 }, { ACT_KEY_EXIT, 0 },
	};
	static const struct act_key hour = { ACT_KEY_HOUR, 0 };
	static const struct act_key minute_uid[] = {
		{ ACT_KEY_MINUTE, 0 }, { ACT_KEY_FIELD, ACT_F_uid },
	};

	check_groups(*state, &comm, 1);
	check_groups(*state, &uid, 1);
	check_groups(*state, several, 3);
	check_groups(*state, &hour, 1);
	check_groups(*state, minute_uid, 2);
}

static struct act_groups *groups_by(const struct act_key *key, const struct act_metric *metric,
				    size_t memory_bytes)
{
	const struct act_groups_options options = {
		.size = sizeof(options), .keys = key, .key_count = 1,
		.metrics = metric, .metric_count = 2, .memory_bytes = memory_bytes,
	};
	struct act_groups *groups;

	assert_int_equal(act_groups_new(&options, &groups), 0);
	return groups;
}

static void test_sort(void **state)
{
	static const struct act_key pid = { ACT_KEY_FIELD, ACT_F_pid };
	static const struct act_key comm = { ACT_KEY_FIELD, ACT_F_comm };
	static const struct act_metric metric[] = {
		{ .type = ACT_METRIC_COUNT }, { .type = ACT_METRIC_MEAN, .field = ACT_F_nice },
	};
	struct fixture *fixture = *state;
	struct act_groups *groups = groups_by(&pid, metric, 0);

	assert_int_equal(act_groups_add(groups, &fixture->batch, fixture->rows, 300), 0);
	assert_int_equal(act_groups_sort_by_metric(groups, 0, true), 0);
	for (size_t i = 1; i < act_groups_count(groups); i++)
		assert_true(act_groups_value(groups, i - 1, 0) >= act_groups_value(groups, i, 0));
	assert_int_equal(act_groups_sort_by_metric(groups, 1, false), 0);
	for (size_t i = 1; i < act_groups_count(groups); i++)
		assert_false(act_groups_real(groups, i - 1, 1) > act_groups_real(groups, i, 1));
	assert_int_equal(act_groups_sort_by_key(groups, 0, false), 0);
	for (size_t i = 1; i < act_groups_count(groups); i++)
		assert_true(act_groups_key(groups, i - 1, 0, NULL, NULL) <
			    act_groups_key(groups, i, 0, NULL, NULL));
	act_groups_free(groups);
	groups = groups_by(&comm, metric, 0);
	assert_int_equal(act_groups_add(groups, &fixture->batch, fixture->rows, ROWS), 0);
	assert_int_equal(act_groups_sort_by_key(groups, 0, true), 0);
	for (size_t i = 1; i < act_groups_count(groups); i++) {
		const char *before, *text;
		size_t length;

		act_groups_key(groups, i - 1, 0, &before, &length);
		act_groups_key(groups, i, 0, &text, &length);
		assert_true(strcmp(before, text) > 0);
	}
	act_groups_free(groups);
}

/* With too many groups the rest is one, and nothing is left out of the sums. */
static void test_full(void **state)
{
	static const struct act_key key = { ACT_KEY_FIELD, ACT_F_wall_ns };
	static const struct act_metric metric[] = {
		{ .type = ACT_METRIC_COUNT }, { .type = ACT_METRIC_SUM, .field = ACT_F_user_ns },
	};
	struct fixture *fixture = *state;
	struct act_groups *groups = groups_by(&key, metric, 65536);
	uint64_t count = 0, user = 0, expected = 0, others = 0;

	for (size_t at = 0; at < ROWS; at += 500)
		assert_int_equal(act_groups_add(groups, &fixture->batch, fixture->rows + at, 500), 0);
	assert_true(act_groups_is_full(groups));
	assert_true(act_groups_count(groups) < 1000);
	for (size_t at = 0; at < act_groups_count(groups); at++) {
		uint64_t value = act_groups_value(groups, at, 1);

		count += act_groups_value(groups, at, 0);
		user += value == ACT_UNKNOWN ? 0 : value;
		others += act_groups_is_other(groups, at);
	}
	for (size_t i = 0; i < ROWS; i++)
		if (fixture->records[i].user_ns != ACT_UNKNOWN)
			expected += fixture->records[i].user_ns;
	assert_int_equal(others, 1);
	assert_int_equal(count, ROWS);
	assert_int_equal(user, expected);
	act_groups_free(groups);
}

static void test_refuses(void **state)
{
	static const struct act_key key = { ACT_KEY_FIELD, ACT_F_comm };
	static const struct act_metric bad[] = {
		{ .type = ACT_METRIC_SUM, .field = ACT_F_comm },
		{ .type = ACT_METRIC_SUM, .field = ACT_F_uid },
		{ .type = ACT_METRIC_SUM, .field = ACT_F_rss_max_bytes },
		{ .type = ACT_METRIC_SUM, .field = ACT_F_end_ns },
		{ .type = ACT_METRIC_QUANTILE, .field = ACT_F_nice, .quantile = 0.5 },
		{ .type = ACT_METRIC_QUANTILE, .field = ACT_F_wall_ns, .quantile = 1.5 },
		{ .type = ACT_METRIC_QUANTILE, .field = ACT_F_wall_ns, .quantile = NAN },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct act_groups_options options = {
			.size = sizeof(options), .keys = &key, .key_count = 1,
			.metrics = &bad[i], .metric_count = 1,
		};
		struct act_groups *groups;

		assert_int_equal(act_groups_new(&options, &groups), -EINVAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gather, set_up, tear_down),
		cmocka_unit_test(test_intern),
		cmocka_unit_test_setup_teardown(test_filter, set_up, tear_down),
		cmocka_unit_test(test_filter_fields),
		cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_histogram_edges),
		cmocka_unit_test(test_histogram_budget),
		cmocka_unit_test_setup_teardown(test_groups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sort, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_full, set_up, tear_down),
		cmocka_unit_test(test_refuses),
	};

	/* Hours and minutes of local time are those of UTC then. */
	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Filters and groups over records of any values, as a damaged or forged log
 * may hold them: nothing may be left out or counted twice.
 *
 * The input: 16 bytes that choose filter, keys, metrics and memory, then
 * records, of which each value takes two bytes, or nine if the first is 0xff.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/query.h>

#include "query/gather.h"

#define ROWS_MAX 2000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at, *end;
};

static uint8_t next_byte(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static uint64_t next_value(struct input *input)
{
	uint64_t value = next_byte(input);

	if (value < 0xff)
		return value << 8 | next_byte(input);
	value = 0;
	for (int i = 0; i < 8; i++)
		value = value << 8 | next_byte(input);
	return value;
}

static void must(bool is_true)
{
	if (!is_true)
		abort();
}

static void make_record(struct input *input, struct act_record *record)
{
	static const enum act_field fields[] = {
		ACT_F_kind, ACT_F_pid, ACT_F_uid, ACT_F_end_ns, ACT_F_wall_ns, ACT_F_user_ns,
		ACT_F_system_ns, ACT_F_status, ACT_F_flags, ACT_F_nice, ACT_F_rss_integral,
	};

	act_record_clear(record);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		record->value[fields[i]] = next_value(input);
	for (size_t i = next_byte(input) % ACT_COMM_SIZE; i > 0; i--)
		record->comm_text[i - 1] = (char)next_byte(input);
}

static void make_filter(struct input *input, struct act_filter *filter)
{
	static const char *const patterns[] = { NULL, "*", "a*", "[!b-", "\\", "?" };

	act_filter_init(filter);
	filter->kinds = next_byte(input) % 4;
	filter->comm = patterns[next_byte(input) % 6];
	filter->failed = next_byte(input) % 8 == 1;
	filter->signal = next_byte(input) % 8 == 1 ? -1 : 0;
	filter->since_ns = next_byte(input) % 4 == 1 ? 5 : 0;
	filter->until_ns = next_byte(input) % 4 == 1 ? 0 : UINT64_MAX;
}

static struct act_groups *make_groups(struct input *input)
{
	static const struct act_key keys[] = {
		{ ACT_KEY_FIELD, ACT_F_comm }, { ACT_KEY_FIELD, ACT_F_pid },
		{ ACT_KEY_EXIT, 0 }, { ACT_KEY_FORKED, 0 }, { ACT_KEY_HOUR, 0 },
		{ ACT_KEY_DAY, 0 }, { ACT_KEY_MINUTE, 0 }, { ACT_KEY_FIELD, ACT_F_nice },
		{ ACT_KEY_FIELD, ACT_F_comm },
	};
	static const struct act_metric metrics[] = {
		{ .type = ACT_METRIC_COUNT }, { .type = ACT_METRIC_FAILED },
		{ .type = ACT_METRIC_SUM, .field = ACT_F_wall_ns },
		{ .type = ACT_METRIC_MEAN, .field = ACT_F_nice },
		{ .type = ACT_METRIC_MAX, .field = ACT_F_nice },
		{ .type = ACT_METRIC_MIN, .field = ACT_F_wall_ns },
		{ .type = ACT_METRIC_QUANTILE, .field = ACT_F_wall_ns, .quantile = 0.99 },
		{ .type = ACT_METRIC_RATIO, .field = ACT_F_rss_integral, .per = ACT_F_wall_ns },
	};
	struct act_groups_options options = { .size = sizeof(options) };
	struct act_groups *groups;

	options.key_count = 1 + next_byte(input) % 3;
	options.keys = keys + next_byte(input) % 7;
	options.metrics = metrics;
	options.metric_count = sizeof(metrics) / sizeof(*metrics);
	options.memory_bytes = 1024 * (1 + (size_t)next_byte(input));
	must(act_groups_new(&options, &groups) == 0);
	return groups;
}

static void check(struct act_groups *groups, size_t metric, size_t rows)
{
	uint64_t count = 0;

	must(act_groups_sort_by_metric(groups, metric, metric % 2) == 0);
	for (size_t at = 0; at < act_groups_count(groups); at++) {
		double real = act_groups_real(groups, at, metric);

		must(isnan(real) == (act_groups_value(groups, at, metric) == ACT_UNKNOWN));
		count += act_groups_value(groups, at, 0);
		must(!act_groups_is_other(groups, at) || act_groups_is_full(groups));
	}
	must(count == rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	struct gather gather = { 0 };
	struct act_field_set fields;
	struct act_filter filter;
	struct act_groups *groups;
	struct act_batch batch;
	uint32_t rows[ROWS_MAX];
	size_t count;

	memset(&fields, 0xff, sizeof(fields));
	gather_select(&gather, &fields);
	make_filter(&input, &filter);
	groups = make_groups(&input);
	while (input.at < input.end && gather.rows < ROWS_MAX) {
		struct act_record record;

		make_record(&input, &record);
		must(gather_append(&gather, &record) == 0);
	}
	if (gather_take(&gather, &batch)) {
		count = act_filter_rows(&filter, &batch, rows);
		must(count <= batch.rows);
		must(act_groups_add(groups, &batch, rows, count / 2) == 0);
		must(act_groups_add(groups, &batch, rows + count / 2, count - count / 2) == 0);
		for (size_t metric = 0; metric < 8; metric++)
			check(groups, metric, count);
		must(act_groups_sort_by_key(groups, 0, false) == 0);
	}
	act_groups_free(groups);
	gather_release(&gather);
	return 0;
}

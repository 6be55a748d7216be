/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "grouping.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "column.h"

/* As GNU sa calls what is not shown by itself. */
#define OTHERS "***other"

/* From MB times microseconds over ns to bytes. */
#define INTEGRAL_SCALE (1048576.0 * 1000.0)

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && memcmp(word, text, length) == 0;
}

/* ---- Keys ---- */

static const struct {
	const char *name; /* as the user writes it */
	const char *column;
	struct act_key key;
} made_keys[] = {
	{ "user", "uid", { ACT_KEY_FIELD, ACT_F_uid } },
	{ "group", "gid", { ACT_KEY_FIELD, ACT_F_gid } },
	{ "parent", "ppid", { ACT_KEY_FIELD, ACT_F_ppid } },
	{ "exit", "exit", { ACT_KEY_EXIT, ACT_F_status } },
	{ "forked", "forked", { ACT_KEY_FORKED, ACT_F_flags } },
	{ "minute", "minute", { ACT_KEY_MINUTE, ACT_F_end_ns } },
	{ "hour", "hour", { ACT_KEY_HOUR, ACT_F_end_ns } },
	{ "day", "day", { ACT_KEY_DAY, ACT_F_end_ns } },
};

int key_parse(const char *text, size_t length, struct key_column *ret_key)
{
	int field;

	for (size_t i = 0; i < sizeof(made_keys) / sizeof(*made_keys); i++) {
		if (!is_word(text, length, made_keys[i].name))
			continue;
		ret_key->key = made_keys[i].key;
		snprintf(ret_key->name, sizeof(ret_key->name), "%s", made_keys[i].column);
		return 0;
	}
	field = act_field_find(text, length);
	if (field < 0)
		return -EINVAL;
	ret_key->key = (struct act_key){ ACT_KEY_FIELD, field };
	snprintf(ret_key->name, sizeof(ret_key->name), "%s", act_field_table[field].name);
	return 0;
}

static bool is_time(const struct key_column *key)
{
	return key->key.type == ACT_KEY_MINUTE || key->key.type == ACT_KEY_HOUR ||
	       key->key.type == ACT_KEY_DAY;
}

static bool is_field(const struct key_column *key, enum act_field field)
{
	return key->key.type == ACT_KEY_FIELD && key->key.field == field;
}

static size_t format_span(const struct key_column *key, uint64_t value, char *ret_text, size_t room)
{
	time_t seconds = (time_t)(value / NSEC_PER_SEC);
	struct tm tm;

	if (!localtime_r(&seconds, &tm))
		return (size_t)snprintf(ret_text, room, "-");
	return strftime(ret_text, room, key->key.type == ACT_KEY_DAY ? "%F" : "%F %H:%M", &tm);
}

/* A key that is no text of the log, as text. */
static size_t format_key(const struct key_column *key, uint64_t value, struct users *users,
			 char *ret_text, size_t room)
{
	const char *name;

	if (value == ACT_UNKNOWN)
		return (size_t)snprintf(ret_text, room, "-");
	if (is_time(key))
		return format_span(key, value, ret_text, room);
	if (key->key.type == ACT_KEY_EXIT)
		return format_exit(value, ret_text, room);
	if (key->key.type == ACT_KEY_FORKED)
		return (size_t)snprintf(ret_text, room, value ? "yes" : "no");
	if (is_field(key, ACT_F_uid) && users) {
		name = users_name(users, value);
		if (name && strlen(name) < room)
			return (size_t)snprintf(ret_text, room, "%s", name);
	}
	return format_value(act_field_table[key->key.field].type, value, ret_text, room);
}

/* In CSV: numbers as they are, names of users and the like not. */
static bool is_number_in_csv(const struct key_column *key)
{
	return key->key.type != ACT_KEY_EXIT && !is_field(key, ACT_F_kind);
}

void key_heading(const struct key_column *key, char *ret_text, size_t room)
{
	const char *name = is_field(key, ACT_F_uid) ? "user" : key->name;
	size_t length = strlen(name), unit = strlen("_ns");

	if (length > unit && strcmp(name + length - unit, "_ns") == 0)
		length -= unit;
	if (length >= room)
		length = room - 1;
	for (size_t i = 0; i < length; i++)
		ret_text[i] = (char)toupper((unsigned char)name[i]);
	ret_text[length] = '\0';
}

void key_cell(const struct key_column *key, size_t index, const struct act_groups *groups,
	      size_t at, struct users *users, bool is_csv, struct table *table)
{
	char shown[256];
	const char *text;
	size_t length;
	uint64_t value = act_groups_key(groups, at, index, &text, &length);

	if (act_groups_is_other(groups, at)) {
		text = index ? "-" : OTHERS;
		length = strlen(text);
	} else if (!text && is_csv && is_number_in_csv(key)) {
		bool is_signed = key->key.type == ACT_KEY_FIELD &&
				 act_field_table[key->key.field].type == ACT_TYPE_SIGNED;

		table_cell_value(table, is_signed ? ACT_TYPE_SIGNED : ACT_TYPE_NUMBER, value);
		return;
	} else if (!text && is_csv && value == ACT_UNKNOWN) {
		text = "";
	} else if (!text) {
		length = format_key(key, value, users, shown, sizeof(shown));
		text = shown;
	}
	table_cell(table, text, length);
}

void key_json(const struct key_column *key, size_t index, const struct act_groups *groups,
	      size_t at, struct out *out)
{
	char shown[64];
	const char *text;
	size_t length;
	uint64_t value = act_groups_key(groups, at, index, &text, &length);

	if (act_groups_is_other(groups, at)) {
		out_json_null(out, key->name);
	} else if (text) {
		out_json_string(out, key->name, text, length);
	} else if (key->key.type == ACT_KEY_EXIT && value != ACT_UNKNOWN) {
		length = format_exit(value, shown, sizeof(shown));
		out_json_string(out, key->name, shown, length);
	} else if (key->key.type == ACT_KEY_FORKED && value != ACT_UNKNOWN) {
		out_json_bool(out, key->name, value != 0);
	} else if (key->key.type == ACT_KEY_FIELD) {
		out_json_value(out, act_field_table[key->key.field].type, key->name, value);
	} else {
		out_json_u64(out, key->name, value);
	}
}

/* ---- Columns ---- */

static bool can_measure(enum act_field field)
{
	switch (act_field_table[field].type) {
	case ACT_TYPE_NUMBER:
	case ACT_TYPE_DURATION:
	case ACT_TYPE_SIZE:
	case ACT_TYPE_INTEGRAL:
	case ACT_TYPE_SIGNED:
	case ACT_TYPE_TIME:
	case ACT_TYPE_BOOL:
		return true;
	default:
		return false;
	}
}

/* By its name, or its name without the unit. */
static int find_field(const char *text, size_t length)
{
	static const char *const units[] = { "", "_ns", "_bytes" };
	char name[64];

	if (length + sizeof("_bytes") > sizeof(name))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		int end = snprintf(name, sizeof(name), "%.*s%s", (int)length, text, units[i]);
		int field = act_field_find(name, (size_t)end);

		if (field >= 0 && can_measure(field))
			return field;
	}
	return -EINVAL;
}

static enum act_metric_type default_aggregate(enum act_field field)
{
	switch (act_field_table[field].type) {
	case ACT_TYPE_SIGNED:
		return ACT_METRIC_MEAN;
	case ACT_TYPE_BOOL:
		return ACT_METRIC_SUM;
	default:
		break;
	}
	if (act_field_is_additive(field))
		return ACT_METRIC_SUM;
	return act_field_table[field].fold == ACT_FOLD_MIN ? ACT_METRIC_MIN : ACT_METRIC_MAX;
}

/* "50", "99.9": a percentile; strtod(3) would take too much else. */
static int parse_percentile(const char *text, size_t length, double *ret_quantile)
{
	char number[16];
	size_t digits = 0, points = 0;

	if (!length || length >= sizeof(number))
		return -EINVAL;
	for (size_t i = 0; i < length; i++) {
		digits += isdigit((unsigned char)text[i]) != 0;
		points += text[i] == '.';
	}
	if (digits + points != length || points > 1 || !digits)
		return -EINVAL;
	memcpy(number, text, length);
	number[length] = '\0';
	*ret_quantile = strtod(number, NULL) / 100;
	return *ret_quantile <= 1 ? 0 : -EINVAL;
}

static int parse_aggregate(const char *text, size_t length, struct act_metric *metric)
{
	static const struct {
		const char *name;
		enum act_metric_type type;
	} aggregates[] = {
		{ "sum", ACT_METRIC_SUM }, { "mean", ACT_METRIC_MEAN },
		{ "min", ACT_METRIC_MIN }, { "max", ACT_METRIC_MAX },
	};

	for (size_t i = 0; i < sizeof(aggregates) / sizeof(*aggregates); i++) {
		if (is_word(text, length, aggregates[i].name)) {
			metric->type = aggregates[i].type;
			return 0;
		}
	}
	if (!length || *text != 'p')
		return -EINVAL;
	metric->type = ACT_METRIC_QUANTILE;
	return parse_percentile(text + 1, length - 1, &metric->quantile);
}

static bool parse_made(const char *text, size_t length, struct metric_column *ret_column)
{
	static const struct metric_column made[] = {
		{ { .type = ACT_METRIC_COUNT }, "count", ACT_TYPE_NUMBER, false, 1 },
		{ { .type = ACT_METRIC_FAILED }, "failed", ACT_TYPE_NUMBER, false, 1 },
		{ { ACT_METRIC_RATIO, ACT_F_rss_integral, ACT_F_cpu_ns, 0 }, "rss_mean_bytes",
		  ACT_TYPE_SIZE, true, INTEGRAL_SCALE },
		{ { ACT_METRIC_RATIO, ACT_F_vm_integral, ACT_F_cpu_ns, 0 }, "vm_mean_bytes",
		  ACT_TYPE_SIZE, true, INTEGRAL_SCALE },
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		size_t bare = strlen(made[i].name);

		if (made[i].type == ACT_TYPE_SIZE)
			bare -= strlen("_bytes");
		if (!is_word(text, length, made[i].name) &&
		    !(bare == length && memcmp(text, made[i].name, bare) == 0))
			continue;
		*ret_column = made[i];
		return true;
	}
	return false;
}

int metric_parse(const char *text, size_t length, struct metric_column *ret_column)
{
	const char *point = memchr(text, '.', length);
	size_t field_length = point ? (size_t)(point - text) : length;
	struct metric_column column = { .scale = 1 };
	int field;

	if (parse_made(text, length, ret_column))
		return 0;
	field = find_field(text, field_length);
	if (field < 0)
		return -EINVAL;
	column.metric.field = field;
	column.metric.type = default_aggregate(field);
	column.type = act_field_table[field].type;
	if (point && parse_aggregate(point + 1, length - field_length - 1, &column.metric) < 0)
		return -EINVAL;
	if (!act_metric_is_valid(&column.metric))
		return -EINVAL;
	if (column.metric.type == default_aggregate(field))
		snprintf(column.name, sizeof(column.name), "%s", act_field_table[field].name);
	else
		snprintf(column.name, sizeof(column.name), "%s%.*s", act_field_table[field].name,
			 (int)(length - field_length), point);
	if (column.type == ACT_TYPE_BOOL)
		column.type = ACT_TYPE_NUMBER;
	column.is_real = column.metric.type == ACT_METRIC_MEAN;
	*ret_column = column;
	return 0;
}

/* The name without its unit, which the cells tell by themselves. */
void metric_heading(const struct metric_column *column, char *ret_text, size_t room)
{
	const char *point = strchr(column->name, '.');
	size_t length = point ? (size_t)(point - column->name) : strlen(column->name);

	if (length > 3 && memcmp(column->name + length - 3, "_ns", 3) == 0)
		length -= 3;
	else if (length > 6 && memcmp(column->name + length - 6, "_bytes", 6) == 0)
		length -= 6;
	snprintf(ret_text, room, "%.*s%s", (int)length, column->name, point ? point : "");
	for (char *at = ret_text; *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

/* Durations and sizes of a fraction of their unit are as good as whole ones. */
static bool has_decimals(const struct metric_column *column)
{
	return column->is_real && column->type != ACT_TYPE_DURATION &&
	       column->type != ACT_TYPE_SIZE;
}

static uint64_t rounded(double real)
{
	return isnan(real) ? ACT_UNKNOWN : real < 9e18 ? (uint64_t)(real + 0.5) : INT64_MAX;
}

void metric_cell(const struct metric_column *column, size_t index,
		 const struct act_groups *groups, size_t at, struct table *table)
{
	double real;
	char text[48];

	if (!column->is_real) {
		table_cell_value(table, column->type, act_groups_value(groups, at, index));
		return;
	}
	real = act_groups_real(groups, at, index) * column->scale;
	if (!has_decimals(column) || isnan(real))
		table_cell_value(table, column->type, rounded(real));
	else
		table_cell(table, text, (size_t)snprintf(text, sizeof(text), "%.2f", real));
}

void metric_json(const struct metric_column *column, size_t index,
		 const struct act_groups *groups, size_t at, struct out *out)
{
	if (column->is_real)
		out_json_double(out, column->name,
				act_groups_real(groups, at, index) * column->scale);
	else
		out_json_value(out, column->type, column->name,
			       act_groups_value(groups, at, index));
}

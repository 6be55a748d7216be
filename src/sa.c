/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sa.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "users.h"

#define NS_A_MINUTE 6e10
#define NS_A_SECOND 1e9
/* From MB times microseconds over ns to units of 1024 bytes. */
#define INTEGRAL_TO_K (1024.0 * 1000.0)

enum {
	COUNT,
	REAL,
	USER,
	SYSTEM,
	READ,
	WRITTEN,
	MEMORY_UPPER,
	MEMORY_LOWER,
};

static const struct act_metric metrics[] = {
	[COUNT] = { .type = ACT_METRIC_COUNT },
	[REAL] = { .type = ACT_METRIC_SUM, .field = ACT_F_wall_ns },
	[USER] = { .type = ACT_METRIC_SUM, .field = ACT_F_user_ns },
	[SYSTEM] = { .type = ACT_METRIC_SUM, .field = ACT_F_system_ns },
	[READ] = { .type = ACT_METRIC_SUM, .field = ACT_F_read_bytes },
	[WRITTEN] = { .type = ACT_METRIC_SUM, .field = ACT_F_write_bytes },
	[MEMORY_UPPER] = { ACT_METRIC_RATIO_UPPER, ACT_F_rss_integral, ACT_F_cpu_ns, 0 },
	[MEMORY_LOWER] = { ACT_METRIC_RATIO_LOWER, ACT_F_rss_integral, ACT_F_cpu_ns, 0 },
};
enum { METRICS = sizeof(metrics) / sizeof(*metrics) };

static const struct act_key command_keys[] = {
	{ ACT_KEY_FIELD, ACT_F_comm }, { ACT_KEY_FORKED, ACT_F_flags },
};
static const struct act_key user_keys[] = { { ACT_KEY_FIELD, ACT_F_uid } };

size_t sa_keys(bool by_user, const struct act_key **ret_keys)
{
	*ret_keys = by_user ? user_keys : command_keys;
	return by_user ? 1 : 2;
}

size_t sa_metrics(const struct act_metric **ret_metrics)
{
	*ret_metrics = metrics;
	return METRICS;
}

/* ---- Rows ---- */

struct row {
	double value[METRICS]; /* NaN: nothing known */
	char name[160];
};

struct sa {
	const struct sa_options *options;
	struct row *rows;
	size_t count;
	struct row total;
};

static void clear_row(struct row *row, const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		row->value[i] = NAN;
	snprintf(row->name, sizeof(row->name), "%s", name);
}

static void add_row(struct row *row, const struct row *other)
{
	for (size_t i = 0; i < METRICS; i++) {
		if (isnan(row->value[i]))
			row->value[i] = other->value[i];
		else if (!isnan(other->value[i]))
			row->value[i] += other->value[i];
	}
}

/* As sa sees it: bytes, in the locale of C. */
static bool is_printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

static bool is_others(const struct act_groups *groups, size_t at)
{
	const char *text;
	size_t length;

	if (act_groups_is_other(groups, at))
		return true;
	act_groups_key(groups, at, 0, &text, &length);
	return act_groups_value(groups, at, COUNT) <= 1 || !text || !is_printable(text, length);
}

static void name_command(const struct act_groups *groups, size_t at, struct row *row)
{
	const char *text;
	size_t length, end;

	if (act_groups_is_other(groups, at)) {
		clear_row(row, "***other");
		return;
	}
	act_groups_key(groups, at, 0, &text, &length);
	end = escape_text(text ? text : "-", text ? length : 1, row->name, sizeof(row->name) - 1);
	if (act_groups_key(groups, at, 1, NULL, NULL) == 1)
		strcpy(row->name + end, "*");
}

static void name_user(const struct act_groups *groups, size_t at, struct users *users,
		      struct row *row)
{
	uint64_t uid = act_groups_key(groups, at, 0, NULL, NULL);
	const char *name = users_name(users, uid);

	if (act_groups_is_other(groups, at))
		snprintf(row->name, sizeof(row->name), "***other");
	else if (name)
		escape_text(name, strlen(name), row->name, sizeof(row->name));
	else if (uid == ACT_UNKNOWN)
		strcpy(row->name, "-");
	else
		snprintf(row->name, sizeof(row->name), "%" PRIu64, uid);
}

static void fill_row(const struct sa *sa, const struct act_groups *groups, size_t at,
		     struct users *users, struct row *row)
{
	clear_row(row, "");
	if (sa->options->by_user)
		name_user(groups, at, users, row);
	else
		name_command(groups, at, row);
	for (size_t i = 0; i < METRICS; i++)
		row->value[i] = act_groups_real(groups, at, i);
}

static void fill(struct sa *sa, const struct act_groups *groups, struct users *users)
{
	bool folds = !sa->options->all && !sa->options->by_user;
	struct row other, row;
	bool has_other = false;

	clear_row(&sa->total, "");
	clear_row(&other, "***other");
	for (size_t at = 0; at < act_groups_count(groups); at++) {
		fill_row(sa, groups, at, users, &row);
		add_row(&sa->total, &row);
		if (folds && is_others(groups, at)) {
			add_row(&other, &row);
			has_other = true;
		} else {
			sa->rows[sa->count++] = row;
		}
	}
	if (has_other)
		sa->rows[sa->count++] = other;
	if (!sa->count)
		sa->total.value[COUNT] = 0;
}

/* ---- What the columns show ---- */

/* A sum of which one side may be unknown. */
static double sum(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double cpu_of(const struct row *row)
{
	return sum(row->value[USER], row->value[SYSTEM]);
}

/* Blocks of 1 KiB to and from storage, a process. */
static double io_of(const struct row *row)
{
	return sum(row->value[READ], row->value[WRITTEN]) / 1024 / row->value[COUNT];
}

static double memory_of(const struct row *row)
{
	return row->value[MEMORY_UPPER] / row->value[MEMORY_LOWER] * INTEGRAL_TO_K;
}

static double rank_of(const struct row *row, enum sa_order order)
{
	switch (order) {
	case SA_BY_COUNT:
		return row->value[COUNT];
	case SA_BY_REAL:
		return row->value[REAL];
	case SA_BY_IO:
		return io_of(row);
	case SA_BY_MEMORY:
		return memory_of(row);
	default:
		return cpu_of(row);
	}
}

/* What is unknown is least; greatest first. */
static int compare_ranks(const struct row *a, const struct row *b, enum sa_order order)
{
	double x = rank_of(a, order), y = rank_of(b, order);

	if (isnan(x) || isnan(y))
		return isnan(x) - isnan(y);
	return x > y ? -1 : x < y;
}

static int compare_rows(const void *a_void, const void *b_void, void *arg)
{
	const struct sa_options *options = arg;
	const struct row *a = a_void, *b = b_void;
	int order = compare_ranks(a, b, options->order);

	if (options->is_ascending)
		order = -order;
	if (!order)
		order = compare_ranks(a, b, SA_BY_COUNT);
	if (!order)
		order = compare_ranks(a, b, SA_BY_REAL);
	return order ? order : strcmp(a->name, b->name);
}

/* ---- Printing ---- */

static void put_number(struct out *out, double value, int width, int decimals, const char *unit)
{
	if (isnan(value))
		out_printf(out, "%*s%s", width, "-", unit);
	else
		out_printf(out, "%*.*f%s", width, decimals, value, unit);
}

static void put_share(const struct sa *sa, struct out *out, double part, double whole)
{
	if (!sa->options->percentages)
		return;
	put_number(out, whole > 0 ? 100 * part / whole : 0, 8, 2, "%");
}

static void put_time(const struct sa *sa, struct out *out, const struct row *row, double ns,
		     double total_ns, const char *unit)
{
	/* The first line is of all processes, so seconds a call have no place there. */
	if (sa->options->seconds && row != &sa->total)
		put_number(out, ns / NS_A_SECOND / row->value[COUNT], 11, 2, unit);
	else
		put_number(out, ns / NS_A_MINUTE, 11, 2, unit);
	put_share(sa, out, ns, total_ns);
}

static void put_ratio(struct out *out, const struct row *row)
{
	double cpu = cpu_of(row);

	if (cpu > 0 && !isnan(row->value[REAL]))
		put_number(out, row->value[REAL] / cpu, 8, 1, "re/cp");
	else
		out_string(out, "*ignore*re/cp");
}

static void put_row(const struct sa *sa, struct out *out, const struct row *row)
{
	const double *value = row->value, *total = sa->total.value;

	if (sa->options->by_user)
		out_printf(out, "%-32s ", row->name);
	put_number(out, value[COUNT], 8, 0, "");
	put_share(sa, out, value[COUNT], total[COUNT]);
	put_time(sa, out, row, value[REAL], total[REAL], "re");
	if (sa->options->separate) {
		put_time(sa, out, row, value[USER], total[USER], "u");
		put_time(sa, out, row, value[SYSTEM], total[SYSTEM], "s");
	} else {
		put_time(sa, out, row, cpu_of(row), cpu_of(&sa->total), "cp");
	}
	if (sa->options->ratio)
		put_ratio(out, row);
	put_number(out, io_of(row), 10, 0, "avio");
	put_number(out, memory_of(row), 10, 0, "k");
	if (!sa->options->by_user && *row->name)
		out_printf(out, "   %s", row->name);
	out_string(out, "\n");
}

int sa_print(const struct sa_options *options, const struct act_groups *groups, struct out *out)
{
	/* One for ***other. */
	struct sa sa = { .options = options };
	struct sa_options order = *options;
	struct users *users = users_new();
	int ret = -ENOMEM;

	sa.rows = calloc(act_groups_count(groups) + 1, sizeof(*sa.rows));
	if (!sa.rows || !users)
		goto out;
	fill(&sa, groups, users);
	qsort_r(sa.rows, sa.count, sizeof(*sa.rows), compare_rows, &order);
	put_row(&sa, out, &sa.total);
	for (size_t i = 0; i < sa.count; i++)
		put_row(&sa, out, &sa.rows[i]);
	ret = 0;
out:
	free(sa.rows);
	users_free(users);
	return ret;
}

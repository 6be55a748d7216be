/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/stats.h>

#include "out.h"

/* ---- Collecting ---- */

static size_t count_own(const struct workload *workload)
{
	size_t n = 0;

	while (workload->metrics && workload->metrics[n].name)
		n++;
	return n;
}

int summary_init(struct summary *summary, const struct workload *workload)
{
	*summary = (struct summary){ .workload = workload, .ops = NAN, .harness_ns = NAN };
	summary->metrics = HARNESS_METRICS + count_own(workload) + (workload->series != NULL);
	summary->total = calloc(summary->metrics, sizeof(*summary->total));
	summary->per_op = calloc(summary->metrics, sizeof(*summary->per_op));
	summary->marks = calloc(summary->metrics, sizeof(*summary->marks));
	return summary->total && summary->per_op && summary->marks ? 0 : -ENOMEM;
}

void summary_release(struct summary *summary)
{
	for (size_t i = 0; i < summary->metrics; i++) {
		if (summary->total)
			vector_release(&summary->total[i]);
		if (summary->per_op)
			vector_release(&summary->per_op[i]);
	}
	free(summary->total);
	free(summary->per_op);
	free(summary->marks);
	*summary = (struct summary){ 0 };
}

static void note_ops(struct summary *summary, double ops)
{
	if (!summary->has_ops)
		summary->ops = ops;
	else if (summary->ops != ops)
		summary->ops = NAN;
	summary->has_ops = true;
}

/* What is not known is left out, of both alike. */
static int add_value(struct summary *summary, size_t metric, double value, double ops)
{
	int ret = 0;

	if (!isfinite(value))
		return 0;
	ret = vector_push(&summary->total[metric], value);
	if (ret == 0 && ops > 0)
		ret = vector_push(&summary->per_op[metric], value / ops);
	return ret;
}

int summary_add(struct summary *summary, const struct sample *sample)
{
	size_t scalars = summary->metrics - (summary->workload->series != NULL);
	int ret = 0;

	if (sample->is_warmup)
		return 0;
	if (sample->values != scalars)
		return -EPROTO;
	note_ops(summary, sample->ops);
	for (size_t i = 0; ret == 0 && i < scalars; i++)
		ret = add_value(summary, i, sample->value[i], sample->ops);
	if (ret == 0 && scalars < summary->metrics)
		ret = vector_append(&summary->total[scalars], sample->series,
				    sample->series_count);
	return ret;
}

void summary_mark(struct summary *summary)
{
	for (size_t i = 0; i < summary->metrics; i++)
		summary->marks[i] = (struct summary_mark){ summary->total[i].n,
							   summary->per_op[i].n };
}

void summary_take_back(struct summary *summary)
{
	for (size_t i = 0; i < summary->metrics; i++) {
		summary->total[i].n = summary->marks[i].total;
		summary->per_op[i].n = summary->marks[i].per_op;
	}
}

/* ---- Telling ---- */

const char *summary_metric(const struct summary *summary, size_t index)
{
	if (index < HARNESS_METRICS)
		return harness_metrics[index].name;
	if (summary->workload->series && index == summary->metrics - 1)
		return summary->workload->series;
	return summary->workload->metrics[index - HARNESS_METRICS].name;
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t length = strlen(name), end = strlen(suffix);

	return length >= end && strcmp(name + length - end, suffix) == 0;
}

/* Four digits, in the largest unit that leaves one before the point. */
static void format_scaled(double value, const char *const *units, size_t count, double step,
			  char *ret_text, size_t room)
{
	size_t unit = 0;

	while (unit + 1 < count && fabs(value) >= step) {
		value /= step;
		unit++;
	}
	/* "%.4g" would write 12345 s as 1.234e+04. */
	if (fabs(value) >= 1000)
		snprintf(ret_text, room, "%.0f%s", value, units[unit]);
	else
		snprintf(ret_text, room, "%.4g%s", value, units[unit]);
}

static void format_metric(const char *name, double value, char *ret_text, size_t room)
{
	static const char *const times[] = { "ns", "us", "ms", "s" };
	static const char *const sizes[] = { "", "K", "M", "G", "T" };
	static const char *const none[] = { "" };

	if (!isfinite(value))
		snprintf(ret_text, room, "-");
	else if (has_suffix(name, "_ns"))
		format_scaled(value, times, 4, 1000, ret_text, room);
	else if (has_suffix(name, "_bytes"))
		format_scaled(value, sizes, 5, 1024, ret_text, room);
	else
		format_scaled(value, none, 1, 0, ret_text, room);
}

static void put_text(struct table *table, const char *text)
{
	table_cell(table, text, strlen(text));
}

static void put_metric(struct table *table, const char *name, double value)
{
	char text[64];

	format_metric(name, value, text, sizeof(text));
	put_text(table, text);
}

struct figures {
	struct act_description all;
	double per_op; /* median; NaN: none */
};

static int describe(const struct summary *summary, size_t metric, struct figures *ret)
{
	const struct vector *total = &summary->total[metric], *per_op = &summary->per_op[metric];
	double *sorted;
	int ret_sort;

	*ret = (struct figures){ .per_op = NAN };
	if (!total->n)
		return 0;
	sorted = malloc(total->n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, total->value, total->n * sizeof(*sorted));
	ret_sort = act_sort(sorted, total->n);
	if (ret_sort == 0)
		ret_sort = act_describe(total->value, sorted, total->n, &ret->all);
	free(sorted);
	if (ret_sort == 0 && per_op->n) {
		ret_sort = act_sort(per_op->value, per_op->n);
		ret->per_op = act_quantile(per_op->value, per_op->n, 0.5);
	}
	return ret_sort;
}

/* A series that was not asked for has no row. */
static bool is_shown(const struct summary *summary, size_t metric)
{
	return metric < HARNESS_METRICS || summary->total[metric].n ||
	       !summary->workload->series || metric + 1 < summary->metrics;
}

static void put_row(struct table *table, const char *name, const struct figures *figures)
{
	const struct act_description *all = &figures->all;
	const double values[] = { all->median, all->mean, all->sd, all->min, all->max,
				  figures->per_op };
	char count[24];

	snprintf(count, sizeof(count), "%" PRIu64, all->n);
	put_text(table, name);
	put_text(table, count);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		put_metric(table, name, all->n ? values[i] : NAN);
}

static void print_head(const struct summary *summary, struct out *out)
{
	out_printf(out, "%s: %" PRIu64 " %s", summary->workload->name, summary->runs,
		   summary->runs == 1 ? "run" : "runs");
	if (summary->invalid)
		out_printf(out, " and %" PRIu64 " that failed and do not count", summary->invalid);
	if (isfinite(summary->ops))
		out_printf(out, ", %.15g %s a round", summary->ops,
			   summary->ops == 1 ? "operation" : "operations");
	out_string(out, "\n\n");
}

static void print_foot(const struct summary *summary, struct out *out)
{
	char text[64];

	format_metric("_ns", summary->harness_ns, text, sizeof(text));
	out_printf(out, "\nOf each wall_ns %s are the harness's own; per op: median of "
		   "value/operations.\n", text);
	out_string(out, "user_ns and system_ns are split by ticks: trust their sum, cpu_ns.\n");
}

int summary_print(struct summary *summary, struct out *out, size_t width)
{
	static const char *const headings[] = { "METRIC", "N", "MEDIAN", "MEAN", "SD", "MIN",
						"MAX", "PER OP" };
	struct table *table = table_new();
	int ret = table ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < sizeof(headings) / sizeof(*headings); i++)
		table_column(table, headings[i], i > 0);
	for (size_t i = 0; ret == 0 && i < summary->metrics; i++) {
		struct figures figures;

		if (!is_shown(summary, i))
			continue;
		ret = describe(summary, i, &figures);
		if (ret == 0)
			put_row(table, summary_metric(summary, i), &figures);
	}
	if (ret == 0) {
		print_head(summary, out);
		ret = table_print(table, out, width);
		print_foot(summary, out);
	}
	table_free(table);
	return ret;
}

static void json_string(struct out *out, const char *key, const char *text)
{
	out_json_string(out, key, text, strlen(text));
}

static void json_metric(struct out *out, const char *name, const struct figures *figures)
{
	const struct act_description *all = &figures->all;
	bool is_known = all->n > 0;

	out_json_begin_object(out, NULL);
	json_string(out, "metric", name);
	out_json_u64(out, "n", all->n);
	out_json_double(out, "median", is_known ? all->median : NAN);
	out_json_double(out, "mean", is_known ? all->mean : NAN);
	out_json_double(out, "sd", is_known ? all->sd : NAN);
	out_json_double(out, "min", is_known ? all->min : NAN);
	out_json_double(out, "max", is_known ? all->max : NAN);
	out_json_double(out, "per_op", figures->per_op);
	out_json_close(out);
}

int summary_print_json(struct summary *summary, struct out *out)
{
	int ret = 0;

	out_json_begin(out);
	json_string(out, "workload", summary->workload->name);
	json_string(out, "primary", summary->workload->primary);
	out_json_u64(out, "runs", summary->runs);
	out_json_u64(out, "invalid", summary->invalid);
	out_json_double(out, "ops", summary->ops);
	out_json_double(out, "harness_ns", summary->harness_ns);
	out_json_begin_array(out, "metrics");
	for (size_t i = 0; ret == 0 && i < summary->metrics; i++) {
		struct figures figures;

		if (!is_shown(summary, i))
			continue;
		ret = describe(summary, i, &figures);
		if (ret == 0)
			json_metric(out, summary_metric(summary, i), &figures);
	}
	out_json_close(out);
	out_json_end(out);
	return ret;
}

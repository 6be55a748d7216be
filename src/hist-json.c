/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hist.h"

#include <string.h>

static void json_text(struct out *out, const char *key, const char *text)
{
	if (text && *text)
		out_json_string(out, key, text, strlen(text));
	else
		out_json_null(out, key);
}

static void print_names(struct out *out, const struct samples *samples)
{
	json_text(out, "file", samples->file);
	json_text(out, "condition", samples->condition);
	json_text(out, "metric", samples->metric);
	json_text(out, "unit", samples->unit);
	out_json_bool(out, "aa", samples->is_aa);
	out_json_u64(out, "invalid", samples->invalid);
	out_json_u64(out, "warmups", samples->warmups);
	out_json_u64(out, "unknown", samples->unknown);
}

static void print_description(struct out *out, const struct act_description *it)
{
	out_json_u64(out, "n", it->n);
	out_json_double(out, "min", it->min);
	out_json_double(out, "max", it->max);
	out_json_double(out, "sum", it->sum);
	out_json_double(out, "mean", it->mean);
	out_json_double(out, "median", it->median);
	out_json_double(out, "variance", it->variance);
	out_json_double(out, "sd", it->sd);
	out_json_double(out, "mad", it->mad);
	out_json_double(out, "lag1", it->lag1);
	out_json_double(out, "effective_n", act_effective_n((double)it->n, it->lag1));
	out_json_u64(out, "unique", it->unique);
	out_json_u64(out, "outliers", it->outliers);
}

static void print_frequent(struct out *out, const struct hist_set *set)
{
	struct act_frequent frequent[HIST_FREQUENT];
	size_t count = act_most_frequent(set->sorted, set->samples->n, frequent, HIST_FREQUENT);

	out_json_begin_array(out, "frequent");
	for (size_t i = 0; i < count; i++) {
		out_json_begin_object(out, NULL);
		out_json_double(out, "value", frequent[i].value);
		out_json_u64(out, "count", frequent[i].count);
		out_json_close(out);
	}
	out_json_close(out);
}

static void print_percents(struct out *out, const struct hist_set *set,
			   const struct hist_percents *percents)
{
	size_t n = set->samples->n;

	out_json_begin_array(out, "percentiles");
	for (size_t i = 0; i < percents->count; i++) {
		double p = percents->percent[i] / 100;
		struct act_interval interval = act_quantile_interval(set->sorted, n, p, HIST_LEVEL);

		out_json_begin_object(out, NULL);
		out_json_double(out, "percent", percents->percent[i]);
		out_json_double(out, "value", act_quantile(set->sorted, n, p));
		out_json_double(out, "low", interval.low);
		out_json_double(out, "high", interval.high);
		out_json_double(out, "level", interval.level);
		out_json_close(out);
	}
	out_json_close(out);
}

static void print_bins(struct out *out, const struct act_bins *bins, const struct hist_axis *axis)
{
	out_json_u64(out, "below", bins->below);
	out_json_u64(out, "above", bins->above);
	out_json_begin_array(out, "bins");
	for (size_t i = 0; i < bins->count; i++) {
		out_json_begin_object(out, NULL);
		out_json_double(out, "low", hist_round(hist_edge(bins, i), axis));
		out_json_double(out, "high", hist_round(hist_edge(bins, i + 1), axis));
		out_json_u64(out, "count", bins->bin[i]);
		out_json_close(out);
	}
	out_json_close(out);
}

void hist_print_json(struct out *out, const struct hist_set *set, const struct hist_axis *axis,
		     const struct hist_percents *percents)
{
	out_json_begin(out);
	print_names(out, set->samples);
	print_description(out, &set->description);
	print_frequent(out, set);
	print_percents(out, set, percents);
	print_bins(out, &set->bins, axis);
	out_json_end(out);
}

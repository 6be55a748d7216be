/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ab.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <actuary/stats.h>

#include "bench/samples.h"
#include "compare.h"
#include "msg.h"
#include "out.h"

#define LEVEL 0.95
#define ALPHA 0.05

/* ---- What the listeners cost ---- */

static bool has_listeners(const struct ab *ab)
{
	for (size_t i = 0; i < ab->conditions; i++)
		if (condition_has_listener(&ab->condition[i]) && ab->arm[i].runs)
			return true;
	return false;
}

static void cell_text(struct table *table, const char *text)
{
	table_cell(table, text, strlen(text));
}

/* ns for each operation of the workload, "-" where nobody knows. */
static void cell_per_op(struct table *table, const struct ab_arm *arm)
{
	char text[64] = "-";

	if (arm->costs.cpu_ns != ACT_UNKNOWN && arm->ops)
		snprintf(text, sizeof(text), "%.0f",
			 (double)arm->costs.cpu_ns / (double)arm->ops);
	cell_text(table, text);
}

static void add_row(struct table *table, const struct ab *ab, size_t index)
{
	const struct ab_arm *arm = &ab->arm[index];

	cell_text(table, ab->condition[index].name);
	table_cell_value(table, ACT_TYPE_NUMBER, arm->runs);
	table_cell_value(table, ACT_TYPE_DURATION, arm->costs.cpu_ns);
	cell_per_op(table, arm);
	table_cell_value(table, ACT_TYPE_NUMBER, arm->costs.records);
	table_cell_value(table, ACT_TYPE_NUMBER, arm->costs.enobufs);
	table_cell_value(table, ACT_TYPE_NUMBER, arm->costs.lost);
}

static int print_listeners(const struct ab *ab, struct out *out)
{
	static const char *const headings[] = {
		"runs", "cpu", "cpu ns/op", "records", "enobufs", "lost",
	};
	struct table *table = table_new();
	int ret;

	if (!table)
		return STATUS_FAILED;
	table_column(table, "listener", false);
	for (size_t i = 0; i < sizeof(headings) / sizeof(*headings); i++)
		table_column(table, headings[i], true);
	for (size_t i = 0; i < ab->conditions; i++)
		if (condition_has_listener(&ab->condition[i]) && ab->arm[i].runs)
			add_row(table, ab, i);
	out_string(out, "\n");
	ret = table_print(table, out, terminal_width());
	table_free(table);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

static void print_listeners_json(const struct ab *ab, struct out *out)
{
	for (size_t i = 0; i < ab->conditions; i++) {
		const struct condition *condition = &ab->condition[i];
		const struct ab_arm *arm = &ab->arm[i];

		if (!condition_has_listener(condition) || !arm->runs)
			continue;
		out_json_begin(out);
		out_json_string(out, "type", "listener", strlen("listener"));
		out_json_string(out, "condition", condition->name, strlen(condition->name));
		out_json_u64(out, "runs", arm->runs);
		out_json_u64(out, "ops", arm->ops);
		out_json_u64(out, "cpu_ns", arm->costs.cpu_ns);
		out_json_u64(out, "records", arm->costs.records);
		out_json_u64(out, "enobufs", arm->costs.enobufs);
		out_json_u64(out, "lost", arm->costs.lost);
		out_json_end(out);
	}
}

/* ---- The comparison, as `actuary compare` prints it ---- */

static int print_comparison(const struct ab *ab, const char *path, struct out *out,
			    bool *ret_differs)
{
	const struct method method = {
		.pairing = PAIRING_AUTO, .scale = SCALE_AUTO, .level = LEVEL, .bound = ab->bound,
	};
	struct samples_options samples = { 0 };
	char *paths[] = { (char *)path };
	struct comparable all;
	int status = comparable_load(&samples, method.level, 1, paths, &all);

	if (status)
		return status;
	status = comparable_print(&all, &method, ab->opt->json ? STYLE_JSON : STYLE_TEXT,
				  !ab->opt->json && isatty(STDOUT_FILENO), out, ret_differs);
	comparable_free(&all);
	return status;
}

static void print_course(const struct ab *ab, struct out *out)
{
	out_printf(out, "\nseed %" PRIu64 ", an empty round takes %.0f ns", ab->seed,
		   ab->harness_ns);
	if (*ab->noise)
		out_printf(out, "; measured although %s", ab->noise);
	out_string(out, "\n");
}

static int print_rest(const struct ab *ab, struct out *out)
{
	int status = STATUS_OK;

	if (ab->opt->json) {
		print_listeners_json(ab, out);
		return STATUS_OK;
	}
	if (has_listeners(ab))
		status = print_listeners(ab, out);
	print_course(ab, out);
	return status;
}

int ab_report(struct ab *ab, const char *path)
{
	struct out *out = open_output(NULL);
	bool differs = false;
	int status;

	if (!out)
		return STATUS_FAILED;
	status = print_comparison(ab, path, out, &differs);
	if (status == STATUS_OK)
		status = print_rest(ab, out);
	/* Main tells of output that could not be written. */
	out_close(out);
	return status == STATUS_OK && ab->opt->gate && differs ? STATUS_DIFFERENT : status;
}

/* ---- --plan ---- */

struct forecast {
	double sd;         /* of the logarithms of ratios */
	double pairs[2];   /* that find the bound with a power of 80 and 90 % */
	double pair_ns;    /* what a pair takes */
};
static const double powers[] = { 0.8, 0.9 };

static bool forecast(const struct ab *ab, size_t index, struct forecast *ret)
{
	const struct vector *difference = &ab->arm[index].difference;
	struct act_summary summary;

	if (difference->n < 2 || act_summarize(difference->value, difference->n, &summary) < 0)
		return false;
	ret->sd = summary.sd;
	for (size_t i = 0; i < 2; i++)
		ret->pairs[i] = act_pairs_needed(summary.sd, ab->bound, ALPHA, powers[i]);
	ret->pair_ns = (double)(ab->ended_ns - ab->began_ns) / (double)ab->done;
	return true;
}

static void print_forecast(const struct ab *ab, size_t index, const struct forecast *is,
			   struct out *out)
{
	out_printf(out, "%s against %s: single pairs scatter by %.2f %% (sd, of %zu pairs)\n",
		   ab->condition[index].name, ab->condition[0].name, 100 * is->sd,
		   ab->arm[index].difference.n);
	for (size_t i = 0; i < 2; i++) {
		/* A/A pairs come on top, by their share of all. */
		double takes_ns = is->pairs[i] * is->pair_ns / (1 - ab->aa);
		char takes[64];

		takes[format_duration((uint64_t)takes_ns, takes, sizeof(takes))] = '\0';
		out_printf(out, "  %.0f pairs find a difference of %.3g %% in %.0f of 100 cases, "
			   "and take %s\n", is->pairs[i], 100 * ab->bound, 100 * powers[i], takes);
	}
}

static void print_forecast_json(const struct ab *ab, size_t index, const struct forecast *is,
				struct out *out)
{
	const char *name = ab->condition[index].name;

	out_json_begin(out);
	out_json_string(out, "type", "plan", strlen("plan"));
	out_json_string(out, "condition", name, strlen(name));
	out_json_u64(out, "pilot_pairs", ab->arm[index].difference.n);
	out_json_double(out, "sd", is->sd);
	out_json_double(out, "bound", ab->bound);
	out_json_double(out, "pairs_power_80", is->pairs[0]);
	out_json_double(out, "pairs_power_90", is->pairs[1]);
	out_json_double(out, "pair_ns", is->pair_ns);
	out_json_end(out);
}

int ab_report_plan(struct ab *ab)
{
	struct out *out = open_output(NULL);
	int status = STATUS_OK;

	if (!out)
		return STATUS_FAILED;
	for (size_t i = 1; i < ab->conditions; i++) {
		struct forecast is;

		if (!forecast(ab, i, &is)) {
			msg_error("the pilot made too few pairs of %s and %s to plan by",
				  ab->condition[0].name, ab->condition[i].name);
			status = STATUS_UNTRUSTED;
		} else if (ab->opt->json) {
			print_forecast_json(ab, i, &is, out);
		} else {
			print_forecast(ab, i, &is, out);
		}
	}
	out_close(out);
	return status;
}

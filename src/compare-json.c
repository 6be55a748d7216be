/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons for programs: JSON Lines and CSV, in full precision and the metric's own unit. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "out.h"

static void json_text(struct out *out, const char *key, const char *text)
{
	if (text)
		out_json_string(out, key, text, strlen(text));
	else
		out_json_null(out, key);
}

/* ---- Arms ---- */

void print_arms_json(const struct comparable *all, struct out *out)
{
	for (size_t i = 0; i < all->differences; i++) {
		const struct difference *difference = &all->difference[i];

		out_json_begin(out);
		json_text(out, "type", "environment");
		json_text(out, "arm", all->arm[difference->arm].name);
		json_text(out, "key", difference->key);
		json_text(out, "base", difference->base);
		json_text(out, "other", difference->other);
		out_json_end(out);
	}
	for (size_t i = 0; i < all->arms; i++) {
		const struct arm *arm = &all->arm[i];

		out_json_begin(out);
		json_text(out, "type", "arm");
		json_text(out, "name", arm->name);
		out_json_u64(out, "invalid", arm->invalid);
		out_json_u64(out, "warmups", arm->warmups);
		out_json_u64(out, "unknown", arm->unknown);
		out_json_end(out);
	}
}

/* ---- Comparisons ---- */

static void json_interval(struct out *out, const char *key, const struct act_interval *interval)
{
	out_json_begin_object(out, key);
	out_json_double(out, "low", interval->low);
	out_json_double(out, "high", interval->high);
	out_json_double(out, "level", interval->level);
	out_json_close(out);
}

static void json_test(struct out *out, const char *key, const struct act_test *test)
{
	out_json_begin_object(out, key);
	out_json_double(out, "statistic", test->statistic);
	if (!isnan(test->df))
		out_json_double(out, "df", test->df);
	out_json_double(out, "p", test->p);
	if (test->p_floor > 0)
		out_json_double(out, "p_floor", test->p_floor);
	out_json_bool(out, "exact", test->is_exact);
	out_json_close(out);
}

static void json_set(struct out *out, const char *key, const struct arm *arm,
		     const struct set *set)
{
	const struct act_description *description = &set->description;

	out_json_begin_object(out, key);
	json_text(out, "name", arm->name);
	out_json_u64(out, "n", set->n);
	out_json_double(out, "median", description->median);
	out_json_double(out, "mean", description->mean);
	out_json_double(out, "sd", description->sd);
	out_json_double(out, "min", description->min);
	out_json_double(out, "max", description->max);
	out_json_close(out);
}

static void json_tests(struct out *out, const struct comparison *c)
{
	json_test(out, "test", &c->test);
	out_json_double(out, "p_adjusted", c->p_adjusted);
	if (c->is_paired)
		json_test(out, "paired_t", &c->paired_t);
	json_test(out, "mann_whitney", &c->mann_whitney);
	json_test(out, "welch", &c->welch);
	json_test(out, "student", &c->student);
}

static void json_effects(struct out *out, const struct comparison *c)
{
	out_json_double(out, "effect", c->effect);
	json_interval(out, "interval", &c->interval);
	out_json_double(out, "difference", c->shift);
	json_interval(out, "difference_interval", &c->shift_interval);
	out_json_double(out, "mean_ratio", c->mean_ratio);
	json_interval(out, "mean_ratio_interval", &c->mean_ratio_interval);
	out_json_double(out, "mean_difference", c->mean_shift);
	json_interval(out, "mean_difference_interval", &c->mean_shift_interval);
	out_json_double(out, "a12", c->a12);
	out_json_double(out, "cohen_d", c->cohen_d);
	out_json_double(out, "noise", c->metric->noise);
	out_json_double(out, "detectable", c->detectable);
	out_json_double(out, "pairs_needed", c->pairs_needed);
}

static void json_notes(struct out *out, const struct comparison *c)
{
	out_json_begin_array(out, "notes");
	for (size_t i = 0; i < c->notes; i++) {
		out_json_begin_object(out, NULL);
		json_text(out, "kind", note_word(c->note[i].kind));
		out_json_bool(out, "warning", c->note[i].is_warning);
		json_text(out, "text", c->note[i].text);
		out_json_close(out);
	}
	out_json_close(out);
}

void print_comparison_json(const struct comparison *c, const char *against, struct out *out)
{
	out_json_begin(out);
	json_text(out, "type", "comparison");
	json_text(out, "metric", c->metric->name);
	json_text(out, "unit", c->metric->unit);
	out_json_bool(out, "primary", c->metric->is_primary);
	if (against)
		json_text(out, "against", against);
	json_set(out, "base", c->base_arm, c->base);
	json_set(out, "other", c->other_arm, c->other);
	out_json_bool(out, "paired", c->is_paired);
	if (c->is_paired) {
		out_json_u64(out, "pairs", c->pairs.n);
		out_json_u64(out, "units", c->pairs.units);
	}
	json_text(out, "scale", c->is_ratio ? "ratio" : "difference");
	json_text(out, "verdict", comparison_word(c));
	out_json_double(out, "bound", c->bound);
	json_effects(out, c);
	json_tests(out, c);
	json_notes(out, c);
	out_json_end(out);
}

/* ---- CSV ---- */

static void csv_text(struct out *out, const char *text)
{
	out_csv_field(out, text, strlen(text));
}

/* Unknown is an empty field. */
static void csv_double(struct out *out, double value)
{
	char text[32] = "";

	if (!isnan(value))
		snprintf(text, sizeof(text), "%.15g", value);
	csv_text(out, text);
}

void print_csv_heading(struct out *out)
{
	static const char *const names[] = {
		"metric", "unit", "against", "base", "other", "base_n", "other_n", "pairs",
		"base_median", "other_median", "base_mean", "other_mean", "base_sd", "other_sd",
		"scale", "effect", "low", "high", "level", "difference", "difference_low",
		"difference_high", "mean_ratio", "mean_ratio_low", "mean_ratio_high", "p",
		"p_adjusted", "welch_p", "mann_whitney_p", "verdict",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		csv_text(out, names[i]);
	out_csv_end(out);
}

static void csv_interval(struct out *out, double value, const struct act_interval *interval)
{
	csv_double(out, value);
	csv_double(out, interval->low);
	csv_double(out, interval->high);
}

void print_comparison_csv(const struct comparison *c, const char *against, struct out *out)
{
	const struct act_description *base = &c->base->description;
	const struct act_description *other = &c->other->description;

	csv_text(out, c->metric->name);
	csv_text(out, c->metric->unit);
	csv_text(out, against ? against : "");
	csv_text(out, c->base_arm->name);
	csv_text(out, c->other_arm->name);
	csv_double(out, (double)c->base->n);
	csv_double(out, (double)c->other->n);
	csv_double(out, c->is_paired ? (double)c->pairs.n : NAN);
	csv_double(out, base->median);
	csv_double(out, other->median);
	csv_double(out, base->mean);
	csv_double(out, other->mean);
	csv_double(out, base->sd);
	csv_double(out, other->sd);
	csv_text(out, c->is_ratio ? "ratio" : "difference");
	csv_interval(out, c->effect, &c->interval);
	csv_double(out, c->interval.level);
	csv_interval(out, c->shift, &c->shift_interval);
	csv_interval(out, c->mean_ratio, &c->mean_ratio_interval);
	csv_double(out, c->test.p);
	csv_double(out, c->p_adjusted);
	csv_double(out, c->welch.p);
	csv_double(out, c->mann_whitney.p);
	csv_text(out, comparison_word(c));
	out_csv_end(out);
}

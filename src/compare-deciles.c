/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of each decile: whether a change is of all values alike, or of the tail. */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "out.h"

#define DECILES 9
#define SEED 1 /* any: the bands can be had again */

static void add_decile(struct table *table, const struct act_quantile_shift *decile, bool is_ratio,
		       const struct form *form)
{
	char name[16], text[INTERVAL_ROOM];

	snprintf(name, sizeof(name), "p%.0f", 100 * decile->p);
	table_cell(table, name, strlen(name));
	number_text(decile->a, form, text);
	table_cell(table, text, strlen(text));
	number_text(decile->b, form, text);
	table_cell(table, text, strlen(text));
	if (is_ratio)
		ratio_text(decile->shift, text);
	else
		shift_text(decile->shift, form, text);
	table_cell(table, text, strlen(text));
	if (is_ratio)
		ratio_interval_text(&decile->interval, text);
	else
		shift_interval_text(&decile->interval, form, text);
	table_cell(table, text, strlen(text));
}

static int print_one(const struct comparison *c, const struct act_quantile_shift *deciles,
		     double level, struct out *out)
{
	struct form form = form_of(c);
	struct table *table = table_new();
	char base[NAME_ROOM], other[NAME_ROOM];
	int ret;

	if (!table)
		return -ENOMEM;
	out_printf(out, "%s%sdeciles; ", *c->metric->name ? c->metric->name : "",
		   *c->metric->name ? ": " : "");
	if (isnan(deciles->interval.low))
		out_printf(out, "no bands: they take %d to %d values a side\n\n",
			   ACT_RESAMPLED_LEAST, ACT_RESAMPLED_MOST);
	else
		out_printf(out, "bands of %g %% by %d resamples of %s (bootstrap)\n\n", 100 * level,
			   ACT_RESAMPLES, c->is_paired ? "pairs" : "each side");
	table_column(table, "DECILE", false);
	table_column(table, name_text(c->base_arm->name, 20, base), true);
	table_column(table, name_text(c->other_arm->name, 20, other), true);
	table_column(table, c->is_ratio ? "RATIO" : "DIFF", true);
	table_column(table, "BAND", true);
	for (size_t i = 0; i < DECILES; i++)
		add_decile(table, &deciles[i], c->is_ratio, &form);
	ret = table_print(table, out, terminal_width());
	table_free(table);
	return ret;
}

int print_deciles(const struct comparison *c, const struct method *method, struct out *out)
{
	struct act_quantile_shift deciles[DECILES];
	double p[DECILES];
	const struct act_shift_options options = {
		.is_paired = c->is_paired, .is_ratio = c->is_ratio, .level = method->level,
		.seed = SEED,
	};
	int ret;

	if (c->is_by_means)
		return 0;
	for (size_t i = 0; i < DECILES; i++)
		p[i] = (double)(i + 1) / (DECILES + 1);
	ret = c->is_paired ?
	      act_quantile_shifts(c->pairs.base, c->pairs.n, c->pairs.other, c->pairs.n, &options, p,
				  DECILES, deciles) :
	      act_quantile_shifts(c->base->value, c->base->n, c->other->value, c->other->n,
				  &options, p, DECILES, deciles);
	out_string(out, "\n");
	return ret < 0 ? ret : print_one(c, deciles, method->level, out);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many arms: patches on top of each other, releases.  Each is compared with the first and with
 * the one before; all p of a metric are one family (Holm), so that of twenty arms in which
 * nothing changed none is told to have changed, nineteen times of twenty.
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "msg.h"
#include "out.h"

/* ---- Making it ---- */

static int adjust(struct series *series, const struct method *method)
{
	double *p = calloc(2 * series->n + 1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < series->n; i++)
		p[i] = series->first[i].test.p;
	for (size_t i = 1; i < series->n; i++)
		p[series->n + i - 1] = series->before[i].test.p;
	ret = method->explores ? act_benjamini_hochberg(p, 2 * series->n - 1) :
				 act_holm(p, 2 * series->n - 1);
	for (size_t i = 0; ret == 0 && i < series->n; i++) {
		comparison_adjust(&series->first[i], p[i], method->level);
		comparison_adjust(&series->before[i], i ? p[series->n + i - 1] : p[0],
				  method->level);
	}
	free(p);
	return ret;
}

static int compare_all(const struct comparable *all, size_t metric, const struct method *method,
		       struct series *series, const char **ret_why, size_t *ret_arm)
{
	int ret = 0;

	series->first = calloc(all->arms, sizeof(*series->first));
	series->before = calloc(all->arms, sizeof(*series->before));
	if (!series->first || !series->before)
		return -ENOMEM;
	for (size_t arm = 1; arm < all->arms; arm++) {
		*ret_arm = arm;
		ret = comparison_make(all, metric, 0, arm, method, &series->first[arm - 1],
				      ret_why);
		if (ret < 0)
			return ret;
		ret = comparison_make(all, metric, arm - 1, arm, method,
				      &series->before[arm - 1], ret_why);
		if (ret < 0) {
			comparison_release(&series->first[arm - 1]);
			return ret;
		}
		series->n++;
	}
	return adjust(series, method);
}

int series_make(const struct comparable *all, size_t metric, const struct method *method,
		struct series *ret)
{
	struct series series = { 0 };
	const char *why = NULL;
	size_t arm = 0;
	int err = compare_all(all, metric, method, &series, &why, &arm);

	if (err == 0) {
		*ret = series;
		return STATUS_OK;
	}
	series_release(&series);
	if (err == -EINVAL)
		msg_error("%s cannot be compared: %s", all->arm[arm].name, why);
	else
		msg_error("cannot compare: %s", strerror(-err));
	return err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
}

void series_release(struct series *series)
{
	for (size_t i = 0; i < series->n; i++) {
		comparison_release(&series->first[i]);
		comparison_release(&series->before[i]);
	}
	free(series->first);
	free(series->before);
	*series = (struct series){ 0 };
}

/* ---- Printing it ---- */

static void cell(struct table *table, const char *text)
{
	table_cell(table, text, strlen(text));
}

static void unknown_cells(struct table *table, size_t count)
{
	while (count--)
		cell(table, "-");
}

static void comparison_cells(struct table *table, const struct comparison *c,
			     const struct form *form)
{
	char text[INTERVAL_ROOM];

	cell(table, c->is_ratio ? ratio_text(c->effect, text) : shift_text(c->effect, form, text));
	cell(table, c->is_ratio ? ratio_interval_text(&c->interval, text) :
				  shift_interval_text(&c->interval, form, text));
	cell(table, shift_text(c->shift, form, text));
	cell(table, p_text(c->p_adjusted, text));
	cell(table, comparison_word(c));
}

static void comparison_columns(struct table *table, const struct comparison *c)
{
	table_column(table, c->is_ratio ? "RATIO" : "DIFF", true);
	table_column(table, "INTERVAL", true);
	table_column(table, "COST", true);
	table_column(table, adjusted_title(c), true);
	table_column(table, "VERDICT", false);
	table_column(table, "NAME", false);
}

static void set_cells(struct table *table, const struct set *set, const struct form *form)
{
	char text[NUMBER_ROOM];

	table_cell_value(table, ACT_TYPE_NUMBER, set->n);
	cell(table, number_text(set->description.median, form, text));
	cell(table, number_text(set->description.mean, form, text));
	cell(table, number_text(set->description.sd, form, text));
}

static void add_first(struct table *table, const struct comparable *all, size_t metric,
		      const struct series *series, const struct form *form)
{
	static const char *const headings[] = { "N", "MEDIAN", "MEAN", "SD" };

	for (size_t i = 0; i < sizeof(headings) / sizeof(*headings); i++)
		table_column(table, headings[i], true);
	comparison_columns(table, series->first);
	for (size_t arm = 0; arm < all->arms; arm++) {
		set_cells(table, &all->arm[arm].set[metric], form);
		if (arm)
			comparison_cells(table, &series->first[arm - 1], form);
		else
			unknown_cells(table, 5);
		cell(table, all->arm[arm].name);
	}
}

static void add_before(struct table *table, const struct comparable *all,
		       const struct series *series, const struct form *form)
{
	comparison_columns(table, series->before);
	for (size_t i = 0; i < series->n; i++) {
		comparison_cells(table, &series->before[i], form);
		cell(table, all->arm[i + 1].name);
	}
}

static int print_one(const struct comparable *all, size_t metric, const struct series *series,
		     const struct form *form, bool is_first, struct out *out)
{
	struct table *table = table_new();
	int ret;

	if (!table)
		return -ENOMEM;
	if (is_first)
		add_first(table, all, metric, series, form);
	else
		add_before(table, all, series, form);
	ret = table_print(table, out, terminal_width());
	table_free(table);
	return ret;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
	return act_quantile(values, n, 0.5);
}

/*
 * Values of one arm share its build and its boot: if arms spread wider than their values do,
 * the steps between them are not chance, but need not be what was changed, either.
 */
static int print_spread(const struct comparable *all, size_t metric, const struct form *form,
			struct out *out)
{
	double *within = malloc(all->arms * sizeof(*within));
	double *steps = malloc(all->arms * sizeof(*steps));
	char inner[NUMBER_ROOM], step[NUMBER_ROOM];

	if (within && steps) {
		for (size_t i = 0; i < all->arms; i++)
			within[i] = all->arm[i].set[metric].description.sd;
		for (size_t i = 1; i < all->arms; i++)
			steps[i - 1] = fabs(all->arm[i].set[metric].description.mean -
					    all->arm[i - 1].set[metric].description.mean);
		out_printf(out, "within an arm values spread by %s (sd), from one to the next the "
			   "mean steps by %s (medians)\n",
			   number_text(median_of(within, all->arms), form, inner),
			   number_text(median_of(steps, all->arms - 1), form, step));
	}
	free(within);
	free(steps);
	return within && steps ? 0 : -ENOMEM;
}

/* So many decimals that the finest step from the first arm can be seen. */
static struct form form_of_all(const struct comparable *all, size_t metric)
{
	const struct set *first = &all->arm[0].set[metric];
	struct form form = form_for(&all->metric[metric], first, first);

	for (size_t i = 1; i < all->arms; i++) {
		struct form other = form_for(&all->metric[metric], first,
					     &all->arm[i].set[metric]);

		if (other.decimals > form.decimals)
			form.decimals = other.decimals;
	}
	return form;
}

int print_series(const struct comparable *all, size_t metric, const struct series *series,
		 const struct method *method, struct out *out)
{
	const struct quantity *quantity = &all->metric[metric];
	const struct comparisons first_ones = { series->n, series->first };
	char name[NAME_ROOM], first[NAME_ROOM];
	struct form form = form_of_all(all, metric);
	int ret;

	name_text(quantity->name, 40, name);
	out_printf(out, "%s%sagainst the first, %s; %s; intervals of %g %%, p by %s over "
		   "%zu, bound %g %%\n", name, *name ? ": " : "", name_text(all->arm[0].name, 40, first),
		   series->first->is_paired ? "paired" : "not paired", 100 * method->level,
		   method->explores ? "Benjamini-Hochberg" : "Holm", 2 * series->n - 1,
		   100 * method->bound);
	ret = print_one(all, metric, series, &form, true, out);
	if (ret < 0)
		return ret;
	out_printf(out, "\n%s%sagainst the one before\n", name, *name ? ": " : "");
	ret = print_one(all, metric, series, &form, false, out);
	if (ret < 0)
		return ret;
	out_string(out, "\n");
	ret = print_spread(all, metric, &form, out);
	print_notes(&first_ones, true, out);
	return ret;
}

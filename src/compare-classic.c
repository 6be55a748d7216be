/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that were posted to mailing lists before, in their shape: the overhead of an
 * accounting daemon (2006), kernbench's comparison and a t-test (2016).
 */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

/* Digits that times of old have behind the point, and what set_decimals() tells at most. */
enum { LEAST_DECIMALS = 2, MOST_DECIMALS = 6 };

static void cell(struct table *table, const char *text)
{
	table_cell(table, text, strlen(text));
}

static const char *title(const struct quantity *metric, char text[NAME_ROOM])
{
	return name_text(*metric->name ? metric->name : "value", 40, text);
}

static bool is_comparable(const struct comparable *all, size_t metric)
{
	return all->arm[0].set[metric].n && all->arm[1].set[metric].n;
}

/* ---- Their order and numbers ---- */

/* As they were told then: user, system, elapsed, CPU; then all others. */
static size_t rank(const char *name)
{
	static const char *const ranks[][2] = {
		{ "user", "user_ns" }, { "system", "system_ns" }, { "elapsed", "wall_ns" },
		{ "cpu", "cpu_ns" },
	};
	size_t i = 0, count = sizeof(ranks) / sizeof(*ranks);

	while (i < count && strcmp(name, ranks[i][0]) != 0 && strcmp(name, ranks[i][1]) != 0)
		i++;
	return i;
}

/* The metrics that both arms have, in that order.  Returns their number. */
static size_t order_metrics(const struct comparable *all, size_t *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < all->metrics; i++) {
		size_t k = count;

		if (!is_comparable(all, i))
			continue;
		while (k && rank(all->metric[ret[k - 1]].name) > rank(all->metric[i].name)) {
			ret[k] = ret[k - 1];
			k--;
		}
		ret[k] = i;
		count++;
	}
	return count;
}

static int decimals_of(const struct set *a, const struct set *b)
{
	int of_a = set_decimals(a), of_b = set_decimals(b);

	return of_a > of_b ? of_a : of_b;
}

/* Nanoseconds and bytes in a unit that can be read; others as they were told. */
static struct form classic_form(const struct quantity *metric, const struct set *a,
				const struct set *b)
{
	struct form form = form_for(metric, a, b);
	int decimals = decimals_of(a, b);

	if (strcmp(metric->unit, "ns") == 0 || strcmp(metric->unit, "bytes") == 0)
		return form;
	return (struct form){
		.factor = 1, .suffix = "",
		.decimals = decimals < LEAST_DECIMALS ? LEAST_DECIMALS : decimals,
	};
}

/* ---- (Yes - No) / No ---- */

static const char *change_text(double part, unsigned int digits, char text[NUMBER_ROOM])
{
	double percent = 100 * part;

	if (!isfinite(part))
		return strcpy(text, "-");
	/* Never "-0%". */
	if (fabs(percent) < 0.5 * pow(10, -(double)digits))
		percent = 0;
	snprintf(text, NUMBER_ROOM, percent > 0 ? "+%.*f%%" : "%.*f%%", (int)digits, percent);
	return text;
}

static const char *change_interval_text(const struct act_interval *ratio, unsigned int digits,
					char text[INTERVAL_ROOM])
{
	char low[NUMBER_ROOM], high[NUMBER_ROOM];

	if (isnan(ratio->low) || isnan(ratio->high))
		return strcpy(text, "-");
	if (isinf(ratio->high))
		return strcpy(text, "unbounded");
	snprintf(text, INTERVAL_ROOM, "[%s, %s]", change_text(ratio->low - 1, digits, low),
		 change_text(ratio->high - 1, digits, high));
	return text;
}

/* The middle's change, beside that of means; 0, -ENOMEM or -EINVAL. */
static int add_middle(struct table *table, const struct comparable *all, size_t metric,
		      const struct method *method, unsigned int digits)
{
	char text[INTERVAL_ROOM];
	struct comparison c;
	const char *why;
	int ret = comparison_make(all, metric, 0, 1, method, &c, &why);

	if (ret == -ENOMEM)
		return ret;
	if (ret < 0 || !c.is_ratio || c.is_by_means) {
		cell(table, "-");
		cell(table, "-");
	} else {
		cell(table, change_text(c.effect - 1, digits, text));
		cell(table, change_interval_text(&c.interval, digits, text));
	}
	if (ret == 0)
		comparison_release(&c);
	return 0;
}

static int add_overhead(struct table *table, const struct comparable *all, size_t metric,
			const struct method *method, unsigned int digits)
{
	const struct set *no = &all->arm[0].set[metric], *yes = &all->arm[1].set[metric];
	struct form form = classic_form(&all->metric[metric], no, yes);
	struct act_interval interval = { NAN, NAN, NAN };
	char text[INTERVAL_ROOM], name[NAME_ROOM];
	double ratio = yes->summary.mean / no->summary.mean, unused;

	if (no->summary.mean > 0 && yes->summary.mean > 0 && no->n > 1 && yes->n > 1)
		interval = act_ratio_of_means(&no->summary, &yes->summary, method->level, &unused);
	cell(table, title(&all->metric[metric], name));
	cell(table, number_text(yes->summary.mean, &form, text));
	cell(table, number_text(no->summary.mean, &form, text));
	cell(table, change_text(no->summary.mean > 0 ? ratio - 1 : NAN, digits, text));
	cell(table, change_interval_text(&interval, digits, text));
	return add_middle(table, all, metric, method, digits);
}

/*
 * Of single figures rounding is the least doubt that there is: what was 0.14 and 0.15 may
 * have been 0.1449 and 0.1451.
 */
static void print_rounding(const struct comparable *all, size_t metric, unsigned int digits,
			   struct out *out)
{
	const struct set *no = &all->arm[0].set[metric], *yes = &all->arm[1].set[metric];
	char low[NUMBER_ROOM], high[NUMBER_ROOM], name[NAME_ROOM];
	int decimals = decimals_of(no, yes);
	double half = pow(10, -decimals) / 2, a, b;

	if (no->n > 1 || yes->n > 1 || !no->value || !yes->value || decimals == MOST_DECIMALS ||
	    no->value[0] <= half)
		return;
	a = (yes->value[0] - half) / (no->value[0] + half) - 1;
	b = (yes->value[0] + half) / (no->value[0] - half) - 1;
	if (b - a < pow(10, -2 - (double)digits))
		return;
	out_printf(out, "note: %s was told to the last %g: it may be %s to %s by rounding alone\n",
		   title(&all->metric[metric], name), 2 * half, change_text(a, digits, low),
		   change_text(b, digits, high));
}

static void add_overhead_columns(struct table *table)
{
	table_column(table, "", false);
	table_column(table, "Yes", true);
	table_column(table, "No", true);
	table_column(table, "Ovhd", true);
	table_column(table, "interval", true);
	table_column(table, "middle", true);
	table_column(table, "interval", true);
}

int print_overhead(const struct comparable *all, const struct method *method,
		   unsigned int digits, struct out *out)
{
	size_t *metric = calloc(all->metrics, sizeof(*metric)), count;
	struct table *table = table_new();
	char yes[NAME_ROOM], no[NAME_ROOM];
	int ret = -ENOMEM;

	if (!table || !metric)
		goto out;
	count = order_metrics(all, metric);
	print_around(all, out);
	out_printf(out, "Yes: %s, No: %s\nOvhd = (Yes-No)/No of means (Fieller), middle by "
		   "Hodges-Lehmann; intervals of %g %%\n\n",
		   name_text(all->arm[1].name, 60, yes), name_text(all->arm[0].name, 60, no),
		   100 * method->level);
	add_overhead_columns(table);
	ret = 0;
	for (size_t i = 0; ret == 0 && i < count; i++)
		ret = add_overhead(table, all, metric[i], method, digits);
	if (ret == 0)
		ret = table_print(table, out, terminal_width());
	out_string(out, "\n");
	for (size_t i = 0; i < count; i++)
		print_rounding(all, metric[i], digits, out);
out:
	table_free(table);
	free(metric);
	return ret;
}

/* ---- kernbench ---- */

/* Four digits, two of them decimals at least; zeros at the end say nothing. */
static const char *kernbench_text(double value, char text[NUMBER_ROOM])
{
	int decimals = isnormal(value) ? 3 - (int)floor(log10(fabs(value))) : 0;
	size_t length;

	if (isnan(value))
		return strcpy(text, "-");
	if (decimals > 12 || fabs(value) >= 1e15) {
		snprintf(text, NUMBER_ROOM, "%.4g", value);
		return text;
	}
	snprintf(text, NUMBER_ROOM, "%.*f", decimals < 2 ? 2 : decimals, value);
	length = strlen(text);
	while (text[length - 1] == '0')
		text[--length] = '\0';
	if (text[length - 1] == '.')
		text[--length] = '\0';
	return text;
}

/* Minus is worse: the base's figure less the new one's, as part of the base's. */
static const char *kernbench_change(double base, double new, unsigned int digits,
				    char text[NUMBER_ROOM])
{
	double percent = 100 * (base - new) / base;

	if (!isfinite(percent))
		return strcpy(text, "(-)");
	if (fabs(percent) < 0.5 * pow(10, -(double)digits))
		percent = 0;
	snprintf(text, NUMBER_ROOM, "(%.*f%%)", (int)digits, percent);
	return text;
}

static void add_kernbench(struct table *table, const char *name, const struct act_description *base,
			  const struct act_description *new, unsigned int digits)
{
	const struct {
		const char *name;
		double base, new;
	} rows[] = {
		{ "mean", base->mean, new->mean }, { "std", base->sd, new->sd },
		{ "var", base->variance, new->variance }, { "max", base->max, new->max },
		{ "min", base->min, new->min },
	};
	char text[NUMBER_ROOM];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cell(table, i ? "" : name);
		cell(table, rows[i].name);
		cell(table, kernbench_text(rows[i].base, text));
		cell(table, kernbench_text(rows[i].new, text));
		cell(table, kernbench_change(rows[i].base, rows[i].new, digits, text));
	}
}

static struct act_description in_seconds(struct act_description ns)
{
	ns.mean /= 1e9;
	ns.sd /= 1e9;
	ns.variance /= 1e18;
	ns.max /= 1e9;
	ns.min /= 1e9;
	return ns;
}

/* CPU time in percent of elapsed time, value by value.  -ENODATA: they don't match. */
static int describe_share(const struct set *cpu, const struct set *wall,
			  struct act_description *ret)
{
	double *share;
	int err;

	if (!cpu->n || cpu->n != wall->n || !cpu->value || !wall->value)
		return -ENODATA;
	share = malloc(cpu->n * sizeof(*share));
	if (!share)
		return -ENOMEM;
	for (size_t i = 0; i < cpu->n; i++)
		share[i] = 100 * cpu->value[i] / wall->value[i];
	/* Their order is not asked for: lag1 is not printed. */
	err = act_sort(share, cpu->n);
	if (!err)
		err = act_describe(share, share, cpu->n, ret);
	free(share);
	return err;
}

static size_t find_metric(const struct comparable *all, const char *name)
{
	size_t i = 0;

	while (i < all->metrics && strcmp(all->metric[i].name, name) != 0)
		i++;
	return i;
}

/* What our own results know more exactly, as kernbench tells it: seconds, percent of CPU. */
static int add_result(struct table *table, const struct comparable *all, unsigned int digits)
{
	static const char *const metrics[][2] = {
		{ "user_ns", "user" }, { "system_ns", "system" }, { "wall_ns", "elapsed" },
	};
	size_t cpu = find_metric(all, "cpu_ns"), wall = find_metric(all, "wall_ns");
	struct act_description side[2];
	int ret = 0;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++) {
		size_t metric = find_metric(all, metrics[i][0]);

		if (metric == all->metrics || !is_comparable(all, metric))
			continue;
		for (size_t arm = 0; arm < 2; arm++)
			side[arm] = in_seconds(all->arm[arm].set[metric].description);
		add_kernbench(table, metrics[i][1], &side[0], &side[1], digits);
	}
	if (cpu == all->metrics)
		return 0;
	for (size_t arm = 0; ret == 0 && arm < 2; arm++)
		ret = describe_share(&all->arm[arm].set[cpu], &all->arm[arm].set[wall], &side[arm]);
	if (ret == 0)
		add_kernbench(table, "cpu", &side[0], &side[1], digits);
	return ret == -ENODATA ? 0 : ret;
}

static int add_all(struct table *table, const struct comparable *all, unsigned int digits)
{
	size_t *metric = calloc(all->metrics, sizeof(*metric)), count;
	char name[NAME_ROOM];

	if (!metric)
		return -ENOMEM;
	count = order_metrics(all, metric);
	for (size_t i = 0; i < count; i++)
		add_kernbench(table, title(&all->metric[metric[i]], name),
			      &all->arm[0].set[metric[i]].description,
			      &all->arm[1].set[metric[i]].description, digits);
	free(metric);
	return 0;
}

int print_kernbench(const struct comparable *all, unsigned int digits, struct out *out)
{
	size_t wall = find_metric(all, "wall_ns");
	struct table *table = table_new();
	char name[NAME_ROOM];
	int ret;

	if (!table)
		return -ENOMEM;
	print_around(all, out);
	out_string(out, "in brackets (base-new)/base: minus is worse\n\n");
	table_column(table, "", false);
	table_column(table, "", false);
	table_column(table, name_text(all->arm[0].name, 30, name), true);
	table_column(table, name_text(all->arm[1].name, 30, name), true);
	table_column(table, "", true);
	ret = wall < all->metrics && is_comparable(all, wall) ? add_result(table, all, digits) :
							       add_all(table, all, digits);
	if (ret == 0)
		ret = table_print(table, out, terminal_width());
	table_free(table);
	return ret;
}

/* ---- t-test ---- */

static const char *yes_no(double p, double alpha)
{
	return isnan(p) ? "undefined" : p <= alpha ? "yes" : "no";
}

static void print_t(struct out *out, const char *name, const struct act_test *test,
		    const struct act_interval *interval)
{
	char p[NUMBER_ROOM];

	if (isnan(test->p)) {
		out_printf(out, "  %-12s undefined: there is no spread\n", name);
		return;
	}
	out_printf(out, "  %-12s t %.6g, df %.6g, p %s; at 5 %%: %s, at 1 %%: %s", name,
		   test->statistic, test->df, p_text(test->p, p), yes_no(test->p, 0.05),
		   yes_no(test->p, 0.01));
	if (interval && !isnan(interval->low))
		out_printf(out, "; [%.6g, %.6g]", interval->low, interval->high);
	out_string(out, "\n");
}

static void print_moments(struct out *out, const struct arm *arm, const struct set *set)
{
	const struct act_description *description = &set->description;
	char name[NAME_ROOM];

	out_printf(out, "  %-24s n %zu, mean %.10g, variance %.6g, sd %.6g\n",
		   name_text(arm->name, 24, name), set->n, description->mean,
		   description->variance, description->sd);
}

static void print_ttest_of(const struct comparison *c, double level, struct out *out)
{
	const struct act_summary *a = &c->base->summary, *b = &c->other->summary;
	struct act_interval student = act_student_interval(a, b, level);
	double shift = b->mean - a->mean;
	char name[NAME_ROOM], percent[NUMBER_ROOM], half[NUMBER_ROOM];

	out_printf(out, "%s\n", title(c->metric, name));
	print_moments(out, c->base_arm, c->base);
	print_moments(out, c->other_arm, c->other);
	out_printf(out, "  %-12s %.6g +- %.6g (%s +- %s)\n", "difference", shift,
		   (student.high - student.low) / 2, percent_text(shift / a->mean, percent),
		   plain_percent_text((student.high - student.low) / 2 / a->mean, half));
	print_t(out, "Student's", &c->student, &student);
	print_t(out, "Welch's", &c->welch, &c->welch_interval);
	if (c->is_paired)
		print_t(out, c->is_ratio ? "paired, logs" : "paired", &c->paired_t, NULL);
}

int print_ttest(const struct comparable *all, const struct method *method, struct out *out)
{
	struct comparisons list;
	int status = comparisons_make(all, 0, 1, method, &list);

	if (status)
		return status;
	print_around(all, out);
	out_printf(out, "differences new - base, +- half of Student's interval of %g %%\n\n",
		   100 * method->level);
	for (size_t i = 0; i < list.n; i++)
		print_ttest_of(&list.item[i], method->level, out);
	print_notes(&list, false, out);
	comparisons_release(&list);
	return 0;
}

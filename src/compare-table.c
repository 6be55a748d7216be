/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two arms, as text: what differs around them, the table, the verdicts, the doubts. */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "msg.h"
#include "out.h"

enum {
	HEADING_WIDTH = 20,   /* longer names are cut */
	PAIRS_MOST = 1000000, /* nobody will make more */
};

const char *name_text(const char *name, size_t width, char text[NAME_ROOM])
{
	size_t length = escape_text(name, strnlen(name, (NAME_ROOM - 1) / 4), text, NAME_ROOM);

	if (length > width) {
		text[width - 1] = '+';
		length = width;
	}
	text[length] = '\0';
	return text;
}

/* ---- All metrics of two arms ---- */

/* The primary metric is the question; the others are many looks, and pay for it. */
static int adjust_secondary(struct comparisons *list, const struct method *method)
{
	double *p;
	int ret;

	if (list->n < 3)
		return 0;
	p = malloc((list->n - 1) * sizeof(*p));
	if (!p)
		return -ENOMEM;
	for (size_t i = 1; i < list->n; i++)
		p[i - 1] = list->item[i].test.p;
	ret = method->explores ? act_benjamini_hochberg(p, list->n - 1) : act_holm(p, list->n - 1);
	for (size_t i = 1; ret == 0 && i < list->n; i++)
		comparison_adjust(&list->item[i], p[i - 1], method->level);
	free(p);
	return ret;
}

static int make_all(const struct comparable *all, size_t base, size_t other,
		    const struct method *method, struct comparisons *list)
{
	const char *why = NULL;

	list->item = calloc(all->metrics, sizeof(*list->item));
	if (!list->item)
		return -ENOMEM;
	for (size_t m = 0; m < all->metrics; m++) {
		int ret;

		if (!all->arm[base].set[m].n || !all->arm[other].set[m].n)
			continue;
		ret = comparison_make(all, m, base, other, method, &list->item[list->n], &why);
		if (ret == 0) {
			list->n++;
			continue;
		}
		if (ret != -EINVAL || m == 0) {
			if (ret == -EINVAL)
				msg_error("%s and %s cannot be compared: %s",
					  all->arm[base].name, all->arm[other].name, why);
			return ret;
		}
		msg_warning("%s is left out: %s", all->metric[m].name, why);
	}
	return adjust_secondary(list, method);
}

int comparisons_make(const struct comparable *all, size_t base, size_t other,
		     const struct method *method, struct comparisons *ret)
{
	struct comparisons list = { 0 };
	int err = make_all(all, base, other, method, &list);

	if (err == 0 && list.n) {
		*ret = list;
		return STATUS_OK;
	}
	comparisons_release(&list);
	if (err == 0)
		msg_error("%s and %s have no metric in common", all->arm[base].name,
			  all->arm[other].name);
	else if (err == -ENOMEM)
		msg_error("out of memory");
	else if (err != -EINVAL)
		msg_error("cannot compare: %s", strerror(-err));
	return err == 0 || err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
}

void comparisons_release(struct comparisons *list)
{
	for (size_t i = 0; i < list->n; i++)
		comparison_release(&list->item[i]);
	free(list->item);
	*list = (struct comparisons){ 0 };
}

/* ---- Around the arms ---- */

static void print_left_out(struct out *out, uint64_t count, const char *what)
{
	if (count)
		out_printf(out, ", %" PRIu64 " %s left out", count, what);
}

static void print_arm(const struct arm *arm, struct out *out)
{
	char name[NAME_ROOM];

	out_printf(out, "%s: %zu value%s", name_text(arm->name, NAME_ROOM - 1, name),
		   arm->set[0].n, arm->set[0].n == 1 ? "" : "s");
	print_left_out(out, arm->invalid, arm->invalid == 1 ? "invalid run" : "invalid runs");
	print_left_out(out, arm->warmups, "of warm-up");
	print_left_out(out, arm->unknown, "unknown");
	out_string(out, "\n");
}

static const char *fact_text(const char *text, char shown[NAME_ROOM])
{
	return text ? name_text(text, 60, shown) : strcpy(shown, "-");
}

void print_around(const struct comparable *all, struct out *out)
{
	char key[NAME_ROOM], base[NAME_ROOM], other[NAME_ROOM], name[NAME_ROOM];

	for (size_t i = 0; i < all->differences; i++) {
		const struct difference *difference = &all->difference[i];

		out_printf(out, "environment: %s: %s in %s, ", name_text(difference->key, 60, key),
			   fact_text(difference->base, base),
			   name_text(all->arm[0].name, 60, name));
		out_printf(out, "%s in %s\n", fact_text(difference->other, other),
			   name_text(all->arm[difference->arm].name, 60, name));
	}
	for (size_t i = 0; i < all->arms; i++)
		print_arm(&all->arm[i], out);
}

/* ---- The table ---- */

static void cell(struct table *table, const char *text)
{
	table_cell(table, text, strlen(text));
}

static void add_columns(struct table *table, const struct comparisons *list)
{
	char name[NAME_ROOM];

	table_column(table, list->n == 1 && !*list->item->metric->name ? "OF" : "METRIC", false);
	table_column(table, name_text(list->item->base_arm->name, HEADING_WIDTH, name), true);
	table_column(table, name_text(list->item->other_arm->name, HEADING_WIDTH, name), true);
	table_column(table, "RATIO", true);
	table_column(table, "INTERVAL", true);
	table_column(table, "COST", true);
	table_column(table, "P", true);
	if (list->n > 2)
		table_column(table, adjusted_title(list->item), true);
}

/* Where there is no ratio the interval is that of the difference, and its signs tell. */
static void add_middle(struct table *table, const struct comparison *c, const struct form *form,
		       bool has_holm)
{
	char text[INTERVAL_ROOM], name[NAME_ROOM];

	cell(table, *c->metric->name ? name_text(c->metric->name, 40, name) : "median");
	cell(table, number_text(c->base->description.median, form, text));
	cell(table, number_text(c->other->description.median, form, text));
	cell(table, ratio_text(c->is_ratio ? c->effect : NAN, text));
	cell(table, c->is_ratio ? ratio_interval_text(&c->interval, text) :
				  shift_interval_text(&c->interval, form, text));
	cell(table, shift_text(c->shift, form, text));
	cell(table, test_p_text(&c->test, text));
	if (has_holm)
		cell(table, p_text(c->p_adjusted, text));
}

static void add_mean(struct table *table, const struct comparison *c, const struct form *form,
		     bool has_holm)
{
	char text[INTERVAL_ROOM];

	cell(table, *c->metric->name ? "  mean" : "mean");
	cell(table, number_text(c->base->description.mean, form, text));
	cell(table, number_text(c->other->description.mean, form, text));
	cell(table, ratio_text(c->is_ratio ? c->mean_ratio : NAN, text));
	cell(table, c->is_ratio ? ratio_interval_text(&c->mean_ratio_interval, text) :
				  shift_interval_text(&c->mean_shift_interval, form, text));
	cell(table, shift_text(c->mean_shift, form, text));
	cell(table, test_p_text(c->is_paired ? &c->paired_t : &c->welch, text));
	if (has_holm)
		cell(table, "-");
}

static int print_table(const struct comparisons *list, struct out *out)
{
	struct table *table = table_new();
	int ret;

	if (!table)
		return -ENOMEM;
	add_columns(table, list);
	for (size_t i = 0; i < list->n; i++) {
		const struct comparison *c = &list->item[i];
		struct form form = form_of(c);

		if (!c->is_by_means)
			add_middle(table, c, &form, list->n > 2);
		add_mean(table, c, &form, list->n > 2);
	}
	ret = table_print(table, out, terminal_width());
	table_free(table);
	return ret;
}

/* ---- Verdicts ---- */

static void print_range(const struct comparison *c, const struct form *form, struct out *out)
{
	char low[NUMBER_ROOM], high[NUMBER_ROOM];

	if (c->is_ratio)
		out_printf(out, "%s to %s", percent_text(c->interval.low - 1, low),
			   isinf(c->interval.high) ? "no limit" :
			   percent_text(c->interval.high - 1, high));
	else
		out_printf(out, "%s to %s", shift_text(c->interval.low, form, low),
			   shift_text(c->interval.high, form, high));
	out_printf(out, " (%.1f %%)", 100 * c->interval.level);
}

static void print_difference(const struct comparison *c, const char *base, const char *other,
			     const struct form *form, struct out *out)
{
	char text[NUMBER_ROOM];

	out_printf(out, "%s is %s than %s by %s: ", other, comparison_word(c), base,
		   c->is_ratio ? plain_percent_text(c->effect - 1, text) :
				 number_text(fabs(c->effect), form, text));
	print_range(c, form, out);
}

static void print_open(const struct comparison *c, const char *base, const char *other,
		       const struct form *form, struct out *out)
{
	out_printf(out, "%s against %s is inconclusive: ", other, base);
	if (isnan(c->interval.low)) {
		out_string(out, "too few values");
		return;
	}
	print_range(c, form, out);
	out_string(out, " is possible");
	if (c->pairs_needed > (double)c->pairs.n && c->pairs_needed < PAIRS_MOST)
		out_printf(out, "; about %.0f pairs would show %g %%", c->pairs_needed,
			   100 * c->bound);
}

static void print_verdict(const struct comparison *c, struct out *out)
{
	char base[NAME_ROOM], other[NAME_ROOM], metric[NAME_ROOM];
	struct form form = form_of(c);

	name_text(c->base_arm->name, 40, base);
	name_text(c->other_arm->name, 40, other);
	if (*c->metric->name)
		out_printf(out, "%s: ", name_text(c->metric->name, 40, metric));
	switch (c->verdict) {
	case ACT_SLOWER:
	case ACT_FASTER:
		print_difference(c, base, other, &form, out);
		break;
	case ACT_EQUIVALENT:
		out_printf(out, "%s is equivalent to %s within %g %%: ", other, base,
			   100 * c->bound);
		print_range(c, &form, out);
		break;
	case ACT_INCONCLUSIVE:
		print_open(c, base, other, &form, out);
		break;
	}
	out_string(out, "\n");
}

/* Of the others one line for all that nothing is known of. */
static void print_verdicts(const struct comparisons *list, struct out *out)
{
	const char *separator = "inconclusive, too: ";
	char name[NAME_ROOM];

	for (size_t i = 0; i < list->n; i++)
		if (i == 0 || list->item[i].verdict != ACT_INCONCLUSIVE)
			print_verdict(&list->item[i], out);
	if (list->item[0].verdict != ACT_INCONCLUSIVE)
		separator = "inconclusive: ";
	for (size_t i = 1; i < list->n; i++) {
		if (list->item[i].verdict != ACT_INCONCLUSIVE)
			continue;
		out_printf(out, "%s%s", separator,
			   name_text(list->item[i].metric->name, 40, name));
		separator = ", ";
	}
	if (*separator == ',')
		out_string(out, "\n");
}

/* ---- Beside it: other methods, for the primary metric ---- */

static void print_test(struct out *out, const char *name, const char *letter,
		       const struct act_test *test)
{
	char p[NUMBER_ROOM];

	if (isnan(test->p)) {
		out_printf(out, "  %-15s undefined: there is no spread", name);
		return;
	}
	out_printf(out, "  %-15s %s %.5g", name, letter, test->statistic);
	if (!isnan(test->df))
		out_printf(out, ", df %.5g", test->df);
	out_printf(out, ", p %s%s", test_p_text(test, p), test->is_exact ? " (exact)" : "");
}

static void print_beside(const struct comparison *c, struct out *out)
{
	struct form form = form_of(c);
	char text[NUMBER_ROOM], interval[INTERVAL_ROOM], name[NAME_ROOM];

	out_string(out, "\nBeside it");
	if (*c->metric->name)
		out_printf(out, ", for %s", name_text(c->metric->name, 40, name));
	out_string(out, ":\n");
	if (c->is_paired) {
		print_test(out, "signed rank", "V", &c->test);
		out_string(out, "\n");
		print_test(out, "paired t", "t", &c->paired_t);
		out_printf(out, ", of %s\n", c->is_ratio ? "log ratios" : "differences");
	}
	if (!c->is_by_means) {
		print_test(out, "Mann-Whitney", "U", &c->mann_whitney);
		out_printf(out, "; P(new > base) %.3f\n", c->a12);
	}
	print_test(out, "Welch's t", "t", &c->welch);
	out_printf(out, "; means differ by %s %s\n",
		   shift_text(c->other->summary.mean - c->base->summary.mean, &form, text),
		   shift_interval_text(&c->welch_interval, &form, interval));
	if (!isnan(c->mean_ratio))
		out_printf(out, "  %-15s %s %s\n", "ratio of means", ratio_text(c->mean_ratio, text),
			   ratio_interval_text(&c->mean_ratio_interval, interval));
	if (!c->is_by_means)
		out_printf(out, "  %-15s %s %s\n", "difference", shift_text(c->shift, &form, text),
			   shift_interval_text(&c->shift_interval, &form, interval));
	if (!isnan(c->metric->noise))
		out_printf(out, "  %-15s %s, by %zu A/A pairs\n", "noise floor",
			   plain_percent_text(c->metric->noise, text), c->metric->noise_pairs);
	if (c->detectable > 0 && c->detectable < 10)
		out_printf(out, "  %-15s %s in four of five cases\n", "would find",
			   plain_percent_text(c->detectable, text));
}

/* ---- Doubts ---- */

/* Whether one of the first @count has it, too. */
static bool is_told(const struct comparisons *list, size_t count, const struct note *note)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < list->item[i].notes; k++)
			if (strcmp(list->item[i].note[k].text, note->text) == 0)
				return true;
	return false;
}

static bool has_note(const struct comparison *c, const struct note *note)
{
	return is_told(&(struct comparisons){ 1, (struct comparison *)c }, 1, note);
}

/* Drift and such name their arm themselves. */
static bool names_itself(const struct comparison *c, const struct note *note)
{
	size_t length = strlen(c->other_arm->name);

	return strncmp(note->text, c->other_arm->name, length) == 0 && note->text[length] == ':';
}

/* "wall_ns, cpu_ns: ", all that have the same note; nothing if every one has it. */
static void print_concerned(const struct comparisons *list, const struct note *note, bool by_arm,
			    struct out *out)
{
	const char *separator = "";
	char name[NAME_ROOM];
	size_t count = 0;

	for (size_t i = 0; i < list->n; i++)
		count += has_note(&list->item[i], note);
	if (count == list->n)
		return;
	for (size_t i = 0; i < list->n; i++) {
		const struct comparison *c = &list->item[i];

		if (!has_note(c, note))
			continue;
		if (by_arm && names_itself(c, note))
			return;
		out_printf(out, "%s%s", separator,
			   name_text(by_arm ? c->other_arm->name : c->metric->name, 40, name));
		separator = ", ";
	}
	out_string(out, ": ");
}

/*
 * All that is doubtful about the first, which is the question; of the others what casts doubt
 * on a verdict.  JSON has every note.
 */
static bool is_worth_telling(const struct comparisons *list, size_t index,
			     const struct note *note, bool by_arm)
{
	const struct comparison *c = &list->item[index];

	if (by_arm)
		return note->is_warning;
	return index == 0 || note->kind == NOTE_SCALE ||
	       (note->is_warning && c->verdict != ACT_INCONCLUSIVE);
}

void print_notes(const struct comparisons *list, bool by_arm, struct out *out)
{
	for (size_t i = 0; i < list->n; i++)
		for (size_t k = 0; k < list->item[i].notes; k++) {
			const struct note *note = &list->item[i].note[k];

			if (is_told(list, i, note) || !is_worth_telling(list, i, note, by_arm))
				continue;
			out_printf(out, "%s: ", note->is_warning ? "warning" : "note");
			print_concerned(list, note, by_arm, out);
			out_text_escaped(out, note->text, strlen(note->text));
			out_string(out, "\n");
		}
}

/* ---- All of it ---- */

static void print_method(const struct comparison *c, const struct method *method, struct out *out)
{
	if (c->is_paired)
		out_printf(out, "%zu pairs, each compared within itself", c->pairs.n);
	else
		out_string(out, "not paired");
	if (c->is_paired && c->pairs.units < c->pairs.n)
		out_printf(out, ", in %zu blocks of both orders\n", c->pairs.units);
	else
		out_string(out, "; ");
	out_printf(out, "%s by %s\nintervals of %g %%, bound %g %%\n\n",
		   c->is_ratio ? "ratios" : "differences",
		   c->is_by_means ? "means (Fieller, Welch)" :
		   c->is_paired ? "Hodges-Lehmann (signed rank)" :
				  "Hodges-Lehmann (Moses, Mann-Whitney)",
		   100 * method->level, 100 * method->bound);
}

int print_comparisons(const struct comparable *all, const struct comparisons *list,
		      const struct method *method, struct out *out)
{
	int ret;

	print_around(all, out);
	print_method(list->item, method, out);
	ret = print_table(list, out);
	if (ret < 0)
		return ret;
	out_string(out, "\n");
	print_verdicts(list, out);
	print_beside(list->item, out);
	out_string(out, "\n");
	print_notes(list, false, out);
	return 0;
}

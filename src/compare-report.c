/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two arms or many, in any style: what `actuary compare` and the end of `actuary ab` print. */
#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "msg.h"
#include "out.h"

/* "1%", "0.5%", or the same without the sign. */
int parse_percent(const char *name, const char *text, double *ret)
{
	size_t length = strspn(text, "0123456789.");
	char *end;
	double value = strtod(text, &end);

	if (!length || end != text + length || (*end && strcmp(end, "%") != 0) ||
	    !(value < 100)) {
		msg_error("--%s takes a percentage below 100, such as 1%% or 0.5%%, not \"%s\"",
			  name, text);
		return STATUS_USAGE;
	}
	*ret = value / 100;
	return STATUS_OK;
}

static bool differs(const struct comparison *c)
{
	return c->verdict == ACT_SLOWER || c->verdict == ACT_FASTER;
}

static int fail(int error)
{
	msg_error("cannot print: %s", strerror(-error));
	return STATUS_FAILED;
}

static void print_data(enum style style, const struct comparison *c, const char *against,
		       struct out *out)
{
	if (style == STYLE_JSON)
		print_comparison_json(c, against, out);
	else
		print_comparison_csv(c, against, out);
}

static void begin_data(enum style style, const struct comparable *all, struct out *out)
{
	if (style == STYLE_JSON)
		print_arms_json(all, out);
	else
		print_csv_heading(out);
}

static int compare_two(enum style style, const struct comparable *all,
		       const struct method *method, struct out *out, bool *ret_differs)
{
	struct comparisons list;
	int ret = 0, status = comparisons_make(all, 0, 1, method, &list);

	if (status)
		return status;
	*ret_differs = differs(list.item);
	if (style != STYLE_TEXT) {
		begin_data(style, all, out);
		for (size_t i = 0; i < list.n; i++)
			print_data(style, &list.item[i], NULL, out);
	} else {
		ret = print_comparisons(all, &list, method, out);
	}
	comparisons_release(&list);
	return ret < 0 ? fail(ret) : STATUS_OK;
}

static int print_series_data(enum style style, const struct series *series,
			     struct out *out)
{
	for (size_t i = 0; i < series->n; i++)
		print_data(style, &series->first[i], "first", out);
	for (size_t i = 0; i < series->n; i++)
		print_data(style, &series->before[i], "before", out);
	return 0;
}

static int compare_metric(enum style style, const struct comparable *all,
			  size_t metric, const struct method *method, struct out *out,
			  bool *ret_differs)
{
	struct series series;
	int ret, status = series_make(all, metric, method, &series);

	if (status)
		return status;
	for (size_t i = 0; metric == 0 && i < series.n; i++)
		*ret_differs |= differs(&series.first[i]) || differs(&series.before[i]);
	if (style != STYLE_TEXT)
		ret = print_series_data(style, &series, out);
	else
		ret = print_series(all, metric, &series, method, out);
	series_release(&series);
	return ret < 0 ? fail(ret) : STATUS_OK;
}

static bool has_all_arms(const struct comparable *all, size_t metric)
{
	for (size_t i = 0; i < all->arms; i++)
		if (!all->arm[i].set[metric].n)
			return false;
	return true;
}

static int compare_many(enum style style, const struct comparable *all,
			const struct method *method, struct out *out, bool *ret_differs)
{
	int status = STATUS_OK;

	if (style != STYLE_TEXT)
		begin_data(style, all, out);
	else
		print_around(all, out);
	for (size_t m = 0; status == STATUS_OK && m < all->metrics; m++) {
		if (!has_all_arms(all, m)) {
			msg_warning("%s is left out: not every arm has it", all->metric[m].name);
			continue;
		}
		if (style == STYLE_TEXT)
			out_string(out, "\n");
		status = compare_metric(style, all, m, method, out, ret_differs);
	}
	return status;
}

/* What can be compared was compared above; what could not was told there. */
static int tell_deciles(const struct comparable *all, const struct method *method, struct out *out)
{
	struct comparison c;
	const char *why;
	int ret = comparison_make(all, 0, 0, 1, method, &c, &why);

	if (ret == 0) {
		ret = print_deciles(&c, method, out);
		comparison_release(&c);
	}
	return ret == -ENOMEM ? fail(ret) : STATUS_OK;
}

int comparable_print(const struct comparable *all, const struct method *method, enum style style,
		     bool with_picture, struct out *out, bool *ret_differs)
{
	int ret = 0, status;

	*ret_differs = false;
	if (all->arms == 2)
		status = compare_two(style, all, method, out, ret_differs);
	else
		status = compare_many(style, all, method, out, ret_differs);
	if (status == STATUS_OK && method->has_deciles)
		status = tell_deciles(all, method, out);
	if (status == STATUS_OK && with_picture && style == STYLE_TEXT)
		ret = print_picture(all, 0, method->level, out);
	return ret < 0 ? fail(ret) : status;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions one above the other on one axis, each with its median and the median's
 * interval:
 *
 *	off        .::..  .
 *	         .:::::::::..   .
 *	            [-|--]
 *	on           ..::.
 *	          ..::::::::::.      .
 *	              [-|-]
 *	     +------------------------+
 *	     1.20ms             1.60ms
 */
#include "compare.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

enum {
	NAME_WIDTH = 16,
	LEAST_WIDTH = 40, MOST_WIDTH = 100, PIPED_WIDTH = 76,
	HEIGHT_OF_TWO = 3, /* lines of an arm; of many arms one */
};

struct axis {
	double low, high; /* of the values */
	size_t width;     /* columns */
	size_t height;    /* lines of an arm */
};

/* ---- The axis ---- */

/*
 * A few values far out would press all others into one column: the axis ends at three times
 * the interquartile range beyond the quartiles of any arm, and says what lies outside.
 */
static void extend(struct axis *axis, const struct set *set)
{
	double q1 = act_quantile(set->sorted, set->n, 0.25);
	double q3 = act_quantile(set->sorted, set->n, 0.75);
	double reach = 3 * (q3 - q1);

	axis->low = fmin(axis->low, fmax(set->sorted[0], q1 - reach));
	axis->high = fmax(axis->high, fmin(set->sorted[set->n - 1], q3 + reach));
}

static size_t choose_width(void)
{
	size_t width = terminal_width();

	if (!width)
		width = PIPED_WIDTH;
	if (width > MOST_WIDTH)
		width = MOST_WIDTH;
	return width < NAME_WIDTH + 2 + LEAST_WIDTH ? LEAST_WIDTH : width - NAME_WIDTH - 2;
}

static bool make_axis(const struct comparable *all, size_t metric, struct axis *ret)
{
	struct axis axis = {
		.low = INFINITY, .high = -INFINITY, .width = choose_width(),
		.height = all->arms == 2 ? HEIGHT_OF_TWO : 1,
	};

	for (size_t i = 0; i < all->arms; i++)
		if (all->arm[i].set[metric].sorted)
			extend(&axis, &all->arm[i].set[metric]);
	*ret = axis;
	return axis.low < axis.high;
}

/* Values outside go to the ends. */
static size_t column_of(const struct axis *axis, double value)
{
	double at = (value - axis->low) / (axis->high - axis->low) * (double)axis->width;

	if (!(at > 0))
		return 0;
	return at < (double)axis->width ? (size_t)at : axis->width - 1;
}

/* ---- An arm ---- */

static void print_name(const char *name, struct out *out)
{
	char text[NAME_ROOM];

	out_printf(out, "%-*s  ", NAME_WIDTH, name_text(name, NAME_WIDTH, text));
}

/* Two levels a line: '.' for the lower, ':' for both; a value is never invisible. */
static char mark(uint64_t count, uint64_t most, size_t line, size_t lines)
{
	size_t levels = 2 * lines;
	size_t level = (size_t)ceil((double)count / (double)most * (double)levels);

	if (level <= 2 * line)
		return ' ';
	return level == 2 * line + 1 ? '.' : ':';
}

static uint64_t largest(const struct act_bins *bins)
{
	uint64_t most = 1;

	for (size_t i = 0; i < bins->count; i++)
		if (bins->bin[i] > most)
			most = bins->bin[i];
	return most;
}

static size_t trim(const char *text, size_t width)
{
	while (width && text[width - 1] == ' ')
		width--;
	return width;
}

static void print_shape(const struct axis *axis, const char *name, const struct act_bins *bins,
			char *line, struct out *out)
{
	uint64_t most = largest(bins);

	for (size_t i = axis->height; i > 0; i--) {
		for (size_t x = 0; x < axis->width; x++)
			line[x] = mark(bins->bin[x], most, i - 1, axis->height);
		print_name(i == axis->height ? name : "", out);
		out_bytes(out, line, trim(line, axis->width));
		if (i == 1 && bins->below)
			out_printf(out, " (%" PRIu64 " below)", bins->below);
		if (i == 1 && bins->above)
			out_printf(out, " (%" PRIu64 " above)", bins->above);
		out_string(out, "\n");
	}
}

/* "[--|--]"; too few values for an interval: "|" alone. */
static void print_median(const struct axis *axis, const struct set *set, double level,
			 const struct form *form, char *line, struct out *out)
{
	struct act_interval interval = act_quantile_interval(set->sorted, set->n, 0.5, level);
	char text[INTERVAL_ROOM];

	memset(line, ' ', axis->width);
	if (!isnan(interval.low)) {
		size_t low = column_of(axis, interval.low), high = column_of(axis, interval.high);

		memset(line + low, '-', high - low + 1);
		line[low] = '[';
		line[high] = ']';
	}
	line[column_of(axis, set->description.median)] = '|';
	print_name("", out);
	out_bytes(out, line, trim(line, axis->width));
	out_printf(out, " %s\n", number_text(set->description.median, form, text));
}

static int print_arm(const struct axis *axis, const struct arm *arm, const struct set *set,
		     double level, const struct form *form, struct out *out)
{
	struct act_bins bins = {
		.min = axis->low, .width = (axis->high - axis->low) / (double)axis->width,
		.count = axis->width, .bin = calloc(axis->width, sizeof(*bins.bin)),
	};
	char *line = malloc(axis->width);
	int ret = -ENOMEM;

	if (bins.bin && line)
		ret = act_bins_fill(&bins, set->value, set->n);
	if (ret == 0) {
		/* The last column's upper edge belongs to it. */
		uint64_t at_edge = 0;

		for (size_t i = set->n; i > 0 && set->sorted[i - 1] >= axis->high; i--)
			at_edge += set->sorted[i - 1] == axis->high;
		bins.bin[axis->width - 1] += at_edge < bins.above ? at_edge : bins.above;
		bins.above -= at_edge < bins.above ? at_edge : bins.above;
		print_shape(axis, arm->name, &bins, line, out);
		print_median(axis, set, level, form, line, out);
	}
	free(bins.bin);
	free(line);
	return ret;
}

static void print_scale(const struct axis *axis, const struct form *form, struct out *out)
{
	char low[NUMBER_ROOM], high[NUMBER_ROOM];
	size_t used;

	print_name("", out);
	out_string(out, "+");
	for (size_t i = 2; i < axis->width; i++)
		out_string(out, "-");
	out_string(out, "+\n");
	print_name("", out);
	number_text(axis->low, form, low);
	number_text(axis->high, form, high);
	used = strlen(low) + strlen(high);
	out_printf(out, "%s%*s%s\n", low, used < axis->width ? (int)(axis->width - used) : 1, "",
		   high);
}

int print_picture(const struct comparable *all, size_t metric, double level, struct out *out)
{
	struct form form = form_for(&all->metric[metric], &all->arm[0].set[metric],
				    &all->arm[all->arms - 1].set[metric]);
	struct axis axis;
	int ret = 0;

	if (!make_axis(all, metric, &axis))
		return 0;
	out_string(out, "\n");
	for (size_t i = 0; ret == 0 && i < all->arms; i++)
		if (all->arm[i].set[metric].sorted)
			ret = print_arm(&axis, &all->arm[i], &all->arm[i].set[metric], level,
					&form, out);
	print_scale(&axis, &form, out);
	return ret;
}

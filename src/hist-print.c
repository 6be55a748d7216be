/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hist.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of the old program, which had always four. */
#define HISTO_DECIMALS 4
#define STARS_MAX 1000
/* Digits that say all that is known. */
#define DIGITS 15

enum { TEXT_ROOM = 352 }; /* for any double with nine decimals */

/* ---- Words ---- */

/* As short as it is exact, up to 15 digits; "-" for what a set does not have. */
static const char *real_text(double value, char text[TEXT_ROOM])
{
	if (isnan(value))
		return "-";
	snprintf(text, TEXT_ROOM, "%.*g", DIGITS, value);
	return text;
}

static void print_real(struct out *out, const char *before, double value)
{
	char text[TEXT_ROOM];

	out_printf(out, "%s%s", before, real_text(value, text));
}

static void print_text(struct out *out, const char *text)
{
	out_text_escaped(out, text, strlen(text));
}

void hist_print_name(struct out *out, const struct hist_set *set)
{
	const struct samples *samples = set->samples;

	print_text(out, strcmp(samples->file, "-") == 0 ? "(stdin)" : samples->file);
	if (samples->condition) {
		out_string(out, ", ");
		print_text(out, samples->condition);
		out_string(out, samples->is_aa ? " (A/A)" : "");
	}
	if (*samples->metric) {
		out_string(out, ", ");
		print_text(out, samples->metric);
	} else if (*samples->unit) {
		out_printf(out, ", in %s", samples->unit);
	}
	out_string(out, "\n");
}

static void print_count(struct out *out, uint64_t count, const char *what)
{
	if (count)
		out_printf(out, "left out: %" PRIu64 " %s%s\n", count, what,
			   count == 1 ? "" : "s");
}

static void print_left_out(struct out *out, const struct samples *samples)
{
	print_count(out, samples->invalid, "invalid run");
	print_count(out, samples->warmups, "warm-up sample");
	print_count(out, samples->unknown, "unknown value");
}

static void print_stars(struct out *out, uint64_t count, uint64_t scale)
{
	uint64_t stars = count / scale + (count % scale != 0);

	for (uint64_t i = 0; i < stars && i < STARS_MAX; i++)
		out_bytes(out, "*", 1);
	if (stars > STARS_MAX)
		out_string(out, "...");
	out_bytes(out, "\n", 1);
}

/* ---- The widths of a histogram's columns ---- */

struct layout {
	unsigned int decimals;
	int edge, count;
};

static struct layout lay_out(const struct hist_set *set, unsigned int decimals)
{
	const struct act_bins *bins = &set->bins;
	const double ends[] = { hist_edge(bins, 0), hist_edge(bins, bins->count) };
	struct layout layout = { .decimals = decimals };

	for (size_t i = 0; i < 2; i++) {
		int length = snprintf(NULL, 0, "%.*f", (int)decimals, ends[i]);

		layout.edge = length > layout.edge ? length : layout.edge;
	}
	layout.count = snprintf(NULL, 0, "%" PRIu64, set->description.n);
	return layout;
}

/* ---- The plain style: every row, with its share and that of all up to it ---- */

struct plain {
	struct out *out;
	const struct hist_set *set;
	struct layout layout;
	uint64_t before;
};

static void print_plain_row(struct plain *plain, const char *edges, uint64_t count)
{
	double n = (double)plain->set->description.n;

	plain->before += count;
	out_printf(plain->out, "%*s  %*" PRIu64 "  %5.1f%%  %5.1f%%%s",
		   plain->layout.edge * 2 + 3, edges, plain->layout.count, count,
		   100 * (double)count / n, 100 * (double)plain->before / n, count ? "  " : "");
	print_stars(plain->out, count, plain->set->scale);
}

static void print_plain_edges(struct plain *plain, size_t i, char text[2 * TEXT_ROOM])
{
	const struct act_bins *bins = &plain->set->bins;

	snprintf(text, 2 * TEXT_ROOM, "%.*f - %*.*f", (int)plain->layout.decimals,
		 hist_edge(bins, i), plain->layout.edge, (int)plain->layout.decimals,
		 hist_edge(bins, i + 1));
}

static void print_plain_outside(struct plain *plain, const char *sign, size_t edge, uint64_t count)
{
	char text[TEXT_ROOM + 4];

	snprintf(text, sizeof(text), "%s %*.*f", sign, plain->layout.edge,
		 (int)plain->layout.decimals, hist_edge(&plain->set->bins, edge));
	print_plain_row(plain, text, count);
}

/* Digits with which the ends of an interval can be told apart, however far from zero. */
static int interval_digits(const struct act_interval *interval)
{
	double size = fmax(fabs(interval->low), fabs(interval->high));
	double width = interval->high - interval->low;
	double digits = width > 0 ? ceil(log10(size / width)) + 3 : 6;

	return (int)fmin(fmax(digits, 6), DIGITS);
}

static void print_moments(struct out *out, const struct hist_set *set)
{
	const struct act_description *it = &set->description;
	struct act_interval mean = act_mean_interval(it->mean, it->sd, it->n, HIST_LEVEL);

	out_printf(out, "n %" PRIu64, it->n);
	print_real(out, ", min ", it->min);
	print_real(out, ", max ", it->max);
	print_real(out, ", sum ", it->sum);
	print_real(out, "\nmean ", it->mean);
	if (isfinite(mean.low))
		out_printf(out, " [%.*g, %.*g]", interval_digits(&mean), mean.low,
			   interval_digits(&mean), mean.high);
	print_real(out, ", median ", it->median);
	print_real(out, ", sd ", it->sd);
	out_string(out, "\nlag-1 ");
	if (isnan(it->lag1))
		out_string(out, "-");
	else
		out_printf(out, "%.3f (as good as %.4g independent samples)", it->lag1,
			   act_effective_n((double)it->n, it->lag1));
	out_printf(out, ", %" PRIu64 " different, %" PRIu64 " outlier%s\n", it->unique,
		   it->outliers, it->outliers == 1 ? "" : "s");
}

void hist_print_plain(struct out *out, const struct hist_set *set, const struct hist_axis *axis)
{
	struct plain plain = { out, set, lay_out(set, axis->decimals), 0 };
	char edges[2 * TEXT_ROOM];

	print_moments(out, set);
	print_left_out(out, set->samples);
	out_string(out, "\n");
	print_plain_outside(&plain, "<", 0, set->bins.below);
	for (size_t i = 0; i < set->bins.count; i++) {
		print_plain_edges(&plain, i, edges);
		print_plain_row(&plain, edges, set->bins.bin[i]);
	}
	print_plain_outside(&plain, ">=", set->bins.count, set->bins.above);
	out_printf(out, "a star is %" PRIu64 " sample%s, or the rest\n", set->scale,
		   set->scale == 1 ? "" : "s");
}

/* ---- The style of the old histo ---- */

static void print_histo_outside(struct out *out, const struct layout *layout, const char *sign,
				double edge, uint64_t count, uint64_t scale)
{
	out_printf(out, "%*s %*.*f [%4" PRIu64 "]:%s", layout->edge + 2, sign, layout->edge,
		   (int)layout->decimals, edge, count, count ? " " : "");
	print_stars(out, count, scale);
}

/* Its variance is that of the samples, divided by n; its last digits were not exact. */
void hist_print_histo(struct out *out, const struct hist_set *set, const struct hist_axis *axis)
{
	const struct act_description *it = &set->description;
	const struct act_bins *bins = &set->bins;
	double n = (double)it->n, variance = it->n > 1 ? it->variance * (n - 1) / n : 0;
	struct layout layout = lay_out(set, axis->decimals > HISTO_DECIMALS ? axis->decimals :
					    HISTO_DECIMALS);

	out_printf(out, "number of samples: %" PRIu64 "\n", it->n);
	print_real(out, "max:      ", it->max);
	print_real(out, "\nmin:      ", it->min);
	print_real(out, "\nmean:     ", it->mean);
	print_real(out, "\nvariance: ", variance);
	print_real(out, "\nsd:       ", sqrt(variance));
	out_printf(out, "\n* is %" PRIu64 " sample%s\n", set->scale, set->scale == 1 ? "" : "s");
	print_histo_outside(out, &layout, "<", hist_edge(bins, 0), bins->below, set->scale);
	for (size_t i = 0; i < bins->count; i++) {
		if (!bins->bin[i])
			continue;
		out_printf(out, "%*.*f - %*.*f [%4" PRIu64 "]: ", layout.edge,
			   (int)layout.decimals, hist_edge(bins, i), layout.edge,
			   (int)layout.decimals, hist_edge(bins, i + 1), bins->bin[i]);
		print_stars(out, bins->bin[i], set->scale);
	}
	print_histo_outside(out, &layout, ">=", hist_edge(bins, bins->count), bins->above,
			    set->scale);
}

/* ---- Percentiles ---- */

void hist_print_percents(struct out *out, const struct hist_set *set,
			 const struct hist_percents *percents)
{
	size_t n = set->samples->n;

	for (size_t i = 0; i < percents->count; i++) {
		double p = percents->percent[i] / 100;
		struct act_interval interval = act_quantile_interval(set->sorted, n, p, HIST_LEVEL);

		out_printf(out, "p%-6g  %.12g", percents->percent[i],
			   act_quantile(set->sorted, n, p));
		if (isfinite(interval.low) && isfinite(interval.high))
			out_printf(out, "  [%.12g, %.12g] at %.1f%%\n", interval.low, interval.high,
				   100 * interval.level);
		else
			out_string(out, "  n too small for an interval\n");
	}
}

/* ---- The summary of csvstat ---- */

void hist_print_summary(struct out *out, const struct hist_set *set)
{
	const struct act_description *it = &set->description;
	struct act_frequent frequent[HIST_FREQUENT];
	size_t count = act_most_frequent(set->sorted, set->samples->n, frequent, HIST_FREQUENT);
	char text[TEXT_ROOM];

	print_real(out, "\tMin: ", it->min);
	print_real(out, "\n\tMax: ", it->max);
	print_real(out, "\n\tSum: ", it->sum);
	print_real(out, "\n\tMean: ", it->mean);
	print_real(out, "\n\tMedian: ", it->median);
	print_real(out, "\n\tStandard Deviation: ", it->sd);
	out_printf(out, "\n\tUnique values: %" PRIu64 "\n\t%zu most frequent values:\n", it->unique,
		   count);
	for (size_t i = 0; i < count; i++)
		out_printf(out, "\t\t%s:\t%" PRIu64 "\n", real_text(frequent[i].value, text),
			   frequent[i].count);
	print_left_out(out, set->samples);
	out_printf(out, "\nRow count: %" PRIu64 "\n", it->n);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/number.h"
#include "bench/samples.h"
#include "hist.h"
#include "msg.h"
#include "out.h"

enum style { STYLE_PLAIN, STYLE_HISTO };

struct hist_options {
	const char *metric, *condition, *unit, *output;
	const char *min, *max, *bin, *percentiles;
	uint64_t column, stars, scale;
	int format, style;
	bool log, summary, runs, warmup, json;
};

#define OPTION(member) offsetof(struct hist_options, member)
static const struct option_spec options[] = {
	{ 0, "min", OPTION_TEXT, "X", OPTION(min), "where the first row begins" },
	{ 0, "max", OPTION_TEXT, "X", OPTION(max), "where the last row ends" },
	{ 'b', "bin", OPTION_TEXT, "X", OPTION(bin), "width of a row" },
	{ 'l', "log", OPTION_FLAG, NULL, OPTION(log), "each row twice as wide as the one before" },
	{ 'S', "stars", OPTION_COUNT, "N", OPTION(stars), "of the longest row; 50" },
	{ 0, "scale", OPTION_COUNT, "N", OPTION(scale), "samples that a star stands for" },
	{ 0, "style", OPTION_CHOICE, "plain|histo", OPTION(style),
	  "ours, or that of the old histo" },
	{ 's', "summary", OPTION_FLAG, NULL, OPTION(summary),
	  "no histogram, but a summary as csvstat's" },
	{ 'P', "percentiles", OPTION_TEXT, "LIST", OPTION(percentiles),
	  "which ones; 50,90,95,99,99.9,99.99" },
	{ 'm', "metric", OPTION_TEXT, "NAME", OPTION(metric), "of a result; its primary one" },
	{ 'c', "condition", OPTION_TEXT, "NAME", OPTION(condition), "only of this one" },
	{ 'r', "runs", OPTION_FLAG, NULL, OPTION(runs),
	  "the median of each run, not every sample" },
	{ 0, "warmup", OPTION_FLAG, NULL, OPTION(warmup), "warm-up samples too" },
	{ 'f', "format", OPTION_CHOICE, "auto|numbers|summary|result|hyperfine|time",
	  OPTION(format), "what the file is" },
	{ 'C', "column", OPTION_COUNT, "N", OPTION(column), "of plain numbers, from 1" },
	{ 'u', "unit", OPTION_TEXT, "UNIT", OPTION(unit), "of plain numbers: ns, us, ms, s, ..." },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0 },
};

/* The longest row of stars that makes sense. */
#define STARS_MAX 1000

static void set_defaults(void *arg)
{
	struct hist_options *opt = arg;

	opt->metric = "primary";
	opt->percentiles = "50,90,95,99,99.9,99.99";
}

struct hist {
	const struct hist_options *opt;
	struct hist_axis axis;
	struct hist_percents percents;
	struct samples *samples;
	size_t loaded;
	struct hist_set *sets; /* of those that have samples */
	size_t count;
};

/* ---- What was asked for ---- */

/* NaN if it was not given. */
static int parse_real(const char *option, const char *text, double *ret_value)
{
	const char *end;

	*ret_value = NAN;
	if (!text)
		return STATUS_OK;
	end = number_read(text, false, ret_value);
	if (end && !*end && isfinite(*ret_value))
		return STATUS_OK;
	msg_error("--%s takes a number, not \"%s\"", option, text);
	return STATUS_USAGE;
}

static int parse_percentiles(const char *text, struct hist_percents *percents)
{
	const char *at = text;

	for (;;) {
		double value;

		at = number_read(at, false, &value);
		if (!at || !(value >= 0 && value <= 100) || (*at && *at != ','))
			break;
		if (percents->count == HIST_PERCENTS_MAX)
			return refuse("--percentiles takes 32 at most");
		percents->percent[percents->count++] = value;
		if (!*at++)
			return STATUS_OK;
	}
	msg_error("--percentiles takes numbers from 0 to 100 parted by commas, not \"%s\"", text);
	return STATUS_USAGE;
}

static int parse_axis(const struct hist_options *opt, struct hist_axis *axis)
{
	if (parse_real("min", opt->min, &axis->min) || parse_real("max", opt->max, &axis->max) ||
	    parse_real("bin", opt->bin, &axis->width))
		return STATUS_USAGE;
	axis->is_log = opt->log;
	if (axis->min >= axis->max)
		return refuse("--max must be above --min");
	if (opt->bin && opt->log)
		return refuse("--log has no --bin: its rows double");
	if (opt->bin && !(axis->width > 0))
		return refuse("--bin must be above 0");
	return STATUS_OK;
}

static int check_options(struct hist *hist)
{
	const struct hist_options *opt = hist->opt;

	if (opt->stars && opt->scale)
		return refuse("--stars and --scale exclude each other");
	if (opt->stars > STARS_MAX)
		return refuse("--stars can be 1000 at most");
	if (opt->summary && (opt->json || opt->style))
		return refuse("--summary goes with neither --json nor --style");
	if (parse_axis(opt, &hist->axis) != STATUS_OK)
		return STATUS_USAGE;
	return parse_percentiles(opt->percentiles, &hist->percents);
}

/* ---- Loading ---- */

static int status_of_load(int error)
{
	return error == -EINVAL || error == -EISDIR ? STATUS_USAGE : status_of(error);
}

static int load(struct hist *hist, const char *path)
{
	const struct hist_options *opt = hist->opt;
	struct samples_options how = {
		.format = (enum samples_format)opt->format,
		.per = opt->runs ? SAMPLES_PER_RUN : SAMPLES_EACH,
		.condition = opt->condition, .metric = opt->metric, .unit = opt->unit,
		.column = opt->column, .with_warmup = opt->warmup,
	};
	struct act_why why = { "" };
	int ret = samples_load(path, &how, &hist->samples, &hist->loaded, &why);

	if (ret < 0) {
		msg_error("%s", why.text);
		return status_of_load(ret);
	}
	return STATUS_OK;
}

static int describe(struct hist *hist)
{
	hist->sets = calloc(hist->loaded ? hist->loaded : 1, sizeof(*hist->sets));
	if (!hist->sets)
		return -ENOMEM;
	for (size_t i = 0; i < hist->loaded; i++) {
		int ret;

		if (!hist->samples[i].n)
			continue;
		ret = hist_set_init(&hist->sets[hist->count++], &hist->samples[i]);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static void warn_of_empty(const struct hist *hist)
{
	for (size_t i = 0; i < hist->loaded; i++)
		if (!hist->samples[i].n && !hist->samples[i].only_summary)
			msg_warning("condition %s has no valid sample",
				    hist->samples[i].condition ? hist->samples[i].condition : "-");
}

/* ---- The command ---- */

static void print_set(const struct hist *hist, struct out *out, const struct hist_set *set)
{
	const struct hist_options *opt = hist->opt;

	if (opt->json) {
		hist_print_json(out, set, &hist->axis, &hist->percents);
		return;
	}
	if (set != hist->sets)
		out_string(out, "\n");
	hist_print_name(out, set);
	if (opt->summary) {
		hist_print_summary(out, set);
	} else if (opt->style == STYLE_HISTO) {
		hist_print_histo(out, set, &hist->axis);
	} else {
		hist_print_plain(out, set, &hist->axis);
		out_string(out, "\n");
		hist_print_percents(out, set, &hist->percents);
	}
}

static int print(const struct hist *hist)
{
	struct out *out = open_output(hist->opt->output);

	if (!out)
		return STATUS_FAILED;
	for (size_t i = 0; i < hist->count; i++)
		print_set(hist, out, &hist->sets[i]);
	/* Main tells of output that could not be written. */
	out_close(out);
	return STATUS_OK;
}

static int show(struct hist *hist)
{
	const struct hist_stars stars = { hist->opt->stars, hist->opt->scale };
	struct hist_axis axis = hist->axis;
	const char *wrong;
	int ret = describe(hist);

	if (ret < 0)
		goto failed;
	if (!hist->count)
		return refuse("only a summary is known of it; a histogram takes single values");
	warn_of_empty(hist);
	if (!hist->opt->summary) {
		wrong = hist_axis_choose(&axis, hist->sets, hist->count);
		if (wrong)
			return refuse(wrong);
		hist->axis = axis;
		ret = hist_fill(hist->sets, hist->count, &hist->axis, &stars);
		if (ret < 0)
			goto failed;
	}
	return print(hist);
failed:
	msg_error("cannot describe the samples: %s", strerror(-ret));
	return STATUS_FAILED;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct hist hist = { .opt = arg };
	int status = check_options(&hist);

	(void)self;
	if (status != STATUS_OK)
		return status;
	if (argc != 1)
		return refuse("which file? one, or \"-\" for the standard input");
	status = load(&hist, argv[0]);
	if (status == STATUS_OK)
		status = show(&hist);
	for (size_t i = 0; i < hist.count; i++)
		hist_set_release(&hist.sets[i]);
	free(hist.sets);
	samples_free(hist.samples, hist.loaded);
	return status;
}

const struct command cmd_hist = {
	.name = "hist",
	.synopsis = "[OPTION]... FILE|-",
	.summary = "histogram and summary of a file of numbers, or of a result",
	.options = options,
	.options_size = sizeof(struct hist_options),
	.defaults = set_defaults,
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/samples.h"
#include "compare.h"
#include "msg.h"
#include "out.h"

struct compare_options {
	const char *condition, *metric, *unit, *bound, *level, *output;
	uint64_t column, digits;
	int format, scale;
	bool each, paired, unpaired;
	bool overhead, kernbench, ttest;
	bool picture, no_picture, json, csv, gate, explore, deciles;
};

#define OPTION(member) offsetof(struct compare_options, member)
static const struct option_spec options[] = {
	{ 'm', "metric", OPTION_TEXT, "NAME", OPTION(metric), "only this one; \"primary\"" },
	{ 'c', "condition", OPTION_TEXT, "NAME", OPTION(condition),
	  "of each file, where it has several" },
	{ 'b', "bound", OPTION_TEXT, "PERCENT", OPTION(bound),
	  "what is too small to matter; 1%" },
	{ 'L', "level", OPTION_TEXT, "PERCENT", OPTION(level), "of intervals; 95%" },
	{ 'p', "paired", OPTION_FLAG, NULL, OPTION(paired),
	  "the first value belongs to the first, and so on" },
	{ 'P', "unpaired", OPTION_FLAG, NULL, OPTION(unpaired), "ignore pairs" },
	{ 0, "scale", OPTION_CHOICE, "auto|ratio|difference", OPTION(scale),
	  "compare by ratios, or by differences" },
	{ 'e', "each", OPTION_FLAG, NULL, OPTION(each),
	  "every sample of a result, not the median of each run" },
	{ 'f', "format", OPTION_CHOICE, "auto|numbers|summary|result|hyperfine|time",
	  OPTION(format), "what the files are" },
	{ 'C', "column", OPTION_COUNT, "N", OPTION(column), "of plain numbers, from 1" },
	{ 'u', "unit", OPTION_TEXT, "UNIT", OPTION(unit), "of plain numbers: ns, us, ms, s, ..." },
	{ 'x', "explore", OPTION_FLAG, NULL, OPTION(explore),
	  "many p by Benjamini-Hochberg, not Holm: more is found, some of it wrongly" },
	{ 'd', "deciles", OPTION_FLAG, NULL, OPTION(deciles),
	  "what becomes of each decile, with bootstrap bands" },
	{ 0, "overhead", OPTION_FLAG, NULL, OPTION(overhead), "table of (Yes-No)/No" },
	{ 0, "kernbench", OPTION_FLAG, NULL, OPTION(kernbench),
	  "table of mean, std, var, max, min, as kernbench's" },
	{ 0, "ttest", OPTION_FLAG, NULL, OPTION(ttest), "Student's and Welch's t-test" },
	{ 0, "digits", OPTION_COUNT, "N", OPTION(digits),
	  "decimals of percentages in these tables; 2" },
	{ 0, "picture", OPTION_FLAG, NULL, OPTION(picture),
	  "draw the distributions, not only on a terminal" },
	{ 0, "no-picture", OPTION_FLAG, NULL, OPTION(no_picture), "do not" },
	{ 'g', "gate", OPTION_FLAG, NULL, OPTION(gate),
	  "exit with 3 if the primary metric differs" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 0, "csv", OPTION_FLAG, NULL, OPTION(csv), "comma-separated values" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct compare_options *opt = arg;

	opt->bound = "1%";
	opt->level = "95%";
	opt->digits = 2;
}

/* ---- Options ---- */

static int make_method(const struct compare_options *opt, struct method *ret)
{
	int status = parse_percent("bound", opt->bound, &ret->bound);

	if (status == STATUS_OK)
		status = parse_percent("level", opt->level, &ret->level);
	if (status)
		return status;
	if (ret->level < 0.5)
		return refuse("--level below 50% is no interval to rely on");
	if (opt->paired && opt->unpaired)
		return refuse("--paired and --unpaired exclude each other");
	/* Of many samples of a run none is the partner of one of another run. */
	ret->pairing = opt->paired ? PAIRING_PAIRED :
		       opt->unpaired || opt->each ? PAIRING_UNPAIRED : PAIRING_AUTO;
	ret->scale = (enum scale)opt->scale;
	ret->explores = opt->explore;
	ret->has_deciles = opt->deciles;
	return STATUS_OK;
}

static bool is_classic(const struct compare_options *opt)
{
	return opt->overhead || opt->kernbench || opt->ttest;
}

static int check_options(const struct compare_options *opt)
{
	if (opt->overhead + opt->kernbench + opt->ttest + opt->json + opt->csv > 1)
		return refuse("of --overhead, --kernbench, --ttest, --json and --csv only one");
	if (opt->picture && (opt->no_picture || opt->json || opt->csv || is_classic(opt)))
		return refuse("--picture draws below the default table only");
	if (opt->deciles && (opt->json || opt->csv || is_classic(opt)))
		return refuse("--deciles are told below the default table only");
	if (opt->gate && is_classic(opt))
		return refuse("--gate needs a verdict, which the tables of old do not have");
	if (opt->digits > 9)
		return refuse("--digits is at most 9");
	if (opt->each && opt->paired)
		return refuse("--each has many values of a run: they cannot be --paired");
	return STATUS_OK;
}

static int check_files(int argc, char **argv)
{
	int stdins = 0;

	for (int i = 0; i < argc; i++)
		stdins += strcmp(argv[i], "-") == 0;
	if (!argc)
		return refuse("which files? two or more, or one result of two conditions");
	if (stdins > 1)
		return refuse("standard input can be read once: \"-\" only one time");
	return STATUS_OK;
}

static struct samples_options samples_of(const struct compare_options *opt)
{
	return (struct samples_options){
		.format = (enum samples_format)opt->format,
		.per = opt->each ? SAMPLES_EACH : SAMPLES_PER_RUN,
		.condition = opt->condition, .metric = opt->metric, .unit = opt->unit,
		.column = opt->column,
	};
}

/* ---- Output ---- */

static bool wants_picture(const struct compare_options *opt)
{
	bool is_terminal = !opt->output && isatty(STDOUT_FILENO) == 1;

	return opt->picture || (is_terminal && !opt->no_picture);
}

static int print_classic(const struct compare_options *opt, const struct comparable *all,
			 const struct method *method, struct out *out)
{
	unsigned int digits = (unsigned int)opt->digits;
	int ret;

	if (all->arms > 2)
		return refuse("--overhead, --kernbench and --ttest are tables of two; "
			      "name two files, or two conditions");
	if (opt->ttest)
		return print_ttest(all, method, out);
	ret = opt->overhead ? print_overhead(all, method, digits, out) :
			      print_kernbench(all, digits, out);
	if (ret < 0)
		msg_error("cannot print: %s", strerror(-ret));
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

static enum style style_of(const struct compare_options *opt)
{
	return opt->json ? STYLE_JSON : opt->csv ? STYLE_CSV : STYLE_TEXT;
}

static int compare(const struct compare_options *opt, const struct comparable *all,
		   const struct method *method, struct out *out)
{
	bool differs = false;
	int status;

	if (is_classic(opt))
		return print_classic(opt, all, method, out);
	if (opt->deciles && all->arms > 2)
		return refuse("--deciles are of two arms; name two files, or two conditions");
	status = comparable_print(all, method, style_of(opt), wants_picture(opt), out, &differs);
	return status == STATUS_OK && opt->gate && differs ? STATUS_DIFFERENT : status;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	const struct compare_options *opt = arg;
	const struct samples_options samples = samples_of(opt);
	struct comparable all;
	struct method method;
	struct out *out;
	int status = make_method(opt, &method);

	(void)self;
	if (status == STATUS_OK)
		status = check_options(opt);
	if (status == STATUS_OK)
		status = check_files(argc, argv);
	if (status == STATUS_OK)
		status = comparable_load(&samples, method.level, (size_t)argc, argv, &all);
	if (status)
		return status;
	out = open_output(opt->output);
	status = out ? compare(opt, &all, &method, out) : STATUS_FAILED;
	out_close(out);
	comparable_free(&all);
	return status;
}

const struct command cmd_compare = {
	.name = "compare",
	.synopsis = "[OPTION]... FILE...",
	.summary = "compare results, or files of numbers: by how much, and how sure",
	.options = options,
	.options_size = sizeof(struct compare_options),
	.defaults = set_defaults,
	.run = run,
};

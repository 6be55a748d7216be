/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "workopts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/parse.h"
#include "bench/run.h"
#include "bench/wire.h"
#include "cmd.h"
#include "msg.h"
#include "opts.h"

/* What "-- COMMAND" is short for. */
#define COMMAND_WORKLOAD "command"

static struct opts_table table_of(const struct workload *workload, const char *name)
{
	return (struct opts_table){
		.name = name, .synopsis = workload->synopsis, .summary = workload->summary,
		.options = workload->options, .has_no_quiet = true,
	};
}

static void name_of(const struct workload *workload, const char *verb, char ret_name[64])
{
	snprintf(ret_name, 64, "%s %s", verb, workload->name);
}

static int check(const struct workopts *work, const char *verb)
{
	const struct workload *workload = work->workload;
	struct act_why why;

	if (work->argc && !workload->takes_arguments) {
		msg_error("%s takes no argument, \"%s\"; actuary %s %s -h shows the usage",
			  workload->name, work->argv[0], verb, workload->name);
		return STATUS_USAGE;
	}
	if (workload->check && workload->check(work->options, work->argc, work->argv, &why) < 0) {
		msg_error("%s: %s", workload->name, why.text);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* @argv[0] is any word, the options come behind it. */
static int parse_words(struct workopts *work, const char *verb, int argc, char **argv)
{
	const struct workload *workload = work->workload;
	struct opts_table table;
	struct opts opts;
	char name[64];

	name_of(workload, verb, name);
	table = table_of(workload, name);
	work->options = calloc(1, workload->options_size ? workload->options_size : 1);
	if (!work->options) {
		msg_error("out of memory");
		return STATUS_FAILED;
	}
	if (workload->defaults)
		workload->defaults(work->options);
	if (opts_parse_table(&table, work->options, argc, argv, &opts) != STATUS_OK)
		return STATUS_USAGE;
	work->given_argc = argc - 1;
	work->given = argv + 1;
	work->argc = argc - opts.first;
	work->argv = argv + opts.first;
	work->wants_help = opts.wants_help;
	work->wants_manual = opts.wants_manual;
	return opts.wants_help || opts.wants_manual ? STATUS_OK : check(work, verb);
}

int workopts_parse(struct workopts *ret, const char *verb, int argc, char **argv)
{
	/* The command's own name comes before all, so there is always a word before. */
	bool is_command = argc > 0 && strcmp(argv[-1], "--") == 0;
	int status;

	*ret = (struct workopts){ 0 };
	if (argc < 1) {
		msg_error("which workload? actuary %s -h tells how to list them", verb);
		return STATUS_USAGE;
	}
	ret->workload = workload_find(is_command ? COMMAND_WORKLOAD : argv[0]);
	if (!ret->workload) {
		msg_error("there is no workload \"%s\"; actuary bench --list names them, and a "
			  "command goes behind --", argv[0]);
		return STATUS_USAGE;
	}
	/* Of "VERB -- CMD" the two words before, so that "--" is one of those given. */
	status = is_command ? parse_words(ret, verb, argc + 2, argv - 2) :
			      parse_words(ret, verb, argc, argv);
	if (status != STATUS_OK)
		workopts_release(ret);
	return status;
}

int workopts_extend(struct workopts *ret, const struct workopts *work, const char *verb,
		    char *const *words, size_t count)
{
	/* Before what ends the options, be it "--" or an argument. */
	size_t options = (size_t)(work->given_argc - work->argc);
	size_t all = (size_t)work->given_argc + count;
	char **word = calloc(all + 2, sizeof(*word));
	int status;

	*ret = (struct workopts){ .workload = work->workload, .words = word };
	if (!word) {
		msg_error("out of memory");
		return STATUS_FAILED;
	}
	if (options && strcmp(work->given[options - 1], "--") == 0)
		options--;
	word[0] = (char *)work->workload->name;
	memcpy(word + 1, work->given, options * sizeof(*word));
	if (count)
		memcpy(word + 1 + options, words, count * sizeof(*word));
	memcpy(word + 1 + options + count, work->given + options,
	       ((size_t)work->given_argc - options) * sizeof(*word));
	status = parse_words(ret, verb, (int)all + 1, word);
	if (status == STATUS_OK && (ret->wants_help || ret->wants_manual)) {
		msg_error("a condition cannot ask for help");
		status = STATUS_USAGE;
	}
	if (status != STATUS_OK)
		workopts_release(ret);
	return status;
}

void workopts_print_help(const struct workopts *work, const char *verb, FILE *file)
{
	const struct metric *metrics = work->workload->metrics;
	struct opts_table table;
	char name[64];

	name_of(work->workload, verb, name);
	table = table_of(work->workload, name);
	opts_print_table_help(&table, file);
	if (!metrics || !metrics->name)
		return;
	fputs("\nMetrics of its own:\n", file);
	for (; metrics->name; metrics++)
		fprintf(file, "  %-24s%s\n", metrics->name, metrics->help);
}

void workopts_release(struct workopts *work)
{
	free(work->options);
	free(work->words);
	work->options = NULL;
	work->words = NULL;
}

/* ---- The run's process ---- */

enum { WORD_WORKLOAD = 1, WORD_ROUNDS, WORD_MIN_NS, WORD_WARMUP, WORDS };

int workopts_main(int argc, char **argv)
{
	struct workopts work = { 0 };
	struct run_spec spec = { 0 };
	int status;

	/* Else the account would call it "exe". */
	prctl(PR_SET_NAME, RUN_NAME);
	if (argc < WORDS)
		return STATUS_USAGE;
	work.workload = spec.workload = workload_find(argv[WORD_WORKLOAD]);
	if (!work.workload || parse_count(argv[WORD_ROUNDS], &spec.rounds) < 0 ||
	    parse_count(argv[WORD_MIN_NS], &spec.min_ns) < 0 ||
	    parse_count(argv[WORD_WARMUP], &spec.warmup) < 0)
		return STATUS_USAGE;
	status = parse_words(&work, "bench", argc - WORDS + 1, argv + WORDS - 1);
	if (status == STATUS_OK)
		status = run_worker(work.workload, work.options, work.argc, work.argv, &spec,
				    WIRE_FD);
	workopts_release(&work);
	return status;
}

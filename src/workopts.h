/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_WORKOPTS_H
#define ACTUARY_WORKOPTS_H

/*
 * The workload that a command was given, "forky --burst 1000", or the command
 * that is one, "-- make -j4".
 */
#include <stdio.h>

#include "bench/workload.h"

struct workopts {
	const struct workload *workload;
	void *options;     /* checked */
	int argc;          /* what follows the options */
	char **argv;
	int given_argc;    /* all that follows the workload's name, as it was given */
	char **given;
	char **words;      /* where @given lies, if it is ours */
	bool wants_help;   /* -h: print it with workopts_print_help() */
	bool wants_manual; /* --help */
};

/*
 * @argv is what follows the command's own options, part of a longer array: a
 * "--" before it is looked at.  @verb is the command's name.  STATUS_OK, or
 * STATUS_USAGE after one message.
 */
int workopts_parse(struct workopts *ret, const char *verb, int argc, char **argv);
/*
 * The same workload with @words behind the options that @work was given, which must
 * outlive it: checked, as by workopts_parse().
 */
int workopts_extend(struct workopts *ret, const struct workopts *work, const char *verb,
		    char *const *words, size_t count);
void workopts_print_help(const struct workopts *work, const char *verb, FILE *file);
void workopts_release(struct workopts *work);

/* What a run's process does, whose argv[0] is RUN_NAME (bench/run.h): the exit status. */
int workopts_main(int argc, char **argv);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_OPTS_H
#define ACTUARY_OPTS_H

/*
 * Options from a command's table (cmd.h).  Every command also has -q/--quiet,
 * -h (short help) and --help (the manual), which no table lists.
 *
 * One rule for all: options come before arguments.  The first word that is no
 * option ends them, and so does "--"; what follows is the command's.  (An option
 * that comes too late is refused, but where the synopsis tells that a command
 * follows, "[-- COMMAND...]", which has its own.)  Names
 * cannot be abbreviated; of an option given twice the last one holds.
 */
#include <stdbool.h>
#include <stdio.h>

#include "cmd.h"

struct opts {
	bool wants_help;   /* -h */
	bool wants_manual; /* --help */
	bool is_quiet;     /* -q */
	int first;         /* index in argv of the first argument */
};

/* What has options: a command, or a workload that a command was given. */
struct opts_table {
	const char *name;     /* after "actuary": "bench forky" */
	const char *synopsis;
	const char *summary;
	const struct option_spec *options;
	bool has_no_quiet;    /* the command that it belongs to has it */
};

/*
 * Parses @argv, whose first entry is the command's name, into the command's
 * own struct.  Returns STATUS_OK, or STATUS_USAGE after one message.
 */
int opts_parse(const struct command *command, void *options, int argc, char **argv,
	       struct opts *ret_opts);

int opts_parse_table(const struct opts_table *table, void *options, int argc, char **argv,
		     struct opts *ret_opts);

/* The text of -h. */
void opts_print_help(const struct command *command, FILE *file);
void opts_print_table_help(const struct opts_table *table, FILE *file);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_CMD_H
#define ACTUARY_CMD_H

/*
 * A command is one file, src/cmd-VERB.c, and one line in the table of main.c.
 *
 *	1. write src/cmd-VERB.c with a `const struct command cmd_verb`;
 *	2. declare it below and add it to the table in main.c, to src/meson.build;
 *	3. write man/actuary-VERB.1 and add it to man/meson.build;
 *	4. add its line to README's table;
 *	5. write tests/cli/t-VERB.sh.
 *
 * Options are described once, in a static table.  main.c parses them into the
 * command's own struct before calling run(), answers -h and --help from the
 * same table, and refuses bad values with one message and status 2; completion
 * asks for the same table.  So a command starts with everything checked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/option.h"

/* Exit statuses: the whole program's promise, see actuary(1). */
enum status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,      /* usage or bad input */
	STATUS_DIFFERENT = 3,  /* a difference was found, --gate */
	STATUS_UNTRUSTED = 4,  /* records are missing: what is shown is not all */
};

struct command {
	const char *name;
	const char *synopsis; /* after the name: "[OPTION]... [-- COMMAND...]" */
	const char *summary;  /* one line, for lists and help */
	const struct option_spec *options; /* ends with an all-zero entry */
	size_t options_size;  /* of the struct that options fill */
	/* Fills the struct with defaults; NULL: zeroes. */
	void (*defaults)(void *options);
	/* @argv holds what follows the options, @argc of them. */
	int (*run)(const struct command *self, void *options, int argc, char **argv);
};

/* ---- What commands share ---- */

struct out;

/* Says why the usage is wrong; the status to end with. */
int refuse(const char *text);

/*
 * The status for an error (negative errno) of opening or reading a log: bad
 * input is the user's to mend, the rest is a failure.
 */
int status_of(int error);

/* out_open() of what --output named, NULL for stdout; says why if it cannot. */
struct out *open_output(const char *path);

/* The words with which the program was called, kept by main.c for results. */
struct words {
	size_t count;
	const char *const *word;
};
void words_keep(int argc, char **argv);
struct words words_called(void);

extern const struct command cmd_ab;
extern const struct command cmd_bench;
extern const struct command cmd_compare;
extern const struct command cmd_delays;
extern const struct command cmd_doctor;
extern const struct command cmd_hist;
extern const struct command cmd_list;
extern const struct command cmd_record;
extern const struct command cmd_report;
extern const struct command cmd_verify;

#endif

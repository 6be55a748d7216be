/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/actuary.h>

#include "bench/wire.h"
#include "cmd.h"
#include "manual.h"
#include "msg.h"
#include "opts.h"
#include "out.h"
#include "workopts.h"

/* Every command, in the order in which help lists them. */
static const struct command *const commands[] = {
	&cmd_record,
	&cmd_report,
	&cmd_list,
	&cmd_delays,
	&cmd_compare,
	&cmd_verify,
	&cmd_bench,
	&cmd_ab,
	&cmd_doctor,
	&cmd_hist,
	NULL
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void print_help(FILE *file)
{
	fputs("Usage: actuary COMMAND [OPTION]...\n\n"
	      "Keeps the account of every task that ends on this machine.\n\n"
	      "Commands:\n", file);
	for (size_t i = 0; commands[i]; i++)
		fprintf(file, "  %-10s%s\n", commands[i]->name, commands[i]->summary);
	fputs("\nOptions:\n"
	      "  -h, --help    this text\n"
	      "  --version     the version\n\n"
	      "\"actuary COMMAND -h\" lists the options of a command, "
	      "\"actuary help COMMAND\"\nshows its manual page.\n", file);
}

/* ---- Manuals ---- */

static int show_command_manual(const struct command *command)
{
	char page[64];

	snprintf(page, sizeof(page), "actuary-%s", command->name);
	manual_show(page);
	opts_print_help(command, stdout);
	return STATUS_OK;
}

static int complain_command(const char *name)
{
	msg_error("unknown command \"%s\"; actuary -h lists them", name);
	return STATUS_USAGE;
}

static int help(int argc, char **argv)
{
	const struct command *command;

	if (argc > 1) {
		msg_error("help takes one command");
		return STATUS_USAGE;
	}
	if (argc == 0) {
		print_help(stdout);
		return STATUS_OK;
	}
	command = find_command(argv[0]);
	return command ? show_command_manual(command) : complain_command(argv[0]);
}

/* ---- Running ---- */

static int run_with(const struct command *command, void *options, const char *prefix, int argc,
		    char **argv)
{
	struct opts opts;

	if (command->defaults)
		command->defaults(options);
	if (opts_parse(command, options, argc, argv, &opts) != STATUS_OK)
		return STATUS_USAGE;
	if (opts.wants_manual)
		return show_command_manual(command);
	if (opts.wants_help) {
		opts_print_help(command, stdout);
		return STATUS_OK;
	}
	msg_init(prefix, opts.is_quiet);
	return command->run(command, options, argc - opts.first, argv + opts.first);
}

static int run(const struct command *command, int argc, char **argv)
{
	void *options = calloc(1, command->options_size ? command->options_size : 1);
	static char prefix[64];
	int status;

	snprintf(prefix, sizeof(prefix), "actuary %s", command->name);
	msg_init(prefix, false);
	if (!options) {
		msg_error("out of memory");
		return STATUS_FAILED;
	}
	status = run_with(command, options, prefix, argc, argv);
	msg_progress_end();
	free(options);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (!verb) {
		msg_error("which command? actuary -h lists them");
		return STATUS_USAGE;
	}
	if (strcmp(verb, "-h") == 0 || strcmp(verb, "--help") == 0) {
		print_help(stdout);
		return STATUS_OK;
	}
	if (strcmp(verb, "--version") == 0) {
		printf("actuary %s\n", act_version());
		return STATUS_OK;
	}
	if (strcmp(verb, "help") == 0)
		return help(argc - 2, argv + 2);
	if (*verb == '-') {
		msg_error("unknown option %s; actuary -h shows the usage", verb);
		return STATUS_USAGE;
	}
	command = find_command(verb);
	return command ? run(command, argc - 1, argv + 1) : complain_command(verb);
}

/* The status, once it is known whether the results could be written. */
static int check_output(int status)
{
	int error = fflush(stdout) ? -errno : out_error();

	if (!error)
		return status;
	/* The reader has had enough.  Where SIGPIPE is not ignored it has ended us before. */
	if (error == -EPIPE)
		return 128 + SIGPIPE;
	/* A command that failed has told why. */
	if (status != STATUS_FAILED && status != STATUS_USAGE)
		msg_error("cannot write the results: %s", strerror(-error));
	return status == STATUS_USAGE ? status : STATUS_FAILED;
}

int main(int argc, char **argv)
{
	msg_init("actuary", false);
	words_keep(argc, argv);
	/* Executed anew by a measurement. */
	if (argc > 0 && strcmp(argv[0], RUN_NAME) == 0)
		return workopts_main(argc, argv);
	return check_output(dispatch(argc, argv));
}

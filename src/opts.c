/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opts.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "msg.h"

/* What getopt_long() returns for a long option: FIRST_LONG + its index. */
enum { FIRST_LONG = 256 };

/* What every command has; indices follow those of the command's own table. */
enum { SHARED_QUIET, SHARED_HELP };
static const struct option_spec shared[] = {
	[SHARED_QUIET] = { 'q', "quiet", OPTION_FLAG, NULL, 0, "say nothing but errors on stderr" },
	[SHARED_HELP] = { 'h', "help", OPTION_FLAG, NULL, 0,
			  "-h: this text; --help: the manual page" },
	{ 0 },
};

static size_t count(const struct option_spec *specs)
{
	size_t n = 0;

	while (specs && specs[n].name)
		n++;
	return n;
}

/* ---- Values ---- */

/* What a value of this type is called, and one that is right. */
static const struct {
	const char *noun, *example;
} forms[] = {
	[OPTION_COUNT] = { "a whole number", "1000" },
	[OPTION_SIZE] = { "a size", "512, 64K or 1.5G" },
	[OPTION_DURATION] = { "a duration", "250ms, 10s or 2h" },
	[OPTION_TIME] = { "a time", "2026-12-01T10:00:00Z, @1796119200 or \"10m ago\"" },
};

static int parse_choice(const char *words, const char *value, int *ret_index)
{
	size_t length = strlen(value);

	for (int index = 0;; index++) {
		size_t word = strcspn(words, "|");

		if (word == length && memcmp(words, value, length) == 0) {
			*ret_index = index;
			return 0;
		}
		if (!words[word])
			return -EINVAL;
		words += word + 1;
	}
}

static int store(const struct option_spec *spec, const char *value, void *options)
{
	void *at = (char *)options + spec->offset;

	switch (spec->type) {
	case OPTION_FLAG:
		*(bool *)at = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)at = value;
		return 0;
	case OPTION_COUNT:
		return parse_count(value, at);
	case OPTION_SIZE:
		return parse_size(value, at);
	case OPTION_DURATION:
		return parse_duration(value, at);
	case OPTION_TIME:
		return parse_time(value, clock_wall_ns(), at);
	case OPTION_CHOICE:
		return parse_choice(spec->arg, value, at);
	}
	return -EINVAL;
}

static int complain(const struct option_spec *spec, const char *value, int error)
{
	if (spec->type == OPTION_CHOICE)
		msg_error("--%s: \"%s\" is none of %s", spec->name, value, spec->arg);
	else if (error == -ERANGE)
		msg_error("--%s: \"%s\" is too large", spec->name, value);
	else
		msg_error("--%s: \"%s\" is not %s; write it as %s", spec->name, value,
			  forms[spec->type].noun, forms[spec->type].example);
	return STATUS_USAGE;
}

/* ---- Parsing ---- */

/* The tables as getopt_long() wants them. */
struct grammar {
	const struct option_spec *spec[OPTS_MAX];
	size_t specs;
	struct option longs[OPTS_MAX + 1];
	char letters[2 + 2 * OPTS_MAX + 1];
};

static void grammar_add(struct grammar *grammar, const struct option_spec *spec)
{
	bool has_arg = spec->type != OPTION_FLAG;
	size_t index = grammar->specs++;

	assert(index < OPTS_MAX);
	grammar->spec[index] = spec;
	grammar->longs[index] = (struct option){
		.name = spec->name,
		.has_arg = has_arg ? required_argument : no_argument,
		.val = FIRST_LONG + (int)index,
	};
	if (spec->letter) {
		char *end = grammar->letters + strlen(grammar->letters);

		*end++ = spec->letter;
		if (has_arg)
			*end = ':';
	}
}

static void grammar_init(struct grammar *grammar, const struct command *command)
{
	memset(grammar, 0, sizeof(*grammar));
	/* +: stop at the first argument; ":": tell a missing value from a wrong option. */
	strcpy(grammar->letters, "+:");
	for (const struct option_spec *spec = command->options; spec && spec->name; spec++)
		grammar_add(grammar, spec);
	for (const struct option_spec *spec = shared; spec->name; spec++)
		grammar_add(grammar, spec);
}

static const struct option_spec *find_spec(const struct grammar *grammar, int found)
{
	if (found >= FIRST_LONG)
		return grammar->spec[found - FIRST_LONG];
	for (size_t i = 0; i < grammar->specs; i++)
		if (grammar->spec[i]->letter == found)
			return grammar->spec[i];
	return NULL;
}

/*
 * Why getopt_long() said '?' or ':'.  It leaves optopt 0 for a long option that
 * it does not know, and the letter or val of one whose value is missing or
 * superfluous; the word itself is the one before optind.
 */
static int complain_word(const struct command *command, const struct grammar *grammar, int found,
			 char **argv)
{
	const struct option_spec *spec = find_spec(grammar, optopt);
	const char *word = argv[optind - 1];

	if (found == ':' && spec)
		msg_error("--%s needs a value: --%s %s", spec->name, spec->name, spec->arg);
	else if (spec)
		msg_error("--%s takes no value, \"%s\"", spec->name, word);
	else if (optopt)
		msg_error("unknown option -%c; actuary %s -h lists them", optopt, command->name);
	else
		msg_error("unknown option %.*s; actuary %s -h lists them",
			  (int)strcspn(word, "="), word, command->name);
	return STATUS_USAGE;
}

static void store_shared(const struct option_spec *spec, int found, struct opts *opts)
{
	if (spec == &shared[SHARED_QUIET])
		opts->is_quiet = true;
	else if (found == 'h')
		opts->wants_help = true;
	else
		opts->wants_manual = true;
}

int opts_parse(const struct command *command, void *options, int argc, char **argv,
	       struct opts *ret_opts)
{
	struct grammar grammar;
	struct opts opts = { 0 };

	grammar_init(&grammar, command);
	opterr = 0;
	optind = 0; /* glibc: begin anew, also where its state is from another argv */
	for (;;) {
		int found = getopt_long(argc, argv, grammar.letters, grammar.longs, NULL);
		const struct option_spec *spec;
		int ret;

		if (found == -1)
			break;
		if (found == '?' || found == ':')
			return complain_word(command, &grammar, found, argv);
		spec = find_spec(&grammar, found);
		if (spec >= shared && spec < shared + sizeof(shared) / sizeof(*shared)) {
			store_shared(spec, found, &opts);
			continue;
		}
		ret = store(spec, optarg, options);
		if (ret < 0)
			return complain(spec, optarg, ret);
	}
	opts.first = optind;
	*ret_opts = opts;
	return STATUS_OK;
}

/* ---- Help ---- */

enum {
	HELP_INDENT = 26,  /* where the help of an option begins */
	HELP_WIDTH = 80,
};

/* "  -l, --log DIR"; returns its length. */
static int print_names(const struct option_spec *spec, FILE *file)
{
	int length = spec->letter ? fprintf(file, "  -%c, --%s", spec->letter, spec->name) :
				    fprintf(file, "      --%s", spec->name);

	if (spec->arg)
		length += fprintf(file, " %s", spec->arg);
	return length;
}

/* Wraps @text at words, from column HELP_INDENT on. */
static void print_wrapped(const char *text, FILE *file)
{
	size_t column = HELP_INDENT;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > HELP_INDENT && column + 1 + word > HELP_WIDTH) {
			fprintf(file, "\n%*s", HELP_INDENT, "");
			column = HELP_INDENT;
		} else if (column > HELP_INDENT) {
			fputc(' ', file);
			column++;
		}
		fwrite(text, 1, word, file);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', file);
}

static void print_option(const struct option_spec *spec, FILE *file)
{
	int length = print_names(spec, file);

	if (length > HELP_INDENT - 2) {
		fputc('\n', file);
		length = 0;
	}
	fprintf(file, "%*s", HELP_INDENT - length, "");
	print_wrapped(spec->help, file);
}

void opts_print_help(const struct command *command, FILE *file)
{
	fprintf(file, "Usage: actuary %s %s\n\n%s.\n\nOptions:\n", command->name,
		command->synopsis, command->summary);
	for (size_t i = 0; i < count(command->options); i++)
		print_option(&command->options[i], file);
	for (size_t i = 0; i < count(shared); i++)
		print_option(&shared[i], file);
}

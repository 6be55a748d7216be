/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opts.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "msg.h"

/* What every command has; a workload has only the help. */
enum { SHARED_QUIET, SHARED_HELP };
static const struct option_spec shared[] = {
	[SHARED_QUIET] = { 'q', "quiet", OPTION_FLAG, NULL, 0,
			   "say nothing but errors and warnings on stderr" },
	[SHARED_HELP] = { 'h', "help", OPTION_FLAG, NULL, 0,
			  "-h: this text; --help: the manual page" },
	{ 0 },
};

static const struct option_spec *shared_of(const struct opts_table *table)
{
	return &shared[table->has_no_quiet ? SHARED_HELP : SHARED_QUIET];
}

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

static int append(struct option_texts *texts, const char *value)
{
	if (texts->count == OPTION_TEXTS_MAX)
		return -ERANGE;
	texts->text[texts->count++] = value;
	return 0;
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
	case OPTION_TEXTS:
		return append(at, value);
	}
	return -EINVAL;
}

/* ---- Parsing ---- */

/*
 * By hand, since getopt_long() takes "--coun" for "--count": an option added
 * later would change what an old script means.
 */
struct parser {
	const struct opts_table *table;
	void *options;
	struct opts opts;
	int argc;
	char **argv;
	int next; /* index in argv of what is to be looked at */
};

/* Of either table: the one that @matches. */
static const struct option_spec *find(const struct opts_table *table,
				      bool (*matches)(const struct option_spec *, const char *),
				      const char *word)
{
	for (const struct option_spec *spec = table->options; spec && spec->name; spec++)
		if (matches(spec, word))
			return spec;
	for (const struct option_spec *spec = shared_of(table); spec->name; spec++)
		if (matches(spec, word))
			return spec;
	return NULL;
}

static bool has_name(const struct option_spec *spec, const char *word)
{
	size_t length = strcspn(word, "=");

	return strlen(spec->name) == length && memcmp(spec->name, word, length) == 0;
}

static bool has_letter(const struct option_spec *spec, const char *word)
{
	return spec->letter && spec->letter == *word;
}

static int complain_value(const struct option_spec *spec, const char *value, int error)
{
	if (spec->type == OPTION_CHOICE)
		msg_error("--%s: \"%s\" is none of %s", spec->name, value, spec->arg);
	else if (spec->type == OPTION_TEXTS)
		msg_error("--%s: \"%s\" is one too many; it can be given %d times", spec->name, value,
			  OPTION_TEXTS_MAX);
	else if (error == -ERANGE)
		msg_error("--%s: \"%s\" is %s", spec->name, value,
			  spec->type == OPTION_TIME ? "out of range" : "too large");
	else
		msg_error("--%s: \"%s\" is not %s; write it as %s", spec->name, value,
			  forms[spec->type].noun, forms[spec->type].example);
	return STATUS_USAGE;
}

/* @value: what stood in the same word; NULL: take the next word, if one is needed. */
static int take_option(struct parser *parser, const struct option_spec *spec, const char *value)
{
	int ret;

	if (spec == &shared[SHARED_QUIET]) {
		parser->opts.is_quiet = true;
		return STATUS_OK;
	}
	if (spec->type != OPTION_FLAG && !value) {
		if (parser->next == parser->argc) {
			msg_error("--%s needs a value: --%s %s", spec->name, spec->name, spec->arg);
			return STATUS_USAGE;
		}
		value = parser->argv[parser->next++];
	}
	ret = store(spec, value, parser->options);
	return ret < 0 ? complain_value(spec, value, ret) : STATUS_OK;
}

/* "name", "name=value" */
static int take_long(struct parser *parser, const char *word)
{
	const struct option_spec *spec = find(parser->table, has_name, word);
	const char *value = strchr(word, '=');

	if (!spec) {
		msg_error("unknown option --%.*s; actuary %s -h lists them",
			  (int)strcspn(word, "="), word, parser->table->name);
		return STATUS_USAGE;
	}
	if (spec->type == OPTION_FLAG && value) {
		msg_error("--%s takes no value, \"--%s\"", spec->name, word);
		return STATUS_USAGE;
	}
	if (spec == &shared[SHARED_HELP]) {
		parser->opts.wants_manual = true;
		return STATUS_OK;
	}
	return take_option(parser, spec, value ? value + 1 : NULL);
}

/* "f", "fq", "n7", "fn7" */
static int take_letters(struct parser *parser, const char *letters)
{
	int status = STATUS_OK;

	while (*letters && status == STATUS_OK) {
		const struct option_spec *spec = find(parser->table, has_letter, letters);

		if (!spec) {
			msg_error("unknown option -%c; actuary %s -h lists them", *letters,
				  parser->table->name);
			return STATUS_USAGE;
		}
		letters++;
		if (spec == &shared[SHARED_HELP]) {
			parser->opts.wants_help = true;
		} else if (spec->type == OPTION_FLAG || !*letters) {
			status = take_option(parser, spec, NULL);
		} else {
			return take_option(parser, spec, letters);
		}
	}
	return status;
}

/*
 * An option behind an argument would be taken for another argument: say why it
 * is not taken, but where what follows is a command with options of its own.
 */
static int check_arguments(const struct parser *parser)
{
	if (strstr(parser->table->synopsis, "-- "))
		return STATUS_OK;
	for (int i = parser->next; i < parser->argc; i++) {
		const char *word = parser->argv[i];

		if (strcmp(word, "--") == 0)
			break;
		if (word[0] == '-' && word[1]) {
			msg_error("%s comes too late: options go before \"%s\"", word,
				  parser->argv[parser->next]);
			return STATUS_USAGE;
		}
	}
	return STATUS_OK;
}

int opts_parse_table(const struct opts_table *table, void *options, int argc, char **argv,
		     struct opts *ret_opts)
{
	struct parser parser = {
		.table = table, .options = options, .argc = argc, .argv = argv, .next = 1,
	};
	int status = STATUS_OK;

	while (parser.next < argc && status == STATUS_OK) {
		const char *word = argv[parser.next];

		if (word[0] != '-' || !word[1]) {
			status = check_arguments(&parser);
			break;
		}
		parser.next++;
		if (strcmp(word, "--") == 0)
			break;
		status = word[1] == '-' ? take_long(&parser, word + 2) :
					  take_letters(&parser, word + 1);
	}
	parser.opts.first = parser.next;
	*ret_opts = parser.opts;
	return status;
}

static struct opts_table table_of(const struct command *command)
{
	return (struct opts_table){
		.name = command->name, .synopsis = command->synopsis,
		.summary = command->summary, .options = command->options,
	};
}

int opts_parse(const struct command *command, void *options, int argc, char **argv,
	       struct opts *ret_opts)
{
	const struct opts_table table = table_of(command);

	return opts_parse_table(&table, options, argc, argv, ret_opts);
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

void opts_print_table_help(const struct opts_table *table, FILE *file)
{
	const struct option_spec *common = shared_of(table);

	fprintf(file, "Usage: actuary %s %s\n\n%c%s%s\n\nOptions:\n", table->name, table->synopsis,
		toupper((unsigned char)*table->summary), table->summary + 1,
		table->summary[strlen(table->summary) - 1] == '?' ? "" : ".");
	for (size_t i = 0; i < count(table->options); i++)
		print_option(&table->options[i], file);
	for (size_t i = 0; i < count(common); i++)
		print_option(&common[i], file);
}

void opts_print_help(const struct command *command, FILE *file)
{
	const struct opts_table table = table_of(command);

	opts_print_table_help(&table, file);
}

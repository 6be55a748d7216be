/* SPDX-License-Identifier: GPL-2.0-or-later */
/* opts_parse(): any words; a refusal is STATUS_USAGE, and what is left is within argv. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "opts.h"

struct fuzz_options {
	bool flag, other;
	const char *text;
	uint64_t count, size, duration, time;
	int choice;
};

#define OPTION(member) offsetof(struct fuzz_options, member)
static const struct option_spec specs[] = {
	{ 'f', "flag", OPTION_FLAG, NULL, OPTION(flag), "flag" },
	{ 'o', "other", OPTION_FLAG, NULL, OPTION(other), "flag" },
	{ 't', "text", OPTION_TEXT, "TEXT", OPTION(text), "text" },
	{ 'n', "count", OPTION_COUNT, "N", OPTION(count), "count" },
	{ 0, "size", OPTION_SIZE, "SIZE", OPTION(size), "size" },
	{ 0, "for", OPTION_DURATION, "DURATION", OPTION(duration), "duration" },
	{ 0, "since", OPTION_TIME, "TIME", OPTION(time), "time" },
	{ 0, "per", OPTION_CHOICE, "both|process|task", OPTION(choice), "choice" },
	{ 0 },
};

enum { WORDS_MAX = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *synopsis, int argc, char **argv)
{
	const struct command command = {
		.name = "fuzz", .synopsis = synopsis, .summary = "fuzz", .options = specs,
	};
	struct fuzz_options options = { 0 };
	struct opts opts = { 0 };
	int status = opts_parse(&command, &options, argc, argv, &opts);

	if (status != STATUS_OK && status != STATUS_USAGE)
		abort();
	if (opts.first < 1 || opts.first > argc)
		abort();
	if (options.choice < 0 || options.choice > 2)
		abort();
	/* All words were taken, or the first that is left is no option, or follows "--". */
	if (status == STATUS_OK && opts.first < argc && argv[opts.first][0] == '-' &&
	    argv[opts.first][1] && strcmp(argv[opts.first - 1], "--") != 0)
		abort();
}

/* The words are parted by NUL. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[WORDS_MAX + 1] = { (char *)"fuzz" };
	int argc = 1;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	check("[OPTION]... [LOG]", argc, argv);
	check("[OPTION]... [-- COMMAND]", argc, argv);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

/*
 * Options as a table: of a command (src/cmd.h) or of a workload
 * (bench/workload.h).  src/opts.h parses them.
 */
#include <stddef.h>

enum option_type {
	OPTION_FLAG,     /* bool */
	OPTION_TEXT,     /* const char * */
	OPTION_COUNT,    /* uint64_t */
	OPTION_SIZE,     /* uint64_t, bytes */
	OPTION_DURATION, /* uint64_t, ns */
	OPTION_TIME,     /* uint64_t, ns since the epoch */
	OPTION_CHOICE,   /* int: index into the words of @arg, "task|process|both" */
	OPTION_TEXTS,    /* struct option_texts: each time it is given, one more */
};

#define OPTION_TEXTS_MAX 16
struct option_texts {
	size_t count;
	const char *text[OPTION_TEXTS_MAX];
};

struct option_spec {
	char letter;         /* short option, 0 for none */
	const char *name;    /* long option, without dashes */
	enum option_type type;
	const char *arg;     /* what the argument is called, "SIZE"; NULL for flags */
	size_t offset;       /* of the member in the command's struct */
	const char *help;    /* one line; "" continues nothing */
};

#endif

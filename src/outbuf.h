/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_OUTBUF_H
#define ACTUARY_OUTBUF_H

/* What a struct out is, for out.c, json.c and csv.c only. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	OUT_ROOM = 1 << 16,
	JSON_DEPTH = 64, /* one bit each in has_member */
};

struct out {
	int fd;
	int error;           /* negative errno of the first failed write */
	bool is_ours;        /* fd is to be closed */
	bool has_csv_field;  /* in this line */
	unsigned int depth;  /* of open JSON objects and arrays */
	uint64_t has_member; /* bit d - 1: the one at depth d needs a comma */
	uint64_t is_array;   /* bit d - 1: the one at depth d closes with ] */
	size_t length;
	char data[OUT_ROOM];
};

/*
 * Length of the valid UTF-8 sequence that begins at @data, 0 if there is none:
 * no overlong forms, no surrogates, nothing above U+10FFFF.
 */
size_t utf8_sequence(const char *data, size_t left);

#endif

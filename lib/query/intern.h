/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUERY_INTERN_H
#define QUERY_INTERN_H

/*
 * Texts by number: each different one is kept once, under the number of its
 * first appearance.  Zeroes are an empty one.
 */
#include <actuary/log.h>

struct intern_chunk;

struct intern {
	size_t count, room;
	const char **text; /* NUL-terminated; stays where it is until cleared */
	uint32_t *length;
	uint32_t *bucket;  /* 2 * room: number + 1; 0: free */
	struct intern_chunk *chunks;
	size_t bytes;      /* of memory, all in all */
};

/* The number of the text, as @ret_number.  0 or -ENOMEM. */
int intern_add(struct intern *intern, const char *text, size_t length, uint32_t *ret_number);
/* The same, but -1 if it is not there. */
int64_t intern_find(const struct intern *intern, const char *text, size_t length);
struct act_texts intern_texts(const struct intern *intern);
void intern_clear(struct intern *intern); /* forgets all, keeps some memory */
void intern_release(struct intern *intern);

#endif

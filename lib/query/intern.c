/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "intern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 64 /* a power of two, as every room */
#define CHUNK_BYTES 16384

struct intern_chunk {
	struct intern_chunk *next;
	size_t used, room;
	char data[];
};

/* FNV-1a, 64 bits, its upper half mixed in. */
static uint64_t hash_text(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The bucket that holds the text, or the free one where it belongs. */
static uint32_t *find_bucket(const struct intern *intern, const char *text, size_t length)
{
	size_t mask = 2 * intern->room - 1;
	size_t at = hash_text(text, length) & mask;

	/* There is always a free one: at most half of them are taken. */
	for (;; at = (at + 1) & mask) {
		uint32_t number = intern->bucket[at];

		if (!number || (intern->length[number - 1] == length &&
				memcmp(intern->text[number - 1], text, length) == 0))
			return &intern->bucket[at];
	}
}

static void rebuild_buckets(struct intern *intern)
{
	memset(intern->bucket, 0, 2 * intern->room * sizeof(*intern->bucket));
	for (size_t i = 0; i < intern->count; i++)
		*find_bucket(intern, intern->text[i], intern->length[i]) = (uint32_t)i + 1;
}

/* When it fails some arrays are larger than they need be, which harms nobody. */
static int grow(struct intern *intern)
{
	size_t room = intern->room ? 2 * intern->room : ROOM_MIN;
	size_t each = sizeof(*intern->text) + sizeof(*intern->length) +
		      2 * sizeof(*intern->bucket);
	const char **text = reallocarray(intern->text, room, sizeof(*text));
	uint32_t *length, *bucket;

	if (!text)
		return -ENOMEM;
	intern->text = text;
	length = reallocarray(intern->length, room, sizeof(*length));
	if (!length)
		return -ENOMEM;
	intern->length = length;
	bucket = reallocarray(intern->bucket, 2 * room, sizeof(*bucket));
	if (!bucket)
		return -ENOMEM;
	intern->bucket = bucket;
	intern->bytes += (room - intern->room) * each;
	intern->room = room;
	rebuild_buckets(intern);
	return 0;
}

/* Keeps a copy with a NUL behind it.  NULL: no memory. */
static const char *keep(struct intern *intern, const char *text, size_t length)
{
	struct intern_chunk *chunk = intern->chunks;
	char *copy;

	if (!chunk || chunk->room - chunk->used <= length) {
		size_t room = length < CHUNK_BYTES ? CHUNK_BYTES : length + 1;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct intern_chunk){ .next = intern->chunks, .room = room };
		intern->chunks = chunk;
		intern->bytes += sizeof(*chunk) + room;
	}
	copy = chunk->data + chunk->used;
	memcpy(copy, text, length);
	copy[length] = '\0';
	chunk->used += length + 1;
	return copy;
}

int intern_add(struct intern *intern, const char *text, size_t length, uint32_t *ret_number)
{
	int ret = intern->count == intern->room ? grow(intern) : 0;
	uint32_t *bucket;

	if (ret < 0)
		return ret;
	bucket = find_bucket(intern, text, length);
	if (!*bucket) {
		const char *copy = keep(intern, text, length);

		if (!copy)
			return -ENOMEM;
		intern->text[intern->count] = copy;
		intern->length[intern->count] = (uint32_t)length;
		*bucket = (uint32_t)++intern->count;
	}
	*ret_number = *bucket - 1;
	return 0;
}

int64_t intern_find(const struct intern *intern, const char *text, size_t length)
{
	return intern->room ? (int64_t)*find_bucket(intern, text, length) - 1 : -1;
}

struct act_texts intern_texts(const struct intern *intern)
{
	return (struct act_texts){ intern->count, intern->text, intern->length };
}

void intern_clear(struct intern *intern)
{
	while (intern->chunks && intern->chunks->next) {
		struct intern_chunk *chunk = intern->chunks;

		intern->chunks = chunk->next;
		intern->bytes -= sizeof(*chunk) + chunk->room;
		free(chunk);
	}
	if (intern->chunks)
		intern->chunks->used = 0;
	intern->count = 0;
	if (intern->room)
		rebuild_buckets(intern);
}

void intern_release(struct intern *intern)
{
	intern_clear(intern);
	free(intern->chunks);
	free(intern->text);
	free(intern->length);
	free(intern->bucket);
	*intern = (struct intern){ 0 };
}

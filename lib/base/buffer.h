/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes that grow.  Start from BUFFER_INIT; a failed allocation sets @failed,
 * later appends do nothing, and the caller looks once, at the end.
 */
struct buffer {
	uint8_t *data;
	size_t length;
	size_t room;
	int failed;
};

#define BUFFER_INIT { NULL, 0, 0, 0 }

int buffer_reserve(struct buffer *buffer, size_t more); /* 0 or -ENOMEM */
void buffer_append(struct buffer *buffer, const void *data, size_t length);
void buffer_append_u8(struct buffer *buffer, uint8_t value);
void buffer_append_u16(struct buffer *buffer, uint16_t value); /* little-endian */
void buffer_append_u32(struct buffer *buffer, uint32_t value);
void buffer_append_u64(struct buffer *buffer, uint64_t value);
void buffer_append_varint(struct buffer *buffer, uint64_t value); /* LEB128 */
void buffer_clear(struct buffer *buffer);   /* empty, keeps its memory */
void buffer_release(struct buffer *buffer); /* frees it */

/* Reading, bounded: a read past the end returns 0 and sets @failed. */
struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	int failed;
};

void cursor_init(struct cursor *cursor, const void *data, size_t length);
size_t cursor_left(const struct cursor *cursor);
uint8_t cursor_u8(struct cursor *cursor);
uint16_t cursor_u16(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
uint64_t cursor_varint(struct cursor *cursor);
/* The next @length bytes, NULL (and @failed) if there are fewer. */
const uint8_t *cursor_bytes(struct cursor *cursor, size_t length);

#endif

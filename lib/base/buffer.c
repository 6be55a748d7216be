/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/buffer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST_ROOM = 256,
	VARINT_BYTES = 10, /* of 7 bits, for 64 */
};

int buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t room = buffer->room ? buffer->room : FIRST_ROOM;
	uint8_t *data;

	if (buffer->failed)
		return -ENOMEM;
	if (more <= buffer->room - buffer->length)
		return 0;
	if (more > SIZE_MAX / 2 - buffer->length)
		goto failed;
	while (room < buffer->length + more)
		room *= 2;
	data = realloc(buffer->data, room);
	if (!data)
		goto failed;
	buffer->data = data;
	buffer->room = room;
	return 0;
failed:
	buffer->failed = 1;
	return -ENOMEM;
}

void buffer_append(struct buffer *buffer, const void *data, size_t length)
{
	if (length == 0 || buffer_reserve(buffer, length) < 0)
		return;
	memcpy(buffer->data + buffer->length, data, length);
	buffer->length += length;
}

static void append_little_endian(struct buffer *buffer, uint64_t value, size_t bytes)
{
	if (buffer_reserve(buffer, bytes) < 0)
		return;
	for (size_t i = 0; i < bytes; i++)
		buffer->data[buffer->length++] = (uint8_t)(value >> 8 * i);
}

void buffer_append_u8(struct buffer *buffer, uint8_t value)
{
	append_little_endian(buffer, value, sizeof(value));
}

void buffer_append_u16(struct buffer *buffer, uint16_t value)
{
	append_little_endian(buffer, value, sizeof(value));
}

void buffer_append_u32(struct buffer *buffer, uint32_t value)
{
	append_little_endian(buffer, value, sizeof(value));
}

void buffer_append_u64(struct buffer *buffer, uint64_t value)
{
	append_little_endian(buffer, value, sizeof(value));
}

void buffer_append_varint(struct buffer *buffer, uint64_t value)
{
	if (buffer_reserve(buffer, VARINT_BYTES) < 0)
		return;
	while (value >= 0x80) {
		buffer->data[buffer->length++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	buffer->data[buffer->length++] = (uint8_t)value;
}

void buffer_clear(struct buffer *buffer)
{
	buffer->length = 0;
	buffer->failed = 0;
}

void buffer_release(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer)BUFFER_INIT;
}

void cursor_init(struct cursor *cursor, const void *data, size_t length)
{
	cursor->at = data;
	/* NULL + 0 is undefined in C. */
	cursor->end = length ? cursor->at + length : cursor->at;
	cursor->failed = 0;
}

size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

const uint8_t *cursor_bytes(struct cursor *cursor, size_t length)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || length > cursor_left(cursor)) {
		cursor->failed = 1;
		return NULL;
	}
	if (length)
		cursor->at += length;
	return at;
}

static uint64_t read_little_endian(struct cursor *cursor, size_t bytes)
{
	const uint8_t *at = cursor_bytes(cursor, bytes);
	uint64_t value = 0;

	for (size_t i = 0; at && i < bytes; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

uint8_t cursor_u8(struct cursor *cursor)
{
	return (uint8_t)read_little_endian(cursor, sizeof(uint8_t));
}

uint16_t cursor_u16(struct cursor *cursor)
{
	return (uint16_t)read_little_endian(cursor, sizeof(uint16_t));
}

uint32_t cursor_u32(struct cursor *cursor)
{
	return (uint32_t)read_little_endian(cursor, sizeof(uint32_t));
}

uint64_t cursor_u64(struct cursor *cursor)
{
	return read_little_endian(cursor, sizeof(uint64_t));
}

/* One that runs past 64 bits fails as one that runs past the end does. */
uint64_t cursor_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	/* Most are short. */
	if (!cursor->failed && cursor_left(cursor) && *cursor->at < 0x80)
		return *cursor->at++;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(cursor);

		if (cursor->failed)
			return 0;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = 1;
	return 0;
}

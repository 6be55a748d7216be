/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"

static void test_round_trip(void **state)
{
	struct buffer buffer = BUFFER_INIT;
	struct cursor cursor;

	(void)state;
	buffer_append_u8(&buffer, 0xfe);
	buffer_append_u16(&buffer, 0xfedc);
	buffer_append_u32(&buffer, 0xfedcba98);
	buffer_append_u64(&buffer, UINT64_C(0xfedcba9876543210));
	buffer_append(&buffer, "tail", 4);
	assert_int_equal(buffer.length, 1 + 2 + 4 + 8 + 4);
	/* Little-endian, whatever the machine is. */
	assert_memory_equal(buffer.data, "\xfe\xdc\xfe\x98\xba\xdc\xfe\x10\x32", 9);

	cursor_init(&cursor, buffer.data, buffer.length);
	assert_int_equal(cursor_u8(&cursor), 0xfe);
	assert_int_equal(cursor_u16(&cursor), 0xfedc);
	assert_int_equal(cursor_u32(&cursor), 0xfedcba98);
	assert_int_equal(cursor_u64(&cursor), UINT64_C(0xfedcba9876543210));
	assert_int_equal(cursor_left(&cursor), 4);
	assert_memory_equal(cursor_bytes(&cursor, 4), "tail", 4);
	assert_int_equal(cursor_left(&cursor), 0);
	assert_false(cursor.failed);
	buffer_release(&buffer);
	assert_null(buffer.data);
}

static void test_past_the_end(void **state)
{
	struct cursor cursor;

	(void)state;
	cursor_init(&cursor, "\1\2\3", 3);
	assert_int_equal(cursor_u32(&cursor), 0);
	assert_true(cursor.failed);
	/* Once failed, nothing is read any more, though three bytes are there. */
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_null(cursor_bytes(&cursor, 1));

	cursor_init(&cursor, "\1\2\3", 3);
	assert_null(cursor_bytes(&cursor, SIZE_MAX));
	assert_true(cursor.failed);

	cursor_init(&cursor, NULL, 0);
	assert_int_equal(cursor_left(&cursor), 0);
	assert_int_equal(cursor_varint(&cursor), 0);
	assert_true(cursor.failed);
}

static void test_varint_edges(void **state)
{
	static const uint64_t values[] = {
		0, 1, 127, 128, 16383, 16384, UINT32_MAX, (UINT64_C(1) << 63) - 1,
		UINT64_C(1) << 63, UINT64_MAX,
	};
	static const size_t lengths[] = { 1, 1, 1, 2, 2, 3, 5, 9, 10, 10 };

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct buffer buffer = BUFFER_INIT;
		struct cursor cursor;

		buffer_append_varint(&buffer, values[i]);
		assert_int_equal(buffer.length, lengths[i]);
		cursor_init(&cursor, buffer.data, buffer.length);
		assert_true(cursor_varint(&cursor) == values[i]);
		assert_false(cursor.failed);
		assert_int_equal(cursor_left(&cursor), 0);
		/* Cut short by one byte it must fail. */
		cursor_init(&cursor, buffer.data, buffer.length - 1);
		assert_int_equal(cursor_varint(&cursor), 0);
		assert_true(cursor.failed);
		buffer_release(&buffer);
	}
}

static void test_varint_too_long(void **state)
{
	struct cursor cursor;

	(void)state;
	/* Bit 64, in the tenth byte. */
	cursor_init(&cursor, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	assert_int_equal(cursor_varint(&cursor), 0);
	assert_true(cursor.failed);
	/* An eleventh byte. */
	cursor_init(&cursor, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x81\x00", 11);
	assert_int_equal(cursor_varint(&cursor), 0);
	assert_true(cursor.failed);
}

static void test_growth(void **state)
{
	struct buffer buffer = BUFFER_INIT;
	size_t room;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++)
		buffer_append_u8(&buffer, (uint8_t)i);
	assert_int_equal(buffer.length, 100000);
	for (unsigned int i = 0; i < 100000; i++)
		assert_int_equal(buffer.data[i], (uint8_t)i);
	room = buffer.room;
	buffer_clear(&buffer);
	assert_int_equal(buffer.length, 0);
	assert_int_equal(buffer.room, room);
	assert_int_equal(buffer_reserve(&buffer, 100000), 0);
	assert_int_equal(buffer.room, room);
	buffer_release(&buffer);
}

/* A size that cannot be had is remembered; what was there stays. */
static void test_no_memory(void **state)
{
	struct buffer buffer = BUFFER_INIT;

	(void)state;
	buffer_append(&buffer, "kept", 4);
	assert_int_equal(buffer_reserve(&buffer, SIZE_MAX - 1), -ENOMEM);
	assert_true(buffer.failed);
	buffer_append(&buffer, "not", 3);
	buffer_append_varint(&buffer, 1);
	assert_int_equal(buffer.length, 4);
	assert_memory_equal(buffer.data, "kept", 4);
	buffer_clear(&buffer);
	assert_false(buffer.failed);
	buffer_append(&buffer, "again", 5);
	assert_int_equal(buffer.length, 5);
	buffer_release(&buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_past_the_end),
		cmocka_unit_test(test_varint_edges),
		cmocka_unit_test(test_varint_too_long),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

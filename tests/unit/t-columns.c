/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The decoder against a plain reckoning: columns of every width, scale and base
 * that actuary-log(5) allows, whichever of them the encoder ever chooses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "log/block.h"

#define ROWS 1501 /* no multiple of anything that loops take at once */
#define COMMANDS 5
#define MINIMUM UINT64_C(12345678901)

struct fixture {
	struct decoder *decoder;
	struct schema schema;
	struct buffer directory, frames, body;
	uint64_t command[ROWS];
	uint64_t uid[ROWS];     /* what base 3 refers to */
	uint64_t expected[ROWS];
};

struct shape {
	unsigned int width;
	uint64_t scale;
	enum column_base base;
	bool has_unknown;
};

static uint64_t seed = 88172645463325252;

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t column_of(const struct fixture *fixture, enum act_field field)
{
	uint64_t column = 0;

	while (fixture->schema.field[column] != (int16_t)field)
		column++;
	return column;
}

static void append_planes(struct buffer *buffer, const uint64_t *value, unsigned int width)
{
	for (unsigned int byte = 0; byte < width; byte++)
		for (size_t row = 0; row < ROWS; row++)
			buffer_append_u8(buffer, (uint8_t)(value[row] >> 8 * byte));
}

static void append_comm(struct fixture *fixture)
{
	size_t before = fixture->frames.length;

	for (size_t i = 0; i < COMMANDS; i++) {
		buffer_append_varint(&fixture->frames, 1);
		buffer_append_u8(&fixture->frames, (uint8_t)('a' + i));
	}
	for (size_t row = 0; row < ROWS; row++)
		fixture->command[row] = next_random() % COMMANDS;
	append_planes(&fixture->frames, fixture->command, 1);
	buffer_append_varint(&fixture->directory, column_of(fixture, ACT_F_comm));
	buffer_append_u8(&fixture->directory, COLUMN_TEXT | DESCRIPTOR_STORED);
	buffer_append_varint(&fixture->directory, COMMANDS);
	buffer_append_u8(&fixture->directory, 1);
	buffer_append_varint(&fixture->directory, fixture->frames.length - before);
	buffer_append_varint(&fixture->directory, fixture->frames.length - before);
}

static void append_numbers(struct fixture *fixture, enum act_field field,
			   const struct shape *shape, const uint8_t *unknown,
			   const uint64_t *number)
{
	size_t before = fixture->frames.length;

	if (shape->has_unknown)
		buffer_append(&fixture->frames, unknown, (ROWS + 7) / 8);
	append_planes(&fixture->frames, number, shape->width);
	buffer_append_varint(&fixture->directory, column_of(fixture, field));
	buffer_append_u8(&fixture->directory,
			 (uint8_t)(COLUMN_NUMBERS | DESCRIPTOR_STORED |
				   shape->base << DESCRIPTOR_BASE_SHIFT |
				   (shape->has_unknown ? DESCRIPTOR_UNKNOWNS : 0)));
	if (shape->base == BASE_FIELD)
		buffer_append_varint(&fixture->directory, column_of(fixture, ACT_F_uid));
	buffer_append_u8(&fixture->directory, (uint8_t)shape->width);
	buffer_append_varint(&fixture->directory, shape->scale);
	buffer_append_varint(&fixture->directory, MINIMUM);
	buffer_append_varint(&fixture->directory, 0);
	buffer_append_varint(&fixture->directory, fixture->frames.length - before);
}

static uint64_t base_of(const struct fixture *fixture, enum column_base base, size_t row)
{
	switch (base) {
	case BASE_PREVIOUS:
		return row ? fixture->expected[row - 1] : 0;
	case BASE_SAME_COMM:
		for (size_t before = row; before > 0; before--)
			if (fixture->command[before - 1] == fixture->command[row])
				return fixture->expected[before - 1];
		return 0;
	case BASE_FIELD:
		return fixture->uid[row];
	default:
		return MINIMUM;
	}
}

static uint64_t unzigzag(uint64_t number)
{
	return number & 1 ? -(number / 2) - 1 : number / 2;
}

static void make_body(struct fixture *fixture, const struct shape *shape)
{
	const struct shape plain = { .width = 8, .scale = 1 };
	uint8_t unknown[(ROWS + 7) / 8] = { 0 };
	uint64_t number[ROWS];

	buffer_clear(&fixture->directory);
	buffer_clear(&fixture->frames);
	buffer_append_varint(&fixture->directory, 3);
	append_comm(fixture);
	for (size_t row = 0; row < ROWS; row++) {
		number[row] = next_random() >> (row % 64);
		fixture->uid[row] = number[row] + MINIMUM;
	}
	append_numbers(fixture, ACT_F_uid, &plain, NULL, number);
	for (size_t row = 0; row < ROWS; row++) {
		number[row] = shape->width ? next_random() >> (64 - 8 * shape->width) : 0;
		/* The largest of all as well. */
		if (row % 100 == 7 && shape->width)
			number[row] = UINT64_MAX >> (64 - 8 * shape->width);
		fixture->expected[row] = base_of(fixture, shape->base, row) + shape->scale *
			(shape->base ? unzigzag(number[row]) : number[row]);
	}
	/* Only now: what is unknown serves the rows whose base it is. */
	for (size_t row = 0; row < ROWS && shape->has_unknown; row++) {
		if (next_random() % 4)
			continue;
		unknown[row / 8] |= (uint8_t)(1u << row % 8);
		fixture->expected[row] = ACT_UNKNOWN;
	}
	append_numbers(fixture, ACT_F_minflt, shape, unknown, number);
	buffer_clear(&fixture->body);
	buffer_append_u32(&fixture->body, (uint32_t)fixture->directory.length);
	buffer_append(&fixture->body, fixture->directory.data, fixture->directory.length);
	buffer_append(&fixture->body, fixture->frames.data, fixture->frames.length);
	assert_false(fixture->body.failed);
}

static void check_shape(struct fixture *fixture, const struct shape *shape)
{
	struct block_header header = { .count = ROWS };
	struct act_field_set wanted = { 0 };
	struct act_batch batch;

	make_body(fixture, shape);
	header.body_bytes = (uint32_t)fixture->body.length;
	/* Asked for alone, it finds by itself what it is told from. */
	act_field_set_add(&wanted, ACT_F_minflt);
	assert_int_equal(decoder_decode(fixture->decoder, &fixture->schema, &header,
					fixture->body.data, &wanted, &batch), 0);
	assert_int_equal(batch.rows, ROWS);
	assert_memory_equal(batch.column[ACT_F_minflt], fixture->expected,
			    sizeof(fixture->expected));
}

static void test_every_shape(void **state)
{
	static const uint64_t scales[] = {
		1, 3, 4096, 4000000, INT32_MAX, UINT32_MAX, UINT64_C(1) << 32, 10000000019,
	};
	struct shape shape;

	for (shape.width = 0; shape.width <= 8; shape.width++)
		for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++)
			for (unsigned int other = 0; other < 8; other++) {
				shape.scale = scales[i];
				shape.base = other % 4;
				shape.has_unknown = other / 4;
				check_shape(*state, &shape);
			}
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	fixture->decoder = decoder_new();
	assert_non_null(fixture->decoder);
	schema_own(&fixture->schema);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	decoder_free(fixture->decoder);
	buffer_release(&fixture->directory);
	buffer_release(&fixture->frames);
	buffer_release(&fixture->body);
	free(fixture);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_shape, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}

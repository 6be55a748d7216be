/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns to values.  Only what is asked for is decompressed, and what that is
 * told from.  Nothing here trusts the body: every length, count and reference
 * is checked against what is there.
 */
/* Short loops over columns are all that is done here: GCC vectorizes them at -O3 only. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#include "log/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define COLUMNS_MAX 256

/* A column as the directory tells it. */
struct column {
	bool is_there;
	uint8_t descriptor;
	uint8_t width;
	uint16_t base;      /* column, or BASE_IS_CPU */
	uint64_t scale;
	uint64_t min, span; /* span: max - min */
	uint64_t value;     /* of a constant */
	uint32_t texts;
	uint64_t raw_length;
	const uint8_t *frame;
	size_t length;
	bool is_decoded;
};

struct directory {
	struct column column[COLUMNS_MAX];
	uint16_t order[COLUMNS_MAX]; /* frames follow each other in this order */
	size_t count;
};

/* Values of one column, kept for the next block. */
struct values {
	uint64_t *value;
	size_t room;
	uint64_t constant;  /* the first @constant_rows are all this */
	size_t constant_rows;
};

struct decoder {
	struct directory directory;
	struct values column[COLUMNS_MAX];
	struct values derived[ACT_FIELDS];
	struct values unknown;
	struct values cpu;
	struct {
		struct buffer bytes; /* NUL-terminated, one after the other */
		const char **text;
		uint32_t *length;
		size_t room;
	} texts[ACT_FIELDS];
	int32_t *same_comm;
	size_t same_comm_room;
	bool has_same_comm;
	struct buffer raw;
	ZSTD_DCtx *zstd;
};

struct decoder *decoder_new(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));

	if (!decoder)
		return NULL;
	decoder->zstd = ZSTD_createDCtx();
	if (!decoder->zstd) {
		free(decoder);
		return NULL;
	}
	return decoder;
}

void decoder_free(struct decoder *decoder)
{
	if (!decoder)
		return;
	for (size_t i = 0; i < COLUMNS_MAX; i++)
		free(decoder->column[i].value);
	for (size_t i = 0; i < ACT_FIELDS; i++) {
		free(decoder->derived[i].value);
		buffer_release(&decoder->texts[i].bytes);
		free(decoder->texts[i].text);
		free(decoder->texts[i].length);
	}
	free(decoder->unknown.value);
	free(decoder->cpu.value);
	free(decoder->same_comm);
	buffer_release(&decoder->raw);
	ZSTD_freeDCtx(decoder->zstd);
	free(decoder);
}

/* ---- Directory ---- */

static void read_column(struct cursor *cursor, struct column *column)
{
	column->descriptor = cursor_u8(cursor);
	switch (column->descriptor & DESCRIPTOR_KIND) {
	case COLUMN_CONSTANT:
		column->value = column->descriptor & DESCRIPTOR_UNKNOWNS ? ACT_UNKNOWN
									 : cursor_varint(cursor);
		column->min = column->value;
		return;
	case COLUMN_NUMBERS:
		if ((column->descriptor & DESCRIPTOR_BASE) >> DESCRIPTOR_BASE_SHIFT == BASE_FIELD) {
			uint64_t base = cursor_varint(cursor);

			if (base > BASE_IS_CPU)
				cursor->failed = 1;
			column->base = (uint16_t)base;
		}
		column->width = cursor_u8(cursor);
		column->scale = cursor_varint(cursor);
		column->min = cursor_varint(cursor);
		column->span = cursor_varint(cursor);
		break;
	case COLUMN_TEXT:
		column->texts = (uint32_t)cursor_varint(cursor);
		column->width = cursor_u8(cursor);
		column->raw_length = cursor_varint(cursor);
		break;
	default:
		cursor->failed = 1;
		return;
	}
	if (column->width > sizeof(uint64_t))
		cursor->failed = 1;
	column->length = cursor_varint(cursor);
}

static bool read_directory(struct directory *directory, const struct schema *schema,
			   const uint8_t *body, size_t length)
{
	struct cursor cursor, whole;
	uint64_t count;
	const uint8_t *bytes;

	memset(directory, 0, sizeof(*directory));
	cursor_init(&whole, body, length);
	uint32_t directory_length = cursor_u32(&whole);
	bytes = cursor_bytes(&whole, directory_length);
	if (!bytes)
		return false;
	cursor_init(&cursor, bytes, directory_length);
	count = cursor_varint(&cursor);
	if (count > schema->columns)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t number = cursor_varint(&cursor);
		struct column *column;

		if (cursor.failed || number >= schema->columns)
			return false;
		column = &directory->column[number];
		if (column->is_there)
			return false;
		read_column(&cursor, column);
		if (cursor.failed)
			return false;
		column->is_there = true;
		if ((column->descriptor & DESCRIPTOR_KIND) != COLUMN_CONSTANT) {
			column->frame = cursor_bytes(&whole, column->length);
			if (!column->frame)
				return false;
		}
		directory->order[directory->count++] = (uint16_t)number;
	}
	return true;
}

/* ---- Frames ---- */

static int make_room(struct values *values, size_t rows)
{
	uint64_t *value;

	if (values->room >= rows)
		return 0;
	value = realloc(values->value, rows * sizeof(*value));
	if (!value)
		return -ENOMEM;
	values->value = value;
	values->room = rows;
	return 0;
}

static int fill(struct values *values, uint64_t constant, size_t rows)
{
	int ret = make_room(values, rows);

	if (ret < 0)
		return ret;
	if (values->constant_rows >= rows && values->constant == constant)
		return 0;
	for (size_t row = 0; row < rows; row++)
		values->value[row] = constant;
	values->constant = constant;
	values->constant_rows = rows;
	return 0;
}

/* The frame's @length bytes, decompressed; NULL if that is not what it holds. */
static const uint8_t *open_frame(struct decoder *decoder, const struct column *column,
				 size_t length)
{
	size_t got;

	if (column->descriptor & DESCRIPTOR_STORED)
		return column->length == length ? column->frame : NULL;
	buffer_clear(&decoder->raw);
	if (buffer_reserve(&decoder->raw, length ? length : 1) < 0)
		return NULL;
	got = ZSTD_decompressDCtx(decoder->zstd, decoder->raw.data, length, column->frame,
				  column->length);
	return ZSTD_isError(got) || got != length ? NULL : decoder->raw.data;
}

/* Little-endian numbers of @width bytes whose bytes lie in planes. */
static void join_planes(const uint8_t *plane, unsigned int width, uint64_t *value, size_t rows)
{
	const uint8_t *p1 = plane + rows, *p2 = p1 + rows;

	switch (width) {
	case 0:
		memset(value, 0, rows * sizeof(*value));
		return;
	case 1:
		for (size_t row = 0; row < rows; row++)
			value[row] = plane[row];
		return;
	case 2:
		for (size_t row = 0; row < rows; row++)
			value[row] = (uint64_t)plane[row] | (uint64_t)p1[row] << 8;
		return;
	default:
		for (size_t row = 0; row < rows; row++)
			value[row] = (uint64_t)plane[row] | (uint64_t)p1[row] << 8 |
				     (uint64_t)p2[row] << 16;
	}
	for (unsigned int byte = 3; byte < width; byte++) {
		const uint8_t *more = plane + byte * rows;

		for (size_t row = 0; row < rows; row++)
			value[row] |= (uint64_t)more[row] << 8 * byte;
	}
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static void hide_unknowns(uint64_t *value, const uint8_t *map, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		if (map[row / 8] >> row % 8 & 1)
			value[row] = ACT_UNKNOWN;
}

static int decode_column(struct decoder *decoder, const struct schema *schema, size_t number,
			 size_t rows);

/* ---- Bases ---- */

static int column_of(const struct schema *schema, enum act_field field)
{
	for (size_t i = 0; i < schema->columns; i++)
		if (schema->field[i] == (int16_t)field)
			return (int)i;
	return -1;
}

static int decode_field(struct decoder *decoder, const struct schema *schema,
			enum act_field field, size_t rows, const uint64_t **ret_value)
{
	int number = column_of(schema, field);
	int ret;

	if (number < 0 || !decoder->directory.column[number].is_there) {
		ret = fill(&decoder->unknown, ACT_UNKNOWN, rows);
		*ret_value = decoder->unknown.value;
		return ret;
	}
	ret = decode_column(decoder, schema, (size_t)number, rows);
	*ret_value = decoder->column[number].value;
	return ret;
}

/* Frames may be told from columns that stand before them only: no circles. */
static bool stands_before(const struct directory *directory, size_t number, size_t other)
{
	for (size_t i = 0; i < directory->count; i++) {
		if (directory->order[i] == number)
			return false;
		if (directory->order[i] == other)
			return true;
	}
	return false;
}

static int decode_base(struct decoder *decoder, const struct schema *schema, size_t number,
		       size_t rows, const uint64_t **ret_value)
{
	uint16_t base = decoder->directory.column[number].base;
	int of[2] = { base, -1 };
	const uint64_t *part[2];
	int ret;

	if (base == BASE_IS_CPU) {
		of[0] = column_of(schema, ACT_F_user_ns);
		of[1] = column_of(schema, ACT_F_system_ns);
		if (of[0] < 0 || of[1] < 0)
			return -EBADMSG;
	}
	for (int i = 0; i < 2 && of[i] >= 0; i++) {
		if (!stands_before(&decoder->directory, number, (size_t)of[i]))
			return -EBADMSG;
		ret = decode_column(decoder, schema, (size_t)of[i], rows);
		if (ret < 0)
			return ret;
		part[i] = decoder->column[of[i]].value;
	}
	if (of[1] < 0) {
		*ret_value = part[0];
		return 0;
	}
	ret = make_room(&decoder->cpu, rows);
	if (ret < 0)
		return ret;
	act_field_derive(ACT_F_cpu_ns, part[0], part[1], decoder->cpu.value, rows);
	*ret_value = decoder->cpu.value;
	return 0;
}

static int find_same_comm(struct decoder *decoder, const struct schema *schema, size_t rows)
{
	int number = column_of(schema, ACT_F_comm);
	int32_t *last = NULL;
	const uint64_t *text;
	size_t texts;
	int ret;

	if (decoder->has_same_comm)
		return 0;
	if (number < 0 || !decoder->directory.column[number].is_there ||
	    (decoder->directory.column[number].descriptor & DESCRIPTOR_KIND) != COLUMN_TEXT)
		return -EBADMSG;
	ret = decode_column(decoder, schema, (size_t)number, rows);
	if (ret < 0)
		return ret;
	text = decoder->column[number].value;
	texts = decoder->directory.column[number].texts;
	if (decoder->same_comm_room < rows) {
		int32_t *more = realloc(decoder->same_comm, rows * sizeof(*more));

		if (!more)
			return -ENOMEM;
		decoder->same_comm = more;
		decoder->same_comm_room = rows;
	}
	last = malloc((texts ? texts : 1) * sizeof(*last));
	if (!last)
		return -ENOMEM;
	memset(last, 0xff, texts * sizeof(*last));
	for (size_t row = 0; row < rows; row++) {
		decoder->same_comm[row] = last[text[row]];
		last[text[row]] = (int32_t)row;
	}
	free(last);
	decoder->has_same_comm = true;
	return 0;
}

/* ---- Columns ---- */

static void add_base(struct decoder *decoder, enum column_base base, uint64_t minimum,
		     const uint64_t *other, uint64_t *value, size_t rows)
{
	uint64_t previous = 0;

	switch (base) {
	case BASE_MINIMUM:
		for (size_t row = 0; row < rows; row++)
			value[row] += minimum;
		break;
	case BASE_PREVIOUS:
		for (size_t row = 0; row < rows; row++)
			value[row] = previous += value[row];
		break;
	case BASE_SAME_COMM:
		for (size_t row = 0; row < rows; row++)
			if (decoder->same_comm[row] >= 0)
				value[row] += value[decoder->same_comm[row]];
		break;
	case BASE_FIELD:
		for (size_t row = 0; row < rows; row++)
			value[row] += other[row];
		break;
	}
}

static int decode_numbers(struct decoder *decoder, const struct schema *schema, size_t number,
			  size_t rows)
{
	const struct column *column = &decoder->directory.column[number];
	enum column_base base = (column->descriptor & DESCRIPTOR_BASE) >> DESCRIPTOR_BASE_SHIFT;
	bool has_unknown = column->descriptor & DESCRIPTOR_UNKNOWNS;
	size_t map = has_unknown ? (rows + 7) / 8 : 0;
	uint64_t *value = decoder->column[number].value;
	const uint64_t *other = NULL;
	const uint8_t *raw;
	int ret = 0;

	/* The base first: it may use the same buffer. */
	if (base == BASE_FIELD)
		ret = decode_base(decoder, schema, number, rows, &other);
	else if (base == BASE_SAME_COMM)
		ret = find_same_comm(decoder, schema, rows);
	if (ret < 0)
		return ret;
	raw = open_frame(decoder, column, map + rows * column->width);
	if (!raw)
		return -EBADMSG;
	join_planes(raw + map, column->width, value, rows);
	if (base != BASE_MINIMUM)
		for (size_t row = 0; row < rows; row++)
			value[row] = unzigzag(value[row]);
	if (column->scale != 1)
		for (size_t row = 0; row < rows; row++)
			value[row] *= column->scale;
	add_base(decoder, base, column->min, other, value, rows);
	if (has_unknown)
		hide_unknowns(value, raw, rows);
	return 0;
}

static int make_texts(struct decoder *decoder, int field, size_t count)
{
	const char **text;
	uint32_t *length;

	if (decoder->texts[field].room >= count)
		return 0;
	text = realloc(decoder->texts[field].text, count * sizeof(*text));
	if (!text)
		return -ENOMEM;
	decoder->texts[field].text = text;
	length = realloc(decoder->texts[field].length, count * sizeof(*length));
	if (!length)
		return -ENOMEM;
	decoder->texts[field].length = length;
	decoder->texts[field].room = count;
	return 0;
}

/* Copies the texts, each with a NUL behind it. */
static int take_texts(struct decoder *decoder, int field, struct cursor *cursor, size_t count)
{
	struct buffer *bytes = &decoder->texts[field].bytes;
	const char *at;

	buffer_clear(bytes);
	if (make_texts(decoder, field, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint64_t length = cursor_varint(cursor);
		const uint8_t *text = cursor_bytes(cursor, length);

		if (!text || length > UINT32_MAX)
			return -EBADMSG;
		buffer_append(bytes, text, length);
		buffer_append_u8(bytes, 0);
		decoder->texts[field].length[i] = (uint32_t)length;
	}
	if (bytes->failed)
		return -ENOMEM;
	at = (const char *)bytes->data;
	for (size_t i = 0; i < count; i++) {
		decoder->texts[field].text[i] = at;
		at += decoder->texts[field].length[i] + 1;
	}
	return 0;
}

static int decode_text(struct decoder *decoder, const struct schema *schema, size_t number,
		       size_t rows)
{
	const struct column *column = &decoder->directory.column[number];
	uint64_t *value = decoder->column[number].value;
	int field = schema->field[number];
	struct cursor cursor;
	const uint8_t *raw;
	int ret;

	/* A text of no field that is known here could only be a base: it is none. */
	if (field < 0 || act_field_table[field].type != ACT_TYPE_TEXT || column->texts == 0 ||
	    column->texts > rows || column->width > 2 ||
	    column->raw_length > BLOCK_BODY_MAX || column->raw_length < rows * column->width)
		return -EBADMSG;
	raw = open_frame(decoder, column, column->raw_length);
	if (!raw)
		return -EBADMSG;
	cursor_init(&cursor, raw, column->raw_length - rows * column->width);
	ret = take_texts(decoder, field, &cursor, column->texts);
	if (ret < 0 || cursor_left(&cursor))
		return ret < 0 ? ret : -EBADMSG;
	join_planes(raw + column->raw_length - rows * column->width, column->width, value, rows);
	for (size_t row = 0; row < rows; row++)
		if (value[row] >= column->texts)
			return -EBADMSG;
	return 0;
}

static int decode_column(struct decoder *decoder, const struct schema *schema, size_t number,
			 size_t rows)
{
	struct column *column = &decoder->directory.column[number];
	struct values *values = &decoder->column[number];
	int ret;

	if (column->is_decoded)
		return 0;
	if ((column->descriptor & DESCRIPTOR_KIND) == COLUMN_CONSTANT) {
		ret = fill(values, column->value, rows);
		column->is_decoded = ret == 0;
		return ret;
	}
	values->constant_rows = 0;
	ret = make_room(values, rows);
	if (ret < 0)
		return ret;
	ret = (column->descriptor & DESCRIPTOR_KIND) == COLUMN_TEXT ?
		decode_text(decoder, schema, number, rows) :
		decode_numbers(decoder, schema, number, rows);
	column->is_decoded = ret == 0;
	return ret;
}

/* ---- Batches ---- */

static int add_stored(struct decoder *decoder, const struct schema *schema,
		      enum act_field field, struct act_batch *batch)
{
	bool is_text = act_field_table[field].type == ACT_TYPE_TEXT;
	int ret = decode_field(decoder, schema, field, batch->rows, &batch->column[field]);

	if (ret < 0 || !is_text)
		return ret;
	int number = column_of(schema, field);
	if (number < 0 || !decoder->directory.column[number].is_there) {
		/* Not kept in this segment: one empty text for all. */
		ret = fill(&decoder->derived[field], 0, batch->rows);
		if (ret == 0)
			ret = make_texts(decoder, field, 1);
		if (ret < 0)
			return ret;
		decoder->texts[field].text[0] = "";
		decoder->texts[field].length[0] = 0;
		batch->column[field] = decoder->derived[field].value;
		batch->text[field].count = 1;
	} else if ((decoder->directory.column[number].descriptor & DESCRIPTOR_KIND) !=
		   COLUMN_TEXT) {
		return -EBADMSG;
	} else {
		batch->text[field].count = decoder->directory.column[number].texts;
	}
	batch->text[field].text = decoder->texts[field].text;
	batch->text[field].length = decoder->texts[field].length;
	return 0;
}

static int add_derived(struct decoder *decoder, const struct schema *schema,
		       enum act_field field, struct act_batch *batch)
{
	const int *from = act_field_derivation(field)->from;
	struct values *values = &decoder->derived[field];
	const uint64_t *of[2] = { NULL, NULL };
	int ret = make_room(values, batch->rows);

	for (int i = 0; i < 2 && ret == 0 && from[i] >= 0; i++)
		ret = decode_field(decoder, schema, from[i], batch->rows, &of[i]);
	if (ret < 0)
		return ret;
	act_field_derive(field, of[0], of[1], values->value, batch->rows);
	batch->column[field] = values->value;
	return 0;
}

int decoder_decode(struct decoder *decoder, const struct schema *schema,
		   const struct block_header *header, const uint8_t *body,
		   const struct act_field_set *wanted, struct act_batch *ret_batch)
{
	int ret = 0;

	memset(ret_batch, 0, sizeof(*ret_batch));
	ret_batch->rows = header->count;
	ret_batch->first = header->before.records;
	decoder->has_same_comm = false;
	if (!read_directory(&decoder->directory, schema, body, header->body_bytes))
		return -EBADMSG;
	for (int field = 0; field < ACT_FIELDS && ret == 0; field++) {
		if (!act_field_set_has(wanted, field))
			continue;
		ret = field_is_stored(field) ? add_stored(decoder, schema, field, ret_batch)
					     : add_derived(decoder, schema, field, ret_batch);
	}
	return ret;
}

bool block_is_outside(const struct schema *schema, const struct block_header *header,
		      const uint8_t *body, const struct prune *prune)
{
	struct directory directory;
	const struct column *column;
	int number = column_of(schema, prune->field);

	if (prune->field == ACT_F_end_ns && header->first_ns != ACT_UNKNOWN)
		return header->last_ns < prune->min || header->first_ns > prune->max;
	if (number < 0 || !read_directory(&directory, schema, body, header->body_bytes))
		return false;
	column = &directory.column[number];
	/* What is unknown passes no condition; what is damaged is found later. */
	if (!column->is_there || (column->descriptor & DESCRIPTOR_KIND) == COLUMN_TEXT)
		return false;
	if ((column->descriptor & DESCRIPTOR_KIND) == COLUMN_CONSTANT &&
	    column->value == ACT_UNKNOWN)
		return true;
	return (prune->min > column->min && prune->min - column->min > column->span) ||
	       column->min > prune->max;
}

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

#include "base/wide.h"

#define COLUMNS_MAX 256
#define PIECE 512 /* rows worked on at once: they stay in the nearest cache */

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
	struct values last_of_text; /* work space of BASE_SAME_COMM */
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
	free(decoder->last_of_text.value);
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
		column->scale = 1;
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

	memset(directory->column, 0, schema->columns * sizeof(*directory->column));
	directory->count = 0;
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

/* Up to four bytes of each of @count numbers; the bytes lie in planes, @rows apart. */
static void join_planes(const uint8_t *plane, size_t rows, unsigned int width, uint32_t *ret_part,
			size_t count)
{
	const uint8_t *p1 = plane + rows;

	switch (width) {
	case 0:
		memset(ret_part, 0, count * sizeof(*ret_part));
		return;
	case 1:
		for (size_t i = 0; i < count; i++)
			ret_part[i] = plane[i];
		return;
	default:
		for (size_t i = 0; i < count; i++)
			ret_part[i] = (uint32_t)plane[i] | (uint32_t)p1[i] << 8;
	}
	for (unsigned int byte = 2; byte < width; byte++) {
		const uint8_t *more = plane + byte * rows;

		for (size_t i = 0; i < count; i++)
			ret_part[i] |= (uint32_t)more[i] << 8 * byte;
	}
}

/*
 * The product of two numbers of 32 bits is what processors multiply many at a
 * time.  Of zigzag the magnitude is scaled, then the sign applied.
 */
static void scale_narrow(const uint32_t *number, uint32_t scale, uint64_t minimum,
			 uint64_t *ret_value, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ret_value[i] = (uint64_t)number[i] * scale + minimum;
}

static void scale_narrow_zigzag(const uint32_t *number, uint32_t scale, uint64_t *ret_value,
				size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int32_t sign = -(int32_t)(number[i] & 1);
		uint32_t magnitude = (number[i] >> 1) + (number[i] & 1);
		uint64_t mask = (uint64_t)(int64_t)sign;

		ret_value[i] = ((uint64_t)magnitude * scale ^ mask) - mask;
	}
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

static void scale_wide(const uint32_t *low, const uint32_t *high, const struct column *column,
		       bool is_zigzag, uint64_t *ret_value, size_t count)
{
	uint64_t minimum = is_zigzag ? 0 : column->min;

	for (size_t i = 0; i < count; i++)
		ret_value[i] = (uint64_t)high[i] << 32 | low[i];
	if (is_zigzag)
		for (size_t i = 0; i < count; i++)
			ret_value[i] = unzigzag(ret_value[i]);
	for (size_t i = 0; i < count; i++)
		ret_value[i] = ret_value[i] * column->scale + minimum;
}

/* What the planes tell: the value itself, or (zigzag) its difference to a base. */
WIDE static void read_numbers(const struct column *column, const uint8_t *planes,
			      bool is_zigzag, uint64_t *ret_value, size_t rows)
{
	bool is_narrow = column->width <= sizeof(uint32_t) && column->scale <= UINT32_MAX;
	unsigned int low_width = column->width <= 4 ? column->width : 4;
	uint32_t low[PIECE], high[PIECE];

	for (size_t at = 0; at < rows; at += PIECE) {
		size_t count = rows - at < PIECE ? rows - at : PIECE;
		uint32_t scale = (uint32_t)column->scale;

		join_planes(planes + at, rows, low_width, low, count);
		if (is_narrow && is_zigzag) {
			scale_narrow_zigzag(low, scale, ret_value + at, count);
		} else if (is_narrow) {
			scale_narrow(low, scale, column->min, ret_value + at, count);
		} else {
			join_planes(planes + low_width * rows + at, rows,
				    column->width - low_width, high, count);
			scale_wide(low, high, column, is_zigzag, ret_value + at, count);
		}
	}
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

static int decode_comm(struct decoder *decoder, const struct schema *schema, size_t rows)
{
	int number = column_of(schema, ACT_F_comm);

	if (number < 0 || !decoder->directory.column[number].is_there ||
	    (decoder->directory.column[number].descriptor & DESCRIPTOR_KIND) != COLUMN_TEXT)
		return -EBADMSG;
	return decode_column(decoder, schema, (size_t)number, rows);
}

/* Each value is told from the last one of the same command, the first one from 0. */
static int add_same_comm(struct decoder *decoder, const struct schema *schema, uint64_t *value,
			 size_t rows)
{
	size_t number = (size_t)column_of(schema, ACT_F_comm);
	const uint64_t *text = decoder->column[number].value;
	uint64_t *last;
	int ret = fill(&decoder->last_of_text, 0, decoder->directory.column[number].texts);

	if (ret < 0)
		return ret;
	decoder->last_of_text.constant_rows = 0;
	last = decoder->last_of_text.value;
	for (size_t row = 0; row < rows; row++)
		value[row] = last[text[row]] += value[row];
	return 0;
}

/* ---- Columns ---- */

static void add_previous(uint64_t *value, size_t rows)
{
	uint64_t previous = 0;

	for (size_t row = 0; row < rows; row++)
		value[row] = previous += value[row];
}

static void add_field(uint64_t *value, const uint64_t *other, size_t rows)
{
	for (size_t row = 0; row < rows; row++)
		value[row] += other[row];
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
		ret = decode_comm(decoder, schema, rows);
	if (ret < 0)
		return ret;
	raw = open_frame(decoder, column, map + rows * column->width);
	if (!raw)
		return -EBADMSG;
	read_numbers(column, raw + map, base != BASE_MINIMUM, value, rows);
	if (base == BASE_PREVIOUS)
		add_previous(value, rows);
	else if (base == BASE_SAME_COMM)
		ret = add_same_comm(decoder, schema, value, rows);
	else if (base == BASE_FIELD)
		add_field(value, other, rows);
	if (has_unknown)
		hide_unknowns(value, raw, rows);
	return ret;
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

WIDE static bool is_any_beyond(const uint64_t *value, uint64_t limit, size_t rows)
{
	uint64_t beyond = 0;

	for (size_t row = 0; row < rows; row++)
		beyond |= value[row] >= limit;
	return beyond;
}

static int decode_text(struct decoder *decoder, const struct schema *schema, size_t number,
		       size_t rows)
{
	const struct column *column = &decoder->directory.column[number];
	size_t indices = rows * column->width;
	uint64_t *value = decoder->column[number].value;
	int field = schema->field[number];
	struct cursor cursor;
	const uint8_t *raw;
	int ret;

	/* A text of no field that is known here could only be a base: it is none. */
	if (field < 0 || act_field_table[field].type != ACT_TYPE_TEXT || column->texts == 0 ||
	    column->texts > rows || column->width > 2 ||
	    column->raw_length > BLOCK_BODY_MAX || column->raw_length < indices)
		return -EBADMSG;
	raw = open_frame(decoder, column, column->raw_length);
	if (!raw)
		return -EBADMSG;
	cursor_init(&cursor, raw, column->raw_length - indices);
	ret = take_texts(decoder, field, &cursor, column->texts);
	if (ret < 0 || cursor_left(&cursor))
		return ret < 0 ? ret : -EBADMSG;
	read_numbers(column, raw + column->raw_length - indices, false, value, rows);
	return is_any_beyond(value, column->texts, rows) ? -EBADMSG : 0;
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

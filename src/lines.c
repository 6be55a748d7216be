/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text has to be fast, two million lines a second.  So a cell is formatted
 * only when its value has not been seen lately: most columns of real logs hold
 * few different values, and names come as indices into a dictionary.
 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lastcomm.h"
#include "users.h"

#define CELL_SIZE 56
#define NAME_SIZE ((size_t)ACT_COMM_SIZE * 4) /* each byte as \xff */
#define NAME_WIDTH 15
#define CACHED 128 /* cells a column, a power of two */
#define CHUNK_SIZE 65536

/* A cell with the blanks around it, ready to be copied. */
struct cell {
	uint64_t value;
	uint8_t length; /* 0: free */
	char text[CELL_SIZE - 1];
};

struct name {
	uint8_t length;
	char text[NAME_SIZE + 1];
};

struct lines {
	enum lines_format format;
	const struct column *columns;
	size_t count;
	struct users *users;
	size_t width[COLUMNS_MAX];
	struct cell (*cells)[CACHED]; /* for each column */
	struct name *names;           /* of this batch's dictionary */
	size_t names_room;
	char chunk[CHUNK_SIZE];
};

static enum act_type type_of(const struct column *column)
{
	return act_field_table[column->field].type;
}

static bool is_name(const struct column *column)
{
	return column->what == COLUMN_FIELD && type_of(column) == ACT_TYPE_TEXT;
}

static bool is_left(const struct column *column)
{
	return column->what != COLUMN_FIELD || is_name(column);
}

/* Wide enough for all but rare values, which push their line to the right. */
static size_t width_of(const struct column *column)
{
	static const uint8_t widths[] = {
		[ACT_TYPE_NUMBER] = 8,    [ACT_TYPE_ID] = 7,    [ACT_TYPE_SIGNED] = 4,
		[ACT_TYPE_DURATION] = 7,  [ACT_TYPE_TIME] = 23, [ACT_TYPE_SIZE] = 6,
		[ACT_TYPE_INTEGRAL] = 10, [ACT_TYPE_FLAGS] = 6, [ACT_TYPE_BOOL] = 3,
		[ACT_TYPE_KIND] = 7,      [ACT_TYPE_TEXT] = NAME_WIDTH,
	};
	char heading[CELL_SIZE];
	size_t length = column_heading(column, heading, sizeof(heading));
	size_t width = column->what == COLUMN_FIELD ? widths[type_of(column)] : 8;

	return length > width ? length : width;
}

struct lines *lines_new(enum lines_format format, const struct column *columns, size_t count)
{
	struct lines *lines = malloc(sizeof(*lines));

	if (!lines)
		return NULL;
	*lines = (struct lines){ .format = format, .columns = columns, .count = count };
	for (size_t i = 0; i < count; i++)
		lines->width[i] = width_of(&columns[i]);
	lines->users = users_new();
	lines->cells = calloc(count ? count : 1, sizeof(*lines->cells));
	if (!lines->users || !lines->cells) {
		lines_free(lines);
		return NULL;
	}
	return lines;
}

void lines_free(struct lines *lines)
{
	if (!lines)
		return;
	users_free(lines->users);
	free(lines->cells);
	free(lines->names);
	free(lines);
}

void lines_fields(const struct lines *lines, struct act_field_set *fields)
{
	if (lines->format == LINES_LASTCOMM)
		lastcomm_fields(fields);
	for (size_t i = 0; i < lines->count; i++)
		act_field_set_add(fields, lines->columns[i].field);
}

/* ---- Text ---- */

/* What a terminal makes of UTF-8: the continuation bytes take no place. */
static size_t shown_width(const char *text, size_t length)
{
	size_t width = 0;

	for (size_t i = 0; i < length; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/*
 * Puts @text in its place: a blank between columns, and blanks to fill the
 * width, but none at the end of a line.  @ret_cell has room for @length, the
 * width and two more.
 */
static size_t pad(const struct lines *lines, const struct column *column, const char *text,
		  size_t length, char *ret_cell)
{
	size_t width = lines->width[column - lines->columns];
	size_t shown = shown_width(text, length);
	size_t blanks = shown < width ? width - shown : 0;
	bool is_last = column == &lines->columns[lines->count - 1];
	char *at = ret_cell;

	if (column != lines->columns)
		*at++ = ' ';
	if (!is_left(column)) {
		memset(at, ' ', blanks);
		at += blanks;
	}
	memcpy(at, text, length);
	at += length;
	if (is_left(column) && !is_last) {
		memset(at, ' ', blanks);
		at += blanks;
	}
	if (is_last)
		*at++ = '\n';
	return (size_t)(at - ret_cell);
}

static size_t format_user(struct lines *lines, uint64_t uid, char *ret_text, size_t room)
{
	const char *name = users_name(lines->users, uid);

	if (!name)
		return format_value(ACT_TYPE_ID, uid, ret_text, room);
	return escape_text(name, strlen(name), ret_text, room);
}

static void fill_cell(struct lines *lines, const struct column *column, uint64_t value,
		      struct cell *cell)
{
	char text[64];
	size_t length, most = sizeof(cell->text) - 2;

	if (column->what == COLUMN_USER)
		length = format_user(lines, value, text, sizeof(text));
	else if (column->what == COLUMN_EXIT)
		length = format_exit(value, text, sizeof(text));
	else
		length = format_value(type_of(column), value, text, sizeof(text));
	cell->value = value;
	cell->length = (uint8_t)pad(lines, column, text, length < most ? length : most, cell->text);
}

static inline size_t put_cell(struct lines *lines, size_t i, uint64_t value, char *at)
{
	size_t slot = value * UINT64_C(0x9e3779b97f4a7c15) >> 57;
	struct cell *cell = &lines->cells[i][slot & (CACHED - 1)];

	if (cell->value != value || !cell->length)
		fill_cell(lines, &lines->columns[i], value, cell);
	/* All of it, since a copy of fixed size is cheaper; the rest is overwritten. */
	memcpy(at, cell->text, sizeof(cell->text));
	return cell->length;
}

static const char *text_of(const struct act_texts *texts, uint64_t id, size_t *ret_length)
{
	if (id >= texts->count) { /* unknown */
		*ret_length = 1;
		return "-";
	}
	*ret_length = texts->length[id];
	return texts->text[id];
}

/* Prepares the names of the batch; the one behind the last stands for unknown. */
static int prepare_names(struct lines *lines, const struct act_batch *batch,
			 const struct column *column)
{
	const struct act_texts *texts = &batch->text[column->field];

	if (texts->count >= lines->names_room) {
		size_t room = texts->count + 4096;
		struct name *names = realloc(lines->names, room * sizeof(*names));

		if (!names)
			return -ENOMEM;
		lines->names = names;
		lines->names_room = room;
	}
	for (size_t i = 0; i <= texts->count; i++) {
		char text[NAME_SIZE - 1];
		size_t length;
		const char *raw = text_of(texts, i, &length);

		length = escape_text(raw, length, text, sizeof(text));
		lines->names[i].length = (uint8_t)pad(lines, column, text, length,
						      lines->names[i].text);
	}
	return 0;
}

static inline size_t put_name(const struct lines *lines, const struct act_texts *texts,
			      uint64_t id, char *at)
{
	const struct name *name = &lines->names[id < texts->count ? id : texts->count];

	memcpy(at, name->text, name->length);
	return name->length;
}

static void put_row(struct lines *lines, const struct act_batch *batch, uint32_t row, char **at)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct column *column = &lines->columns[i];
		uint64_t value = batch->column[column->field][row];

		if (is_name(column))
			*at += put_name(lines, &batch->text[column->field], value, *at);
		else
			*at += put_cell(lines, i, value, *at);
	}
}

static int print_text(struct lines *lines, struct out *out, const struct act_batch *batch,
		      const uint32_t *rows, size_t count)
{
	const char *full = lines->chunk + CHUNK_SIZE - lines->count * CELL_SIZE - NAME_SIZE;
	char *at = lines->chunk;

	for (size_t i = 0; i < lines->count; i++) {
		if (is_name(&lines->columns[i])) {
			int ret = prepare_names(lines, batch, &lines->columns[i]);

			if (ret < 0)
				return ret;
		}
	}
	for (size_t i = 0; i < count; i++) {
		put_row(lines, batch, rows[i], &at);
		if (at >= full) {
			out_bytes(out, lines->chunk, (size_t)(at - lines->chunk));
			at = lines->chunk;
		}
	}
	out_bytes(out, lines->chunk, (size_t)(at - lines->chunk));
	return 0;
}

/* ---- JSON and CSV ---- */

static void print_json_row(struct lines *lines, struct out *out, const struct act_batch *batch,
			   uint32_t row)
{
	out_json_begin(out);
	for (size_t i = 0; i < lines->count; i++) {
		const struct column *column = &lines->columns[i];
		uint64_t value = batch->column[column->field][row];
		const char *text = NULL;
		size_t length = 0;
		char made[64];

		if (column->what == COLUMN_USER) {
			text = users_name(lines->users, value);
			length = text ? strlen(text) : 0;
		} else if (column->what == COLUMN_EXIT && value != ACT_UNKNOWN) {
			text = made;
			length = format_exit(value, made, sizeof(made));
		} else if (is_name(column) && value < batch->text[column->field].count) {
			text = text_of(&batch->text[column->field], value, &length);
		}
		if (text)
			out_json_string(out, column->name, text, length);
		else if (is_left(column))
			out_json_null(out, column->name);
		else
			out_json_value(out, type_of(column), column->name, value);
	}
	out_json_end(out);
}

static void print_json(struct lines *lines, struct out *out, const struct act_batch *batch,
		       const uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		print_json_row(lines, out, batch, rows[i]);
}

/* Numbers as they are, for programs; unknown is an empty field. */
static size_t format_plain(enum act_type type, uint64_t value, char *ret_text, size_t room)
{
	if (value == ACT_UNKNOWN)
		return 0;
	if (type == ACT_TYPE_KIND || type == ACT_TYPE_SIGNED)
		return format_value(type, value, ret_text, room);
	return format_u64(value, ret_text);
}

static void print_csv_cell(struct lines *lines, struct out *out, const struct column *column,
			   const struct act_batch *batch, uint32_t row)
{
	uint64_t value = batch->column[column->field][row];
	const char *name = column->what == COLUMN_USER ? users_name(lines->users, value) : NULL;
	char made[64];
	const char *text = made;
	size_t length = 0;

	if (name) {
		text = name;
		length = strlen(name);
	} else if (is_name(column)) {
		if (value < batch->text[column->field].count)
			text = text_of(&batch->text[column->field], value, &length);
	} else if (column->what == COLUMN_EXIT) {
		length = value == ACT_UNKNOWN ? 0 : format_exit(value, made, sizeof(made));
	} else {
		length = format_plain(type_of(column), value, made, sizeof(made));
	}
	out_csv_field(out, text, length);
}

static void print_csv(struct lines *lines, struct out *out, const struct act_batch *batch,
		      const uint32_t *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < lines->count; j++)
			print_csv_cell(lines, out, &lines->columns[j], batch, rows[i]);
		out_csv_end(out);
	}
}

/* ---- All ---- */

static void print_text_heading(struct lines *lines, struct out *out)
{
	for (size_t i = 0; i < lines->count; i++) {
		char heading[CELL_SIZE], cell[2 * CELL_SIZE];
		size_t length = column_heading(&lines->columns[i], heading, sizeof(heading));

		length = pad(lines, &lines->columns[i], heading, length, cell);
		out_bytes(out, cell, length);
	}
}

void lines_heading(struct lines *lines, struct out *out)
{
	if (lines->format == LINES_TEXT)
		print_text_heading(lines, out);
	if (lines->format != LINES_CSV)
		return;
	for (size_t i = 0; i < lines->count; i++)
		out_csv_field(out, lines->columns[i].name, strlen(lines->columns[i].name));
	out_csv_end(out);
}

int lines_print(struct lines *lines, struct out *out, const struct act_batch *batch,
		const uint32_t *rows, size_t count)
{
	switch (lines->format) {
	case LINES_TEXT:
		return print_text(lines, out, batch, rows, count);
	case LINES_JSON:
		print_json(lines, out, batch, rows, count);
		return 0;
	case LINES_CSV:
		print_csv(lines, out, batch, rows, count);
		return 0;
	case LINES_LASTCOMM:
		lastcomm_print(lines->users, out, batch, rows, count);
		return 0;
	}
	return -EINVAL;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/parse.h"
#include "msg.h"
#include "out.h"

enum {
	GAP = 2,        /* blanks between columns */
	LEAST_TEXT = 8, /* a text column is not cut below this */
};

struct column {
	char *heading;
	bool is_number;
	size_t width; /* in characters */
};

struct cell {
	bool is_text;
	enum act_type type; /* of a value */
	uint64_t value;
	size_t raw, raw_length;     /* of text: as it was given, in texts */
	size_t shown, shown_length; /* as it is shown, in texts */
};

struct table {
	struct column *columns;
	size_t count;
	struct buffer cells; /* struct cell, row after row */
	struct buffer texts;
	bool has_failed;
};

struct table *table_new(void)
{
	return calloc(1, sizeof(struct table));
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->count; i++)
		free(table->columns[i].heading);
	free(table->columns);
	buffer_release(&table->cells);
	buffer_release(&table->texts);
	free(table);
}

/* How many characters a terminal shows: the bytes that do not continue one. */
static size_t characters(const char *text, size_t length)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++)
		count += ((unsigned char)text[i] & 0xc0) != 0x80;
	return count;
}

void table_column(struct table *table, const char *heading, bool is_number)
{
	struct column *columns = realloc(table->columns, (table->count + 1) * sizeof(*columns));
	char *copy = strdup(heading);

	if (columns)
		table->columns = columns;
	if (!columns || !copy) {
		free(copy);
		table->has_failed = true;
		return;
	}
	columns[table->count++] = (struct column){
		.heading = copy,
		.is_number = is_number,
		.width = characters(copy, strlen(copy)),
	};
}

static size_t cell_count(const struct table *table)
{
	return table->cells.length / sizeof(struct cell);
}

static const struct cell *cell_at(const struct table *table, size_t index)
{
	return (const struct cell *)(const void *)table->cells.data + index;
}

static const char *text_at(const struct table *table, size_t offset)
{
	return (const char *)table->texts.data + offset;
}

/* Its shown text is the last of texts. */
static void add_cell(struct table *table, struct cell *cell)
{
	struct column *column;
	size_t width;

	if (!table->count || table->texts.failed) {
		table->has_failed = true;
		return;
	}
	cell->shown_length = table->texts.length - cell->shown;
	width = characters(text_at(table, cell->shown), cell->shown_length);
	column = &table->columns[cell_count(table) % table->count];
	if (width > column->width)
		column->width = width;
	buffer_append(&table->cells, cell, sizeof(*cell));
}

void table_cell(struct table *table, const char *text, size_t length)
{
	struct cell cell = { .is_text = true, .raw = table->texts.length, .raw_length = length };
	size_t room = length * 4 + 1; /* every byte as \xff, and the NUL */

	buffer_append(&table->texts, text, length);
	cell.shown = table->texts.length;
	if (buffer_reserve(&table->texts, room) == 0)
		table->texts.length += escape_text(text, length,
						   (char *)table->texts.data + cell.shown, room);
	add_cell(table, &cell);
}

void table_cell_value(struct table *table, enum act_type type, uint64_t value)
{
	struct cell cell = { .type = type, .value = value, .shown = table->texts.length };
	char text[64];

	buffer_append(&table->texts, text, format_value(type, value, text, sizeof(text)));
	add_cell(table, &cell);
}

/* ---- As text ---- */

/* What of a table is printed: the first @count columns, one of them cut. */
struct layout {
	size_t count;
	size_t cut;       /* index of the column that is cut; count: none */
	size_t cut_width;
};

/* Whether the first @count columns fit @width, if need be with the last text column cut. */
static bool try_layout(const struct table *table, size_t count, size_t width,
		       struct layout *ret_layout)
{
	struct layout layout = { .count = count, .cut = count };
	size_t total = GAP * (count - 1), least;

	for (size_t i = 0; i < count; i++) {
		total += table->columns[i].width;
		if (!table->columns[i].is_number)
			layout.cut = i;
	}
	if (total <= width) {
		layout.cut = count;
		*ret_layout = layout;
		return true;
	}
	if (layout.cut == count)
		return false;
	least = characters(table->columns[layout.cut].heading,
			   strlen(table->columns[layout.cut].heading));
	if (least < LEAST_TEXT)
		least = LEAST_TEXT;
	if (table->columns[layout.cut].width < least + (total - width))
		return false;
	layout.cut_width = table->columns[layout.cut].width - (total - width);
	*ret_layout = layout;
	return true;
}

static struct layout fit(const struct table *table, size_t width)
{
	struct layout layout = { .count = table->count, .cut = table->count };

	if (!width)
		return layout;
	for (size_t count = table->count; count > 0; count--)
		if (try_layout(table, count, width, &layout))
			return layout;
	/* Not even the first one fits: show it, the terminal will wrap it. */
	return (struct layout){ .count = 1, .cut = 1 };
}

static void pad(struct out *out, size_t count)
{
	static const char blanks[] = "                                ";

	while (count) {
		size_t length = count < sizeof(blanks) - 1 ? count : sizeof(blanks) - 1;

		out_bytes(out, blanks, length);
		count -= length;
	}
}

/* The bytes of the first @count characters. */
static size_t prefix(const char *text, size_t length, size_t count)
{
	size_t end = 0;

	while (end < length && count) {
		end++;
		while (end < length && ((unsigned char)text[end] & 0xc0) == 0x80)
			end++;
		count--;
	}
	return end;
}

static void print_cell(const struct table *table, const struct layout *layout, size_t index,
		       const char *text, size_t length, struct out *out)
{
	const struct column *column = &table->columns[index];
	size_t width = index == layout->cut ? layout->cut_width : column->width;
	size_t used = characters(text, length);

	if (index)
		pad(out, GAP);
	if (used > width) {
		/* "+": there is more. */
		out_bytes(out, text, prefix(text, length, width - 1));
		out_bytes(out, "+", 1);
		return;
	}
	if (column->is_number)
		pad(out, width - used);
	out_bytes(out, text, length);
	if (!column->is_number && index + 1 < layout->count)
		pad(out, width - used);
}

static void print_row(const struct table *table, const struct layout *layout, size_t first,
		      struct out *out)
{
	for (size_t i = 0; i < layout->count; i++) {
		if (first + i >= cell_count(table)) {
			print_cell(table, layout, i, "-", 1, out);
			continue;
		}
		const struct cell *cell = cell_at(table, first + i);

		print_cell(table, layout, i, text_at(table, cell->shown), cell->shown_length, out);
	}
	out_bytes(out, "\n", 1);
}

/* Names the columns that were dropped. */
static void tell_dropped(const struct table *table, const struct layout *layout)
{
	struct buffer names = BUFFER_INIT;

	if (layout->count == table->count)
		return;
	for (size_t i = layout->count; i < table->count; i++) {
		if (names.length)
			buffer_append(&names, ", ", 2);
		buffer_append(&names, table->columns[i].heading, strlen(table->columns[i].heading));
	}
	buffer_append_u8(&names, 0);
	if (!names.failed)
		msg_info("no room on this terminal for: %s", (const char *)names.data);
	buffer_release(&names);
}

static int check(const struct table *table)
{
	return table->has_failed || table->cells.failed || table->texts.failed ? -ENOMEM : 0;
}

int table_print(struct table *table, struct out *out, size_t width)
{
	struct layout layout;
	int ret = check(table);

	if (ret < 0 || !table->count)
		return ret;
	layout = fit(table, width);
	for (size_t i = 0; i < layout.count; i++)
		print_cell(table, &layout, i, table->columns[i].heading,
			   strlen(table->columns[i].heading), out);
	out_bytes(out, "\n", 1);
	for (size_t first = 0; first < cell_count(table); first += table->count)
		print_row(table, &layout, first, out);
	tell_dropped(table, &layout);
	return 0;
}

/* ---- As CSV ---- */

static void print_csv_cell(const struct table *table, const struct cell *cell, struct out *out)
{
	char text[24];

	if (cell->is_text)
		out_csv_field(out, text_at(table, cell->raw), cell->raw_length);
	else if (cell->value == ACT_UNKNOWN)
		out_csv_field(out, "", 0);
	else if (cell->type == ACT_TYPE_SIGNED || cell->type == ACT_TYPE_KIND)
		out_csv_field(out, text_at(table, cell->shown), cell->shown_length);
	else
		out_csv_field(out, text, format_u64(cell->value, text));
}

int table_print_csv(const struct table *table, struct out *out)
{
	int ret = check(table);

	if (ret < 0 || !table->count)
		return ret;
	for (size_t i = 0; i < table->count; i++)
		out_csv_field(out, table->columns[i].heading, strlen(table->columns[i].heading));
	for (size_t i = 0; i < cell_count(table); i++) {
		if (i % table->count == 0)
			out_csv_end(out);
		print_csv_cell(table, cell_at(table, i), out);
	}
	out_csv_end(out);
	return 0;
}

/* ---- The terminal ---- */

size_t terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width;

	if (isatty(STDOUT_FILENO) != 1)
		return 0;
	if (columns && parse_count(columns, &width) == 0 && width > 0 && width < 10000)
		return width;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col;
	return 80;
}

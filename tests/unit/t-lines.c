/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <actuary/record.h>

#include "column.h"
#include "lines.h"
#include "out.h"
#include "spool.h"

#define ROWS 3000

static void test_columns(void **state)
{
	struct column columns[COLUMNS_MAX];
	size_t length = 0;
	const char *bad;

	(void)state;
	assert_int_equal(columns_parse("comm,user,uid,exit,status", columns, &bad, &length), 5);
	assert_int_equal(columns[1].what, COLUMN_USER);
	assert_int_equal(columns[1].field, ACT_F_uid);
	assert_int_equal(columns[2].what, COLUMN_FIELD);
	assert_int_equal(columns[3].field, ACT_F_status);
	for (const char **text = (const char *[]){ "", ",", "pid,", ",pid", "pid,,tid", "pid,pid",
						   "user,user", "PID", "pid ", "cpu_n", NULL };
	     *text; text++)
		assert_int_equal(columns_parse(*text, columns, &bad, &length), -EINVAL);
	assert_int_equal(columns_parse("pid,wall,tid", columns, &bad, &length), -EINVAL);
	assert_int_equal(length, 4);
	assert_memory_equal(bad, "wall", 4);
	assert_int_equal(columns_all(columns), ACT_FIELDS);
}

static void check_exit(uint64_t status, const char *expected)
{
	char text[64];
	size_t length = format_exit(status, text, sizeof(text));

	assert_string_equal(text, expected);
	assert_int_equal(length, strlen(expected));
}

static void test_exit(void **state)
{
	char small[4];

	(void)state;
	check_exit(0, "0");
	check_exit(0x300, "3");
	check_exit(0xff00, "255");
	check_exit(9, "KILL");
	check_exit(0x8b, "SEGV+core");
	check_exit(0x0b, "SEGV");
	check_exit(34, "RTMIN+0");
	check_exit(64, "RTMIN+30");
	check_exit(33, "SIG33");
	check_exit(0x7f, "SIG127");
	check_exit(ACT_UNKNOWN, "-");
	assert_int_equal(format_exit(0x8b, small, sizeof(small)), 3);
	assert_string_equal(small, "SEG");
}

/* ---- Text against a plain reckoning ---- */

struct sheet {
	struct act_batch batch;
	uint64_t values[ACT_FIELDS][ROWS];
	const char *texts[3];
	uint32_t lengths[3];
	uint32_t rows[ROWS];
};

/* Few different values, many, and unknown ones. */
static uint64_t any_value(int field, size_t row)
{
	switch (random() % 4) {
	case 0:
		return ACT_UNKNOWN;
	case 1:
		return (uint64_t)field;
	case 2:
		return row * UINT64_C(1000003);
	default:
		return (uint64_t)random() << 31 | (uint64_t)random();
	}
}

static struct sheet *make_sheet(void)
{
	struct sheet *sheet = calloc(1, sizeof(*sheet));

	assert_non_null(sheet);
	sheet->batch.rows = ROWS;
	for (int field = 0; field < ACT_FIELDS; field++) {
		sheet->batch.column[field] = sheet->values[field];
		for (size_t row = 0; row < ROWS; row++)
			sheet->values[field][row] = any_value(field, row);
	}
	/* Not in anybody's user database. */
	for (size_t row = 0; row < ROWS; row++) {
		sheet->values[ACT_F_uid][row] = 4000000000u + row % 300;
		sheet->values[ACT_F_comm][row] = row % 5; /* 3 and 4: no such text */
		sheet->rows[row] = (uint32_t)row;
	}
	for (size_t i = 0; i < 3; i++) {
		sheet->texts[i] = (const char *[]){ "a b", "", "\033\xff\xff\xff\xff\xff" }[i];
		sheet->lengths[i] = (uint32_t)strlen(sheet->texts[i]);
	}
	sheet->batch.text[ACT_F_comm] = (struct act_texts){ 3, sheet->texts, sheet->lengths };
	return sheet;
}

/* What is in the cell, without its blanks. */
static void reckon(const struct sheet *sheet, const struct column *column, size_t row,
		   char ret_text[64])
{
	static const char *const names[] = { "a b", "", "\\x1b\\xff\\xff\\xff\\xff\\xff", "-", "-" };
	uint64_t value = sheet->values[column->field][row];

	if (column->what == COLUMN_EXIT)
		format_exit(value, ret_text, 64);
	else if (column->what == COLUMN_FIELD && column->field == ACT_F_comm)
		strcpy(ret_text, names[value]);
	else
		format_value(act_field_table[column->field].type, value, ret_text, 64);
}

/* Finds the cells of a line one after the other, with nothing but blanks around. */
static void check_line(const struct sheet *sheet, const struct column *columns, size_t count,
		       size_t row, const char *line)
{
	for (size_t i = 0; i < count; i++) {
		char expected[64];

		reckon(sheet, &columns[i], row, expected);
		line += strspn(line, " ");
		assert_memory_equal(line, expected, strlen(expected));
		line += strlen(expected);
		/* Behind an empty one there are no more blanks. */
		assert_true(!*expected || *line == ' ' || *line == '\n');
	}
	assert_string_equal(line, "\n");
}

static void test_text(void **state)
{
	char path[] = "/tmp/actuary-t-lines-XXXXXX", *line = NULL;
	struct column columns[COLUMNS_MAX];
	struct sheet *sheet = make_sheet();
	size_t count, row = 0, room = 0;
	struct lines *lines;
	struct out *out;
	const char *bad;
	int fd = mkstemp(path);
	FILE *file;

	(void)state;
	assert_true(fd >= 0);
	count = (size_t)columns_all(columns);
	assert_int_equal(columns_parse("user,exit", columns + count, &bad, &room), 2);
	count += 2;
	lines = lines_new(LINES_TEXT, columns, count);
	out = out_open(path);
	assert_non_null(lines);
	assert_non_null(out);
	assert_int_equal(lines_print(lines, out, &sheet->batch, sheet->rows, ROWS), 0);
	assert_int_equal(out_close(out), 0);
	lines_free(lines);
	file = fdopen(fd, "r");
	assert_non_null(file);
	room = 0;
	while (getline(&line, &room, file) >= 0)
		check_line(sheet, columns, count, row++, line);
	assert_int_equal(row, ROWS);
	free(line);
	fclose(file);
	unlink(path);
	free(sheet);
}

static void test_spool(void **state)
{
	char path[] = "/tmp/actuary-t-lines-XXXXXX", text[64];
	int fd = mkstemp(path);
	struct out *out = out_open(path);
	struct spool *spool;

	(void)state;
	assert_non_null(out);
	assert_int_equal(spool_open(&spool), 0);
	for (int i = 0; i < 1000; i++) {
		out_printf(spool_out(spool), "piece %d\n", i);
		assert_int_equal(spool_cut(spool), 0);
	}
	assert_int_equal(spool_cut(spool), 0); /* an empty one */
	assert_int_equal(spool_copy_back(spool, out), 0);
	spool_close(spool);
	spool_close(NULL);
	assert_int_equal(out_close(out), 0);
	FILE *file = fdopen(fd, "r");
	for (int i = 999; i >= 0; i--) {
		char expected[64];

		snprintf(expected, sizeof(expected), "piece %d\n", i);
		assert_non_null(fgets(text, sizeof(text), file));
		assert_string_equal(text, expected);
	}
	assert_null(fgets(text, sizeof(text), file));
	fclose(file);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_spool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

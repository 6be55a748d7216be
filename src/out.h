/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_OUT_H
#define ACTUARY_OUT_H

/*
 * Results, on stdout: text tables, JSON Lines, CSV.
 *
 * All output goes through one growing buffer that is written in large pieces
 * (two million lines a second must pass).  Errors of writing are remembered
 * and reported once, by main.c, through out_close().
 *
 * Names from the kernel are hostile bytes.  out_text_escaped() makes them safe
 * for a terminal (control bytes, backslash and invalid UTF-8 as \n, \\, \xff),
 * out_json_string() makes them valid JSON (invalid bytes as U+FFFD), and
 * out_csv_field() quotes them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/record.h>

struct out;

/* The program's stdout, or a file with -o; NULL or "-": stdout. */
struct out *out_open(const char *path); /* NULL with errno set */
int out_flush(struct out *out);         /* 0 or negative errno, now or before */
int out_close(struct out *out);         /* flushes, frees; same returns; NULL is allowed */

/*
 * The first error that an out_close() has met, for main.c: a command that has
 * nothing better to say about it may ignore what out_close() returns.
 */
int out_error(void);

void out_bytes(struct out *out, const char *data, size_t length);
void out_string(struct out *out, const char *text);
void out_printf(struct out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_u64(struct out *out, uint64_t value);
void out_i64(struct out *out, int64_t value);

/* Text for terminals. */
void out_text_escaped(struct out *out, const char *data, size_t length);
/* The same, into a buffer of @room; returns its length. */
size_t escape_text(const char *data, size_t length, char *ret_text, size_t room);
/* The same, but backslashes stay: for a line that may hold escaped text already. */
size_t escape_line(const char *data, size_t length, char *ret_text, size_t room);

/* JSON, an object a line; commas are set by themselves. */
void out_json_begin(struct out *out);                    /* { */
void out_json_end(struct out *out);                      /* } and newline at the outermost */
void out_json_begin_array(struct out *out, const char *key);
void out_json_begin_object(struct out *out, const char *key); /* key NULL inside arrays */
void out_json_close(struct out *out);                    /* the innermost array or object */
void out_json_u64(struct out *out, const char *key, uint64_t value); /* ACT_UNKNOWN: null */
void out_json_i64(struct out *out, const char *key, int64_t value);
void out_json_double(struct out *out, const char *key, double value); /* NaN: null */
void out_json_bool(struct out *out, const char *key, bool value);
void out_json_null(struct out *out, const char *key);
void out_json_string(struct out *out, const char *key, const char *data, size_t length);

/* CSV (RFC 4180), a field at a time. */
void out_csv_field(struct out *out, const char *data, size_t length);
void out_csv_end(struct out *out);

/*
 * One value of a field in the form that people read: 1.50s, 3.2M, 2026-12-01
 * 10:00:00.123.  Scripts get integers in the field's own unit: out_u64().
 * Unknown is "-".  Returns the length; @room 64 is always enough.  Text has no
 * form here, its bytes are elsewhere: "-".
 */
size_t format_value(enum act_type type, uint64_t value, char *ret_text, size_t room);
size_t format_duration(uint64_t ns, char *ret_text, size_t room); /* "1.50s", "32.1ms", "2h03m" */
size_t format_size(uint64_t bytes, char *ret_text, size_t room);  /* "512", "3.2M" */
size_t format_time(uint64_t ns, char *ret_text, size_t room);     /* local, ISO 8601, ms */
size_t format_u64(uint64_t value, char ret_text[21]);

/* "task", "process" or "both". */
const char *kind_word(uint64_t kind);

/* A value of a field as a JSON member, by its type (kind as a word, ...). */
void out_json_value(struct out *out, enum act_type type, const char *key, uint64_t value);

/*
 * Tables.  Rows are kept until table_print(), which makes the columns as wide
 * as they need, right-aligns numbers, and fits the terminal by cutting the
 * last text column, then dropping columns from the right with a note on
 * stderr; when piped nothing is cut.  A short last row is filled with "-".
 * As CSV, text is as it was given and values are integers in their own unit,
 * nothing when unknown.
 */
struct table;
struct table *table_new(void); /* NULL: no memory */
void table_free(struct table *table);
/* @heading is copied.  Call for all columns before the first row. */
void table_column(struct table *table, const char *heading, bool is_number);
void table_cell(struct table *table, const char *text, size_t length); /* escaped by the table */
void table_cell_value(struct table *table, enum act_type type, uint64_t value);
int table_print(struct table *table, struct out *out, size_t width); /* width 0: no limit */
int table_print_csv(const struct table *table, struct out *out);
/* Width of the terminal behind stdout, $COLUMNS, or 0 when piped. */
size_t terminal_width(void);

#endif

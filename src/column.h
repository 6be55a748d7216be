/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_COLUMN_H
#define ACTUARY_COLUMN_H

/*
 * Columns of a listing: any field of the table, and two that are made for
 * people: `user` (the uid's name) and `exit` (code, or name of the signal).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/fields.h>

enum column_what {
	COLUMN_FIELD, /* a field as it is */
	COLUMN_USER,  /* of field uid */
	COLUMN_EXIT,  /* of field status */
};

/* Every field once, and the two. */
#define COLUMNS_MAX (ACT_FIELDS + 2)

struct column {
	enum column_what what;
	enum act_field field; /* where its value comes from */
	const char *name;     /* as the user writes it; key in JSON and CSV */
};

/*
 * Parses "end_ns,user,comm".  Returns the number of columns, or -EINVAL with
 * @ret_bad pointing at the name that is unknown or comes twice, of
 * @ret_bad_length bytes.
 */
int columns_parse(const char *list, struct column ret_columns[COLUMNS_MAX],
		  const char **ret_bad, size_t *ret_bad_length);

/* Every field of the table, in its order.  Returns their number. */
int columns_all(struct column ret_columns[COLUMNS_MAX]);

/* Its heading in a text table: "WALL"; returns the length. */
size_t column_heading(const struct column *column, char *ret_text, size_t room);

/* "0", "3", "KILL", "SEGV+core", "-"; returns the length. */
size_t format_exit(uint64_t status, char *ret_text, size_t room);

#endif

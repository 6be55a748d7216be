/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "column.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <actuary/record.h>

static const struct column made[] = {
	{ COLUMN_USER, ACT_F_uid, "user" },
	{ COLUMN_EXIT, ACT_F_status, "exit" },
};

static bool find(const char *name, size_t length, struct column *ret_column)
{
	int field;

	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		if (strlen(made[i].name) == length && memcmp(made[i].name, name, length) == 0) {
			*ret_column = made[i];
			return true;
		}
	}
	field = act_field_find(name, length);
	if (field < 0)
		return false;
	*ret_column = (struct column){ COLUMN_FIELD, field, act_field_table[field].name };
	return true;
}

static bool has(const struct column *columns, int count, const struct column *column)
{
	for (int i = 0; i < count; i++)
		if (columns[i].what == column->what && columns[i].field == column->field)
			return true;
	return false;
}

int columns_parse(const char *list, struct column ret_columns[COLUMNS_MAX],
		  const char **ret_bad, size_t *ret_bad_length)
{
	int count = 0;

	for (;; list++) {
		size_t length = strcspn(list, ",");
		struct column column;

		if (!find(list, length, &column) || has(ret_columns, count, &column)) {
			*ret_bad = list;
			*ret_bad_length = length;
			return -EINVAL;
		}
		ret_columns[count++] = column;
		list += length;
		if (!*list)
			return count;
	}
}

int columns_all(struct column ret_columns[COLUMNS_MAX])
{
	for (int field = 0; field < ACT_FIELDS; field++)
		ret_columns[field] = (struct column){ COLUMN_FIELD, field,
						      act_field_table[field].name };
	return ACT_FIELDS;
}

/* The name without its unit, which the cells tell by themselves. */
size_t column_heading(const struct column *column, char *ret_text, size_t room)
{
	static const char *const units[] = { "_ns", "_bytes" };
	/* Beside cpu_ns, which is the CPU time. */
	const char *name = column->what == COLUMN_FIELD && column->field == ACT_F_cpu ?
			   "on_cpu" : column->name;
	size_t length = strlen(name);

	for (size_t i = 0; i < 2; i++) {
		size_t unit = strlen(units[i]);

		if (length > unit && strcmp(name + length - unit, units[i]) == 0)
			length -= unit;
	}
	if (length >= room)
		length = room - 1;
	for (size_t i = 0; i < length; i++)
		ret_text[i] = (char)toupper((unsigned char)name[i]);
	ret_text[length] = '\0';
	return length;
}

static size_t format_signal(int number, bool has_core, char *ret_text, size_t room)
{
	const char *name = sigabbrev_np(number);
	const char *core = has_core ? "+core" : "";
	int length;

	if (name)
		length = snprintf(ret_text, room, "%s%s", name, core);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		length = snprintf(ret_text, room, "RTMIN+%d%s", number - SIGRTMIN, core);
	else
		length = snprintf(ret_text, room, "SIG%d%s", number, core);
	return (size_t)length < room ? (size_t)length : room - 1;
}

size_t format_exit(uint64_t status, char *ret_text, size_t room)
{
	int number;

	if (status == ACT_UNKNOWN)
		return (size_t)snprintf(ret_text, room, "-");
	number = WTERMSIG((int)status);
	if (number)
		return format_signal(number, WCOREDUMP((int)status), ret_text, room);
	return (size_t)snprintf(ret_text, room, "%d", WEXITSTATUS((int)status));
}

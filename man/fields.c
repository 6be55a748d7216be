/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes actuary-fields(7) from THE field table, at build time. */
#include <stdio.h>

#include <actuary/record.h>

static const char *const type_words[] = {
	[ACT_TYPE_NUMBER] = "a count",
	[ACT_TYPE_ID] = "an identifier",
	[ACT_TYPE_SIGNED] = "a signed number",
	[ACT_TYPE_DURATION] = "nanoseconds",
	[ACT_TYPE_TIME] = "nanoseconds since the epoch",
	[ACT_TYPE_SIZE] = "bytes",
	[ACT_TYPE_INTEGRAL] = "megabytes times microseconds",
	[ACT_TYPE_FLAGS] = "bits",
	[ACT_TYPE_BOOL] = "true or false",
	[ACT_TYPE_KIND] = "task, process or both",
	[ACT_TYPE_TEXT] = "text",
};

static const char *const fold_words[] = {
	[ACT_FOLD_NONE] = "set for the whole",
	[ACT_FOLD_LEADER] = "the leader's",
	[ACT_FOLD_LAST] = "the last task's",
	[ACT_FOLD_SUM] = "the sum",
	[ACT_FOLD_MAX] = "the largest",
	[ACT_FOLD_MIN] = "the smallest",
	[ACT_FOLD_AT_MAX] = "that of the largest",
	[ACT_FOLD_OR] = "bits set in any",
	[ACT_FOLD_WALL] = "from the leader's start to the last end",
};

static const char head[] =
	".\\\" SPDX-License-Identifier: GPL-2.0-or-later\n"
	".\\\" Generated from include/actuary/fields.h.\n"
	".Dd December 1, 2026\n"
	".Dt ACTUARY-FIELDS 7\n"
	".Os\n"
	".Sh NAME\n"
	".Nm actuary-fields\n"
	".Nd what is known of a task\n"
	".Sh DESCRIPTION\n"
	"These are the fields of a record: the columns that\n"
	".Fl -columns\n"
	"takes, the keys of JSON and CSV, and the columns of a log.\n"
	".Pp\n"
	"A name that ends in\n"
	".Sy _ns\n"
	"is in nanoseconds, one that ends in\n"
	".Sy _bytes\n"
	"in bytes.\n"
	"Text for people shows units instead.\n"
	".Pp\n"
	"Unknown is never zero: what the kernel, its version or its switches did not give\n"
	"is shown as\n"
	".Sq - ,\n"
	"is null in JSON and empty in CSV, and is left out of sums and averages.\n"
	".Pp\n"
	"Each field is followed by its unit, by where it comes from, and by how the values\n"
	"of the tasks of a process become the value of the process.\n"
	".Bl -tag -width \"recorder\"\n"
	".It Sy v1\n"
	"The kernel's message, struct taskstats, from this version on.\n"
	".It Sy group\n"
	"In the kernel's own sum for the process as well.\n"
	".It Sy switch\n"
	"Only while\n"
	".Va kernel.task_delayacct\n"
	"is on.\n"
	".It Sy recorder\n"
	"Added by who received the message.\n"
	".It Sy derived\n"
	"Computed from other fields whenever it is asked for, never stored.\n"
	".El\n"
	".Ss Fields\n"
	".Bl -tag -width Ds\n";

static const char tail[] =
	".El\n"
	".Sh SEE ALSO\n"
	".Xr actuary 1 ,\n"
	".Xr actuary-list 1 ,\n"
	".Xr actuary-report 1 ,\n"
	".Xr actuary-log 5\n";

static const struct {
	unsigned int bit;
	const char *word;
} source_words[] = {
	{ ACT_FROM_GROUP, "group" },
	{ ACT_FROM_SWITCH, "switch" },
	{ ACT_FROM_RECORDER, "recorder" },
	{ ACT_FROM_DERIVED, "derived" },
};

static void print_sources(const struct act_field_info *field)
{
	const char *separator = "";

	if (field->sources & ACT_FROM_TASKSTATS) {
		printf("v%u", field->since);
		separator = ", ";
	}
	for (size_t i = 0; i < sizeof(source_words) / sizeof(*source_words); i++) {
		if (!(field->sources & source_words[i].bit))
			continue;
		printf("%s%s", separator, source_words[i].word);
		separator = ", ";
	}
}

/* Text of the table as roff takes it. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else
			putchar(*text);
	}
}

static void print_field(const struct act_field_info *field)
{
	printf(".It Sy %s\n", field->name);
	/* \&: a text that begins with a dot is no request. */
	fputs("\\&", stdout);
	print_text(field->help);
	printf(".\n.br\n%s; ", type_words[field->type]);
	print_sources(field);
	printf("; of a process: %s\n", fold_words[field->fold]);
}

int main(void)
{
	fputs(head, stdout);
	for (size_t i = 0; i < ACT_FIELDS; i++)
		print_field(&act_field_table[i]);
	fputs(tail, stdout);
	return fflush(stdout) || ferror(stdout);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs of every format that was released are read for ever, value for value:
 * tests/data/golden-log-N/ as tests/data/golden-log-N.expected says.
 *
 *	t-golden DIR	prints what is in a log, in the form of the latter
 */
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <actuary/log.h>

static void print_text(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text > ' ' && *text < 0x7f ? "%c" : "\\x%02x",
			(unsigned char)*text);
}

static void print_number(FILE *out, const char *name, uint64_t value)
{
	if (value != ACT_UNKNOWN)
		fprintf(out, " %s=%" PRIu64, name, value);
}

/* Stored fields in the order of their names: the table may change. */
static int compare_fields(const void *a, const void *b)
{
	return strcmp(act_field_table[*(const int *)a].name, act_field_table[*(const int *)b].name);
}

static void print_record(FILE *out, uint64_t number, const struct act_record *record)
{
	int order[ACT_FIELDS];

	for (int field = 0; field < ACT_FIELDS; field++)
		order[field] = field;
	qsort(order, ACT_FIELDS, sizeof(*order), compare_fields);
	fprintf(out, "%" PRIu64 " comm=", number);
	print_text(out, record->comm_text);
	for (int i = 0; i < ACT_FIELDS; i++)
		if (order[i] != ACT_F_comm && !(act_field_table[order[i]].sources & ACT_FROM_DERIVED))
			print_number(out, act_field_table[order[i]].name, record->value[order[i]]);
	fputs("\n", out);
}

static void print_batch(FILE *out, const struct act_batch *batch)
{
	struct act_record record;

	for (size_t row = 0; row < batch->rows; row++) {
		act_batch_record(batch, row, &record);
		print_record(out, batch->first + row, &record);
	}
}

static void print_state(FILE *out, const struct act_state *state)
{
	fprintf(out, "state %s text=", act_state_name(state->type));
	print_text(out, state->text);
	print_number(out, "time_ns", state->time_ns);
	print_number(out, "delayacct", state->delayacct);
	print_number(out, "forks", state->forks);
	print_number(out, "recorded", state->recorded);
	print_number(out, "lost", state->lost);
	fputs("\n", out);
}

static void print_gap(FILE *out, const struct act_gap *gap)
{
	fprintf(out, "gap %s cpu=%d", act_cause_name(gap->cause), (int)gap->cpu);
	print_number(out, "from_ns", gap->from_ns);
	print_number(out, "to_ns", gap->to_ns);
	print_number(out, "count", gap->count);
	fputs("\n", out);
}

static void print_segment(FILE *out, const struct act_segment_info *segment)
{
	fprintf(out, "segment %s format=%u number=%" PRIu64 " created_ns=%" PRIu64
		" boot_id=%s host=", segment->name, segment->format, segment->number,
		segment->created_ns, segment->boot_id);
	print_text(out, segment->host);
	fputs(" kernel=", out);
	print_text(out, segment->kernel);
	fputs("\n", out);
}

static void print_item(FILE *out, const struct act_item *item)
{
	switch (item->type) {
	case ACT_ITEM_BATCH:
		print_batch(out, &item->batch);
		break;
	case ACT_ITEM_GAP:
		print_gap(out, &item->gap);
		break;
	case ACT_ITEM_STATE:
		print_state(out, &item->state);
		break;
	case ACT_ITEM_DAMAGE:
		fprintf(out, "damage %s\n", item->damage.reason);
		break;
	case ACT_ITEM_SEGMENT:
		print_segment(out, &item->segment);
		break;
	}
}

static int print_log(const char *path, FILE *out)
{
	struct act_field_set fields = { { 0 } };
	struct act_log_reader *reader;
	struct act_item item;
	struct act_why why;
	int ret = act_log_reader_open(path, &reader, &why);

	if (ret < 0) {
		fprintf(stderr, "%s\n", why.text);
		return ret;
	}
	act_field_set_all(&fields);
	act_log_select(reader, &fields);
	while ((ret = act_log_next(reader, &item)) == 0)
		print_item(out, &item);
	act_log_reader_free(reader);
	return ret < 0 ? ret : 0;
}

static void compare(FILE *expected, const char *got)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	unsigned int number = 0;

	while ((length = getline(&line, &room, expected)) > 0) {
		number++;
		if (strncmp(line, got, (size_t)length) != 0)
			fail_msg("line %u is not as expected: %.*s", number,
				 (int)strcspn(got, "\n"), got);
		got += length;
	}
	free(line);
	assert_string_equal(got, "");
	assert_true(number > 0);
}

static void test_format_1(void **state)
{
	const char *data = getenv("TEST_DATA");
	char path[PATH_MAX];
	char *text = NULL;
	size_t length;
	FILE *out, *expected;

	(void)state;
	assert_non_null(data);
	snprintf(path, sizeof(path), "%s/golden-log-1", data);
	out = open_memstream(&text, &length);
	assert_non_null(out);
	assert_int_equal(print_log(path, out), 0);
	assert_int_equal(fclose(out), 0);
	snprintf(path, sizeof(path), "%s/golden-log-1.expected", data);
	expected = fopen(path, "r");
	assert_non_null(expected);
	compare(expected, text);
	fclose(expected);
	free(text);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_1),
	};

	if (argc == 2)
		return print_log(argv[1], stdout) < 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaying a capture.  shapes.capture holds what Linux 6.18 sent while
 * "shapes all" ran (tests/live/shapes.c), without the exits of others, and
 * renumbered so that CPU 0 wraps; shapes.expected is what they must fold to.
 * BLESS=1 writes the latter anew.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <actuary/record.h>
#include <actuary/source.h>

#include "source/capture.h"

#define TEXT_ROOM 16384

/* What a replay gave. */
struct result {
	struct act_fold *fold;
	char text[TEXT_ROOM];
	size_t length;
	uint64_t tasks;
	uint64_t gaps;
	uint64_t lost;
	struct act_gap gap;
	struct act_record task;
	int fail_at; /* refuse that task, counted from 1 */
};

__attribute__((format(printf, 2, 3)))
static void print(struct result *result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	result->length += (size_t)vsnprintf(result->text + result->length,
					    TEXT_ROOM - result->length, format, args);
	va_end(args);
	assert_true(result->length < TEXT_ROOM);
}

static void print_value(struct result *result, enum act_field field, uint64_t value)
{
	if (value == ACT_UNKNOWN)
		print(result, " %s -", act_field_table[field].name);
	else
		print(result, " %s %llu", act_field_table[field].name, (unsigned long long)value);
}

static int print_record(void *arg, const struct act_record *record)
{
	static const enum act_field fields[] = {
		ACT_F_kind, ACT_F_threads, ACT_F_exits, ACT_F_partial, ACT_F_status, ACT_F_code,
		ACT_F_signal, ACT_F_core, ACT_F_flags, ACT_F_wall_ns, ACT_F_cpu_ns, ACT_F_syscr,
		ACT_F_rss_max_bytes, ACT_F_nvcsw, ACT_F_cpu_delay_count, ACT_F_blkio_delay_count,
	};
	struct result *result = arg;

	for (const char *at = record->comm_text; *at; at++)
		print(result, *at > ' ' && *at < 127 && *at != '\\' ? "%c" : "\\x%02x",
		      (unsigned char)*at);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		print_value(result, fields[i], record->value[fields[i]]);
	print(result, "\n");
	return 0;
}

static int take_task(void *arg, const struct act_record *task, const struct act_record *group)
{
	struct result *result = arg;

	result->tasks++;
	result->task = *task;
	if (result->fail_at && result->tasks == (uint64_t)result->fail_at)
		return -ENOSPC;
	return result->fold ? act_fold_task(result->fold, task, group) : 0;
}

static int take_gap(void *arg, const struct act_gap *gap)
{
	struct result *result = arg;

	result->gaps++;
	result->lost += gap->count;
	result->gap = *gap;
	return 0;
}

static struct act_sink sink_of(struct result *result)
{
	return (struct act_sink){ .task = take_task, .gap = take_gap, .arg = result };
}

/* Drains all; returns what the source said at its end. */
static int replay(const char *path, struct result *result, struct act_source_stats *ret_stats)
{
	struct act_sink sink = sink_of(result);
	struct act_source *source;
	struct act_why why;
	int ret;

	assert_int_equal(act_source_open_replay(path, &source, &why), 0);
	do {
		assert_int_equal(act_source_wait(source, 0), 0);
		ret = act_source_drain(source, &sink);
	} while (ret == 0);
	assert_int_equal(act_source_finish(source, &sink), ret);
	assert_false(act_source_is_behind(source));
	if (ret_stats)
		act_source_stats(source, ret_stats);
	act_source_free(source);
	return ret;
}

static char *data_path(const char *name)
{
	static char path[4096];
	const char *directory = getenv("TEST_DATA");

	assert_non_null(directory);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void test_shapes(void **state)
{
	static struct result result;
	struct act_fold_options options = { .size = sizeof(options), .per = ACT_PER_BOTH,
					    .emit = print_record, .arg = &result };
	char expected[TEXT_ROOM] = "";
	struct act_source_stats stats;
	FILE *file;

	(void)state;
	memset(&result, 0, sizeof(result));
	assert_int_equal(act_fold_new(&options, &result.fold), 0);
	assert_int_equal(replay(data_path("shapes.capture"), &result, &stats), 1);
	assert_int_equal(act_fold_flush(result.fold), 0);
	act_fold_free(result.fold);
	assert_int_equal(result.gaps, 0);
	assert_int_equal(stats.received, result.tasks);
	assert_int_equal(stats.version, 16);
	file = fopen(data_path("shapes.expected"), getenv("BLESS") ? "w+" : "r");
	assert_non_null(file);
	if (getenv("BLESS"))
		assert_int_equal(fwrite(result.text, 1, result.length, file), result.length);
	rewind(file);
	expected[fread(expected, 1, sizeof(expected) - 1, file)] = '\0';
	fclose(file);
	assert_string_equal(result.text, expected);
}

/* ---- Captures made here ---- */

struct made {
	char directory[32];
	char path[64];
	struct capture *capture;
	uint8_t message[2048];
	size_t length;
};

/* Takes the first message of shapes.capture for a model. */
static void make(struct made *made)
{
	FILE *file = fopen(data_path("shapes.capture"), "r");
	uint16_t cpus[] = { 0, 3 };
	struct capture_header header;
	struct capture_frame frame;

	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	do {
		assert_int_equal(fread(&frame, sizeof(frame), 1, file), 1);
		assert_true(frame.length <= sizeof(made->message));
		made->length = fread(made->message, 1, frame.length, file);
	} while (frame.type != CAPTURE_MESSAGE);
	fclose(file);
	strcpy(made->directory, "/tmp/t-replay-XXXXXX");
	assert_non_null(mkdtemp(made->directory));
	snprintf(made->path, sizeof(made->path), "%s/capture", made->directory);
	assert_int_equal(capture_create(made->path, header.family, 1, &made->capture), 0);
	capture_append(made->capture, CAPTURE_CPUS, 0, 1, cpus, sizeof(cpus));
}

static void forget(struct made *made)
{
	unlink(made->path);
	rmdir(made->directory);
}

static void add(struct made *made, int cpu, uint32_t number, uint64_t time_ns)
{
	memcpy(made->message + 8, &number, sizeof(number));
	capture_append(made->capture, CAPTURE_MESSAGE, cpu, time_ns, made->message, made->length);
}

static int replay_made(struct made *made, struct result *result, struct act_source_stats *stats)
{
	int ret;

	assert_int_equal(capture_close(made->capture), 0);
	memset(result, 0, sizeof(*result));
	ret = replay(made->path, result, stats);
	forget(made);
	return ret;
}

static void test_gaps(void **state)
{
	static struct result result;
	struct act_source_stats stats;
	uint64_t drops = 5;
	uint32_t start = 7;
	struct made made;

	(void)state;
	make(&made);
	capture_append(made.capture, CAPTURE_START, 3, 1, &start, sizeof(start));
	add(&made, 3, 10, 1000); /* 7, 8, 9 lost: no drops, so not by overflow */
	add(&made, 3, 11, 1001);
	add(&made, 0, 50, 1001);
	assert_int_equal(replay_made(&made, &result, &stats), 1);
	assert_int_equal(result.tasks, 3);
	assert_int_equal(result.gaps, 1);
	assert_int_equal(result.gap.count, 3);
	assert_int_equal(result.gap.cpu, 3);
	assert_int_equal(result.gap.to_ns, 1000);
	assert_int_equal(result.gap.cause, ACT_CAUSE_KERNEL);
	assert_int_equal(stats.cpus, 2);

	make(&made);
	add(&made, 0, 50, 1000);
	add(&made, 0, 56, 2000);
	capture_append(made.capture, CAPTURE_DROPS, 0, 2000, &drops, sizeof(drops));
	assert_int_equal(replay_made(&made, &result, &stats), 1);
	assert_int_equal(result.lost, 5);
	assert_int_equal(result.gap.from_ns, 1000);
	assert_int_equal(result.gap.to_ns, 2000);
	assert_int_equal(result.gap.cause, ACT_CAUSE_OVERFLOW);
	assert_int_equal(stats.drops, 5);
}

static void test_truncated_message(void **state)
{
	static struct result result;
	struct act_source_stats stats;
	struct made made;
	uint32_t number = 51;

	(void)state;
	make(&made);
	add(&made, 0, 50, 1000);
	memcpy(made.message + 8, &number, sizeof(number));
	capture_append(made.capture, CAPTURE_MESSAGE, 0, 1500, made.message, made.length - 1);
	add(&made, 0, 52, 2000);
	assert_int_equal(replay_made(&made, &result, &stats), 1);
	assert_int_equal(stats.received, 2);
	assert_int_equal(stats.truncated, 1);
	assert_int_equal(stats.lost, 1);
	assert_int_equal(result.gap.cause, ACT_CAUSE_TRUNCATED);
	assert_int_equal(result.gap.from_ns, 1000);
	assert_int_equal(result.gap.to_ns, 1500);
}

static void test_alien(void **state)
{
	static struct result result;
	struct act_source_stats stats;
	struct made made;

	(void)state;
	make(&made);
	add(&made, 0, 50, 1000);
	made.message[4] ^= 1; /* another family's */
	add(&made, 0, 51, 1000);
	made.message[4] ^= 1;
	add(&made, 0, 51, 1000);
	assert_int_equal(replay_made(&made, &result, &stats), 1);
	assert_int_equal(stats.received, 2);
	assert_int_equal(stats.alien, 1);
	assert_int_equal(stats.lost, 0);
}

/* With the switch off zeros are nobody's, with it on since before they are. */
static void test_switch(void **state)
{
	static const struct {
		struct capture_switch state;
		uint64_t expected;
	} cases[] = {
		{ { 0, UINT64_MAX }, ACT_UNKNOWN },
		{ { 1, 0 }, 0 },
		{ { 1, 1000 }, 0 },
		{ { 1, UINT64_C(1) << 62 }, ACT_UNKNOWN },
		{ { ACT_UNKNOWN, UINT64_MAX }, ACT_UNKNOWN },
	};
	static struct result result;
	struct act_source_stats stats;
	struct made made;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make(&made);
		/* No wait at all but for the CPU: all behind the switch is zero. */
		for (size_t at = 32; at < 64; at++)
			made.message[36 + at] = 0;
		memset(made.message + 36 + 312, 0, 32);
		memset(made.message + 36 + 352, 0, 16);
		memset(made.message + 36 + 400, 0, 32);
		capture_append(made.capture, CAPTURE_SWITCH, 0, 1, &cases[i].state,
			       sizeof(cases[i].state));
		add(&made, 0, 50, UINT64_C(1) << 61);
		assert_int_equal(replay_made(&made, &result, &stats), 1);
		assert_int_equal(stats.delayacct, cases[i].state.state);
		assert_int_equal(result.task.blkio_delay_count, cases[i].expected);
		assert_int_equal(result.task.wpcopy_delay_ns, cases[i].expected);
		assert_int_not_equal(result.task.cpu_delay_count, ACT_UNKNOWN);
	}
}

/* A sink that refuses one gets the next ones at the next drain, once each. */
static void test_refused(void **state)
{
	static struct result result;
	struct act_sink sink = sink_of(&result);
	struct act_source *source;
	struct act_why why;
	struct made made;

	(void)state;
	make(&made);
	for (uint32_t i = 0; i < 10; i++)
		add(&made, 0, 50 + i, 1000);
	assert_int_equal(capture_close(made.capture), 0);
	memset(&result, 0, sizeof(result));
	result.fail_at = 4;
	assert_int_equal(act_source_open_replay(made.path, &source, &why), 0);
	assert_int_equal(act_source_drain(source, &sink), -ENOSPC);
	assert_int_equal(result.tasks, 4);
	assert_int_equal(act_source_drain(source, &sink), 1);
	assert_int_equal(result.tasks, 10);
	assert_int_equal(result.lost, 0);
	act_source_free(source);
	forget(&made);
}

/* ---- Damage ---- */

static size_t load(const char *path, uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "r");
	size_t length;

	assert_non_null(file);
	length = fread(bytes, 1, room, file);
	fclose(file);
	return length;
}

static void store(const char *path, const uint8_t *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

/* Cut at every byte, the rest is delivered and the cut is told. */
static void test_cut(void **state)
{
	static struct result result;
	static uint8_t bytes[16384];
	struct act_source *source;
	struct act_why why;
	struct made made;
	size_t length, frame;

	(void)state;
	make(&made);
	frame = sizeof(struct capture_frame) + made.length;
	for (uint32_t i = 0; i < 3; i++)
		add(&made, 0, 50 + i, 1000);
	assert_int_equal(capture_close(made.capture), 0);
	length = load(made.path, bytes, sizeof(bytes));
	for (size_t cut = 0; cut < length; cut++) {
		size_t before = sizeof(struct capture_header) + sizeof(struct capture_frame) + 4;
		bool is_clean = cut >= before && (cut - before) % frame == 0;

		store(made.path, bytes, cut);
		if (cut < before) {
			if (cut >= 8)
				assert_int_equal(act_source_open_replay(made.path, &source, &why),
						 -EUCLEAN);
			continue;
		}
		memset(&result, 0, sizeof(result));
		assert_int_equal(replay(made.path, &result, NULL), is_clean ? 1 : -ENODATA);
		assert_int_equal(result.tasks, (cut - before) / frame);
	}
	forget(&made);
}

static void test_header(void **state)
{
	static uint8_t bytes[16384], wrong[16384];
	struct act_source *source;
	struct act_why why;
	struct made made;
	size_t length;

	(void)state;
	make(&made);
	assert_int_equal(capture_close(made.capture), 0);
	length = load(made.path, bytes, sizeof(bytes));
	memcpy(wrong, bytes, length);
	wrong[12] = 9; /* version */
	store(made.path, wrong, length);
	assert_int_equal(act_source_open_replay(made.path, &source, &why), -EPROTONOSUPPORT);
	memcpy(wrong, bytes, length);
	wrong[8] = 1; /* byte order */
	wrong[11] = 4;
	store(made.path, wrong, length);
	assert_int_equal(act_source_open_replay(made.path, &source, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "byte order"));
	forget(&made);
	assert_int_equal(act_source_open_replay(made.path, &source, &why), -ENOENT);
	assert_int_equal(act_source_open_replay("/dev/null", &source, &why) < 0, 1);
}

/* What is there is never overwritten. */
static void test_exists(void **state)
{
	struct capture *capture;

	(void)state;
	assert_int_equal(capture_create(data_path("shapes.expected"), 1, 1, &capture), -EEXIST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_truncated_message),
		cmocka_unit_test(test_alien),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_exists),
	};

	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log: what is appended comes back, whatever happens in between. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <actuary/log.h>

#include "base/clock.h"
#include "log/files.h"

#define BASE_NS UINT64_C(1700000000000000000)

/* ---- Records of every shape, from their number alone ---- */

static uint64_t scramble(uint64_t n)
{
	n *= UINT64_C(0x9e3779b97f4a7c15);
	n ^= n >> 29;
	n *= UINT64_C(0xbf58476d1ce4e5b9);
	return n ^ n >> 32;
}

/*
 * Each field has a shape of its own: constant, unknown, a mixture, noise of
 * any width, multiples, signed, rising, wrapping and the extremes.
 */
static uint64_t make_value(int field, uint64_t n)
{
	uint64_t noise = scramble(n * ACT_FIELDS + (uint64_t)field);

	switch (field % 12) {
	case 0:
		return 7;
	case 1:
		return ACT_UNKNOWN;
	case 2:
		return noise % 3 ? noise % 1000 : ACT_UNKNOWN;
	case 3:
		return noise;
	case 4:
		return noise % 100 * 4000000;
	case 5:
		return n % 2 ? (uint64_t)-(int64_t)(noise % 20) : noise % 20;
	case 6:
		return BASE_NS + n * 1000 + noise % 1000;
	case 7:
		return noise % 5000 * 1024;
	case 8:
		return noise % 7 ? 0 : UINT64_MAX;
	case 9:
		return noise % 2 ? INT64_MAX : ACT_UNKNOWN + 1;
	case 10:
		return noise >> (noise & 63);
	default:
		return n % 32768;
	}
}

static void make_record(struct act_record *record, uint64_t n)
{
	act_record_clear(record);
	for (int field = 0; field < ACT_FIELDS; field++)
		if (act_field_table[field].type != ACT_TYPE_TEXT)
			record->value[field] = make_value(field, n);
	record->kind = ACT_KIND_BOTH;
	record->exits = 1 + n % 3;
	record->end_ns = BASE_NS + n * 1000;
	/* Fields that are told from others. */
	record->tid = n % 5 ? record->pid : record->pid + 1;
	record->run_real_ns = n % 9 ? record->user_ns + record->system_ns : ACT_UNKNOWN;
	snprintf(record->comm_text, sizeof(record->comm_text), "%s%u",
		 n % 3 ? "command \n\xff" : "", (unsigned int)(scramble(n) % 300));
	if (n % 50 == 0)
		memset(record->comm_text, 'x', ACT_COMM_SIZE - 1);
	if (n % 51 == 0)
		memset(record->comm_text, 0, ACT_COMM_SIZE);
	act_record_derive(record);
}

/* ---- Logs ---- */

struct fixture {
	char dir[128];
};

static void set_up_dir(struct fixture *fixture)
{
	const char *base = getenv("TMPDIR");

	snprintf(fixture->dir, sizeof(fixture->dir), "%s/t-log-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(fixture->dir));
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	set_up_dir(fixture);
	*state = fixture;
	return 0;
}

static void list_segments(const char *dir, struct segment_list *list)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(segment_list_read(fd, list), 0);
	close(fd);
}

static void remove_log(const char *dir)
{
	struct segment_list list;
	char path[512];

	list_segments(dir, &list);
	for (size_t i = 0; i < list.count; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list.file[i].name);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s.tail", dir, list.file[i].name);
		unlink(path);
	}
	segment_list_release(&list);
	snprintf(path, sizeof(path), "%s/lock", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	remove_log(fixture->dir);
	free(fixture);
	return 0;
}

static struct act_log_writer *open_writer(const char *dir, uint32_t block_records,
					  struct act_gap *ret_gap)
{
	struct act_log_writer_options options = { .size = sizeof(options),
						  .block_records = block_records };
	struct act_log_writer *writer;
	struct act_why why = { "" };
	struct act_gap gap;

	if (act_log_writer_open(dir, &options, &writer, ret_gap ? ret_gap : &gap, &why) < 0)
		fail_msg("%s", why.text);
	return writer;
}

static void append(struct act_log_writer *writer, uint64_t from, uint64_t to)
{
	struct act_record record;

	for (uint64_t n = from; n < to; n++) {
		make_record(&record, n);
		assert_int_equal(act_log_append(writer, &record), 0);
	}
}

static void append_gap(struct act_log_writer *writer, uint64_t count, enum act_cause cause)
{
	struct act_gap gap = { .from_ns = 1, .to_ns = 2, .count = count, .cpu = 3, .cause = cause };

	assert_int_equal(act_log_append_gap(writer, &gap), 0);
}

static void append_state(struct act_log_writer *writer, enum act_state_type type)
{
	struct act_state state = { .type = type, .time_ns = BASE_NS, .delayacct = 1,
				   .forks = ACT_UNKNOWN, .recorded = 4, .lost = 5,
				   .text = "a remark" };

	assert_int_equal(act_log_append_state(writer, &state), 0);
}

/* ---- Reading ---- */

/* What came out of a log so far; zero it to begin. */
struct seen {
	uint64_t next;    /* number of the record that should come next */
	uint64_t exits;
	uint64_t gaps, gap_exits, storage_exits, downs;
	uint64_t states, starts, stops, restarts, resumes;
	uint64_t damages, torn;
	uint64_t segments;
};

static void see_batch(const struct act_batch *batch, struct seen *seen)
{
	if (batch->first != seen->next)
		fail_msg("record %ju where %ju should be", (uintmax_t)batch->first,
			 (uintmax_t)seen->next);
	for (size_t row = 0; row < batch->rows; row++) {
		struct act_record wanted, record;

		make_record(&wanted, batch->first + row);
		act_batch_record(batch, row, &record);
		for (int field = 0; field < ACT_FIELDS; field++)
			if (record.value[field] != wanted.value[field])
				fail_msg("record %ju, %s: %ju, not %ju",
					 (uintmax_t)(batch->first + row),
					 act_field_table[field].name,
					 (uintmax_t)record.value[field],
					 (uintmax_t)wanted.value[field]);
		assert_memory_equal(record.comm_text, wanted.comm_text, ACT_COMM_SIZE);
		seen->exits += record.exits;
	}
	seen->next += batch->rows;
}

static void see_gap(const struct act_gap *gap, struct seen *seen)
{
	seen->gaps++;
	if (gap->cause == ACT_CAUSE_DOWN)
		seen->downs++;
	else if (gap->cause == ACT_CAUSE_STORAGE)
		seen->storage_exits += gap->count;
	else
		seen->gap_exits += gap->count;
}

static void see_state(const struct act_state *state, struct seen *seen)
{
	seen->states++;
	seen->starts += state->type == ACT_STATE_START;
	seen->stops += state->type == ACT_STATE_STOP;
	seen->restarts += state->type == ACT_STATE_RESTART;
	seen->resumes += state->type == ACT_STATE_RESUME;
}

static void see(const struct act_item *item, struct seen *seen)
{
	switch (item->type) {
	case ACT_ITEM_BATCH:
		see_batch(&item->batch, seen);
		break;
	case ACT_ITEM_GAP:
		see_gap(&item->gap, seen);
		break;
	case ACT_ITEM_STATE:
		see_state(&item->state, seen);
		break;
	case ACT_ITEM_SEGMENT:
		seen->segments++;
		break;
	case ACT_ITEM_DAMAGE:
		seen->damages++;
		seen->torn += item->damage.is_torn_tail;
		break;
	}
}

static struct act_log_reader *open_reader(const char *path)
{
	struct act_field_set fields = { { 0 } };
	struct act_log_reader *reader;
	struct act_why why = { "" };

	if (act_log_reader_open(path, &reader, &why) < 0)
		fail_msg("%s", why.text);
	act_field_set_all(&fields);
	act_log_select(reader, &fields);
	return reader;
}

/* What there is now. */
static void read_on(struct act_log_reader *reader, struct seen *seen)
{
	struct act_item item;
	int ret;

	while ((ret = act_log_next(reader, &item)) == 0)
		see(&item, seen);
	assert_int_equal(ret, 1);
}

static struct seen read_log(const char *path)
{
	struct act_log_reader *reader = open_reader(path);
	struct seen seen = { 0 };

	read_on(reader, &seen);
	act_log_reader_free(reader);
	return seen;
}

/* ---- Tests ---- */

static void test_round_trip(void **state)
{
	static const uint32_t block_records[] = { 1, 2, 7, 8, 9, 256, 257, 4096, 65536 };
	const struct fixture *fixture = *state;
	uint64_t n = 0;

	/* One log, by many writers. */
	for (size_t i = 0; i < sizeof(block_records) / sizeof(*block_records); i++) {
		uint32_t rows = block_records[i];
		uint64_t count = rows > 5000 ? 70000 : rows * 2 + 3;
		struct act_log_writer *writer = open_writer(fixture->dir, rows, NULL);

		append_state(writer, ACT_STATE_START);
		append(writer, n, n + count);
		append_state(writer, ACT_STATE_STOP);
		assert_int_equal(act_log_writer_close(writer), 0);
		n += count;
	}
	struct seen seen = read_log(fixture->dir);
	assert_int_equal(seen.next, n);
	assert_int_equal(seen.damages, 0);
	assert_int_equal(seen.gaps, 0);
	assert_int_equal(seen.states, 2 * sizeof(block_records) / sizeof(*block_records));
}

static void test_events(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 4, NULL);
	struct act_log_reader *reader;
	struct act_item item;

	append_state(writer, ACT_STATE_START);
	append(writer, 0, 4);
	append_gap(writer, ACT_UNKNOWN, ACT_CAUSE_KERNEL);
	append(writer, 4, 8);
	append_state(writer, ACT_STATE_STOP);
	assert_int_equal(act_log_writer_close(writer), 0);
	reader = open_reader(fixture->dir);
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_SEGMENT);
	assert_int_equal(item.segment.format, 1);
	assert_int_equal(item.segment.number, 1);
	assert_int_equal(strlen(item.segment.boot_id), 36);
	/* In the order in which they were appended. */
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_STATE);
	assert_int_equal(item.state.type, ACT_STATE_START);
	assert_int_equal(item.state.time_ns, BASE_NS);
	assert_int_equal(item.state.delayacct, 1);
	assert_int_equal(item.state.forks, ACT_UNKNOWN);
	assert_int_equal(item.state.recorded, 4);
	assert_int_equal(item.state.lost, 5);
	assert_string_equal(item.state.text, "a remark");
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_BATCH);
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_GAP);
	assert_int_equal(item.gap.from_ns, 1);
	assert_int_equal(item.gap.to_ns, 2);
	assert_int_equal(item.gap.count, ACT_UNKNOWN);
	assert_int_equal(item.gap.cpu, 3);
	assert_int_equal(item.gap.cause, ACT_CAUSE_KERNEL);
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_BATCH);
	assert_int_equal(act_log_next(reader, &item), 0);
	assert_int_equal(item.type, ACT_ITEM_STATE);
	assert_int_equal(item.state.type, ACT_STATE_STOP);
	assert_int_equal(act_log_next(reader, &item), 1);
	act_log_reader_free(reader);
}

/* However many gaps come, their sum is kept. */
static void test_many_gaps(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 0, NULL);

	append(writer, 0, 1);
	for (uint64_t i = 0; i < 5000; i++)
		append_gap(writer, 3, i % 2 ? ACT_CAUSE_OVERFLOW : ACT_CAUSE_KERNEL);
	append(writer, 1, 2);
	assert_int_equal(act_log_writer_close(writer), 0);
	struct seen seen = read_log(fixture->dir);
	assert_int_equal(seen.gap_exits, 15000);
	assert_int_equal(seen.next, 2);
}

/* A selection gives the same values; derived ones alone as well. */
static void test_select(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 64, NULL);

	append(writer, 0, 200);
	assert_int_equal(act_log_writer_close(writer), 0);
	for (int field = 0; field < ACT_FIELDS; field++) {
		struct act_field_set fields = { { 0 } };
		struct act_log_reader *reader = open_reader(fixture->dir);
		struct act_item item;
		uint64_t n = 0;

		act_field_set_add(&fields, field);
		act_log_select(reader, &fields);
		while (act_log_next(reader, &item) == 0) {
			if (item.type != ACT_ITEM_BATCH)
				continue;
			for (int other = 0; other < ACT_FIELDS; other++)
				assert_int_equal(item.batch.column[other] != NULL, other == field);
			for (size_t row = 0; row < item.batch.rows; row++, n++) {
				struct act_record wanted, record;

				make_record(&wanted, n);
				act_batch_record(&item.batch, row, &record);
				assert_int_equal(record.value[field], wanted.value[field]);
				if (field == ACT_F_comm)
					assert_string_equal(record.comm_text, wanted.comm_text);
			}
		}
		assert_int_equal(n, 200);
		act_log_reader_free(reader);
	}
}

/* Blocks that cannot have the value are passed over, no other ones are. */
static void test_prune(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 10, NULL);

	append(writer, 0, 100);
	assert_int_equal(act_log_writer_close(writer), 0);
	for (int field = 0; field < ACT_FIELDS; field++) {
		struct act_record sought;
		struct act_log_reader *reader;
		struct act_item item;
		uint64_t passed = 0, has = 0, found = 0;

		make_record(&sought, 55);
		if (field == ACT_F_comm || sought.value[field] == ACT_UNKNOWN)
			continue;
		for (uint64_t n = 0; n < 100; n++) {
			struct act_record record;

			make_record(&record, n);
			has += record.value[field] == sought.value[field];
		}
		reader = open_reader(fixture->dir);
		act_log_prune(reader, field, sought.value[field], sought.value[field]);
		while (act_log_next(reader, &item) == 0) {
			if (item.type != ACT_ITEM_BATCH)
				continue;
			passed += item.batch.rows;
			for (size_t row = 0; row < item.batch.rows; row++)
				found += item.batch.column[field][row] == sought.value[field];
		}
		act_log_reader_free(reader);
		if (found != has)
			fail_msg("%s: %ju of %ju found", act_field_table[field].name,
				 (uintmax_t)found, (uintmax_t)has);
		if (field == ACT_F_end_ns)
			assert_int_equal(passed, 10);
	}
}

/* A reader that follows sees each record once, after the sync that covers it. */
static void test_follow(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 16, NULL);
	struct act_log_reader *reader = open_reader(fixture->dir);
	struct seen seen = { 0 };
	uint64_t n = 0;

	assert_true(act_log_is_live(reader));
	for (uint64_t i = 0; i < 400; i++) {
		uint64_t count = scramble(i) % 23;

		append(writer, n, n + count);
		n += count;
		if (i % 7 == 3)
			append_gap(writer, 1, ACT_CAUSE_OVERFLOW);
		if (i % 50 == 49)
			assert_int_equal(act_log_writer_rotate(writer), 0);
		assert_int_equal(act_log_writer_sync(writer, i, true), 0);
		/* Not every time: so that it falls behind. */
		if (scramble(i) % 3 == 0)
			continue;
		read_on(reader, &seen);
		assert_int_equal(seen.next, n);
		assert_int_equal(seen.damages, 0);
	}
	assert_int_equal(act_log_writer_close(writer), 0);
	read_on(reader, &seen);
	assert_int_equal(seen.next, n);
	assert_int_equal(seen.gap_exits, 57);
	assert_int_equal(seen.segments, 8 + 1);
	assert_false(act_log_is_live(reader));
	act_log_reader_free(reader);
	/* And so does one who comes late. */
	seen = read_log(fixture->dir);
	assert_int_equal(seen.next, n);
	assert_int_equal(seen.gap_exits, 57);
	assert_int_equal(seen.damages, 0);
}

static void test_rotate_by_size_and_keep(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer_options options = { .size = sizeof(options), .block_records = 64,
						  .rotate_bytes = 65536, .keep_bytes = 400000 };
	struct act_log_writer *writer;
	struct act_log_reader *reader;
	struct segment_list list;
	struct act_item item;
	struct act_gap gap;
	struct act_why why;
	uint64_t bytes = 0, first = ACT_UNKNOWN, records = 0;

	assert_int_equal(act_log_writer_open(fixture->dir, &options, &writer, &gap, &why), 0);
	append(writer, 0, 20000);
	assert_int_equal(act_log_writer_close(writer), 0);
	list_segments(fixture->dir, &list);
	assert_true(list.count >= 4);
	for (size_t i = 0; i < list.count; i++)
		bytes += list.file[i].bytes;
	/* What is being written comes on top. */
	assert_in_range(bytes, 300000, 400000 + 2 * 65536);
	assert_true(list.file[0].number > 1);
	segment_list_release(&list);
	/* The oldest are gone, the others follow without a hole. */
	reader = open_reader(fixture->dir);
	while (act_log_next(reader, &item) == 0) {
		assert_int_not_equal(item.type, ACT_ITEM_DAMAGE);
		if (item.type != ACT_ITEM_BATCH)
			continue;
		if (first == ACT_UNKNOWN)
			first = item.batch.first;
		assert_int_equal(item.batch.first, first + records);
		records += item.batch.rows;
	}
	act_log_reader_free(reader);
	assert_int_equal(first + records, 20000);
}

static void test_rotate_empty(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer *writer = open_writer(fixture->dir, 8, NULL);

	for (int i = 0; i < 3; i++)
		assert_int_equal(act_log_writer_rotate(writer), 0);
	append(writer, 0, 5);
	for (int i = 0; i < 3; i++)
		assert_int_equal(act_log_writer_rotate(writer), 0);
	assert_int_equal(act_log_writer_close(writer), 0);
	struct seen seen = read_log(fixture->dir);
	assert_int_equal(seen.next, 5);
	assert_int_equal(seen.segments, 2);
}

static void test_lock(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer_options options = { .size = sizeof(options) };
	struct act_log_writer *writer = open_writer(fixture->dir, 0, NULL), *other;
	struct act_gap gap;
	struct act_why why;
	char pid[32];

	assert_int_equal(act_log_writer_open(fixture->dir, &options, &other, &gap, &why), -EBUSY);
	snprintf(pid, sizeof(pid), "%d", getpid());
	assert_non_null(strstr(why.text, pid));
	append(writer, 0, 3);
	assert_int_equal(act_log_writer_close(writer), 0);
	writer = open_writer(fixture->dir, 0, &gap);
	assert_int_equal(act_log_writer_close(writer), 0);
	assert_int_equal(read_log(fixture->dir).next, 3);
}

static void test_stop_or_not(void **state)
{
	const struct fixture *fixture = *state;
	struct act_gap gap = { .cause = 99 };
	struct act_log_writer *writer = open_writer(fixture->dir, 0, &gap);

	assert_int_equal(gap.cause, 0);
	append_state(writer, ACT_STATE_START);
	append(writer, 0, 3);
	append_state(writer, ACT_STATE_STOP);
	assert_int_equal(act_log_writer_close(writer), 0);
	writer = open_writer(fixture->dir, 0, &gap);
	assert_int_equal(gap.cause, 0);
	append_state(writer, ACT_STATE_START);
	append(writer, 3, 6);
	assert_int_equal(act_log_writer_close(writer), 0);
	/* This one did not say goodbye. */
	writer = open_writer(fixture->dir, 0, &gap);
	assert_int_equal(gap.cause, ACT_CAUSE_DOWN);
	assert_int_equal(gap.count, ACT_UNKNOWN);
	assert_int_equal(gap.from_ns, BASE_NS + 5 * 1000);
	assert_int_equal(act_log_writer_close(writer), 0);
}

static void test_not_a_log(void **state)
{
	const struct fixture *fixture = *state;
	struct act_log_writer_options options = { .size = sizeof(options) };
	struct act_log_writer *writer;
	struct act_log_reader *reader;
	struct act_gap gap;
	struct act_why why = { "" };
	char path[256];
	int fd;

	assert_int_equal(act_log_reader_open(fixture->dir, &reader, &why), -ENODATA);
	assert_non_null(strstr(why.text, fixture->dir));
	snprintf(path, sizeof(path), "%s/absent", fixture->dir);
	assert_int_equal(act_log_reader_open(path, &reader, &why), -ENOENT);
	snprintf(path, sizeof(path), "%s/photo.jpg", fixture->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
	assert_int_equal(act_log_reader_open(path, &reader, &why), -ENODATA);
	assert_int_equal(write_at(fd, "a picture, believe me", 21, 0), 0);
	close(fd);
	assert_int_equal(act_log_reader_open(path, &reader, &why), -EUCLEAN);
	assert_int_equal(act_log_reader_open(fixture->dir, &reader, &why), -EUCLEAN);
	assert_int_equal(act_log_writer_open(fixture->dir, &options, &writer, &gap, &why),
			 -EUCLEAN);
	assert_int_equal(act_log_writer_open(path, &options, &writer, &gap, &why), -EUCLEAN);
	unlink(path);
}

/* ---- Killed at any moment ---- */

/* What the child tells before it dies. */
struct shared {
	uint64_t synced; /* so many records are durable, by a successful sync */
	uint64_t gap_exits;
	uint64_t steps; /* of appending and syncing, done since it was born */
};

static _Noreturn void write_until_killed(const char *dir, volatile struct shared *shared,
					 uint64_t n, uint64_t round)
{
	struct act_log_writer_options options = { .size = sizeof(options), .block_records = 50,
						  .rotate_bytes = 200000 };
	struct act_log_writer *writer;
	struct act_record record;
	struct act_gap gap;
	struct act_why why;

	if (act_log_writer_open(dir, &options, &writer, &gap, &why) < 0)
		_exit(1);
	if (gap.cause && act_log_append_gap(writer, &gap) < 0)
		_exit(2);
	for (uint64_t i = 0;; i++) {
		uint64_t count = scramble(round * 1000 + i) % 120;

		for (uint64_t end = n + count; n < end; n++) {
			make_record(&record, n);
			if (act_log_append(writer, &record) < 0)
				_exit(3);
		}
		if (i % 5 == 2) {
			gap = (struct act_gap){ .count = 1, .cause = ACT_CAUSE_OVERFLOW };
			if (act_log_append_gap(writer, &gap) < 0)
				_exit(4);
			shared->gap_exits++;
		}
		if (act_log_writer_sync(writer, i, i % 2) < 0)
			_exit(5);
		if (i % 2)
			shared->synced = n;
		shared->steps++;
	}
}

/*
 * Until the child has done so many steps, however slow the machine, and then a
 * moment more, so that it dies within one.  With none it dies while it opens.
 */
static void let_work(const volatile struct shared *shared, uint64_t steps, uint64_t round)
{
	for (int tries = 0; shared->steps < steps; tries++) {
		if (tries > 30000)
			fail_msg("the writer does not get on: %ju steps", (uintmax_t)shared->steps);
		usleep(1000);
	}
	usleep((useconds_t)(scramble(round) % 3000));
}

/*
 * The log goes on where the reader says that it ended, as the numbers make the
 * records: nothing that was synced is missing, nothing comes twice.
 */
static void test_killed(void **state)
{
	const struct fixture *fixture = *state;
	volatile struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t n = 0;

	assert_true((void *)shared != MAP_FAILED);
	for (uint64_t round = 0; round < 50; round++) {
		struct seen seen;
		int status;
		pid_t pid;

		shared->synced = n;
		shared->steps = 0;
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			write_until_killed(fixture->dir, shared, n, round);
		let_work(shared, round % 5, round);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		if (access(fixture->dir, F_OK) < 0)
			continue;
		/* Killed before there was a segment. */
		struct segment_list list;
		list_segments(fixture->dir, &list);
		bool is_empty = !list.count || (list.count == 1 && !list.file[0].bytes);
		segment_list_release(&list);
		if (is_empty)
			continue;
		seen = read_log(fixture->dir);
		if (seen.next < shared->synced)
			fail_msg("round %ju: %ju records of %ju synced ones", (uintmax_t)round,
				 (uintmax_t)seen.next, (uintmax_t)shared->synced);
		assert_int_equal(seen.damages, seen.torn);
		/* Gaps of the last step may not have been synced. */
		assert_in_range(seen.gap_exits + 1, shared->gap_exits, shared->gap_exits + 1);
		shared->gap_exits = seen.gap_exits;
		n = seen.next;
		/* A restart alone adds nothing and takes nothing away. */
		if (round % 4 == 3) {
			struct act_gap gap;
			struct seen after;

			assert_int_equal(act_log_writer_close(open_writer(fixture->dir, 50, &gap)),
					 0);
			assert_int_equal(gap.cause, ACT_CAUSE_DOWN);
			after = read_log(fixture->dir);
			assert_int_equal(after.next, n);
			assert_int_equal(after.gap_exits, seen.gap_exits);
			assert_int_equal(after.damages, 0);
		}
	}
	assert_true(n > 1000);
	munmap((void *)shared, sizeof(*shared));
}

/* ---- A full disk ---- */

static bool mount_small(const char *dir)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return false;
	return mount("tmpfs", dir, "tmpfs", 0, "size=1m") == 0;
}

static void fill_up(const char *dir, bool is_full)
{
	char path[256];
	int fd;

	/* A dot file: the log does not care. */
	snprintf(path, sizeof(path), "%s/.filler", dir);
	if (!is_full) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	for (char byte[4096] = { 1 }; write(fd, byte, sizeof(byte)) > 0;)
		;
	close(fd);
}

/*
 * Records that were dropped have no number, so
 * those that follow are told by how many were dropped before.
 */
static void check_full_disk(const char *dir)
{
	struct act_log_writer_options options = { .size = sizeof(options), .block_records = 50,
						  .memory_bytes = 20000 };
	struct act_log_writer_stats stats;
	struct act_log_writer *writer;
	struct act_gap gap;
	struct act_why why;
	uint64_t exits = 0;
	struct seen seen;

	assert_int_equal(act_log_writer_open(dir, &options, &writer, &gap, &why), 0);
	append(writer, 0, 130);
	assert_int_equal(act_log_writer_sync(writer, 1, true), 0);
	fill_up(dir, true);
	append(writer, 130, 400);
	for (int i = 0; i < 3; i++) {
		int ret = act_log_writer_sync(writer, 2, true);

		assert_true(ret == 0 || ret == -ENOSPC);
	}
	/* Readable all the time, at least what was synced. */
	seen = read_log(dir);
	assert_in_range(seen.next, 130, 400);
	assert_int_equal(seen.damages, seen.torn);
	append(writer, 400, 2000);
	act_log_writer_stats(writer, &stats);
	assert_true(stats.dropped > 0);
	assert_int_equal(stats.error, -ENOSPC);
	assert_int_equal(stats.records, 2000);
	assert_int_equal(act_log_writer_rotate(writer), -ENOSPC);
	fill_up(dir, false);
	assert_int_equal(act_log_writer_sync(writer, 3, true), 0);
	assert_int_equal(act_log_writer_sync(writer, 3, true), 0);
	act_log_writer_stats(writer, &stats);
	assert_int_equal(stats.error, 0);
	/* The log tells what was dropped, so its end is a good one. */
	assert_int_equal(act_log_writer_close(writer), 0);
	/* What came before is there without a hole, and what was dropped is told. */
	seen = read_log(dir);
	assert_int_equal(seen.damages, 0);
	assert_int_equal(seen.next, 2000 - stats.dropped);
	assert_int_equal(seen.storage_exits, stats.dropped_exits);
	assert_int_equal(seen.resumes, 1);
	for (uint64_t n = 0; n < 2000; n++)
		exits += 1 + n % 3;
	assert_int_equal(seen.exits + seen.storage_exits, exits);
}

static void test_full_disk(void **state)
{
	const struct fixture *fixture = *state;

	if (!mount_small(fixture->dir))
		skip();
	check_full_disk(fixture->dir);
}

static int unmount(void **state)
{
	const struct fixture *fixture = *state;

	umount2(fixture->dir, MNT_DETACH);
	return tear_down(state);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),
		TEST(test_events),
		TEST(test_many_gaps),
		TEST(test_select),
		TEST(test_prune),
		TEST(test_follow),
		TEST(test_rotate_by_size_and_keep),
		TEST(test_rotate_empty),
		TEST(test_lock),
		TEST(test_stop_or_not),
		TEST(test_not_a_log),
		TEST(test_killed),
		/* The last one: it moves this process to a mount namespace of its own. */
		cmocka_unit_test_setup_teardown(test_full_disk, set_up, unmount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

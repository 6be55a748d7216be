/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Logs that were cut, changed, or had bytes put in or taken out, at every byte:
 * the rest is read, what is missing is named, and nothing is invented.
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <actuary/log.h>

#include "log/files.h"

#define RECORDS 60
#define BLOCK_RECORDS 10
#define SEGMENTS 3
#define GAPS 4

struct fixture {
	char dir[PATH_MAX];
	struct act_record record[RECORDS];
	struct segment_list segments;
	uint8_t *bytes[SEGMENTS];
	size_t last_block[SEGMENTS]; /* where the last block of a segment begins */
};

/* What came out of a log. */
struct seen {
	uint64_t records, lost, exits, lost_exits;
	uint64_t gaps, damages, torn, segments;
	bool has_unknown; /* damage of unknown size */
	uint64_t damaged_bytes;
};

/* ---- A log ---- */

static uint64_t scramble(uint64_t n)
{
	n *= UINT64_C(0x9e3779b97f4a7c15);
	return n ^ n >> 29;
}

/* Constant, unknown, mixed, small, extreme and signed values. */
static void make_record(struct act_record *record, uint64_t n)
{
	act_record_clear(record);
	record->kind = ACT_KIND_BOTH;
	record->exits = 1 + n % 3;
	record->pid = 1000 + n;
	record->tid = 1000 + n;
	record->ppid = 1 + n % 4;
	record->uid = n % 5 ? 0 : 4294967294;
	record->end_ns = UINT64_C(1700000000000000000) + n * 1000000 + scramble(n) % 1000;
	record->wall_ns = scramble(n) % 100000000;
	record->user_ns = n % 7 * 4000000;
	record->system_ns = n % 3 * 4000000;
	record->run_real_ns = record->user_ns + record->system_ns;
	record->minflt = n % 2 ? ACT_UNKNOWN : scramble(n) % 300;
	record->nice = n % 2 ? (uint64_t)-10 : 0;
	record->rss_integral = n == 17 ? UINT64_MAX : scramble(n);
	record->status = n % 11 ? 0 : 9;
	snprintf(record->comm_text, sizeof(record->comm_text), n % 3 ? "sh" : "c%u\n\xff",
		 (unsigned int)n % 10);
	act_record_derive(record);
}

static void write_log(struct fixture *fixture)
{
	struct act_log_writer_options options = { .size = sizeof(options),
						  .block_records = BLOCK_RECORDS };
	struct act_log_writer *writer;
	struct act_gap gap;
	struct act_why why;

	assert_int_equal(act_log_writer_open(fixture->dir, &options, &writer, &gap, &why), 0);
	for (uint64_t n = 0; n < RECORDS; n++) {
		make_record(&fixture->record[n], n);
		assert_int_equal(act_log_append(writer, &fixture->record[n]), 0);
		if (n % (RECORDS / GAPS) == 5) {
			gap = (struct act_gap){ .from_ns = fixture->record[n].end_ns,
						.to_ns = fixture->record[n].end_ns + 1,
						.count = n, .cpu = 1,
						.cause = ACT_CAUSE_OVERFLOW };
			assert_int_equal(act_log_append_gap(writer, &gap), 0);
		}
		if (n == 24 || n == 44)
			assert_int_equal(act_log_writer_rotate(writer), 0);
	}
	assert_int_equal(act_log_writer_close(writer), 0);
}

static void path_of(const struct fixture *fixture, size_t segment, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/%s", fixture->dir,
			      fixture->segments.file[segment].name);

	assert_in_range(length, 1, PATH_MAX - 1);
}

static void put_bytes(const struct fixture *fixture, size_t segment, const uint8_t *bytes,
		      size_t length)
{
	char path[PATH_MAX];
	int fd;

	path_of(fixture, segment, path);
	/* Not cut to nothing first: ext4 waits for the disk on closing such a file. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
	assert_true(fd >= 0);
	assert_int_equal(write_at(fd, bytes, length, 0), 0);
	assert_int_equal(ftruncate(fd, (off_t)length), 0);
	close(fd);
}

static size_t bytes_of(const struct fixture *fixture, size_t segment)
{
	return fixture->segments.file[segment].bytes;
}

static void restore(const struct fixture *fixture, size_t segment)
{
	put_bytes(fixture, segment, fixture->bytes[segment], bytes_of(fixture, segment));
}

static void keep_bytes(struct fixture *fixture, size_t segment)
{
	size_t length = bytes_of(fixture, segment), at = length;
	char path[PATH_MAX];
	int fd;

	path_of(fixture, segment, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	fixture->bytes[segment] = malloc(length);
	assert_non_null(fixture->bytes[segment]);
	assert_int_equal(read_at(fd, fixture->bytes[segment], length, 0), 0);
	close(fd);
	while (at > 4 && memcmp(fixture->bytes[segment] + at - 4, "ABLK", 4) != 0)
		at--;
	fixture->last_block[segment] = at - 4;
}

static int set_up(void **state)
{
	const char *base = getenv("TMPDIR");
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	int dirfd;

	assert_non_null(fixture);
	snprintf(fixture->dir, sizeof(fixture->dir), "%s/t-damage-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(fixture->dir));
	write_log(fixture);
	dirfd = open(fixture->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(segment_list_read(dirfd, &fixture->segments), 0);
	close(dirfd);
	assert_int_equal(fixture->segments.count, SEGMENTS);
	for (size_t i = 0; i < SEGMENTS; i++)
		keep_bytes(fixture, i);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;
	char path[PATH_MAX + 8];

	for (size_t i = 0; i < SEGMENTS; i++) {
		path_of(fixture, i, path);
		unlink(path);
		free(fixture->bytes[i]);
	}
	snprintf(path, sizeof(path), "%s/lock", fixture->dir);
	unlink(path);
	assert_int_equal(rmdir(fixture->dir), 0);
	segment_list_release(&fixture->segments);
	free(fixture);
	return 0;
}

/* A test that failed must not spoil the next. */
static int restore_all(void **state)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		restore(*state, i);
	return 0;
}

/* ---- Reading it ---- */

/* Every record is one that was written, under its own number, and comes once. */
static void check_batch(const struct fixture *fixture, const struct act_batch *batch,
			uint64_t *next, struct seen *seen)
{
	assert_true(batch->first >= *next);
	for (size_t row = 0; row < batch->rows; row++) {
		uint64_t number = batch->first + row;
		struct act_record record;

		assert_true(number < RECORDS);
		act_batch_record(batch, row, &record);
		assert_memory_equal(&record, &fixture->record[number], sizeof(record));
		seen->exits += record.exits;
	}
	seen->records += batch->rows;
	*next = batch->first + batch->rows;
}

static void check_gap(const struct fixture *fixture, const struct act_gap *gap)
{
	assert_in_range(gap->count, 0, RECORDS - 1);
	assert_int_equal(gap->from_ns, fixture->record[gap->count].end_ns);
	assert_int_equal(gap->cause, ACT_CAUSE_OVERFLOW);
}

static void see_damage(const struct act_damage *damage, struct seen *seen)
{
	seen->damages++;
	seen->torn += damage->is_torn_tail;
	seen->damaged_bytes += damage->bytes;
	assert_non_null(damage->reason);
	if (damage->records == ACT_UNKNOWN || damage->exits == ACT_UNKNOWN) {
		seen->has_unknown = true;
		return;
	}
	seen->lost += damage->records;
	seen->lost_exits += damage->exits;
}

/* False if it could not be opened at all. */
static bool read_path(const struct fixture *fixture, const char *path, struct seen *seen)
{
	struct act_field_set fields = { { 0 } };
	struct act_log_reader *reader;
	struct act_item item;
	struct act_why why;
	uint64_t next = 0;
	int ret;

	memset(seen, 0, sizeof(*seen));
	if (act_log_reader_open(path, &reader, &why) < 0) {
		assert_true(why.text[0] && !strchr(why.text, '\n'));
		return false;
	}
	act_field_set_all(&fields);
	act_log_select(reader, &fields);
	while ((ret = act_log_next(reader, &item)) == 0) {
		if (item.type == ACT_ITEM_BATCH)
			check_batch(fixture, &item.batch, &next, seen);
		else if (item.type == ACT_ITEM_GAP)
			check_gap(fixture, &item.gap);
		else if (item.type == ACT_ITEM_DAMAGE)
			see_damage(&item.damage, seen);
		seen->gaps += item.type == ACT_ITEM_GAP;
		seen->segments += item.type == ACT_ITEM_SEGMENT;
	}
	assert_int_equal(ret, 1);
	act_log_reader_free(reader);
	return true;
}

static uint64_t all_exits(const struct fixture *fixture)
{
	uint64_t exits = 0;

	for (size_t i = 0; i < RECORDS; i++)
		exits += fixture->record[i].exits;
	return exits;
}

/* What was read and what is told to be lost are all there was. */
static void check_account(const struct fixture *fixture, const struct seen *seen,
			  size_t segment, size_t at)
{
	uint64_t records = seen->records + seen->lost, exits = seen->exits + seen->lost_exits;

	if (records > RECORDS || (!seen->has_unknown && records != RECORDS))
		fail_msg("segment %zu, changed at %zu: %ju of %d records are accounted for",
			 segment, at, (uintmax_t)records, RECORDS);
	if (!seen->has_unknown && exits != all_exits(fixture))
		fail_msg("segment %zu, changed at %zu: %ju exits are accounted for", segment, at,
			 (uintmax_t)exits);
}

/*
 * The log with @length bytes in place of a segment: damage is told, and what
 * is damaged is at most the blocks that were touched.
 */
static void check_changed(const struct fixture *fixture, size_t segment, const uint8_t *bytes,
			  size_t length, uint64_t records_at_least, size_t at)
{
	struct seen seen;

	put_bytes(fixture, segment, bytes, length);
	if (!read_path(fixture, fixture->dir, &seen))
		fail_msg("segment %zu, changed at %zu: cannot be opened", segment, at);
	if (!seen.damages)
		fail_msg("segment %zu, changed at %zu: no damage is told", segment, at);
	if (seen.records < records_at_least)
		fail_msg("segment %zu, changed at %zu: only %ju records are left", segment, at,
			 (uintmax_t)seen.records);
	check_account(fixture, &seen, segment, at);
}

/* ---- Tests ---- */

static void test_whole(void **state)
{
	const struct fixture *fixture = *state;
	struct seen seen;

	assert_true(read_path(fixture, fixture->dir, &seen));
	assert_int_equal(seen.records, RECORDS);
	assert_int_equal(seen.exits, all_exits(fixture));
	assert_int_equal(seen.gaps, GAPS);
	assert_int_equal(seen.damages, 0);
	assert_int_equal(seen.segments, SEGMENTS);
}

static void test_single_segment(void **state)
{
	const struct fixture *fixture = *state;
	char path[PATH_MAX];
	uint64_t records = 0;

	for (size_t i = 0; i < SEGMENTS; i++) {
		struct seen seen;

		path_of(fixture, i, path);
		assert_true(read_path(fixture, path, &seen));
		assert_int_equal(seen.damages, 0);
		assert_int_equal(seen.segments, 1);
		records += seen.records;
	}
	assert_int_equal(records, RECORDS);
}

/* One block at most is lost; a header of a segment costs no record. */
static void test_any_byte_changed(void **state)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	const struct fixture *fixture = *state;

	for (size_t segment = 0; segment < SEGMENTS; segment++) {
		size_t length = bytes_of(fixture, segment);
		uint8_t *bytes = malloc(length);

		assert_non_null(bytes);
		memcpy(bytes, fixture->bytes[segment], length);
		for (size_t at = 0; at < length; at++) {
			/* What looks like a newer version is not read. */
			if (segment == 0 && at == 8)
				continue;
			bytes[at] ^= changes[at % sizeof(changes)];
			check_changed(fixture, segment, bytes, length, RECORDS - BLOCK_RECORDS,
				      at);
			bytes[at] ^= changes[at % sizeof(changes)];
		}
		restore(fixture, segment);
		free(bytes);
	}
}

/* Magic and version of the first segment: no log, or still read. */
static void test_first_bytes_changed(void **state)
{
	const struct fixture *fixture = *state;
	size_t length = bytes_of(fixture, 0);
	uint8_t *bytes = malloc(length);

	assert_non_null(bytes);
	memcpy(bytes, fixture->bytes[0], length);
	for (size_t at = 0; at < 16; at++) {
		struct seen seen;

		bytes[at] ^= 0xff;
		put_bytes(fixture, 0, bytes, length);
		if (read_path(fixture, fixture->dir, &seen)) {
			assert_true(seen.damages > 0);
			check_account(fixture, &seen, 0, at);
		}
		bytes[at] ^= 0xff;
	}
	restore(fixture, 0);
	free(bytes);
}

/* The end of the log, as a power cut leaves it. */
static void test_last_block_cut(void **state)
{
	const struct fixture *fixture = *state;
	size_t segment = SEGMENTS - 1, from = fixture->last_block[segment];

	for (size_t length = from; length < bytes_of(fixture, segment); length++) {
		struct seen seen;

		put_bytes(fixture, segment, fixture->bytes[segment], length);
		assert_true(read_path(fixture, fixture->dir, &seen));
		/* What was never begun cannot be missed. */
		assert_int_equal(seen.damages, length > from);
		assert_int_equal(seen.torn, length > from);
		assert_int_equal(seen.damaged_bytes, length - from);
		assert_true(seen.records >= RECORDS - BLOCK_RECORDS);
	}
	restore(fixture, segment);
}

/* A cut in the middle of a log is known from what follows. */
static void test_any_segment_cut(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t segment = 0; segment < SEGMENTS - 1; segment++) {
		for (size_t length = 0; length < bytes_of(fixture, segment);
		     length++)
			check_changed(fixture, segment, fixture->bytes[segment], length, 0,
				      length);
		restore(fixture, segment);
	}
}

/* Puts @count bytes of @value in at every place. */
static void insert_everywhere(const struct fixture *fixture, size_t segment, size_t count,
			      uint8_t value)
{
	size_t length = bytes_of(fixture, segment);
	uint8_t *bytes = malloc(length + count);

	assert_non_null(bytes);
	for (size_t at = 0; at < length; at++) {
		/* What looks like a newer version is not read. */
		bool is_version = at == 8 || at == 9;

		if (segment == 0 && is_version)
			continue;
		memcpy(bytes, fixture->bytes[segment], at);
		memset(bytes + at, value, count);
		memcpy(bytes + at + count, fixture->bytes[segment] + at, length - at);
		check_changed(fixture, segment, bytes, length + count,
			      is_version ? 0 : RECORDS - BLOCK_RECORDS, at);
	}
	restore(fixture, segment);
	free(bytes);
}

static void test_three_bytes_inserted(void **state)
{
	for (size_t segment = 0; segment < SEGMENTS; segment++)
		insert_everywhere(*state, segment, 3, 'A');
}

static void test_zeroes_inserted(void **state)
{
	for (size_t segment = 0; segment < SEGMENTS; segment++)
		insert_everywhere(*state, segment, 64, 0);
}

/* As a file system leaves pages that it never wrote: one block or two are lost. */
static void test_zeroed(void **state)
{
	const struct fixture *fixture = *state;

	for (size_t segment = 0; segment < SEGMENTS; segment++) {
		size_t length = bytes_of(fixture, segment);
		uint8_t *bytes = malloc(length);

		assert_non_null(bytes);
		for (size_t at = 0; at + 64 <= length; at += 7) {
			memcpy(bytes, fixture->bytes[segment], length);
			memset(bytes + at, 0, 64);
			check_changed(fixture, segment, bytes, length,
				      RECORDS - 2 * BLOCK_RECORDS, at);
		}
		restore(fixture, segment);
		free(bytes);
	}
}

static void test_segment_missing(void **state)
{
	const struct fixture *fixture = *state;
	char path[PATH_MAX];
	struct seen seen;

	path_of(fixture, 1, path);
	assert_int_equal(unlink(path), 0);
	assert_true(read_path(fixture, fixture->dir, &seen));
	assert_int_equal(seen.damages, 1);
	assert_int_equal(seen.lost, 20);
	check_account(fixture, &seen, 1, 0);
	restore(fixture, 1);
	/* The oldest ones are taken by retention: that is no damage. */
	path_of(fixture, 0, path);
	assert_int_equal(unlink(path), 0);
	assert_true(read_path(fixture, fixture->dir, &seen));
	assert_int_equal(seen.damages, 0);
	assert_int_equal(seen.records, RECORDS - 25);
	restore(fixture, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_whole, restore_all),
		cmocka_unit_test_setup(test_single_segment, restore_all),
		cmocka_unit_test_setup(test_any_byte_changed, restore_all),
		cmocka_unit_test_setup(test_first_bytes_changed, restore_all),
		cmocka_unit_test_setup(test_last_block_cut, restore_all),
		cmocka_unit_test_setup(test_any_segment_cut, restore_all),
		cmocka_unit_test_setup(test_three_bytes_inserted, restore_all),
		cmocka_unit_test_setup(test_zeroes_inserted, restore_all),
		cmocka_unit_test_setup(test_zeroed, restore_all),
		cmocka_unit_test_setup(test_segment_missing, restore_all),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

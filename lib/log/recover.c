/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Going on with a log, whatever state its last writer left it in; also if that
 * was one that had just begun to do this.
 */
#include "log/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "log/reader.h"

struct found {
	struct position position;
	uint64_t last_ns;
	bool has_stopped;
	uint64_t number; /* of the last segment */
	char name[SEGMENT_NAME_BYTES]; /* of the last one that can be read */
};

static void note_event(const struct act_item *item, struct found *found)
{
	if (item->type == ACT_ITEM_STATE)
		found->has_stopped = item->state.type == ACT_STATE_STOP;
	else if (item->type == ACT_ITEM_GAP)
		found->has_stopped = false;
}

/* Reads the last segment, and cuts off what its writer did not finish. */
static int mend_segment(struct act_log_writer *writer, struct found *found)
{
	struct act_log_reader *reader;
	struct act_item item;
	struct stat status;
	int ret, fd;

	ret = reader_open_segment(writer->dirfd, found->name, READER_SEGMENT_ONLY, &reader);
	if (ret < 0)
		return ret;
	while ((ret = act_log_next(reader, &item)) == 0)
		note_event(&item, found);
	bool has_position = reader_has_position(reader);
	uint64_t end = reader_good_end(reader);
	found->position = reader_position(reader);
	found->last_ns = reader_last_ns(reader);
	act_log_reader_free(reader);
	if (ret < 0 || !has_position)
		return ret < 0 ? ret : 1;
	fd = openat(writer->dirfd, found->name, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &status) < 0 ? -errno : 0;
	if (ret == 0 && (uint64_t)status.st_size > end &&
	    (ftruncate(fd, (off_t)end) < 0 || fsync(fd) < 0))
		ret = -errno;
	close(fd);
	return ret;
}

/* Rows that the segment has not: they come with the numbers that they had. */
static int take_rows(struct act_log_writer *writer, const struct act_log_reader *reader,
		     const struct act_batch *batch)
{
	uint64_t next = writer->base.records + group_rows(writer->group);
	struct act_record record;
	int ret = 0;

	if (batch->first > next) {
		/* Some are missing, and the numbers must go on telling so. */
		ret = writer_close_group(writer);
		writer->base.records = next = batch->first;
		writer->base.exits = reader_block_before(reader).exits;
	}
	for (size_t row = 0; row < batch->rows && ret == 0; row++) {
		if (batch->first + row < next)
			continue;
		act_batch_record(batch, row, &record);
		ret = act_log_append(writer, &record);
	}
	return ret;
}

static int take_item(struct act_log_writer *writer, const struct act_log_reader *reader,
		     const struct act_item *item)
{
	bool is_event = item->type == ACT_ITEM_GAP || item->type == ACT_ITEM_STATE;

	if (item->type == ACT_ITEM_BATCH)
		return take_rows(writer, reader, &item->batch);
	if (!is_event || reader_event_number(reader) < writer->base.events + writer->events)
		return 0;
	return item->type == ACT_ITEM_GAP ? act_log_append_gap(writer, &item->gap)
					  : act_log_append_state(writer, &item->state);
}

static bool has_tail(const struct act_log_writer *writer, const struct segment_file *file)
{
	char tail[SEGMENT_NAME_BYTES];

	tail_name(file->name, tail);
	return faccessat(writer->dirfd, tail, F_OK, 0) == 0;
}

static int take_range(struct act_log_writer *writer, uint64_t from, uint64_t to,
		      struct found *found)
{
	struct act_field_set every = { { 0 } };
	struct act_log_reader *reader;
	struct act_item item;
	int ret;

	for (int field = 0; field < ACT_FIELDS; field++)
		if (field_is_stored(field))
			act_field_set_add(&every, field);
	ret = reader_open_range(writer->dirfd, from, to, &reader);
	if (ret < 0)
		return ret;
	act_log_select(reader, &every);
	while (ret == 0 && (ret = act_log_next(reader, &item)) == 0) {
		note_event(&item, found);
		ret = take_item(writer, reader, &item);
	}
	if (reader_last_ns(reader) != ACT_UNKNOWN)
		found->last_ns = reader_last_ns(reader);
	act_log_reader_free(reader);
	return ret < 0 ? ret : 0;
}

/*
 * What only tails hold goes first into the new segment.  There may be more than
 * one tail, when a restart was broken off before it came to its end.
 */
static int take_tails(struct act_log_writer *writer, struct found *found)
{
	struct segment_list list;
	int ret = segment_list_read(writer->dirfd, &list);
	size_t first = 0;

	while (first < list.count && !has_tail(writer, &list.file[first]))
		first++;
	if (ret == 0 && first < list.count)
		ret = take_range(writer, list.file[first].number, writer->number - 1, found);
	/* Until that is durable the old tails stay; readers see that it is the same. */
	if (ret == 0 && first < list.count &&
	    act_log_writer_sync(writer, ACT_UNKNOWN, true) == 0)
		for (; first < list.count && list.file[first].number < writer->number; first++) {
			char tail[SEGMENT_NAME_BYTES];

			tail_name(list.file[first].name, tail);
			unlinkat(writer->dirfd, tail, 0);
		}
	segment_list_release(&list);
	writer->stats.records = 0;
	return ret;
}

/*
 * Its header's length, or the negative errno of segment_header_unpack(); one
 * that may have a block is worth reading.
 */
static int look_at(const struct act_log_writer *writer, const struct segment_file *file,
		   bool *ret_has_block)
{
	size_t length = file->bytes < SEGMENT_HEADER_MAX ? file->bytes : SEGMENT_HEADER_MAX;
	uint8_t *bytes = malloc(length + 1);
	struct segment_header header;
	int fd = openat(writer->dirfd, file->name, O_RDONLY | O_CLOEXEC);
	int ret = fd < 0 ? -errno : bytes ? read_at(fd, bytes, length, 0) : -ENOMEM;

	*ret_has_block = false;
	if (ret == 0) {
		*ret_has_block = length < file->bytes || memmem(bytes, length, "ABLK", 4);
		ret = segment_header_unpack(bytes, length, &header);
	}
	if (fd >= 0)
		close(fd);
	free(bytes);
	return ret;
}

/*
 * The last segment that can be gone on with.  One without a whole header and
 * without blocks was being made when its writer died, and holds nothing.
 */
static int find_last(struct act_log_writer *writer, const char *dir, struct found *found,
		     struct act_why *why)
{
	struct segment_list list;
	int ret = segment_list_read(writer->dirfd, &list);

	if (ret == 0 && !list.count && list.others) {
		explain(why, "%s holds other files and no log; name an empty or a new directory",
			dir);
		ret = -EUCLEAN;
	}
	for (size_t i = list.count; ret == 0 && i > 0; i--) {
		const struct segment_file *file = &list.file[i - 1];
		bool has_block;
		int got = look_at(writer, file, &has_block);

		if (got == -EPROTONOSUPPORT || got == -EUCLEAN) {
			explain(why, got == -EUCLEAN ? "%s/%s is not a segment of a log; move it away"
				: "%s/%s was written by a newer actuary; name another directory",
				dir, file->name);
			ret = got;
			break;
		}
		if (got == -ENODATA && !has_block) {
			unlinkat(writer->dirfd, file->name, 0);
			continue;
		}
		if (!found->number)
			found->number = file->number;
		/* Of one that cannot be read at all the numbers go on from before it. */
		if (got < 0 && !has_block)
			continue;
		memcpy(found->name, file->name, sizeof(found->name));
		ret = mend_segment(writer, found);
		if (ret != 1)
			break;
		ret = 0;
	}
	segment_list_release(&list);
	return ret;
}

int writer_recover(struct act_log_writer *writer, const char *dir, struct act_gap *ret_gap,
		   struct act_why *why)
{
	struct found found = { .last_ns = ACT_UNKNOWN };
	int ret = find_last(writer, dir, &found, why);

	if (ret < 0)
		return ret;
	writer->base = found.position;
	ret = writer_begin_segment(writer, found.number + 1);
	if (ret == 0 && found.number)
		ret = take_tails(writer, &found);
	if (ret < 0 || !found.number || found.has_stopped)
		return ret;
	*ret_gap = (struct act_gap){
		.cause = ACT_CAUSE_DOWN, .cpu = -1, .count = ACT_UNKNOWN,
		.from_ns = found.last_ns, .to_ns = clock_wall_ns(),
	};
	if (found.last_ns == ACT_UNKNOWN || found.last_ns > ret_gap->to_ns)
		ret_gap->from_ns = ret_gap->to_ns;
	return 0;
}

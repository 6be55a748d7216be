/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader: segment after segment, and of each first its blocks, then its
 * tail.
 *
 * Whatever can be wrong with bytes is an item, not an error: after damage the
 * next whole block is looked for, and since each block tells where the counts
 * stood before it, it is known what is missing.  What was read already (a tail
 * that has become a block) is known by the same counts and passed over.
 */
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int find_listed(struct act_log_reader *reader, struct segment_file *ret_file)
{
	struct segment_list list;
	int ret = segment_list_read(reader->dirfd, &list);

	if (ret == 0)
		ret = 1;
	for (size_t i = 0; ret == 1 && i < list.count; i++) {
		if (list.file[i].number <= reader->number ||
		    (reader->last_number && list.file[i].number > reader->last_number))
			continue;
		*ret_file = list.file[i];
		ret = 0;
	}
	segment_list_release(&list);
	return ret;
}

static int find_single(struct act_log_reader *reader, struct segment_file *ret_file)
{
	if (reader->number)
		return 1;
	memset(ret_file, 0, sizeof(*ret_file));
	memcpy(ret_file->name, reader->single, sizeof(ret_file->name));
	/* A file by any other name is a segment all the same. */
	if (!segment_number(reader->single, &ret_file->number) || !ret_file->number)
		ret_file->number = 1;
	return 0;
}

int reader_find_segment(struct act_log_reader *reader, struct segment_file *ret_file)
{
	return reader->single[0] ? find_single(reader, ret_file) : find_listed(reader, ret_file);
}

static bool find_newer(struct act_log_reader *reader)
{
	struct segment_file file;

	return reader_find_segment(reader, &file) == 0;
}

static bool is_unreadable(int error)
{
	return error == -ENODATA || error == -EUCLEAN || error == -EBADMSG ||
	       error == -EPROTONOSUPPORT;
}

/*
 * Passes over a segment that cannot be read: the next one's header will tell
 * what was in it.  0: an item, 1: not now, 2: go on.
 */
static int pass_over(struct act_log_reader *reader, const struct segment_file *file, int error,
		     struct act_item *ret_item)
{
	bool is_last = !find_newer(reader), is_told = reader->pending.is_there;

	reader_close_segment(reader);
	if (error == -ENODATA && is_last && lock_is_held(reader->dirfd)) {
		/* Being made at this moment: it is there next time. */
		reader->number = file->number - 1;
		return 1;
	}
	if (is_told)
		reader_tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
	reader_note_pending(reader, &reader->segment, file->bytes,
		     error == -ENODATA ? "cut short in its header" :
		     error == -EPROTONOSUPPORT ? "newer format" : "not a segment");
	reader->pending.offset = 0;
	reader->pending.is_unknown = !reader->has_next;
	if (!is_last)
		return is_told ? 0 : 2;
	/* One that its writer was making has held nothing yet. */
	reader->pending.is_torn = error == -ENODATA;
	if (is_told)
		return 0;
	if (error == -ENODATA)
		reader_tell_damage(reader, 0, 0, ret_item);
	else
		reader_tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
	return 0;
}

/* 0: the next one's item, 1: there is none, 2: go on, negative errno. */
static int enter_next_segment(struct act_log_reader *reader, struct act_item *ret_item)
{
	struct segment_file file;
	int ret = reader_find_segment(reader, &file);

	if (ret != 0)
		return ret;
	ret = reader_enter(reader, file.name, file.number);
	if (ret == -ENOENT) { /* deleted since it was listed */
		reader_close_segment(reader);
		return 2;
	}
	if (is_unreadable(ret))
		return pass_over(reader, &file, ret, ret_item);
	if (ret < 0)
		return ret;
	reader->phase = PHASE_SEGMENT;
	reader_tell_segment(reader, ret_item);
	return 0;
}

/* The header of an unfinished block may be whole, and is the last one then. */
static void note_own_header(struct act_log_reader *reader, int fd, uint64_t end)
{
	struct pending *pending = &reader->pending;
	uint8_t bytes[BLOCK_HEADER_BYTES];
	struct block_header header;

	if (read_at(fd, bytes, sizeof(bytes), pending->offset) < 0 ||
	    !block_header_unpack(bytes, &header) ||
	    pending->offset + BLOCK_HEADER_BYTES + header.body_bytes < end)
		return;
	pending->has_after = true;
	pending->after = block_after(&header);
}

/* What follows the last whole block is its writer's unfinished work, or damage. */
static int note_bad_end(struct act_log_reader *reader, struct stream *stream, const char *reason)
{
	struct stat status;

	/* Of a live log the rest may still come. */
	if (!reader->has_newer && lock_is_held(reader->dirfd))
		return 0;
	if (fstat(stream->fd, &status) < 0)
		return -errno;
	if (!reader->pending.is_there)
		reader_note_pending(reader, stream, 0, reason);
	reader->pending.is_torn = !reader->has_newer;
	reader->pending.bytes = (uint64_t)status.st_size - reader->pending.offset;
	note_own_header(reader, stream->fd, (uint64_t)status.st_size);
	stream->offset = (uint64_t)status.st_size;
	return 0;
}

/* 0: a block is loaded; 1: the stream is at its end; negative errno. */
static int next_block(struct act_log_reader *reader, struct stream *stream)
{
	uint64_t offset = stream->offset;
	const char *reason;
	int ret = reader_load_block(reader, stream->fd, offset, &reason);

	if (ret < 0 || ret == LOADED_END)
		return ret < 0 ? ret : 1;
	if (ret == LOADED_BAD) {
		ret = reader_scan(reader, stream->fd, offset, &offset);
		if (ret < 0)
			return ret;
		if (offset == UINT64_MAX) {
			ret = note_bad_end(reader, stream, reason);
			return ret < 0 ? ret : 1;
		}
		reader_note_pending(reader, stream, offset - stream->offset, reason);
	}
	stream->offset = offset + reader_block_bytes(reader);
	reader->has_block = true;
	return 0;
}

static int walk_segment(struct act_log_reader *reader)
{
	int ret = next_block(reader, &reader->segment);

	if (ret == 0)
		reader->good_end = reader->segment.offset;
	if (ret != 1)
		return ret;
	/* Looked for before the last look at the end: so nothing is overlooked. */
	if (!reader->has_newer && find_newer(reader)) {
		reader->has_newer = true;
		reader->pending.is_torn = false;
		return 0;
	}
	reader->phase = PHASE_TAIL;
	return 0;
}

static int open_tail(struct act_log_reader *reader)
{
	char name[SEGMENT_NAME_BYTES];

	if (reader->part == READER_SEGMENT_ONLY)
		return 1;
	if (reader->tail.fd >= 0)
		return 0;
	tail_name(reader->name, name);
	reader->tail.fd = openat(reader->dirfd, name, O_RDONLY | O_CLOEXEC);
	reader->tail.offset = 0;
	if (reader->tail.fd >= 0)
		return 0;
	return errno == ENOENT ? 1 : -errno;
}

/*
 * A tail is emptied and filled again, so where we stopped may be no longer the
 * beginning of a block, or not of the one that comes next.
 */
static bool is_lost_in_tail(struct act_log_reader *reader, bool is_block)
{
	if (reader->has_restarted_tail || reader->tail.offset == 0)
		return false;
	if (is_block && (!reader->has_next ||
			 reader->block.before.records <= reader->next.records))
		return false;
	reader->has_restarted_tail = true;
	reader->tail.offset = 0;
	reader->has_block = false;
	memset(&reader->pending, 0, sizeof(reader->pending));
	return true;
}

/* What is damaged in the segment may be whole in the tail, and is none then. */
static int walk_tail(struct act_log_reader *reader)
{
	struct pending of_segment = reader->pending;
	const char *reason;
	struct stat status;
	int ret = open_tail(reader);

	if (ret == 0 && fstat(reader->tail.fd, &status) == 0 &&
	    (uint64_t)status.st_size < reader->tail.offset)
		reader->tail.offset = 0;
	if (ret == 0) {
		ret = reader_load_block(reader, reader->tail.fd, reader->tail.offset, &reason);
		if (ret == LOADED_BAD && is_lost_in_tail(reader, false))
			return 0;
		ret = ret < 0 ? ret : next_block(reader, &reader->tail);
		if (ret == 0 && is_lost_in_tail(reader, true))
			return 0;
		if (of_segment.is_there)
			reader->pending = of_segment;
	}
	return ret;
}

static bool has_grown(const struct act_log_reader *reader)
{
	struct stat status;

	return fstat(reader->segment.fd, &status) == 0 &&
	       (uint64_t)status.st_size > reader->segment.offset;
}

static void tell_torn_end(struct act_log_reader *reader, struct act_item *ret_item)
{
	const struct pending *pending = &reader->pending;

	if (pending->has_after)
		reader_tell_damage(reader, beyond(pending->after.records, reader->next.records),
			    beyond(pending->after.exits, reader->next.exits), ret_item);
	else
		reader_tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
}

/* At the end of segment and tail: 0 an item, 1 the end, 2 go on. */
static int leave_segment(struct act_log_reader *reader, struct act_item *ret_item)
{
	reader->has_restarted_tail = false;
	/* A block that was in the tail when we passed the end of the segment. */
	if (has_grown(reader) && !reader->pending.is_there) {
		uint64_t offset = reader->segment.offset;
		int ret;

		reader->phase = PHASE_SEGMENT;
		ret = next_block(reader, &reader->segment);
		if (ret == 0)
			reader->good_end = reader->segment.offset;
		if (ret <= 0)
			return ret < 0 ? ret : 2;
		/* Not a whole one yet. */
		if (reader->segment.offset == offset)
			return 1;
	}
	reader->phase = PHASE_SEGMENT;
	if (!reader->has_newer && !reader->pending.is_there)
		return 1;
	if (reader->pending.is_there && !reader->has_newer) {
		tell_torn_end(reader, ret_item);
		return 0;
	}
	reader_close_segment(reader);
	/* The next segment's header tells what is missing. */
	return 2;
}

static int begin_with_header(struct act_log_reader *reader, struct act_item *ret_item)
{
	if (!reader->header.created_ns)
		return 2;
	return reader_check_position(reader, reader->header.before, ret_item) ? 0 : 2;
}

int act_log_next(struct act_log_reader *reader, struct act_item *ret_item)
{
	int ret;

	if (reader->events_left && reader_next_event(reader, ret_item) == 0)
		return 0;
	for (;;) {
		if (reader->has_block) {
			ret = reader_deliver_block(reader, ret_item);
			if (ret != 1)
				return ret;
			continue;
		}
		switch (reader->phase) {
		case PHASE_BETWEEN:
			ret = enter_next_segment(reader, ret_item);
			if (ret == 1 && reader->pending.is_there) {
				tell_torn_end(reader, ret_item);
				return 0;
			}
			if (ret != 2)
				return ret;
			break;
		case PHASE_SEGMENT:
			/* Before its first block: what lies between it and the last one. */
			if (reader->header.created_ns) {
				ret = begin_with_header(reader, ret_item);
				reader->header.created_ns = 0;
				if (ret != 2)
					return ret;
			}
			ret = walk_segment(reader);
			break;
		case PHASE_TAIL:
			ret = walk_tail(reader);
			if (ret == 1) {
				ret = leave_segment(reader, ret_item);
				if (ret != 2)
					return ret;
			}
			break;
		}
		if (ret < 0)
			return ret;
	}
}

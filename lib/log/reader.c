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
#include "log/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log/block.h"
#include "log/files.h"

#define PRUNES_MAX 16
#define SCAN_BYTES 65536

/* A file that is read block by block. */
struct stream {
	int fd;
	uint64_t offset;
};

/* What could not be read, until it is known what was in it. */
struct pending {
	bool is_there;
	bool is_torn;
	bool is_unknown; /* nothing tells what was in it */
	bool is_of_tail;
	bool has_after;  /* its own header is whole, and tells */
	struct position after;
	char name[SEGMENT_NAME_BYTES];
	uint64_t offset, bytes;
	const char *reason;
};

enum phase {
	PHASE_BETWEEN, /* no segment is open */
	PHASE_SEGMENT,
	PHASE_TAIL,
};

struct act_log_reader {
	int dirfd;
	char single[SEGMENT_NAME_BYTES]; /* only this segment; "": all */
	uint64_t last_number; /* none behind this one; 0: all */
	bool is_only;    /* when opened, the log was one segment */
	enum reader_part part;
	enum phase phase;
	/* The present segment. */
	struct segment_header header;
	char name[SEGMENT_NAME_BYTES];
	uint64_t number;
	bool has_newer;  /* nothing more will be written to it */
	struct stream segment, tail;
	uint64_t good_end;
	bool has_restarted_tail;
	struct pending pending;
	/* Where the counts stand; the first block sets them. */
	struct position next;
	bool has_next;
	uint64_t last_ns;
	/* The present block. */
	struct block_header block;
	struct buffer body;
	bool has_block; /* loaded, not delivered */
	struct cursor events;
	uint32_t events_left;
	struct act_field_set wanted;
	struct prune prune[PRUNES_MAX];
	size_t prunes;
	struct decoder *decoder;
};

/* ---- Blocks ---- */

enum loaded {
	LOADED_BLOCK,
	LOADED_END,       /* nothing more */
	LOADED_BAD,       /* something that is no whole block */
};

/*
 * Loads the block at @offset of @fd.  @ret_reason says what is bad.  Errors of
 * the disk are negative errno.
 */
static int load_block(struct act_log_reader *reader, int fd, uint64_t offset,
		      const char **ret_reason)
{
	uint8_t bytes[BLOCK_HEADER_BYTES], first;
	int ret = read_at(fd, bytes, sizeof(bytes), offset);

	if (ret == -ENODATA) {
		*ret_reason = "cut short";
		ret = read_at(fd, &first, 1, offset);
		return ret == -ENODATA ? LOADED_END : ret < 0 ? ret : LOADED_BAD;
	}
	if (ret < 0)
		return ret;
	*ret_reason = "no block where one should begin";
	if (!block_header_unpack(bytes, &reader->block))
		return LOADED_BAD;
	buffer_clear(&reader->body);
	if (buffer_reserve(&reader->body, reader->block.body_bytes + 1) < 0)
		return -ENOMEM;
	ret = read_at(fd, reader->body.data, reader->block.body_bytes,
		      offset + BLOCK_HEADER_BYTES);
	*ret_reason = "cut short";
	if (ret == -ENODATA)
		return LOADED_BAD;
	if (ret < 0)
		return ret;
	*ret_reason = "checksum";
	if (format_checksum(reader->body.data, reader->block.body_bytes) !=
	    reader->block.body_checksum)
		return LOADED_BAD;
	return LOADED_BLOCK;
}

static uint64_t block_bytes(const struct act_log_reader *reader)
{
	return BLOCK_HEADER_BYTES + (uint64_t)reader->block.body_bytes;
}

/* Offset of the next "ABLK" at or after @offset, UINT64_MAX if there is none. */
static uint64_t find_magic(int fd, uint64_t offset, uint8_t *window)
{
	static const uint8_t magic[] = { 'A', 'B', 'L', 'K' };

	for (;;) {
		ssize_t got = pread(fd, window, SCAN_BYTES, (off_t)offset);
		const uint8_t *at;

		if (got < (ssize_t)sizeof(magic))
			return UINT64_MAX;
		at = memmem(window, (size_t)got, magic, sizeof(magic));
		if (at)
			return offset + (uint64_t)(at - window);
		offset += (uint64_t)got - (sizeof(magic) - 1);
	}
}

/* Loads the next whole block after @from: its offset, UINT64_MAX if none follows. */
static int scan(struct act_log_reader *reader, int fd, uint64_t from, uint64_t *ret_offset)
{
	uint8_t *window = malloc(SCAN_BYTES);
	const char *reason;
	int ret = LOADED_END;

	if (!window)
		return -ENOMEM;
	*ret_offset = from;
	do {
		*ret_offset = find_magic(fd, *ret_offset + 1, window);
		if (*ret_offset == UINT64_MAX)
			break;
		ret = load_block(reader, fd, *ret_offset, &reason);
	} while (ret >= 0 && ret != LOADED_BLOCK);
	free(window);
	return ret < 0 ? ret : 0;
}

/* ---- Opening segments ---- */

static void close_segment(struct act_log_reader *reader)
{
	if (reader->segment.fd >= 0)
		close(reader->segment.fd);
	if (reader->tail.fd >= 0)
		close(reader->tail.fd);
	reader->segment.fd = reader->tail.fd = -1;
	reader->phase = PHASE_BETWEEN;
}

/* Reads the header of an open segment; its length or the errno of format.h. */
static int read_header(int fd, struct segment_header *ret_header)
{
	uint8_t *bytes = malloc(SEGMENT_HEADER_MAX);
	struct stat status;
	int ret = -ENOMEM;

	if (!bytes)
		return ret;
	ret = fstat(fd, &status) < 0 ? -errno : 0;
	if (ret == 0) {
		size_t length = (uint64_t)status.st_size < SEGMENT_HEADER_MAX ?
			(size_t)status.st_size : SEGMENT_HEADER_MAX;

		ret = read_at(fd, bytes, length, 0);
		if (ret == 0)
			ret = segment_header_unpack(bytes, length, ret_header);
	}
	free(bytes);
	return ret;
}

static void note_pending(struct act_log_reader *reader, const struct stream *stream,
			 uint64_t bytes, const char *reason)
{
	struct pending *pending = &reader->pending;

	*pending = (struct pending){
		.is_there = true, .offset = stream->offset, .bytes = bytes, .reason = reason,
		.is_of_tail = stream == &reader->tail,
	};
	if (pending->is_of_tail)
		tail_name(reader->name, pending->name);
	else
		memcpy(pending->name, reader->name, sizeof(pending->name));
}

/*
 * Without a whole header the blocks tell by their hash whether they have the
 * columns of this version.
 */
static int find_first_block(struct act_log_reader *reader)
{
	uint64_t offset, number;
	int ret;

	schema_own(&reader->header.schema);
	reader->header.number = reader->number;
	reader->header.format = FORMAT_VERSION;
	ret = scan(reader, reader->segment.fd, 0, &offset);
	if (ret < 0)
		return ret;
	if (offset == UINT64_MAX)
		return -EUCLEAN;
	note_pending(reader, &reader->segment, offset, "segment header");
	reader->segment.offset = offset;
	if (reader->has_next)
		return 0;
	/* The first segment of a log begins to count; others told it in the header. */
	if (segment_number(reader->name, &number) && number == 1)
		reader->has_next = true;
	else
		reader->pending.is_unknown = true;
	return 0;
}

static int open_segment(struct act_log_reader *reader, const char *name, uint64_t number)
{
	int ret;

	memset(&reader->header, 0, sizeof(reader->header));
	memcpy(reader->name, name, strlen(name) + 1);
	reader->number = number;
	reader->has_newer = false;
	reader->has_restarted_tail = false;
	reader->segment = (struct stream){
		.fd = openat(reader->dirfd, name, O_RDONLY | O_CLOEXEC),
	};
	reader->tail = (struct stream){ .fd = -1 };
	if (reader->segment.fd < 0)
		return -errno;
	ret = read_header(reader->segment.fd, &reader->header);
	/* An only file that does not look like a segment is somebody else's. */
	if (ret == -EBADMSG || ret == -ENODATA || (ret == -EUCLEAN && !reader->is_only)) {
		int found = find_first_block(reader);

		return found == -EUCLEAN ? ret : found;
	}
	if (ret < 0)
		return ret;
	reader->segment.offset = reader->good_end = (uint64_t)ret;
	return 0;
}

static void tell_segment(const struct act_log_reader *reader, struct act_item *ret_item)
{
	const uint8_t *id = reader->header.boot_id;
	struct act_segment_info *info = &ret_item->segment;

	memset(info, 0, sizeof(*info));
	ret_item->type = ACT_ITEM_SEGMENT;
	memcpy(info->name, reader->name, sizeof(reader->name));
	memcpy(info->host, reader->header.host, sizeof(info->host));
	memcpy(info->kernel, reader->header.kernel, sizeof(info->kernel));
	info->created_ns = reader->header.created_ns;
	info->number = reader->number;
	info->format = reader->header.format;
	for (size_t i = 0; i < 16; i++)
		if (id[i]) {
			snprintf(info->boot_id, sizeof(info->boot_id),
				 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
				 "%02x%02x%02x%02x%02x%02x", id[0], id[1], id[2], id[3],
				 id[4], id[5], id[6], id[7], id[8], id[9], id[10], id[11],
				 id[12], id[13], id[14], id[15]);
			break;
		}
}

/* ---- Damage ---- */

static void tell_damage(struct act_log_reader *reader, uint64_t records, uint64_t exits,
			struct act_item *ret_item)
{
	struct act_damage *damage = &ret_item->damage;

	memset(damage, 0, sizeof(*damage));
	ret_item->type = ACT_ITEM_DAMAGE;
	memcpy(damage->segment, reader->name, sizeof(reader->name));
	damage->records = records;
	damage->exits = exits;
	damage->reason = "missing";
	damage->offset = reader->segment.offset;
	if (reader->pending.is_there) {
		damage->offset = reader->pending.offset;
		damage->bytes = reader->pending.bytes;
		damage->reason = reader->pending.reason;
		damage->is_torn_tail = reader->pending.is_torn;
		memcpy(damage->segment, reader->pending.name, sizeof(reader->pending.name));
	}
	memset(&reader->pending, 0, sizeof(reader->pending));
}

static uint64_t beyond(uint64_t value, uint64_t expected)
{
	return value > expected ? value - expected : 0;
}

/*
 * Compares where the counts should stand with where they do.  True if damage
 * is to be told first.
 */
static bool check_position(struct act_log_reader *reader, struct position found,
			   struct act_item *ret_item)
{
	uint64_t records, exits, events;

	if (!reader->has_next) {
		/* The beginning of what is kept: older ones may be deleted. */
		reader->next = found;
		reader->has_next = true;
	}
	records = beyond(found.records, reader->next.records);
	exits = beyond(found.exits, reader->next.exits);
	if (reader->pending.is_unknown)
		records = exits = ACT_UNKNOWN;
	events = beyond(found.events, reader->next.events);
	/* What a tail lacks at its end was never durable, or its segment has it. */
	if (reader->pending.is_of_tail && !records && !exits && !events)
		memset(&reader->pending, 0, sizeof(reader->pending));
	if (!reader->pending.is_there && !records && !exits && !events)
		return false;
	tell_damage(reader, records, exits, ret_item);
	reader->next.records += beyond(found.records, reader->next.records);
	reader->next.exits += beyond(found.exits, reader->next.exits);
	reader->next.events += events;
	return true;
}

/* ---- Delivering a block ---- */

static bool is_pruned(const struct act_log_reader *reader)
{
	for (size_t i = 0; i < reader->prunes; i++)
		if (block_is_outside(&reader->header.schema, &reader->block, reader->body.data,
				     &reader->prune[i]))
			return true;
	return false;
}

static void skip_rows(struct act_batch *batch, uint64_t rows)
{
	batch->rows -= rows;
	batch->first += rows;
	for (size_t field = 0; field < ACT_FIELDS; field++)
		if (batch->column[field])
			batch->column[field] += rows;
}

static int tell_unreadable(struct act_log_reader *reader, struct act_item *ret_item)
{
	struct stream *from = reader->phase == PHASE_TAIL ? &reader->tail : &reader->segment;

	note_pending(reader, from, block_bytes(reader), "unreadable block");
	reader->pending.offset -= block_bytes(reader);
	tell_damage(reader, reader->block.count, reader->block.exits, ret_item);
	return 0;
}

/* 0: an item, 1: nothing of this block is to be delivered. */
static int deliver_records(struct act_log_reader *reader, struct act_item *ret_item)
{
	const struct block_header *block = &reader->block;
	struct position after = block_after(block);
	uint64_t seen = beyond(reader->next.records, block->before.records);
	int ret;

	if (block->last_ns != ACT_UNKNOWN &&
	    (reader->last_ns == ACT_UNKNOWN || block->last_ns > reader->last_ns))
		reader->last_ns = block->last_ns;
	reader->next.records = after.records;
	reader->next.exits = after.exits;
	if (block->schema != reader->header.schema.hash)
		return tell_unreadable(reader, ret_item);
	if (is_pruned(reader))
		return 1;
	ret_item->type = ACT_ITEM_BATCH;
	ret = decoder_decode(reader->decoder, &reader->header.schema, block, reader->body.data,
			     &reader->wanted, &ret_item->batch);
	if (ret == -EBADMSG)
		return tell_unreadable(reader, ret_item);
	if (ret < 0)
		return ret;
	skip_rows(&ret_item->batch, seen);
	return 0;
}

static int next_event(struct act_log_reader *reader, struct act_item *ret_item)
{
	while (reader->events_left) {
		int ret = event_unpack(&reader->events, ret_item);

		reader->events_left--;
		if (ret == 0)
			return 0;
		if (ret < 0) {
			reader->events_left = 0;
			return tell_unreadable(reader, ret_item);
		}
	}
	return 1;
}

static int deliver_events(struct act_log_reader *reader, struct act_item *ret_item)
{
	const struct block_header *block = &reader->block;
	uint64_t seen = beyond(reader->next.events, block->before.events);

	cursor_init(&reader->events, reader->body.data, block->body_bytes);
	reader->events_left = block->count;
	for (; seen && reader->events_left; seen--, reader->events_left--)
		if (event_unpack(&reader->events, ret_item) < 0)
			reader->events_left = 1;
	reader->next.events = block_after(block).events;
	return next_event(reader, ret_item);
}

/* Whether all that a block holds was delivered before. */
static bool is_known(const struct act_log_reader *reader)
{
	struct position after = block_after(&reader->block);

	if (!reader->has_next)
		return false;
	return reader->block.type == BLOCK_EVENTS ? after.events <= reader->next.events
						  : after.records <= reader->next.records;
}

/* 0: an item; 1: go on. */
static int deliver_block(struct act_log_reader *reader, struct act_item *ret_item)
{
	bool is_of_known_type = reader->block.type == BLOCK_RECORDS ||
				reader->block.type == BLOCK_EVENTS;

	/* Of a known one it may still be told what lay before it. */
	if (is_of_known_type && is_known(reader) && !reader->pending.is_there) {
		reader->has_block = false;
		return 1;
	}
	if (check_position(reader, reader->block.before, ret_item))
		return 0;
	reader->has_block = false;
	if (!is_of_known_type || is_known(reader))
		return 1;
	return reader->block.type == BLOCK_EVENTS ? deliver_events(reader, ret_item)
						  : deliver_records(reader, ret_item);
}

/* ---- Walking ---- */

/* The next segment by number, or the single one; 1: there is none. */
static int find_segment(struct act_log_reader *reader, struct segment_file *ret_file)
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

static bool find_newer(struct act_log_reader *reader)
{
	struct segment_file file;

	return !reader->single[0] && find_segment(reader, &file) == 0;
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

	close_segment(reader);
	if (error == -ENODATA && is_last && lock_is_held(reader->dirfd)) {
		/* Being made at this moment: it is there next time. */
		reader->number = file->number - 1;
		return 1;
	}
	if (is_told)
		tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
	note_pending(reader, &reader->segment, file->bytes,
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
		tell_damage(reader, 0, 0, ret_item);
	else
		tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
	return 0;
}

/* 0: the next one's item, 1: there is none, 2: go on, negative errno. */
static int enter_next_segment(struct act_log_reader *reader, struct act_item *ret_item)
{
	struct segment_file file;
	int ret = reader->single[0] ? find_single(reader, &file) : find_segment(reader, &file);

	if (ret != 0)
		return ret;
	ret = open_segment(reader, file.name, file.number);
	if (ret == -ENOENT) { /* deleted since it was listed */
		close_segment(reader);
		return 2;
	}
	if (is_unreadable(ret))
		return pass_over(reader, &file, ret, ret_item);
	if (ret < 0)
		return ret;
	reader->phase = PHASE_SEGMENT;
	tell_segment(reader, ret_item);
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
		note_pending(reader, stream, 0, reason);
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
	int ret = load_block(reader, stream->fd, offset, &reason);

	if (ret < 0 || ret == LOADED_END)
		return ret < 0 ? ret : 1;
	if (ret == LOADED_BAD) {
		ret = scan(reader, stream->fd, offset, &offset);
		if (ret < 0)
			return ret;
		if (offset == UINT64_MAX) {
			ret = note_bad_end(reader, stream, reason);
			return ret < 0 ? ret : 1;
		}
		note_pending(reader, stream, offset - stream->offset, reason);
	}
	stream->offset = offset + block_bytes(reader);
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
		ret = load_block(reader, reader->tail.fd, reader->tail.offset, &reason);
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
		tell_damage(reader, beyond(pending->after.records, reader->next.records),
			    beyond(pending->after.exits, reader->next.exits), ret_item);
	else
		tell_damage(reader, ACT_UNKNOWN, ACT_UNKNOWN, ret_item);
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
	close_segment(reader);
	/* The next segment's header tells what is missing. */
	return 2;
}

static int begin_with_header(struct act_log_reader *reader, struct act_item *ret_item)
{
	if (!reader->header.created_ns)
		return 2;
	return check_position(reader, reader->header.before, ret_item) ? 0 : 2;
}

int act_log_next(struct act_log_reader *reader, struct act_item *ret_item)
{
	int ret;

	if (reader->events_left && next_event(reader, ret_item) == 0)
		return 0;
	for (;;) {
		if (reader->has_block) {
			ret = deliver_block(reader, ret_item);
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

/* ---- Interface ---- */

static struct act_log_reader *reader_new(void)
{
	struct act_log_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->dirfd = reader->segment.fd = reader->tail.fd = -1;
	reader->last_ns = ACT_UNKNOWN;
	reader->decoder = decoder_new();
	if (!reader->decoder) {
		free(reader);
		return NULL;
	}
	return reader;
}

void act_log_reader_free(struct act_log_reader *reader)
{
	if (!reader)
		return;
	close_segment(reader);
	if (reader->dirfd >= 0)
		close(reader->dirfd);
	decoder_free(reader->decoder);
	buffer_release(&reader->body);
	free(reader);
}

static int open_part(int dirfd, struct act_log_reader **ret_reader)
{
	struct act_log_reader *reader = reader_new();
	int ret;

	if (!reader)
		return -ENOMEM;
	reader->dirfd = fcntl(dirfd, F_DUPFD_CLOEXEC, 0);
	if (reader->dirfd < 0) {
		ret = -errno;
		act_log_reader_free(reader);
		return ret;
	}
	*ret_reader = reader;
	return 0;
}

int reader_open_segment(int dirfd, const char *name, enum reader_part part,
			struct act_log_reader **ret_reader)
{
	int ret = open_part(dirfd, ret_reader);

	if (ret < 0)
		return ret;
	(*ret_reader)->part = part;
	snprintf((*ret_reader)->single, sizeof((*ret_reader)->single), "%s", name);
	return 0;
}

int reader_open_range(int dirfd, uint64_t from, uint64_t to,
		      struct act_log_reader **ret_reader)
{
	int ret = open_part(dirfd, ret_reader);

	if (ret < 0)
		return ret;
	(*ret_reader)->number = from - 1;
	(*ret_reader)->last_number = to;
	return 0;
}

struct position reader_position(const struct act_log_reader *reader)
{
	return reader->next;
}

uint64_t reader_good_end(const struct act_log_reader *reader)
{
	return reader->good_end;
}

uint64_t reader_last_ns(const struct act_log_reader *reader)
{
	return reader->last_ns;
}

bool reader_has_position(const struct act_log_reader *reader)
{
	return reader->has_next;
}

struct position reader_block_before(const struct act_log_reader *reader)
{
	return reader->block.before;
}

uint64_t reader_event_number(const struct act_log_reader *reader)
{
	return reader->next.events - reader->events_left - 1;
}

/* Whether the first segment can be read at all; explains if not. */
static int check_first(struct act_log_reader *reader, const char *path, struct act_why *why)
{
	struct segment_file file;
	int ret = reader->single[0] ? find_single(reader, &file) : find_segment(reader, &file);

	if (ret != 0) {
		explain(why, "%s: nothing was recorded there yet", path);
		return ret < 0 ? ret : -ENODATA;
	}
	ret = open_segment(reader, file.name, file.number);
	close_segment(reader);
	reader->has_next = false;
	memset(&reader->next, 0, sizeof(reader->next));
	memset(&reader->pending, 0, sizeof(reader->pending));
	reader->number = 0;
	reader->good_end = 0;
	if (!reader->is_only && (ret == -EUCLEAN || ret == -EBADMSG || ret == -ENODATA))
		return 0; /* damage: the others can be read */
	if (ret == -EUCLEAN)
		explain(why, "%s: not a log of actuary", path);
	else if (ret == -EPROTONOSUPPORT)
		explain(why, "%s: written by a newer actuary, in a format that this one does "
			"not know; read it with that one", path);
	else if (ret == -ENODATA && !lock_is_held(reader->dirfd))
		explain(why, "%s: cut short in its first header; nothing can be read", path);
	else if (ret < 0 && ret != -ENODATA)
		explain(why, "cannot read %s: %s", path, strerror(-ret));
	else
		ret = 0;
	return ret;
}

static int open_path(struct act_log_reader *reader, const char *path, struct act_why *why)
{
	struct segment_list list;
	struct stat status;
	char copy[4096];
	int ret = 0;

	if (stat(path, &status) < 0)
		ret = -errno;
	else if (strlen(path) >= sizeof(copy))
		ret = -ENAMETOOLONG;
	else if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode))
		ret = -EUCLEAN;
	else if (S_ISREG(status.st_mode) && status.st_size == 0)
		ret = -ENODATA;
	if (ret < 0) {
		explain(why, ret == -EUCLEAN ? "%s: neither a directory nor a file" :
			ret == -ENODATA ? "%s: empty, not a log" : "cannot read %s: %s", path,
			strerror(-ret));
		return ret;
	}
	strcpy(copy, path);
	if (S_ISREG(status.st_mode)) {
		char *name = basename(copy);

		if (strlen(name) >= sizeof(reader->single)) {
			explain(why, "%s: not a log of actuary", path);
			return -EUCLEAN;
		}
		strcpy(reader->single, name);
		strcpy(copy, path);
		dirname(copy);
	}
	reader->dirfd = open(S_ISREG(status.st_mode) ? dirname(strcpy(copy, path)) : path,
			     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (reader->dirfd < 0) {
		ret = -errno;
		explain(why, "cannot read %s: %s", path, strerror(-ret));
		return ret;
	}
	reader->is_only = reader->single[0];
	if (reader->is_only)
		return 0;
	ret = segment_list_read(reader->dirfd, &list);
	reader->is_only = list.count <= 1;
	if (ret == 0 && !list.count && list.others) {
		explain(why, "%s: a directory, but not a log of actuary", path);
		ret = -EUCLEAN;
	}
	segment_list_release(&list);
	return ret;
}

int act_log_reader_open(const char *path, struct act_log_reader **ret_reader,
			struct act_why *ret_why)
{
	struct act_log_reader *reader = reader_new();
	int ret = -ENOMEM;

	if (!reader) {
		explain(ret_why, "cannot read %s: %s", path, strerror(ENOMEM));
		return ret;
	}
	ret = open_path(reader, path, ret_why);
	if (ret == 0)
		ret = check_first(reader, path, ret_why);
	if (ret < 0) {
		act_log_reader_free(reader);
		return ret;
	}
	*ret_reader = reader;
	return 0;
}

void act_log_select(struct act_log_reader *reader, const struct act_field_set *fields)
{
	reader->wanted = *fields;
}

void act_log_prune(struct act_log_reader *reader, enum act_field field, uint64_t min,
		   uint64_t max)
{
	/* Pruning is only ever a saving: what is not remembered is read. */
	if (reader->prunes < PRUNES_MAX)
		reader->prune[reader->prunes++] = (struct prune){ field, min, max };
}

bool act_log_is_live(const struct act_log_reader *reader)
{
	return lock_is_held(reader->dirfd);
}

void act_batch_record(const struct act_batch *batch, size_t row, struct act_record *ret_record)
{
	const struct act_texts *texts = &batch->text[ACT_F_comm];

	act_record_clear(ret_record);
	for (size_t field = 0; field < ACT_FIELDS; field++)
		if (batch->column[field] && field != ACT_F_comm)
			ret_record->value[field] = batch->column[field][row];
	if (batch->column[ACT_F_comm]) {
		uint64_t text = batch->column[ACT_F_comm][row];
		size_t length = texts->length[text];

		length = length < ACT_COMM_SIZE ? length : ACT_COMM_SIZE - 1;
		memcpy(ret_record->comm_text, texts->text[text], length);
	}
}

const char *act_state_name(enum act_state_type type)
{
	switch (type) {
	case ACT_STATE_START:
		return "start";
	case ACT_STATE_STOP:
		return "stop";
	case ACT_STATE_RESTART:
		return "restart";
	case ACT_STATE_SWITCH:
		return "switch";
	case ACT_STATE_RESUME:
		return "resume";
	}
	return "unknown";
}

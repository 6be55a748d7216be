/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Segments and blocks out of files, and the next whole block after damage. */
#include "log/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN_BYTES 65536

/* ---- Blocks ---- */

/*
 * Loads the block at @offset of @fd.  @ret_reason says what is bad.  Errors of
 * the disk are negative errno.
 */
int reader_load_block(struct act_log_reader *reader, int fd, uint64_t offset,
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

uint64_t reader_block_bytes(const struct act_log_reader *reader)
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
int reader_scan(struct act_log_reader *reader, int fd, uint64_t from, uint64_t *ret_offset)
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
		ret = reader_load_block(reader, fd, *ret_offset, &reason);
	} while (ret >= 0 && ret != LOADED_BLOCK);
	free(window);
	return ret < 0 ? ret : 0;
}

/* ---- Opening segments ---- */

void reader_close_segment(struct act_log_reader *reader)
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

void reader_note_pending(struct act_log_reader *reader, const struct stream *stream,
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
	ret = reader_scan(reader, reader->segment.fd, 0, &offset);
	if (ret < 0)
		return ret;
	if (offset == UINT64_MAX)
		return -EUCLEAN;
	reader_note_pending(reader, &reader->segment, offset, "segment header");
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

int reader_enter(struct act_log_reader *reader, const char *name, uint64_t number)
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

void reader_tell_segment(const struct act_log_reader *reader, struct act_item *ret_item)
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

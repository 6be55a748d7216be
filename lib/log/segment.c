/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A new segment, and what its header says of the machine. */
#include "log/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"

static void read_boot_id(uint8_t ret_id[16])
{
	char text[64] = "";
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	size_t digit = 0;

	memset(ret_id, 0, 16);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0) {
		for (const char *at = text; *at && digit < 32; at++) {
			int value = *at >= '0' && *at <= '9' ? *at - '0' :
				    *at >= 'a' && *at <= 'f' ? *at - 'a' + 10 : -1;

			if (value < 0)
				continue;
			ret_id[digit / 2] |= (uint8_t)(value << (digit % 2 ? 0 : 4));
			digit++;
		}
	}
	close(fd);
}

static void describe_segment(const struct act_log_writer *writer, uint64_t number,
			     uint64_t now_ns, struct segment_header *header)
{
	struct utsname names;

	memset(header, 0, sizeof(*header));
	header->number = number;
	header->before = writer->base;
	header->created_ns = now_ns;
	read_boot_id(header->boot_id);
	if (uname(&names) < 0)
		return;
	snprintf(header->host, sizeof(header->host), "%.64s", names.nodename);
	snprintf(header->kernel, sizeof(header->kernel), "%.64s", names.release);
}

int writer_begin_segment(struct act_log_writer *writer, uint64_t number)
{
	uint64_t now_ns = clock_wall_ns();
	struct buffer bytes = BUFFER_INIT;
	struct segment_header header;
	char name[SEGMENT_NAME_BYTES];
	int fd, ret;

	describe_segment(writer, number, now_ns, &header);
	segment_header_pack(&header, &bytes);
	segment_name(number, now_ns, name);
	fd = openat(writer->dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	ret = fd < 0 ? -errno : bytes.failed ? -ENOMEM : 0;
	if (ret == 0)
		ret = write_at(fd, bytes.data, bytes.length, 0);
	if (ret < 0) {
		if (fd >= 0) {
			unlinkat(writer->dirfd, name, 0);
			close(fd);
		}
		goto out;
	}
	writer->fd = fd;
	writer->tail_fd = -1;
	memcpy(writer->name, name, sizeof(name));
	writer->number = number;
	writer->created_ns = now_ns;
	writer->header_bytes = writer->offset = bytes.length;
	writer->tail_offset = 0;
	writer->is_dirty = writer->is_dir_dirty = true;
	writer->is_tail_dirty = false;
	writer->stats.bytes += bytes.length;
	writer->stats.segments++;
out:
	buffer_release(&bytes);
	return ret;
}

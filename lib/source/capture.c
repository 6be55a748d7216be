/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROOM (256 * 1024)

struct capture {
	int fd;
	int error; /* the first, negative errno; then nothing more is written */
	size_t length;
	uint8_t bytes[ROOM];
};

bool capture_is_magic(const void *data, size_t length)
{
	return length >= strlen(CAPTURE_MAGIC) &&
	       memcmp(data, CAPTURE_MAGIC, strlen(CAPTURE_MAGIC)) == 0;
}

int capture_create(const char *path, uint16_t family, uint64_t now_ns,
		   struct capture **ret_capture)
{
	struct capture_header header = {
		.magic = CAPTURE_MAGIC, .order = CAPTURE_ORDER,
		.version = CAPTURE_VERSION, .family = family, .created_ns = now_ns,
	};
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return -ENOMEM;
	capture->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (capture->fd < 0) {
		int error = errno;

		free(capture);
		return -error;
	}
	memcpy(capture->bytes, &header, sizeof(header));
	capture->length = sizeof(header);
	*ret_capture = capture;
	return 0;
}

static void write_out(struct capture *capture)
{
	size_t done = 0;

	while (capture->error == 0 && done < capture->length) {
		ssize_t ret = write(capture->fd, capture->bytes + done, capture->length - done);

		if (ret > 0)
			done += (size_t)ret;
		else if (ret == 0 || errno != EINTR)
			capture->error = ret == 0 ? -EIO : -errno;
	}
	capture->length = 0;
}

void capture_append(struct capture *capture, enum capture_frame_type type, int cpu,
		    uint64_t time_ns, const void *payload, size_t length)
{
	struct capture_frame frame = {
		.length = (uint32_t)length, .type = (uint16_t)type,
		.cpu = (uint16_t)cpu, .time_ns = time_ns,
	};

	if (length > CAPTURE_PAYLOAD_MAX || capture->error < 0)
		return;
	if (capture->length + sizeof(frame) + length > ROOM)
		write_out(capture);
	memcpy(capture->bytes + capture->length, &frame, sizeof(frame));
	capture->length += sizeof(frame);
	memcpy(capture->bytes + capture->length, payload, length);
	capture->length += length;
}

int capture_flush(struct capture *capture)
{
	write_out(capture);
	return capture->error;
}

int capture_close(struct capture *capture)
{
	int ret;

	if (!capture)
		return 0;
	ret = capture_flush(capture);
	if (close(capture->fd) < 0 && ret == 0)
		ret = -errno;
	free(capture);
	return ret;
}

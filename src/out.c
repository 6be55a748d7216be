/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outbuf.h"

static int first_error;

struct out *out_open(const char *path)
{
	struct out *out = malloc(sizeof(*out));
	int error;

	if (!out)
		return NULL;
	memset(out, 0, offsetof(struct out, data));
	out->fd = STDOUT_FILENO;
	if (!path || strcmp(path, "-") == 0)
		return out;
	out->is_ours = true;
	out->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (out->fd >= 0)
		return out;
	error = errno;
	free(out);
	errno = error;
	return NULL;
}

static void write_all(struct out *out, const char *data, size_t length)
{
	while (length && !out->error) {
		ssize_t written = write(out->fd, data, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			out->error = -errno;
			return;
		}
		data += written;
		length -= (size_t)written;
	}
}

int out_flush(struct out *out)
{
	write_all(out, out->data, out->length);
	out->length = 0;
	return out->error;
}

int out_close(struct out *out)
{
	int error;

	if (!out)
		return 0;
	error = out_flush(out);
	/* Some file systems tell of a full disk or quota only now. */
	if (out->is_ours && close(out->fd) < 0 && !error)
		error = -errno;
	free(out);
	if (!first_error)
		first_error = error;
	errno = -error;
	return error;
}

int out_error(void)
{
	return first_error;
}

void out_bytes(struct out *out, const char *data, size_t length)
{
	if (length > OUT_ROOM - out->length)
		out_flush(out);
	if (length > OUT_ROOM) {
		write_all(out, data, length);
		return;
	}
	memcpy(out->data + out->length, data, length);
	out->length += length;
}

void out_string(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void out_printf(struct out *out, const char *format, ...)
{
	char line[1024], *text = line;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length >= (int)sizeof(line)) {
		va_start(args, format);
		length = vasprintf(&text, format, args);
		va_end(args);
	}
	if (length < 0) {
		if (!out->error)
			out->error = -ENOMEM;
		return;
	}
	out_bytes(out, text, (size_t)length);
	if (text != line)
		free(text);
}

void out_u64(struct out *out, uint64_t value)
{
	char text[24];
	size_t length = format_u64(value, text);

	out_bytes(out, text, length);
}

void out_i64(struct out *out, int64_t value)
{
	/* Of INT64_MIN, too, the magnitude fits. */
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;

	if (value < 0)
		out_bytes(out, "-", 1);
	out_u64(out, magnitude);
}

/* ---- CSV ---- */

static bool needs_quotes(const char *data, size_t length)
{
	/* Blanks at the ends: some readers strip them. */
	if (length && (data[0] == ' ' || data[length - 1] == ' '))
		return true;
	for (size_t i = 0; i < length; i++)
		if (data[i] == ',' || data[i] == '"' || data[i] == '\n' || data[i] == '\r')
			return true;
	return false;
}

void out_csv_field(struct out *out, const char *data, size_t length)
{
	if (out->has_csv_field)
		out_bytes(out, ",", 1);
	out->has_csv_field = true;
	if (!needs_quotes(data, length)) {
		out_bytes(out, data, length);
		return;
	}
	out_bytes(out, "\"", 1);
	for (size_t i = 0; i < length; i++)
		out_bytes(out, data[i] == '"' ? "\"\"" : data + i, data[i] == '"' ? 2 : 1);
	out_bytes(out, "\"", 1);
}

void out_csv_end(struct out *out)
{
	out_bytes(out, "\n", 1);
	out->has_csv_field = false;
}

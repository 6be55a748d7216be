/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/why.h"

#define ROOM_FIRST ((size_t)256 * 1024)
#define PEEK_BYTES 4096

int reader_init(struct reader *reader, int fd, size_t limit)
{
	*reader = (struct reader){ .fd = fd, .limit = limit };
	reader->room = limit < ROOM_FIRST ? limit : ROOM_FIRST;
	/* One more for the NUL of a last line without newline. */
	reader->buffer = malloc(reader->room + 1);
	return reader->buffer ? 0 : -ENOMEM;
}

void reader_release(struct reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
	if (reader->fd >= 0)
		close(reader->fd);
	reader->fd = -1;
}

int reader_open(struct reader *reader, const char *path, size_t limit, struct act_why *ret_why)
{
	int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
					  open(path, O_RDONLY | O_CLOEXEC);
	int ret;

	if (fd < 0)
		return because(ret_why, -errno, "cannot read %s: %s", path, strerror(errno));
	ret = reader_init(reader, fd, limit);
	if (ret < 0) {
		reader_release(reader);
		return because(ret_why, ret, "cannot read %s: %s", path, strerror(-ret));
	}
	return 0;
}

int reader_failed(const struct reader *reader, const char *path, int error,
		  struct act_why *ret_why)
{
	if (error == -EMSGSIZE)
		return because(ret_why, -EUCLEAN, "%s, line %" PRIu64 ": longer than %zu bytes; is "
			       "this a file of numbers?", path, reader->line, reader->limit);
	if (error == -EILSEQ)
		return because(ret_why, -EUCLEAN, "%s, line %" PRIu64 ": a NUL byte; is this a "
			       "file of text?", path, reader->line);
	return because(ret_why, error, "cannot read %s: %s", path, strerror(-error));
}

/* Makes room behind what is left. */
static int make_room(struct reader *reader)
{
	size_t room = reader->room * 2 < reader->limit ? reader->room * 2 : reader->limit;
	char *buffer;

	if (reader->begin) {
		memmove(reader->buffer, reader->buffer + reader->begin,
			reader->end - reader->begin);
		reader->end -= reader->begin;
		reader->begin = 0;
	}
	if (reader->end < reader->room)
		return 0;
	if (room == reader->room)
		return -EMSGSIZE;
	buffer = realloc(reader->buffer, room + 1);
	if (!buffer)
		return -ENOMEM;
	reader->buffer = buffer;
	reader->room = room;
	return 0;
}

static int fill(struct reader *reader)
{
	int ret = make_room(reader);
	ssize_t count;

	if (ret < 0)
		return ret;
	do
		count = read(reader->fd, reader->buffer + reader->end,
			     reader->room - reader->end);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	reader->end += (size_t)count;
	reader->is_eof = count == 0;
	return 0;
}

/* The newline that ends the line at begin, NULL if the file ends before. */
static int find_newline(struct reader *reader, char **ret_newline)
{
	size_t searched = 0;
	int ret;

	for (;;) {
		char *from = reader->buffer + reader->begin + searched;

		searched = reader->end - reader->begin;
		*ret_newline = memchr(from, '\n', (size_t)(reader->buffer + reader->end - from));
		if (*ret_newline || reader->is_eof)
			return 0;
		ret = fill(reader);
		if (ret < 0)
			return ret;
	}
}

static void skip_mark(struct reader *reader)
{
	if (reader->end - reader->begin >= 3 &&
	    memcmp(reader->buffer + reader->begin, "\xef\xbb\xbf", 3) == 0)
		reader->begin += 3;
}

int reader_next(struct reader *reader, char **ret_line, size_t *ret_length)
{
	char *line, *newline;
	size_t length;
	int ret;

	reader->line++;
	ret = find_newline(reader, &newline);
	if (ret < 0)
		return ret;
	if (reader->line == 1)
		skip_mark(reader);
	if (reader->begin == reader->end) {
		reader->line--;
		return 1;
	}
	line = reader->buffer + reader->begin;
	reader->has_newline = newline;
	length = (newline ? (size_t)(newline - reader->buffer) : reader->end) - reader->begin;
	reader->begin += length + reader->has_newline;
	if (length && line[length - 1] == '\r')
		length--;
	line[length] = '\0';
	*ret_line = line;
	*ret_length = length;
	return memchr(line, '\0', length) ? -EILSEQ : 0;
}

int reader_peek(struct reader *reader, const char **ret_text, size_t *ret_length)
{
	while (!reader->is_eof && reader->end - reader->begin < PEEK_BYTES &&
	       !memchr(reader->buffer + reader->begin, '\n', reader->end - reader->begin)) {
		int ret = fill(reader);

		if (ret < 0)
			return ret;
	}
	if (reader->line == 0)
		skip_mark(reader);
	*ret_text = reader->buffer + reader->begin;
	*ret_length = reader->end - reader->begin;
	return 0;
}

ssize_t reader_bytes(struct reader *reader, void *data, size_t size)
{
	size_t left;

	if (reader->begin == reader->end && !reader->is_eof) {
		int ret = fill(reader);

		if (ret < 0)
			return ret;
	}
	left = reader->end - reader->begin;
	size = size < left ? size : left;
	memcpy(data, reader->buffer + reader->begin, size);
	reader->begin += size;
	return (ssize_t)size;
}

bool reader_at_end(struct reader *reader)
{
	while (reader->begin == reader->end && !reader->is_eof)
		if (fill(reader) < 0)
			break;
	return reader->begin == reader->end;
}

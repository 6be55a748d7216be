/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_READER_H
#define BENCH_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <actuary/source.h> /* struct act_why */

/*
 * A file, line by line, in bounded memory.  A byte order mark at its beginning
 * and the carriage return of CR LF are no part of a line.
 */
struct reader {
	int fd;
	char *buffer;
	size_t room, limit;  /* now, and at most: the longest line */
	size_t begin, end;   /* what is in the buffer and was not given out */
	uint64_t line;       /* the number of the line given last, from 1 */
	bool is_eof;
	bool has_newline;    /* the line given last ended with one */
};

/* Takes over @fd.  Both: 0 or a negative errno; only release after a failure, too. */
int reader_init(struct reader *reader, int fd, size_t limit);
void reader_release(struct reader *reader);

/* Opens @path, "-" is stdin; explains. */
int reader_open(struct reader *reader, const char *path, size_t limit, struct act_why *ret_why);
/* Explains what reader_next() returned; -EUCLEAN where it is the file's form. */
int reader_failed(const struct reader *reader, const char *path, int error,
		  struct act_why *ret_why);

/*
 * 0 and the next line, NUL-terminated, to be changed at will until the next
 * call; 1 at the end; -EMSGSIZE: longer than the limit; -EILSEQ: it has a NUL;
 * else as read(2).  @reader->line is that of the error, too.
 */
int reader_next(struct reader *reader, char **ret_line, size_t *ret_length);

/*
 * What comes next, not given out: the rest of the line, or as much as a decision
 * needs; nothing at the end.  Valid until the next call.
 */
int reader_peek(struct reader *reader, const char **ret_text, size_t *ret_length);

/* The next bytes, @size of them or fewer, 0 at the end; or as read(2). */
ssize_t reader_bytes(struct reader *reader, void *data, size_t size);

/* Whether nothing follows the line given last. */
bool reader_at_end(struct reader *reader);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_FILES_H
#define LOG_FILES_H

/* The files of a log's directory: segments, their tails, the lock. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <actuary/source.h>

#define SEGMENT_NAME_BYTES 64
#define SEGMENT_SUFFIX ".act"
#define TAIL_SUFFIX ".tail"
#define LOCK_NAME "lock"

struct segment_file {
	char name[SEGMENT_NAME_BYTES];
	uint64_t number;
	uint64_t bytes;
	uint64_t modified_ns;
};

struct segment_list {
	struct segment_file *file; /* ascending by number */
	size_t count;
	size_t others; /* entries that are neither of a log nor of a file system's making */
};

/* Lists a directory; 0 or negative errno.  Release in any case. */
int segment_list_read(int dirfd, struct segment_list *ret_list);
void segment_list_release(struct segment_list *list);

/* "0000000001-20261201T100000Z.act" */
void segment_name(uint64_t number, uint64_t created_ns, char ret_name[SEGMENT_NAME_BYTES]);
/* False if it is not the name of a segment. */
bool segment_number(const char *name, uint64_t *ret_number);
void tail_name(const char *segment, char ret_name[SEGMENT_NAME_BYTES]);

/*
 * Takes the writer's lock: its descriptor, or -EBUSY (@ret_pid: of whom, 0 if
 * it does not say), other negative errno.
 */
int lock_take(int dirfd, pid_t *ret_pid);
/* Whether a writer holds it. */
bool lock_is_held(int dirfd);

/* Deletes the oldest segments beyond total size and age; never @current. */
void retain(int dirfd, uint64_t keep_bytes, uint64_t keep_age_ns, uint64_t now_ns,
	    uint64_t current);

/* All of @length at @offset: 0, -ENODATA at the end of the file, negative errno. */
int read_at(int fd, void *data, size_t length, uint64_t offset);
int write_at(int fd, const void *data, size_t length, uint64_t offset);

void explain(struct act_why *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

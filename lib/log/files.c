/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define NUMBER_DIGITS 10

void explain(struct act_why *why, const char *format, ...)
{
	va_list args;

	if (!why)
		return;
	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

/* ---- Names ---- */

void segment_name(uint64_t number, uint64_t created_ns, char ret_name[SEGMENT_NAME_BYTES])
{
	time_t seconds = (time_t)(created_ns / NSEC_PER_SEC);
	char when[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(ret_name, SEGMENT_NAME_BYTES, "%0*" PRIu64 "-%s" SEGMENT_SUFFIX, NUMBER_DIGITS,
		 number, when);
}

bool segment_number(const char *name, uint64_t *ret_number)
{
	size_t length = strlen(name), digits = strspn(name, "0123456789");

	if (digits < NUMBER_DIGITS || digits > 19 || name[digits] != '-' ||
	    length >= SEGMENT_NAME_BYTES - strlen(TAIL_SUFFIX) ||
	    strcmp(name + length - strlen(SEGMENT_SUFFIX), SEGMENT_SUFFIX))
		return false;
	*ret_number = strtoull(name, NULL, 10);
	return true;
}

void tail_name(const char *segment, char ret_name[SEGMENT_NAME_BYTES])
{
	snprintf(ret_name, SEGMENT_NAME_BYTES, "%.*s" TAIL_SUFFIX,
		 (int)(SEGMENT_NAME_BYTES - sizeof(TAIL_SUFFIX)), segment);
}

static bool is_tail(const char *name)
{
	char segment[256];
	size_t length = strlen(name);
	uint64_t number;

	if (length <= strlen(TAIL_SUFFIX) || length >= sizeof(segment) ||
	    strcmp(name + length - strlen(TAIL_SUFFIX), TAIL_SUFFIX))
		return false;
	memcpy(segment, name, length - strlen(TAIL_SUFFIX));
	segment[length - strlen(TAIL_SUFFIX)] = '\0';
	return segment_number(segment, &number);
}

/* ---- Directory ---- */

static int compare_files(const void *a, const void *b)
{
	const struct segment_file *one = a, *other = b;

	return one->number < other->number ? -1 : one->number > other->number;
}

static int add_file(int dirfd, const char *name, uint64_t number, struct segment_list *list)
{
	struct segment_file *more, *file;
	struct stat status;

	/* Retention may have taken it away meanwhile. */
	if (fstatat(dirfd, name, &status, 0) < 0)
		return errno == ENOENT ? 0 : -errno;
	more = realloc(list->file, (list->count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	list->file = more;
	file = &list->file[list->count++];
	memset(file, 0, sizeof(*file));
	memcpy(file->name, name, strlen(name)); /* segment_number() bounds it */
	file->number = number;
	file->bytes = (uint64_t)status.st_size;
	file->modified_ns = (uint64_t)status.st_mtim.tv_sec * NSEC_PER_SEC +
			    (uint64_t)status.st_mtim.tv_nsec;
	return 0;
}

int segment_list_read(int dirfd, struct segment_list *ret_list)
{
	struct dirent *entry;
	uint64_t number;
	int ret = 0, fd;
	DIR *dir;

	memset(ret_list, 0, sizeof(*ret_list));
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	dir = fdopendir(fd);
	if (!dir) {
		ret = -errno;
		close(fd);
		return ret;
	}
	while (ret == 0 && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (segment_number(name, &number))
			ret = add_file(dirfd, name, number, ret_list);
		else if (name[0] != '.' && strcmp(name, LOCK_NAME) && !is_tail(name) &&
			 strcmp(name, "lost+found"))
			ret_list->others++;
	}
	closedir(dir);
	if (ret_list->count)
		qsort(ret_list->file, ret_list->count, sizeof(*ret_list->file), compare_files);
	return ret;
}

void segment_list_release(struct segment_list *list)
{
	free(list->file);
	memset(list, 0, sizeof(*list));
}

static void delete_segment(int dirfd, const char *name)
{
	char tail[SEGMENT_NAME_BYTES];

	tail_name(name, tail);
	unlinkat(dirfd, name, 0);
	unlinkat(dirfd, tail, 0);
}

void retain(int dirfd, uint64_t keep_bytes, uint64_t keep_age_ns, uint64_t now_ns,
	    uint64_t current)
{
	struct segment_list list;
	uint64_t total = 0;

	if ((!keep_bytes && !keep_age_ns) || segment_list_read(dirfd, &list) < 0)
		return;
	for (size_t i = 0; i < list.count; i++)
		total += list.file[i].bytes;
	for (size_t i = 0; i < list.count && list.file[i].number < current; i++) {
		const struct segment_file *file = &list.file[i];
		bool is_old = keep_age_ns && file->modified_ns + keep_age_ns < now_ns;

		if (!is_old && !(keep_bytes && total > keep_bytes))
			break;
		delete_segment(dirfd, file->name);
		total -= file->bytes;
	}
	segment_list_release(&list);
}

/* ---- Lock ---- */

/*
 * A lock of the open file, as flock(2) has it, but one that can be asked for
 * without being taken: readers that look must not keep a writer from starting.
 */
static int lock_command(int fd, int command, struct flock *lock)
{
	*lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	return fcntl(fd, command, lock) < 0 ? -errno : 0;
}

int lock_take(int dirfd, pid_t *ret_pid)
{
	char text[32] = "";
	int fd = openat(dirfd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC, 0640), ret;
	struct flock lock;

	*ret_pid = 0;
	if (fd < 0)
		return -errno;
	ret = lock_command(fd, F_OFD_SETLK, &lock);
	if (ret < 0) {
		if (pread(fd, text, sizeof(text) - 1, 0) > 0)
			*ret_pid = (pid_t)strtol(text, NULL, 10);
		close(fd);
		return ret == -EAGAIN || ret == -EACCES ? -EBUSY : ret;
	}
	/* Only for people: a full disk must not keep us from recording. */
	snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, text, strlen(text), 0);
	return fd;
}

bool lock_is_held(int dirfd)
{
	int fd = openat(dirfd, LOCK_NAME, O_RDONLY | O_CLOEXEC);
	struct flock lock;
	bool is_held;

	if (fd < 0)
		return false;
	is_held = lock_command(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return is_held;
}

/* ---- Bytes ---- */

int read_at(int fd, void *data, size_t length, uint64_t offset)
{
	uint8_t *at = data;

	while (length) {
		ssize_t got = pread(fd, at, length, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -ENODATA;
		at += got;
		length -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

int write_at(int fd, const void *data, size_t length, uint64_t offset)
{
	const uint8_t *at = data;

	while (length) {
		ssize_t put = pwrite(fd, at, length, (off_t)offset);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		if (put == 0)
			return -ENOSPC;
		at += put;
		length -= (size_t)put;
		offset += (uint64_t)put;
	}
	return 0;
}

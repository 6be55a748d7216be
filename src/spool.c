/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct spool {
	int fd;
	struct out *out;
	off_t *ends; /* of the pieces */
	size_t count, room;
};

/* Opened twice: an `out` has its own descriptor, reading back needs another. */
static int open_twice(struct spool *spool)
{
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int length, ret = 0;

	length = snprintf(path, sizeof(path), "%s/actuary-XXXXXX", dir && *dir ? dir : "/tmp");
	if ((size_t)length >= sizeof(path))
		return -ENAMETOOLONG;
	spool->fd = mkstemp(path);
	if (spool->fd < 0)
		return -errno;
	spool->out = out_open(path);
	if (!spool->out)
		ret = -errno;
	unlink(path);
	return ret;
}

int spool_open(struct spool **ret_spool)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int ret;

	if (!spool)
		return -ENOMEM;
	spool->fd = -1;
	ret = open_twice(spool);
	if (ret < 0)
		spool_close(spool);
	else
		*ret_spool = spool;
	return ret;
}

struct out *spool_out(struct spool *spool)
{
	return spool->out;
}

int spool_cut(struct spool *spool)
{
	struct stat stat;
	int ret = out_flush(spool->out);

	if (ret < 0)
		return ret;
	if (spool->count == spool->room) {
		size_t room = spool->room ? 2 * spool->room : 256;
		off_t *ends = reallocarray(spool->ends, room, sizeof(*ends));

		if (!ends)
			return -ENOMEM;
		spool->ends = ends;
		spool->room = room;
	}
	if (fstat(spool->fd, &stat) < 0)
		return -errno;
	spool->ends[spool->count++] = stat.st_size;
	return 0;
}

static int copy(const struct spool *spool, off_t from, off_t to, struct out *out)
{
	char data[65536];

	while (from < to) {
		size_t want = (size_t)(to - from) < sizeof(data) ? (size_t)(to - from) :
								    sizeof(data);
		ssize_t got = pread(spool->fd, data, want, from);

		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		out_bytes(out, data, (size_t)got);
		from += got;
	}
	return 0;
}

int spool_copy_back(struct spool *spool, struct out *out)
{
	for (size_t i = spool->count; i-- > 0;) {
		int ret = copy(spool, i ? spool->ends[i - 1] : 0, spool->ends[i], out);

		if (ret < 0)
			return ret;
	}
	return 0;
}

void spool_close(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	if (spool->out)
		out_close(spool->out);
	free(spool->ends);
	free(spool);
}

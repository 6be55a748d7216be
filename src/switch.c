/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "switch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SWITCH "/proc/sys/kernel/task_delayacct"

/* Open while there is something to restore, else -1. */
static volatile sig_atomic_t switch_fd = -1;

void switch_restore(void)
{
	int fd = switch_fd;
	int error = errno;

	if (fd < 0)
		return;
	switch_fd = -1;
	/* Nothing can be done, nor safely said here, if the kernel refuses. */
	if (pwrite(fd, "0\n", 2, 0) == 2)
		close(fd);
	errno = error;
}

int switch_enable(void)
{
	int fd = open(SWITCH, O_RDWR | O_CLOEXEC);
	char now;
	int ret;

	if (fd < 0)
		return -errno;
	if (pread(fd, &now, 1, 0) != 1) {
		ret = errno ? -errno : -EIO;
		goto out;
	}
	ret = 0;
	if (now != '0')
		goto out;
	if (atexit(switch_restore)) {
		ret = -ENOMEM;
		goto out;
	}
	/* First the mark, then the deed: a signal between them restores in vain. */
	switch_fd = fd;
	if (pwrite(fd, "1\n", 2, 0) == 2)
		return 0;
	ret = -errno;
	switch_fd = -1;
out:
	close(fd);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/delayacct.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <actuary/record.h>

#include "base/clock.h"

#define LOOK_EVERY_NS NSEC_PER_SEC

/*
 * A task's start is its time of receipt less its age: it seems later than it
 * was by as long as the message waited to be read.
 */
#define LATE_NS (100 * NSEC_PER_MSEC)

static uint64_t read_state(int fd)
{
	char text;

	if (fd < 0 || pread(fd, &text, 1, 0) != 1 || (text != '0' && text != '1'))
		return ACT_UNKNOWN;
	return text == '1';
}

/* Whether the kernel was booted with "delayacct". */
static bool is_on_since_boot(void)
{
	char line[4096] = " ";
	int fd = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return false;
	length = read(fd, line + 1, sizeof(line) - 3);
	close(fd);
	if (length <= 0)
		return false;
	line[1 + length] = '\0';
	for (char *end = line; (end = strchr(end, '\n'));)
		*end = ' ';
	strcat(line, " ");
	return strstr(line, " delayacct ") != NULL;
}

void delayacct_open(struct delayacct *delayacct, uint64_t now_ns)
{
	delayacct->fd = open("/proc/sys/kernel/task_delayacct", O_RDONLY | O_CLOEXEC);
	delayacct->state = read_state(delayacct->fd);
	delayacct->since_ns = DELAYACCT_NEVER;
	if (delayacct->state == 1)
		delayacct->since_ns = is_on_since_boot() ? 0 : now_ns;
	delayacct->look_ns = now_ns + LOOK_EVERY_NS;
}

void delayacct_close(struct delayacct *delayacct)
{
	if (delayacct->fd >= 0)
		close(delayacct->fd);
	delayacct->fd = -1;
}

bool delayacct_look(struct delayacct *delayacct, uint64_t now_ns)
{
	uint64_t state;

	/* Also when the clock was set back by more than a look. */
	if (delayacct->fd < 0 || (now_ns < delayacct->look_ns &&
				  now_ns + 2 * LOOK_EVERY_NS > delayacct->look_ns))
		return false;
	delayacct->look_ns = now_ns + LOOK_EVERY_NS;
	state = read_state(delayacct->fd);
	if (state == delayacct->state)
		return false;
	delayacct->state = state;
	delayacct->since_ns = state == 1 ? now_ns : DELAYACCT_NEVER;
	return true;
}

bool delayacct_covers(const struct delayacct *delayacct, uint64_t start_ns)
{
	return delayacct->since_ns == 0 ||
	       (delayacct->since_ns != DELAYACCT_NEVER && start_ns != ACT_UNKNOWN &&
		start_ns >= delayacct->since_ns + LATE_NS);
}

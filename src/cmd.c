/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#include "msg.h"
#include "out.h"

static struct words words;

void words_keep(int argc, char **argv)
{
	words = (struct words){ .count = (size_t)argc, .word = (const char *const *)argv };
}

struct words words_called(void)
{
	return words;
}

int refuse(const char *text)
{
	msg_error("%s", text);
	return STATUS_USAGE;
}

int status_of(int error)
{
	switch (error) {
	case -ENOENT:
	case -ENODATA:
	case -EUCLEAN:
	case -EPROTONOSUPPORT:
		return STATUS_USAGE;
	default:
		return STATUS_FAILED;
	}
}

struct out *open_output(const char *path)
{
	struct out *out = out_open(path);

	if (!out)
		msg_error("cannot write %s: %s", path ? path : "stdout", strerror(errno));
	return out;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logarg.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/source.h>

#include "msg.h"

#define LOG_PATH "/var/log/actuary"

const char *default_log_path(const char *given)
{
	const char *path = given ? given : getenv("ACTUARY_LOG");

	return path && *path ? path : LOG_PATH;
}

int choose_log(const struct command *command, const char *option, int argc, char **argv,
	       const char **ret_path)
{
	if (argc > 1 || (argc && option)) {
		msg_error("takes one log; see 'actuary %s -h'", command->name);
		return STATUS_USAGE;
	}
	*ret_path = default_log_path(argc ? argv[0] : option);
	return STATUS_OK;
}

void tell_unread(const char *path, int error, const struct act_why *why)
{
	if (error == -ENOENT && strcmp(path, LOG_PATH) == 0)
		msg_error("%s; name a log, or record one first: actuary record", why->text);
	else
		msg_error("%s", why->text);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LOGARG_H
#define ACTUARY_LOGARG_H

/* Which log a command works on, the same for all. */
#include "cmd.h"

/* @given if the user named one, else $ACTUARY_LOG, else /var/log/actuary. */
const char *default_log_path(const char *given);

/*
 * The log that a command reads: its argument, what --log gave (NULL: nothing),
 * or the default.  STATUS_OK, or STATUS_USAGE after saying that there is one
 * too many.
 */
int choose_log(const struct command *command, const char *option, int argc, char **argv,
	       const char **ret_path);

struct act_why;

/* Says why a log could not be read, and what to do where none was recorded yet. */
void tell_unread(const char *path, int error, const struct act_why *why);

#endif

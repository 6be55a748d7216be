/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_DELAYLOG_H
#define ACTUARY_DELAYLOG_H

/* What the tasks of a log waited for, added up by command. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/query.h>

#include "delays.h"
#include "loss.h"

/* Commands kept apart; the others are added up as one, to bound the memory. */
enum { DELAYLOG_COMMANDS_MAX = 16384 };

struct delay_command {
	char comm[ACT_COMM_SIZE];
	struct delays delays;
};

struct delaylog {
	struct delay_command *commands; /* once read: those that waited longest first */
	size_t count, room;
	uint32_t *bucket; /* by hash: index + 1, 0 is free */
	uint64_t records, uncounted;
	struct loss loss;
	bool has_overflow;  /* the last command stands for the others */
};

/*
 * Reads @path.  Returns 0, or a negative errno; @ret_why->text is "" if there
 * is no better explanation than the errno.  To be released in any case.
 */
int delaylog_read(const char *path, const struct act_filter *filter,
		  struct delaylog *ret_log, struct act_why *ret_why);
void delaylog_release(struct delaylog *log);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LASTCOMM_H
#define ACTUARY_LASTCOMM_H

/*
 * The lines of GNU lastcomm, from the accounting utilities:
 *
 *	sleep             F  X root     __         0.00 secs Tue Dec  1 00:45
 *
 * command, flags (S privilege used, F forked without exec, D core dumped, X
 * killed by a signal), user, terminal (never known: __), CPU time, start.
 */
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>

#include "out.h"
#include "users.h"

/* Adds the fields that the lines need. */
void lastcomm_fields(struct act_field_set *fields);

/* A line for each of the @count rows, in their order. */
void lastcomm_print(struct users *users, struct out *out, const struct act_batch *batch,
		    const uint32_t *rows, size_t count);

#endif

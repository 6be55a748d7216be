/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_USERS_H
#define ACTUARY_USERS_H

/*
 * User names.  The machine's user database is asked once for each uid; it may
 * sit behind a network.
 */
#include <stdint.h>

struct users;

struct users *users_new(void); /* NULL: no memory */
void users_free(struct users *users);

/*
 * The user's name, or NULL if there is none by this uid (or it is unknown).
 * Valid until the next call.
 */
const char *users_name(struct users *users, uint64_t uid);

#endif

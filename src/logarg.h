/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LOGARG_H
#define ACTUARY_LOGARG_H

/* Which log a command works on, the same for all. */

/* @given if the user named one, else $ACTUARY_LOG, else /var/log/actuary. */
const char *default_log_path(const char *given);

#endif

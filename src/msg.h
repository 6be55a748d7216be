/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_MSG_H
#define ACTUARY_MSG_H

/*
 * What is said to people, on stderr: "actuary VERB: text".  Errors say what
 * failed, why, and what the user can do; one failure, one message, one line:
 * control bytes in it, a newline too, are shown escaped.
 */
#include <stdbool.h>

/* Set once by main.c: the prefix, "actuary record", and --quiet. */
void msg_init(const char *prefix, bool quiet);

void msg_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_info(const char *format, ...) __attribute__((format(printf, 1, 2))); /* not with --quiet */

/*
 * A progress line, only on a terminal and not with --quiet; the next message
 * or msg_progress_end() clears it.
 */
void msg_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void msg_progress_end(void);

#endif

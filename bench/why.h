/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_WHY_H
#define BENCH_WHY_H

#include <actuary/source.h> /* struct act_why */

/*
 * Explains @error in one line without a full stop, and returns it: "return
 * because(why, -EINVAL, ...)".  @why may be NULL.
 */
int because(struct act_why *why, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LIMIT_H
#define BENCH_LIMIT_H

#include <stdint.h>

#include <actuary/source.h> /* struct act_why */

/*
 * Explains why making another of @wanted failed with @error (errno, positive)
 * after @done of them, and which limits hold here if it was one; returns -@error.
 * @what: "fork", "thread".
 */
int explain_limit(struct act_why *why, int error, const char *what, uint64_t done,
		  uint64_t wanted);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SLEEPERS_H
#define BENCH_SLEEPERS_H

/* Threads that do nothing but be there. */
#include <stdint.h>

#include <actuary/source.h> /* struct act_why */

struct sleepers;

/*
 * They fall asleep on their own, within moments; nothing wakes them.  0, or a
 * negative errno after explaining.
 */
int sleepers_start(uint64_t count, struct sleepers **ret, struct act_why *why);
/* Waits until the kernel says that all sleep.  Same returns; NULL is allowed. */
int sleepers_await(struct sleepers *sleepers, struct act_why *why);
/* Wakes, ends and joins them all; NULL is allowed. */
void sleepers_end(struct sleepers *sleepers);

#endif

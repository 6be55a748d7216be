/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_ACTUARY_H
#define ACTUARY_ACTUARY_H

/*
 * libactuary: every exit of every task of a Linux machine, from the kernel to
 * a log and back.  The library is silent, never ends the process and keeps no
 * globals: functions return 0 or a negative errno, iterators 0 for an item, 1
 * at the end and a negative errno.  Objects may be used by one thread at a
 * time.  Option structs begin with their own size, so that they can grow.
 */
#include <actuary/fields.h>
#include <actuary/log.h>
#include <actuary/query.h>
#include <actuary/record.h>
#include <actuary/source.h>
#include <actuary/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library's version, "0.1.0". */
const char *act_version(void);

#ifdef __cplusplus
}
#endif

#endif

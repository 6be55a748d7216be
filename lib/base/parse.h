/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PARSE_H
#define BASE_PARSE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What people type.  Each takes a whole NUL-terminated text and returns 0,
 * -EINVAL (not of that form) or -ERANGE (of that form, but 2^63 or more, or a
 * time before 1970);
 * the result is written only on success.
 */

/* "42": decimal digits only. */
int parse_count(const char *text, uint64_t *ret_count);

/* "512", "64K", "1.5M", "2GiB": bytes, powers of 1024. */
int parse_size(const char *text, uint64_t *ret_bytes);

/*
 * "250us", "10ms", "1.5s", "5m", "2h", "1d", a bare number is seconds: ns.
 * Several go from large to small: "1h30m".
 */
int parse_duration(const char *text, uint64_t *ret_ns);

/*
 * "2026-12-01T10:00:00Z", "2026-12-01 10:00:00+01:00", "2026-12-01T10:00"
 * (local zone), "2026-12-01", "10:00" (today), "@1796083200.5", "10m ago",
 * "now", "today", "yesterday": ns since the epoch.  @now_ns is what "now"
 * means, so that tests can hold it.
 */
int parse_time(const char *text, uint64_t now_ns, uint64_t *ret_ns);

/*
 * The kernel's CPU list: "0-3,8", "all", "N" (the last), "0-7:1/2" (of each
 * group of 2 the first 1), parted by commas or blanks.  Sets @ret_set[cpu] to
 * 1 for each CPU named and to 0 for the others, for cpu < @limit.  Stricter than
 * the kernel: empty lists and empty entries are -EINVAL.  A CPU at or above
 * @limit is -ERANGE.
 */
int parse_cpulist(const char *text, unsigned char *ret_set, size_t limit);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULT_OPEN_H
#define BENCH_RESULT_OPEN_H

#include "bench/reader.h"
#include "bench/result.h"

/* The longest line: a series is 20 KiB, an environment some 10. */
#define RESULT_LINE_MAX ((size_t)1024 * 1024)

/* result_open() of a file that has been looked at; *@reader is taken over, and left empty. */
int result_open_reader(struct reader *reader, const char *path, struct result **ret,
		       struct act_why *ret_why);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_NUMBER_H
#define BENCH_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Room for any finite double: "-2.2250738585072014e-308" and its NUL. */
#define NUMBER_ROOM 32

/*
 * Numbers as text, fast and exact: what number_write() wrote number_read()
 * reads as the same double, and each as strtod(3) has it.
 */

/*
 * Reads the decimal number at the beginning of the NUL-terminated @text and
 * returns what follows it, or NULL if there is none.  @is_json: JSON's grammar,
 * else also "+5", ".5", "5." and "007".  Never hexadecimal, "inf" or "nan".  One
 * too large for a double is infinite, which callers refuse.
 */
const char *number_read(const char *text, bool is_json, double *ret_value);

/* The shortest text that is read as @value again, which is finite.  Returns its length. */
size_t number_write(double value, char ret_text[NUMBER_ROOM]);

#endif

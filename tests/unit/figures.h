/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TEST_FIGURES_H
#define TEST_FIGURES_H

/*
 * Figures held against references.  Where nothing else is said they agree to 1e-10
 * of themselves; a reference given as text only claims the digits that it has.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <actuary/stats.h>

#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))
#define VALUES(array)  (array), COUNT(array)

static inline void figure_check(double actual, double expected, double tolerance,
				const char *what, const char *file, int line)
{
	if (fabs(actual - expected) <= tolerance || (isnan(expected) && isnan(actual)) ||
	    (isinf(expected) && actual == expected))
		return;
	print_error("%s is %.15g, not %.15g +- %.3g\n", what, actual, expected, tolerance);
	_fail(file, line);
}

/* Half of what the last digit of @text is worth; a bit more for halves. */
static inline double figure_resolution(const char *text)
{
	const char *point = strchr(text, '.');
	const char *exponent = strpbrk(text, "eE");
	size_t digits = point ? strcspn(point + 1, "eE") : 0;

	return 0.5001 * pow(10, (exponent ? atoi(exponent + 1) : 0) - (double)digits);
}

static inline void figure_printed(double actual, const char *text, const char *what,
				  const char *file, int line)
{
	double expected = strtod(text, NULL);

	figure_check(actual, expected, fmax(figure_resolution(text), 1e-10 * fabs(expected)),
		     what, file, line);
}

/* To 1e-10 of itself. */
#define assert_near(actual, expected)                                                             \
	figure_check(actual, expected, 1e-10 * fabs((double)(expected)), #actual, __FILE__,       \
		     __LINE__)
#define assert_within(actual, expected, tolerance)                                                \
	figure_check(actual, expected, tolerance, #actual, __FILE__, __LINE__)
/* To the last digit of the text. */
#define assert_printed(actual, text) figure_printed(actual, text, #actual, __FILE__, __LINE__)
#define assert_nan(actual)           assert_within(actual, NAN, 0)

/* Digits that are right: -log10 of the relative error. */
#define assert_digits(actual, expected, digits)                                                   \
	figure_check(actual, expected, pow(10, -(double)(digits)) * fabs((double)(expected)),     \
		     #actual, __FILE__, __LINE__)

struct set {
	size_t n;
	double value[5000];
	double sorted[5000];
};

/* A set of NIST's StRD, from tests/data/nist. */
static inline void read_set(const char *name, struct set *set)
{
	char path[4096], line[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/nist/%s.txt", getenv("TEST_DATA"), name);
	file = fopen(path, "re");
	assert_non_null(file);
	set->n = 0;
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		assert_true(set->n < COUNT(set->value));
		set->value[set->n++] = strtod(line, NULL);
	}
	fclose(file);
	memcpy(set->sorted, set->value, set->n * sizeof(*set->value));
	assert_int_equal(act_sort(set->sorted, set->n), 0);
}

#endif

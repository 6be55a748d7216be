/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/number.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct expectation {
	const char *text;
	int plain, json; /* characters that are read, -1: no number */
	double value;
};

static void check(const struct expectation *want, bool is_json)
{
	double value = -77;
	const char *end = number_read(want->text, is_json, &value);
	int wanted = is_json ? want->json : want->plain;

	if (wanted < 0) {
		if (end)
			fail_msg("\"%s\" is read as %g", want->text, value);
		return;
	}
	if (!end || end - want->text != wanted || value != want->value)
		fail_msg("\"%s\" is read as %g, %td characters", want->text, value,
			 end ? end - want->text : -1);
}

static void test_read(void **state)
{
	static const struct expectation expectations[] = {
		{ "0", 1, 1, 0 }, { "5", 1, 1, 5 }, { "-5", 2, 2, -5 }, { "+5", 2, -1, 5 },
		{ ".5", 2, -1, 0.5 }, { "5.", 2, -1, 5 }, { "-.5", 3, -1, -0.5 },
		{ "007", 3, -1, 7 }, { "0.10", 4, 4, 0.1 }, { "1e3", 3, 3, 1000 },
		{ "1E+3", 4, 4, 1000 }, { "1e-3", 4, 4, 0.001 }, { "1e", 1, 1, 1 },
		{ "1e+", 1, 1, 1 }, { "1elapsed", 1, 1, 1 }, { "1,5", 1, 1, 1 },
		{ "1.2.3", 3, 3, 1.2 }, { "0x10", 1, 1, 0 }, { "1_000", 1, 1, 1 },
		{ "", -1, -1, 0 }, { "-", -1, -1, 0 }, { "+", -1, -1, 0 }, { ".", -1, -1, 0 },
		{ "e5", -1, -1, 0 }, { "nan", -1, -1, 0 }, { "inf", -1, -1, 0 },
		{ "-inf", -1, -1, 0 }, { "--5", -1, -1, 0 }, { "+-5", -1, -1, 0 },
		{ " 5", -1, -1, 0 }, { "1e400", 5, 5, INFINITY }, { "-1e400", 6, 6, -INFINITY },
		{ "1e-400", 6, 6, 0 }, { "0e999999999999", 14, 14, 0 },
		{ "1e999999999999", 14, 14, INFINITY },
		{ "9007199254740992", 16, 16, 9007199254740992 },
		{ "9007199254740993", 16, 16, 9007199254740992 },
		{ "18446744073709551616", 20, 20, 18446744073709551616.0 },
		{ "0.1000000000000000055511151231257827", 36, 36, 0.1 },
		{ "123456789012345678901234567890", 30, 30, 123456789012345678901234567890.0 },
		{ "2.2250738585072014e-308", 23, 23, 2.2250738585072014e-308 },
		{ "4.9406564584124654e-324", 23, 23, 4.9406564584124654e-324 },
		{ "1.7976931348623157e308", 22, 22, 1.7976931348623157e308 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(expectations); i++) {
		check(&expectations[i], false);
		check(&expectations[i], true);
	}
}

static void test_write(void **state)
{
	static const struct {
		double value;
		const char *text;
	} expectations[] = {
		{ 0, "0" }, { -0.0, "0" }, { 5, "5" }, { -5, "-5" }, { 643, "643" },
		{ 0.1, "0.1" }, { -0.1, "-0.1" }, { 0.05, "0.05" }, { 10.01, "10.01" },
		{ 100.001, "100.001" }, { 0.123456789, "0.123456789" }, { 299.85, "299.85" },
		{ 123456789, "123456789" }, { 9007199254740992, "9007199254740992" },
		{ 1e300, "1e+300" }, { 1.0 / 3, "0.3333333333333333" }, { 1e-9, "0.000000001" },
		{ 1e-10, "1e-10" }, { -2.2250738585072014e-308, "-2.2250738585072014e-308" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(expectations); i++) {
		char text[NUMBER_ROOM];
		size_t length = number_write(expectations[i].value, text);

		assert_int_equal(length, strlen(text));
		assert_string_equal(text, expectations[i].text);
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_trip(double value)
{
	char text[NUMBER_ROOM];
	double back;
	const char *end;

	number_write(value, text);
	end = number_read(text, true, &back);
	if (!end || *end || back != value || strtod(text, NULL) != value)
		fail_msg("%.17g is written %s and read %.17g", value, text, back);
}

/* Any double, whole numbers, and those of few decimals. */
static void test_round_trip(void **state)
{
	uint64_t random = 20261201;

	(void)state;
	for (size_t i = 0; i < 300000; i++) {
		uint64_t bits = next_random(&random);
		double value;

		memcpy(&value, &bits, sizeof(value));
		if (isfinite(value))
			check_trip(value);
		check_trip((double)(bits >> (bits % 50 + 1)));
		check_trip((double)(bits >> 20) / pow(10, (double)(bits % 12)));
	}
}

/* What is read is what strtod() reads, whatever the way. */
static void test_as_strtod(void **state)
{
	uint64_t random = 77;

	(void)state;
	for (size_t i = 0; i < 200000; i++) {
		uint64_t bits = next_random(&random);
		char text[64];
		double value;

		snprintf(text, sizeof(text), "%llu.%llue%d",
			 (unsigned long long)(bits >> (bits % 61)),
			 (unsigned long long)(next_random(&random) >> (bits % 53)),
			 (int)(bits % 60) - 30);
		assert_non_null(number_read(text, false, &value));
		if (value != strtod(text, NULL))
			fail_msg("%s is read as %.17g", text, value);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_as_strtod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

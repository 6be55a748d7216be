/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <actuary/record.h>

#include "bench/noise.h"

static void test_pressure(void **state)
{
	static const char *const bad[] = {
		"", "some", "some avg10=", "some avg10=x", "full avg10=1.00", "some avg10=101.0",
		"some avg10=-1",
	};
	double pressure;

	(void)state;
	assert_true(noise_parse_pressure("some avg10=31.71 avg60=17.35 avg300=29.75 total=47\n"
					 "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
					 &pressure));
	assert_true(fabs(pressure - 0.3171) < 1e-12);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_false(noise_parse_pressure(bad[i], &pressure));
		assert_true(isnan(pressure));
	}
}

static void test_load(void **state)
{
	double load;

	(void)state;
	assert_true(noise_parse_load("4.05 3.10 2.00 3/250 1234\n", &load));
	assert_true(fabs(load - 4.05) < 1e-12);
	assert_false(noise_parse_load("", &load));
	assert_true(isnan(load));
	assert_false(noise_parse_load("-1 2", &load));
	assert_false(noise_parse_load("nan 2", &load));
}

static void test_ticks(void **state)
{
	struct noise_ticks before, after, unknown;

	(void)state;
	assert_true(noise_parse_ticks("cpu  100 0 50 800 10 5 5 30 7 0\ncpu0 1 2\n", &before));
	assert_int_equal(before.total, 1000);
	assert_int_equal(before.steal, 30);
	assert_true(noise_parse_ticks("cpu  110 0 50 880 10 5 5 40 9 0\n", &after));
	assert_true(fabs(noise_steal(&before, &after) - 0.1) < 1e-12);
	assert_true(isnan(noise_steal(&after, &before)));
	assert_true(isnan(noise_steal(&after, &after)));
	/* Before Linux 2.6.11 nobody counted. */
	assert_false(noise_parse_ticks("cpu  1 2 3 4 5 6 7\n", &unknown));
	assert_true(unknown.total == ACT_UNKNOWN && unknown.steal == ACT_UNKNOWN);
	assert_true(isnan(noise_steal(&unknown, &after)));
}

static void test_objects(void **state)
{
	const struct noise quiet = { 0.1, 2.0, 0.02, 2 }, unknown = { NAN, NAN, NAN, 2 };
	const struct noise busy = { 0.317, 4.05, 0.031, 2 }, loaded = { NAN, 2.01, NAN, 2 };
	char text[256], small[16];

	(void)state;
	assert_false(noise_objects(&quiet, text, sizeof(text)));
	assert_string_equal(text, "");
	assert_false(noise_objects(&unknown, text, sizeof(text)));
	assert_true(noise_objects(&busy, text, sizeof(text)));
	assert_string_equal(text, "CPU pressure is 31.7 % (limit 10 %), the load average is 4.05 "
				  "(limit 2.00), 3.1 % of CPU time is stolen (limit 2 %)");
	assert_true(noise_objects(&loaded, text, sizeof(text)));
	assert_string_equal(text, "the load average is 2.01 (limit 2.00)");
	assert_true(noise_objects(&busy, small, sizeof(small)));
	assert_string_equal(small, "CPU pressure is");
}

/* Whatever this machine is like, what is told is possible. */
static void test_here(void **state)
{
	struct noise noise;

	(void)state;
	noise_read(&noise, 0);
	assert_true(isnan(noise.steal));
	assert_true(isnan(noise.pressure) || (noise.pressure >= 0 && noise.pressure <= 1));
	assert_true(noise.load >= 0);
	assert_true(noise.cpus >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure), cmocka_unit_test(test_load),
		cmocka_unit_test(test_ticks),    cmocka_unit_test(test_objects),
		cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

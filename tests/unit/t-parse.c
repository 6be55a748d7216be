/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/parse.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* What a failure must leave alone. */
#define UNTOUCHED UINT64_C(0xabcdef)

struct expectation {
	const char *text;
	int ret;
	uint64_t value;
};

static void check(int (*parse)(const char *text, uint64_t *ret_value),
		  const struct expectation *expectations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct expectation *want = &expectations[i];
		uint64_t value = UNTOUCHED;
		int ret = parse(want->text, &value);

		if (ret != want->ret)
			fail_msg("\"%s\" gives %d, not %d", want->text, ret, want->ret);
		if (value != (ret ? UNTOUCHED : want->value))
			fail_msg("\"%s\" is %llu", want->text, (unsigned long long)value);
	}
}

static void test_count(void **state)
{
	static const struct expectation expectations[] = {
		{ "0", 0, 0 },
		{ "42", 0, 42 },
		{ "007", 0, 7 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "99999999999999999999999", -ERANGE, 0 },
		{ "99999999999999999999999x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "-1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ " 1", -EINVAL, 0 },
		{ "1 ", -EINVAL, 0 },
		{ "0x10", -EINVAL, 0 },
		{ "1.0", -EINVAL, 0 },
	};

	(void)state;
	check(parse_count, expectations, COUNT(expectations));
}

static void test_size(void **state)
{
	static const struct expectation expectations[] = {
		{ "0", 0, 0 },
		{ "512", 0, 512 },
		{ "512B", 0, 512 },
		{ "64K", 0, 65536 },
		{ "64k", 0, 65536 },
		{ "1.5M", 0, 1572864 },
		{ "2GiB", 0, UINT64_C(2) << 30 },
		{ "7E", 0, UINT64_C(7) << 60 },
		{ "0.5K", 0, 512 },
		{ "0.3333333333333333333333333333333K", 0, 341 },
		{ "8E", -ERANGE, 0 },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "18446744073709551616K", -ERANGE, 0 },
		{ "1.5", -EINVAL, 0 },
		{ "1.5B", -EINVAL, 0 },
		{ "1.K", -EINVAL, 0 },
		{ ".5K", -EINVAL, 0 },
		{ "K", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "1KB", -EINVAL, 0 }, /* 1000 or 1024? */
		{ "1Ki", -EINVAL, 0 },
		{ "1iB", -EINVAL, 0 },
		{ "1 K", -EINVAL, 0 },
		{ "1X", -EINVAL, 0 },
		{ "-1K", -EINVAL, 0 },
	};

	(void)state;
	check(parse_size, expectations, COUNT(expectations));
}

static void test_duration(void **state)
{
	static const struct expectation expectations[] = {
		{ "0", 0, 0 },
		{ "10", 0, 10 * NSEC_PER_SEC },
		{ "1.5", 0, 1500 * NSEC_PER_MSEC },
		{ "7ns", 0, 7 },
		{ "250us", 0, 250 * NSEC_PER_USEC },
		{ "10ms", 0, 10 * NSEC_PER_MSEC },
		{ "0.25ms", 0, 250 * NSEC_PER_USEC },
		{ "1.000000001s", 0, NSEC_PER_SEC + 1 },
		{ "1.0000000019s", 0, NSEC_PER_SEC + 1 },
		{ "5m", 0, 300 * NSEC_PER_SEC },
		{ "2h", 0, 7200 * NSEC_PER_SEC },
		{ "1d", 0, 86400 * NSEC_PER_SEC },
		{ "1w", 0, 604800 * NSEC_PER_SEC },
		{ "1h30m", 0, 5400 * NSEC_PER_SEC },
		{ "1m0.5s", 0, 60500 * NSEC_PER_MSEC },
		{ "30m1h", -EINVAL, 0 },
		{ "1h1h", -EINVAL, 0 },
		{ "1h30", -EINVAL, 0 },
		{ "9223372036s", 0, UINT64_C(9223372036) * NSEC_PER_SEC },
		{ "9223372037s", -ERANGE, 0 },
		{ "106751d23h48m", -ERANGE, 0 },
		{ "99999999999999999999d", -ERANGE, 0 },
		{ "99999999999999999999dx", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "1s ", -EINVAL, 0 },
		{ "10 ", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "1.s", -EINVAL, 0 },
		{ "1e3s", -EINVAL, 0 },
		{ "1sec", -EINVAL, 0 },
	};

	(void)state;
	check(parse_duration, expectations, COUNT(expectations));
}

/* 2026-12-01T10:00:00Z, a Tuesday. */
#define NOW (UINT64_C(1796119200) * NSEC_PER_SEC)
#define S NSEC_PER_SEC

static int parse_time_now(const char *text, uint64_t *ret_ns)
{
	return parse_time(text, NOW, ret_ns);
}

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void test_time_utc(void **state)
{
	static const struct expectation expectations[] = {
		{ "now", 0, NOW },
		{ "2026-12-01T10:00:00Z", 0, NOW },
		{ "2026-12-01t10:00:00z", 0, NOW },
		{ "2026-12-01 11:00:00+01:00", 0, NOW },
		{ "2026-12-01T11:00:00+0100", 0, NOW },
		{ "2026-12-01T11:00:00+01", 0, NOW },
		{ "2026-12-01T04:30-05:30", 0, NOW },
		{ "2026-12-01T10:00:00.5Z", 0, NOW + S / 2 },
		{ "2026-12-01T10:00:00.1234567899Z", 0, NOW + 123456789 },
		{ "2026-12-01T10:00", 0, NOW },
		{ "2026-12-01", 0, NOW - 36000 * S },
		{ "today", 0, NOW - 36000 * S },
		{ "yesterday", 0, NOW - 36000 * S - 86400 * S },
		{ "08:30", 0, NOW - 5400 * S },
		{ "08:30:15.25", 0, NOW - 5400 * S + 15 * S + S / 4 },
		{ "@0", 0, 0 },
		{ "@1796119200", 0, NOW },
		{ "@1796119200.5", 0, NOW + S / 2 },
		{ "10m ago", 0, NOW - 600 * S },
		{ "1h30m ago", 0, NOW - 5400 * S },
		{ "90 ago", 0, NOW - 90 * S },
		{ "1970-01-01T00:00:00Z", 0, 0 },
		{ "1970-01-01T00:00:00+00:01", -ERANGE, 0 },
		{ "1969-12-31T23:59:59Z", -ERANGE, 0 },
		{ "0000-01-01", -ERANGE, 0 },
		{ "2000-02-29T00:00Z", 0, UINT64_C(951782400) * S },
		{ "2024-02-29T00:00Z", 0, UINT64_C(1709164800) * S },
		{ "2038-01-19T03:14:08Z", 0, UINT64_C(2147483648) * S },
		{ "2262-04-11T00:00Z", 0, UINT64_C(9223286400) * S },
		{ "2263-01-01T00:00Z", -ERANGE, 0 },
		{ "9999-12-31T23:59:59Z", -ERANGE, 0 },
		{ "@9223372037", -ERANGE, 0 },
		{ "100000d ago", -ERANGE, 0 },
		{ "99999999999999999999s ago", -ERANGE, 0 },
		{ "2026-02-30", -EINVAL, 0 },
		{ "2026-02-29", -EINVAL, 0 },
		{ "2100-02-29", -EINVAL, 0 },
		{ "2026-04-31", -EINVAL, 0 },
		{ "2026-13-01", -EINVAL, 0 },
		{ "2026-00-01", -EINVAL, 0 },
		{ "2026-01-00", -EINVAL, 0 },
		{ "2026-1-1", -EINVAL, 0 },
		{ "2026-12-01T24:00", -EINVAL, 0 },
		{ "2026-12-01T10:60", -EINVAL, 0 },
		{ "2026-12-01T23:59:60Z", -EINVAL, 0 },
		{ "2026-12-01T10", -EINVAL, 0 },
		{ "2026-12-01T", -EINVAL, 0 },
		{ "2026-12-01T10:00:00.", -EINVAL, 0 },
		{ "2026-12-01T10:00Zx", -EINVAL, 0 },
		{ "2026-12-01T10:00 +01:00", -EINVAL, 0 },
		{ "2026-12-01T10:00+24:00", -EINVAL, 0 },
		{ "2026-12-01T10:00+01:", -EINVAL, 0 },
		{ "2026-12-01T10:00+", -EINVAL, 0 },
		{ "2026-12-01x10:00", -EINVAL, 0 },
		{ "10:00Z", -EINVAL, 0 },
		{ "10:00 ago", -EINVAL, 0 },
		{ "25:00", -EINVAL, 0 },
		{ " ago", -EINVAL, 0 },
		{ "ago", -EINVAL, 0 },
		{ "10m  ago", -EINVAL, 0 },
		{ "@", -EINVAL, 0 },
		{ "@1s", -EINVAL, 0 },
		{ "@1.2.3", -EINVAL, 0 },
		{ "@-1", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "tomorrow", -EINVAL, 0 },
		{ "1796119200", -EINVAL, 0 },
	};

	(void)state;
	set_zone("UTC");
	check(parse_time_now, expectations, COUNT(expectations));
}

/* Central Europe: an hour east, two in summer; spelled out, so that no zone file is needed. */
static void test_time_local(void **state)
{
	static const struct expectation expectations[] = {
		{ "2026-12-01T11:00", 0, NOW },
		{ "2026-12-01T10:00Z", 0, NOW },
		{ "11:00", 0, NOW },
		{ "today", 0, NOW - 39600 * S },
		{ "2026-07-01T12:00", 0, UINT64_C(1782900000) * S }, /* 10:00 UTC */
		/* Skipped by the change to summer time: an hour late, not refused. */
		{ "2026-03-29T02:30", 0, UINT64_C(1774747800) * S },
	};

	(void)state;
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	check(parse_time_now, expectations, COUNT(expectations));
	set_zone("UTC");
}

/* A day of 25 hours lies between: yesterday's midnight is still a midnight. */
static void test_time_yesterday_is_long(void **state)
{
	/* 2026-10-26T00:30 in Berlin; the clocks went back on the 25th. */
	uint64_t now_ns = UINT64_C(1792971000) * S, ns = 0;

	(void)state;
	set_zone("CET-1CEST,M3.5.0,M10.5.0/3");
	assert_int_equal(parse_time("yesterday", now_ns, &ns), 0);
	assert_int_equal(ns, UINT64_C(1792879200) * S); /* 2026-10-24T22:00Z */
	set_zone("UTC");
}

/* @want: a digit for each of 8 CPUs; NULL: must fail with @ret. */
static void check_list(const char *text, int ret, const char *want)
{
	unsigned char set[8], before[8];

	memset(set, 7, sizeof(set));
	memset(before, 7, sizeof(before));
	if (parse_cpulist(text, set, sizeof(set)) != ret)
		fail_msg("\"%s\" does not give %d", text, ret);
	for (size_t cpu = 0; cpu < sizeof(set); cpu++)
		if (set[cpu] != (want ? want[cpu] - '0' : before[cpu]))
			fail_msg("\"%s\": cpu %zu is %d", text, cpu, set[cpu]);
}

static void test_cpulist(void **state)
{
	(void)state;
	check_list("0", 0, "10000000");
	check_list("0-3,6", 0, "11110010");
	check_list("0-3\n", 0, "11110000");
	check_list(" 1 , 3\t5 ", 0, "01010100");
	check_list("all", 0, "11111111");
	check_list("N", 0, "00000001");
	check_list("5-N", 0, "00000111");
	check_list("0-N:1/2", 0, "10101010");
	check_list("all:2/3", 0, "11011011");
	check_list("1-6:1/3", 0, "01001000");
	check_list("0-7:9/9", 0, "11111111");
	check_list("2,2,1-3", 0, "01110000");
	check_list("8", -ERANGE, NULL);
	check_list("0-8", -ERANGE, NULL);
	check_list("99999999999999999999999999", -ERANGE, NULL);
	check_list("0-18446744073709551616", -ERANGE, NULL);
	check_list("9,x", -EINVAL, NULL);
}

static void test_cpulist_refuses(void **state)
{
	static const char *const texts[] = {
		"", " ", "\n", ",", "0,", ",0", "0,,1", "0 , , 1", "3-1", "N-0", "x", "0x1", "-1",
		"0-", "0--1", "0-3:", "0-3:1", "0-3:1/", "0-3:0/2", "0-3:3/2", "0-3:1/0", "0-3:N/N",
		"0:1/2", "0-1-2", "all1", "allN", "0-all", "0;1", "0-3:1/2x", "1.5",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++)
		check_list(texts[i], -EINVAL, NULL);
	assert_int_equal(parse_cpulist("0", NULL, 0), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_duration),
		cmocka_unit_test(test_time_utc),
		cmocka_unit_test(test_time_local),
		cmocka_unit_test(test_time_yesterday_is_long),
		cmocka_unit_test(test_cpulist),
		cmocka_unit_test(test_cpulist_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

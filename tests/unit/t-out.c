/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <iconv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "msg.h"
#include "out.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define TEXT(literal) literal, sizeof(literal) - 1

/* ---- What was written ---- */

static char path[64];
static char written[1 << 20];

static struct out *begin(void)
{
	struct out *out;
	int fd;

	strcpy(path, "/tmp/actuary-t-out-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	out = out_open(path);
	assert_non_null(out);
	return out;
}

static size_t end(struct out *out)
{
	size_t length;
	FILE *file;

	assert_int_equal(out_close(out), 0);
	file = fopen(path, "r");
	assert_non_null(file);
	length = fread(written, 1, sizeof(written) - 1, file);
	written[length] = '\0';
	fclose(file);
	unlink(path);
	return length;
}

static void test_numbers(void **state)
{
	struct out *out = begin();
	char expected[2048] = "";
	size_t used = 0;

	(void)state;
	/* Every length, and its neighbours. */
	for (uint64_t value = 1; value < UINT64_MAX / 10; value *= 10) {
		out_u64(out, value - 1);
		out_string(out, " ");
		out_u64(out, value);
		out_string(out, "\n");
		used += (size_t)sprintf(expected + used, "%llu %llu\n",
					(unsigned long long)value - 1, (unsigned long long)value);
	}
	out_u64(out, UINT64_MAX);
	out_printf(out, "|%d|", 7);
	out_i64(out, INT64_MIN);
	out_i64(out, -20);
	out_i64(out, 19);
	strcpy(expected + used, "18446744073709551615|7|-9223372036854775808-2019");
	end(out);
	assert_string_equal(written, expected);
}

/* More than the buffer, in pieces smaller and larger than it. */
static void test_large(void **state)
{
	static char piece[200000];
	struct out *out = begin();

	(void)state;
	memset(piece, 'x', sizeof(piece));
	for (unsigned int i = 0; i < 30000; i++)
		out_bytes(out, "0123456789", 10);
	out_bytes(out, piece, sizeof(piece));
	out_printf(out, "%.*s", 5000, piece);
	assert_int_equal(end(out), 505000);
	for (size_t i = 0; i < 300000; i++)
		assert_int_equal(written[i], '0' + i % 10);
	for (size_t i = 300000; i < 505000; i++)
		assert_int_equal(written[i], 'x');
}

static void test_full_disk(void **state)
{
	struct out *out = out_open("/dev/full");

	(void)state;
	if (!out)
		skip();
	out_string(out, "lost");
	assert_int_equal(out_flush(out), -ENOSPC);
	/* Remembered. */
	out_string(out, "more");
	assert_int_equal(out_flush(out), -ENOSPC);
	assert_int_equal(out_close(out), -ENOSPC);
	assert_int_equal(out_error(), -ENOSPC);
	assert_null(out_open("/nonexistent/file"));
	assert_int_equal(errno, ENOENT);
}

/* ---- Escapes ---- */

static const struct {
	const char *data;
	size_t length;
	const char *text;
	const char *json;
} hostile[] = {
	{ TEXT("bash"), "bash", "\"bash\"" },
	{ TEXT(""), "", "\"\"" },
	{ TEXT("a\nb\tc\rd"), "a\\nb\\tc\\rd", "\"a\\nb\\tc\\rd\"" },
	{ TEXT("q\"q"), "q\"q", "\"q\\\"q\"" },
	{ TEXT("b\\s"), "b\\\\s", "\"b\\\\s\"" },
	{ TEXT("\x1b[31m"), "\\x1b[31m", "\"\\u001b[31m\"" },
	{ TEXT("\0x"), "\\x00x", "\"\\u0000x\"" },
	{ TEXT("\x7f"), "\\x7f", "\"\\u007f\"" },
	{ TEXT("\xff"), "\\xff", "\"\xef\xbf\xbd\"" },
	{ TEXT("a\x80z"), "a\\x80z", "\"a\xef\xbf\xbdz\"" },
	{ TEXT("\xc3\xa9t\xc3\xa9"), "\xc3\xa9t\xc3\xa9", "\"\xc3\xa9t\xc3\xa9\"" },
	{ TEXT("\xf0\x9f\x90\xa7"), "\xf0\x9f\x90\xa7", "\"\xf0\x9f\x90\xa7\"" },
	/* Cut: the beginning of a sequence, as the kernel cuts names. */
	{ TEXT("x\xe2\x82"), "x\\xe2\\x82", "\"x\xef\xbf\xbd\xef\xbf\xbd\"" },
	/* Overlong forms of '/' and of NUL. */
	{ TEXT("\xc0\xaf"), "\\xc0\\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ TEXT("\xe0\x80\xaf"), "\\xe0\\x80\\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ TEXT("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf",
	  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	/* A surrogate, U+D800, and U+110000. */
	{ TEXT("\xed\xa0\x80"), "\\xed\\xa0\\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	{ TEXT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80",
	  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
	/* Valid, but they steer terminals: CSI of C1, right-to-left override. */
	{ TEXT("\xc2\x9b" "31m"), "\\xc2\\x9b31m", "\"\xc2\x9b" "31m\"" },
	{ TEXT("\xe2\x80\xae" "cod"), "\\xe2\\x80\\xaecod", "\"\xe2\x80\xae" "cod\"" },
};

static void test_escapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(hostile); i++) {
		char text[128], expected[256];
		struct out *out;
		size_t length;

		length = escape_text(hostile[i].data, hostile[i].length, text, sizeof(text));
		assert_string_equal(text, hostile[i].text);
		assert_int_equal(length, strlen(text));
		out = begin();
		out_text_escaped(out, hostile[i].data, hostile[i].length);
		end(out);
		assert_string_equal(written, hostile[i].text);
		out = begin();
		out_json_begin(out);
		out_json_string(out, "comm", hostile[i].data, hostile[i].length);
		out_json_end(out);
		end(out);
		sprintf(expected, "{\"comm\":%s}\n", hostile[i].json);
		assert_string_equal(written, expected);
	}
}

/* Too little room: never half an escape or half a character, always a NUL. */
static void test_escape_room(void **state)
{
	static const char data[] = "ab\n\xff\xc3\xa9\xe2\x82\xac!";
	static const char *const fits[] = {
		"", "a", "ab", "ab", "ab\\n", "ab\\n", "ab\\n", "ab\\n", "ab\\n\\xff",
		"ab\\n\\xff", "ab\\n\\xff\xc3\xa9", "ab\\n\\xff\xc3\xa9", "ab\\n\\xff\xc3\xa9",
		"ab\\n\\xff\xc3\xa9\xe2\x82\xac", "ab\\n\\xff\xc3\xa9\xe2\x82\xac!",
	};
	char text[32];

	(void)state;
	assert_int_equal(escape_text(data, sizeof(data) - 1, text, 0), 0);
	for (size_t room = 1; room <= COUNT(fits); room++) {
		memset(text, 'Z', sizeof(text));
		assert_int_equal(escape_text(data, sizeof(data) - 1, text, room),
				 strlen(fits[room - 1]));
		assert_string_equal(text, fits[room - 1]);
	}
	assert_int_equal(escape_line(TEXT("a\\nb\n"), text, sizeof(text)), 6);
	assert_string_equal(text, "a\\nb\\n");
}

/* Checks one JSON string in @text, and that all is valid UTF-8 (by iconv, not by us). */
static void check_json_string(char *text, size_t length)
{
	iconv_t codec = iconv_open("UTF-32LE", "UTF-8");
	static char decoded[1 << 16];
	char *in = text, *to = decoded;
	size_t left = length, room = sizeof(decoded);

	assert_true(codec != (iconv_t)-1);
	assert_int_equal(iconv(codec, &in, &left, &to, &room), 0);
	iconv_close(codec);
	assert_true(length >= 2 && text[0] == '"' && text[length - 1] == '"');
	for (size_t i = 1; i < length - 1; i++) {
		assert_true((unsigned char)text[i] >= ' ' && text[i] != '"');
		if (text[i] != '\\')
			continue;
		i++;
		assert_non_null(strchr("\"\\/bfnrtu", text[i]));
		if (text[i] == 'u')
			assert_int_equal(strspn(text + i + 1, "0123456789abcdef") >= 4, 1);
	}
}

/* Bytes at random, from those that matter; the seed is fixed. */
static void test_json_always_valid(void **state)
{
	static const unsigned char bytes[] =
		"a\"\\\n\x1b\x7f\x80\xbf\xc0\xc2\xe0\xed\xef\xf0\xf4\xff\xa0";
	unsigned int seed = 20061117;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		char data[16];
		struct out *out = begin();
		size_t length;

		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = (char)bytes[(unsigned int)rand_r(&seed) % sizeof(bytes)];
		out_json_begin(out);
		out_json_string(out, "k", data, sizeof(data));
		out_json_end(out);
		length = end(out);
		check_json_string(written + 5, length - 7);
	}
}

static void test_json_shape(void **state)
{
	struct out *out = begin();

	(void)state;
	out_json_begin(out);
	out_json_u64(out, "pid", 4294967294);
	out_json_u64(out, "delay", ACT_UNKNOWN);
	out_json_i64(out, "nice", -10);
	out_json_begin_array(out, "list");
	out_json_u64(out, NULL, 1);
	out_json_begin_object(out, NULL);
	out_json_bool(out, "core", true);
	out_json_close(out);
	out_json_begin_array(out, NULL);
	out_json_close(out);
	out_json_close(out);
	out_json_begin_object(out, "none");
	out_json_close(out);
	out_json_double(out, "third", 0.1);
	out_json_double(out, "exact", 1.0 / 3);
	out_json_double(out, "nan", 0.0 / 0.0 * 1);
	out_json_double(out, "inf", 1e308 * 10);
	out_json_null(out, "null");
	out_json_end(out);
	out_json_begin(out);
	out_json_end(out);
	end(out);
	assert_string_equal(written,
		"{\"pid\":4294967294,\"delay\":null,\"nice\":-10,\"list\":[1,{\"core\":true},[]],"
		"\"none\":{},\"third\":0.1,\"exact\":0.33333333333333331,\"nan\":null,\"inf\":null,"
		"\"null\":null}\n{}\n");
}

static void test_json_values(void **state)
{
	struct out *out = begin();

	(void)state;
	out_json_begin(out);
	out_json_value(out, ACT_TYPE_KIND, "kind", ACT_KIND_BOTH);
	out_json_value(out, ACT_TYPE_SIGNED, "nice", (uint64_t)-20);
	out_json_value(out, ACT_TYPE_BOOL, "core", 0);
	out_json_value(out, ACT_TYPE_DURATION, "wall_ns", 1500000000);
	out_json_value(out, ACT_TYPE_SIGNED, "unknown", ACT_UNKNOWN);
	out_json_value(out, ACT_TYPE_BOOL, "unknown2", ACT_UNKNOWN);
	out_json_value(out, ACT_TYPE_KIND, "unknown3", ACT_UNKNOWN);
	out_json_end(out);
	end(out);
	assert_string_equal(written,
		"{\"kind\":\"both\",\"nice\":-20,\"core\":false,\"wall_ns\":1500000000,"
		"\"unknown\":null,\"unknown2\":null,\"unknown3\":null}\n");
}

static void test_csv(void **state)
{
	struct out *out = begin();

	(void)state;
	out_csv_field(out, TEXT("plain"));
	out_csv_field(out, TEXT("a,b"));
	out_csv_field(out, TEXT("say \"hi\""));
	out_csv_field(out, TEXT(""));
	out_csv_field(out, TEXT("two\nlines"));
	out_csv_field(out, TEXT(" blank"));
	out_csv_end(out);
	out_csv_field(out, TEXT(""));
	out_csv_field(out, TEXT("2"));
	out_csv_end(out);
	end(out);
	assert_string_equal(written,
			    "plain,\"a,b\",\"say \"\"hi\"\"\",,\"two\nlines\",\" blank\"\n,2\n");
}

/* ---- Values for people ---- */

static const struct {
	enum act_type type;
	uint64_t value;
	const char *text;
} values[] = {
	{ ACT_TYPE_NUMBER, 0, "0" },
	{ ACT_TYPE_NUMBER, UINT64_MAX, "18446744073709551615" },
	{ ACT_TYPE_ID, 4294967294, "4294967294" },
	{ ACT_TYPE_SIGNED, (uint64_t)-20, "-20" },
	{ ACT_TYPE_SIGNED, 19, "19" },
	{ ACT_TYPE_INTEGRAL, 12345, "12345" },
	{ ACT_TYPE_FLAGS, 16, "16" },
	{ ACT_TYPE_BOOL, 1, "yes" },
	{ ACT_TYPE_BOOL, 0, "no" },
	{ ACT_TYPE_KIND, ACT_KIND_TASK, "task" },
	{ ACT_TYPE_KIND, ACT_KIND_PROCESS, "process" },
	{ ACT_TYPE_KIND, ACT_KIND_BOTH, "both" },
	{ ACT_TYPE_KIND, 9, "?" },
	{ ACT_TYPE_TEXT, 0, "-" },
	{ ACT_TYPE_DURATION, 0, "0s" },
	{ ACT_TYPE_DURATION, 999, "999ns" },
	{ ACT_TYPE_DURATION, 1000, "1.00us" },
	{ ACT_TYPE_DURATION, 3214, "3.21us" },
	{ ACT_TYPE_DURATION, 9994, "9.99us" },
	{ ACT_TYPE_DURATION, 9995, "10.0us" },
	{ ACT_TYPE_DURATION, 99949, "99.9us" },
	{ ACT_TYPE_DURATION, 99950, "100us" },
	{ ACT_TYPE_DURATION, 999499, "999us" },
	{ ACT_TYPE_DURATION, 999500, "1.00ms" },
	{ ACT_TYPE_DURATION, 1500000000, "1.50s" },
	{ ACT_TYPE_DURATION, 59900000000, "59.9s" },
	{ ACT_TYPE_DURATION, 60000000000, "1m00s" },
	{ ACT_TYPE_DURATION, 3599999999999, "59m59s" },
	{ ACT_TYPE_DURATION, 3600000000000, "1h00m" },
	{ ACT_TYPE_DURATION, 86399999999999, "23h59m" },
	{ ACT_TYPE_DURATION, 86400000000000, "1d00h" },
	{ ACT_TYPE_DURATION, INT64_MAX, "106751d23h" },
	{ ACT_TYPE_SIZE, 0, "0" },
	{ ACT_TYPE_SIZE, 1023, "1023" },
	{ ACT_TYPE_SIZE, 1024, "1.0K" },
	{ ACT_TYPE_SIZE, 1536, "1.5K" },
	{ ACT_TYPE_SIZE, 10188, "9.9K" },
	{ ACT_TYPE_SIZE, 10189, "10K" },
	{ ACT_TYPE_SIZE, 1023 * 1024 + 511, "1023K" },
	{ ACT_TYPE_SIZE, 1023 * 1024 + 512, "1.0M" },
	{ ACT_TYPE_SIZE, 3355443, "3.2M" },
	{ ACT_TYPE_SIZE, UINT64_C(5) << 40, "5.0T" },
	{ ACT_TYPE_SIZE, UINT64_MAX, "16E" },
	{ ACT_TYPE_TIME, 0, "1970-01-01 00:00:00.000" },
	{ ACT_TYPE_TIME, UINT64_C(1796119200123999999), "2026-12-01 10:00:00.123" },
	{ ACT_TYPE_TIME, UINT64_C(1796119259007000000), "2026-12-01 10:00:59.007" },
	{ ACT_TYPE_TIME, UINT64_C(1796119260000000000), "2026-12-01 10:01:00.000" },
	{ ACT_TYPE_TIME, UINT64_C(2147483648000000000), "2038-01-19 03:14:08.000" },
	{ ACT_TYPE_TIME, INT64_MAX, "2262-04-11 23:47:16.854" },
};

static void test_values(void **state)
{
	char text[64];

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		size_t length = format_value(values[i].type, values[i].value, text, sizeof(text));

		assert_string_equal(text, values[i].text);
		assert_int_equal(length, strlen(text));
	}
	for (int type = ACT_TYPE_NUMBER; type <= ACT_TYPE_TEXT; type++) {
		assert_int_equal(format_value(type, ACT_UNKNOWN, text, sizeof(text)), 1);
		assert_string_equal(text, "-");
	}
	/* Little room cuts, and never writes past it. */
	memset(text, 'Z', sizeof(text));
	assert_int_equal(format_time(0, text, 5), 4);
	assert_string_equal(text, "1970");
	assert_int_equal(text[5], 'Z');
}

/* The kept minute must not outlive a change of the zone's offset. */
static void test_time_zone(void **state)
{
	char text[64];

	(void)state;
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	format_time(UINT64_C(1774745940000000000), text, sizeof(text));
	assert_string_equal(text, "2026-03-29 01:59:00.000");
	format_time(UINT64_C(1774746000000000000), text, sizeof(text));
	assert_string_equal(text, "2026-03-29 03:00:00.000");
	setenv("TZ", "UTC", 1);
	tzset();
}

/* ---- Tables ---- */

static struct table *sample(void)
{
	struct table *table = table_new();

	assert_non_null(table);
	table_column(table, "PID", true);
	table_column(table, "COMMAND", false);
	table_column(table, "WALL", true);
	table_cell_value(table, ACT_TYPE_ID, 1);
	table_cell(table, TEXT("a-rather-long-command"));
	table_cell_value(table, ACT_TYPE_DURATION, 1500000000);
	table_cell_value(table, ACT_TYPE_ID, 12345);
	table_cell(table, TEXT("x,\n"));
	table_cell_value(table, ACT_TYPE_DURATION, ACT_UNKNOWN);
	return table;
}

static void check_table(struct table *table, size_t width, const char *expected)
{
	struct out *out = begin();

	assert_int_equal(table_print(table, out, width), 0);
	end(out);
	assert_string_equal(written, expected);
}

static void test_table(void **state)
{
	struct table *table = sample();
	struct out *out;

	(void)state;
	check_table(table, 0,
		    "  PID  COMMAND                 WALL\n"
		    "    1  a-rather-long-command  1.50s\n"
		    "12345  x,\\n                       -\n");
	check_table(table, 35,
		    "  PID  COMMAND                 WALL\n"
		    "    1  a-rather-long-command  1.50s\n"
		    "12345  x,\\n                       -\n");
	/* The text is cut first, ... */
	check_table(table, 24,
		    "  PID  COMMAND      WALL\n"
		    "    1  a-rather-+  1.50s\n"
		    "12345  x,\\n            -\n");
	/* ... then columns go, from the right. */
	check_table(table, 20,
		    "  PID  COMMAND\n"
		    "    1  a-rather-lon+\n"
		    "12345  x,\\n\n");
	check_table(table, 3, "  PID\n    1\n12345\n");
	out = begin();
	assert_int_equal(table_print_csv(table, out), 0);
	end(out);
	assert_string_equal(written, "PID,COMMAND,WALL\n1,a-rather-long-command,1500000000\n"
				     "12345,\"x,\n\",\n");
	table_free(table);
	table_free(NULL);
}

static void test_table_text(void **state)
{
	struct table *table = table_new();

	(void)state;
	table_column(table, "NAME", false);
	table_column(table, "N", true);
	check_table(table, 0, "NAME  N\n");
	table_cell(table, TEXT("\xc3\xa9t\xc3\xa9-\xc3\xa9t\xc3\xa9-\xc3\xa9t\xc3\xa9"));
	table_cell_value(table, ACT_TYPE_NUMBER, 7);
	table_cell(table, TEXT("short-row"));
	check_table(table, 0, "NAME         N\n"
			      "\xc3\xa9t\xc3\xa9-\xc3\xa9t\xc3\xa9-\xc3\xa9t\xc3\xa9  7\n"
			      "short-row    -\n");
	/* Cut at a character, not within one. */
	check_table(table, 11, "NAME      N\n"
			       "\xc3\xa9t\xc3\xa9-\xc3\xa9t\xc3\xa9+  7\n"
			       "short-r+  -\n");
	table_free(table);
}

static int set_up(void **state)
{
	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	msg_init("t-out", true); /* no notes on dropped columns */
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_escape_room),
		cmocka_unit_test(test_json_always_valid),
		cmocka_unit_test(test_json_shape),
		cmocka_unit_test(test_json_values),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_time_zone),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_text),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

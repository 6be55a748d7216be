/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "msg.h"
#include "opts.h"

struct try_options {
	bool flag;
	const char *text;
	uint64_t count;
	uint64_t size;
	uint64_t duration;
	uint64_t time;
	int choice;
};

#define OPTION(member) offsetof(struct try_options, member)
static const struct option_spec specs[] = {
	{ 'f', "flag", OPTION_FLAG, NULL, OPTION(flag), "a flag" },
	{ 't', "text", OPTION_TEXT, "TEXT", OPTION(text), "a text" },
	{ 'n', "count", OPTION_COUNT, "N", OPTION(count), "a count" },
	{ 0, "size", OPTION_SIZE, "SIZE", OPTION(size), "a size" },
	{ 0, "for", OPTION_DURATION, "DURATION", OPTION(duration), "a duration" },
	{ 0, "since", OPTION_TIME, "TIME", OPTION(time),
	  "a time, with a help text so long that it does not fit one line of a terminal" },
	{ 0, "per", OPTION_CHOICE, "both|process|task", OPTION(choice), "a choice" },
	{ 0 },
};

static const struct command command = {
	.name = "try",
	.synopsis = "[OPTION]... [-- COMMAND [ARG]...]",
	.summary = "try options",
	.options = specs,
	.options_size = sizeof(struct try_options),
};

enum { ARGS_MAX = 16 };

/* The same, but what follows its options is no command. */
static const struct command plain = {
	.name = "plain",
	.synopsis = "[OPTION]... [LOG]",
	.summary = "try arguments",
	.options = specs,
	.options_size = sizeof(struct try_options),
};

/* What opts_parse() left, and what it said. */
static struct try_options got;
static struct opts opts;
static char said[1024];

static const struct command *trying = &command;

static int parse(const char *first, ...)
{
	static char *argv[ARGS_MAX];
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), argc = 0, status;
	size_t length;
	va_list args;

	argv[argc++] = (char *)"try";
	va_start(args, first);
	for (const char *word = first; word; word = va_arg(args, const char *))
		argv[argc++] = (char *)word;
	va_end(args);
	argv[argc] = NULL;
	assert_true(file && saved >= 0);
	memset(&got, 0, sizeof(got));
	memset(&opts, 0, sizeof(opts));
	dup2(fileno(file), STDERR_FILENO);
	status = opts_parse(trying, &got, argc, argv, &opts);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	length = fread(said, 1, sizeof(said) - 1, file);
	said[length] = '\0';
	fclose(file);
	return status;
}

static void test_values(void **state)
{
	(void)state;
	assert_int_equal(parse("-f", "--text", "x", "-n7", "--size=64K", "--for", "1.5s", "--since",
			       "@10", "--per", "task", "rest", NULL), STATUS_OK);
	assert_string_equal(said, "");
	assert_true(got.flag);
	assert_string_equal(got.text, "x");
	assert_int_equal(got.count, 7);
	assert_int_equal(got.size, 65536);
	assert_int_equal(got.duration, 1500000000);
	assert_int_equal(got.time, UINT64_C(10000000000));
	assert_int_equal(got.choice, 2);
	assert_int_equal(opts.first, 12);
	assert_false(opts.wants_help || opts.wants_manual || opts.is_quiet);
}

/* Options end at the first word that is none, or at "--". */
static void test_end(void **state)
{
	(void)state;
	assert_int_equal(parse("ls", "-f", "-q", NULL), STATUS_OK);
	assert_int_equal(opts.first, 1);
	assert_false(got.flag || opts.is_quiet);
	assert_int_equal(parse("-f", "--", "-n", NULL), STATUS_OK);
	assert_int_equal(opts.first, 3);
	assert_true(got.flag);
	assert_int_equal(parse("-", "-f", NULL), STATUS_OK);
	assert_int_equal(opts.first, 1);
	assert_int_equal(parse(NULL), STATUS_OK);
	assert_int_equal(opts.first, 1);
}

static void test_shared(void **state)
{
	(void)state;
	assert_int_equal(parse("-fq", NULL), STATUS_OK);
	assert_true(opts.is_quiet && got.flag);
	assert_int_equal(parse("--quiet", "-h", NULL), STATUS_OK);
	assert_true(opts.is_quiet && opts.wants_help && !opts.wants_manual);
	assert_int_equal(parse("--help", NULL), STATUS_OK);
	assert_true(opts.wants_manual && !opts.wants_help);
}

static void test_last_wins(void **state)
{
	(void)state;
	assert_int_equal(parse("-n", "1", "--count", "2", NULL), STATUS_OK);
	assert_int_equal(got.count, 2);
}

static void check_refusal(const char *message, const char *first, const char *second)
{
	char expected[256];

	assert_int_equal(parse(first, second, NULL), STATUS_USAGE);
	snprintf(expected, sizeof(expected), "t-opts: %s\n", message);
	assert_string_equal(said, expected);
}

static void test_refusals(void **state)
{
	(void)state;
	check_refusal("--count: \"x\" is not a whole number; write it as 1000", "-n", "x");
	check_refusal("--count: \"-1\" is not a whole number; write it as 1000", "--count=-1",
		      NULL);
	check_refusal("--count: \"\" is not a whole number; write it as 1000", "--count=", NULL);
	check_refusal("--size: \"1Z\" is not a size; write it as 512, 64K or 1.5G", "--size", "1Z");
	check_refusal("--size: \"9999999T\" is too large", "--size", "9999999T");
	check_refusal("--for: \"soon\" is not a duration; write it as 250ms, 10s or 2h", "--for",
		      "soon");
	check_refusal("--since: \"2026-02-30\" is not a time; write it as 2026-12-01T10:00:00Z, "
		      "@1796119200 or \"10m ago\"", "--since", "2026-02-30");
	check_refusal("--since: \"1969-01-01\" is out of range", "--since", "1969-01-01");
	check_refusal("--per: \"tasks\" is none of both|process|task", "--per", "tasks");
	check_refusal("--per: \"both|process\" is none of both|process|task", "--per",
		      "both|process");
	check_refusal("--per: \"\" is none of both|process|task", "--per", "");
	check_refusal("--count needs a value: --count N", "--count", NULL);
	check_refusal("--count needs a value: --count N", "-fn", NULL);
	check_refusal("--flag takes no value, \"--flag=1\"", "--flag=1", NULL);
	check_refusal("unknown option -x; actuary try -h lists them", "-x", NULL);
	check_refusal("unknown option -x; actuary try -h lists them", "-fx", NULL);
	check_refusal("unknown option --bad; actuary try -h lists them", "--bad=1", NULL);
	check_refusal("unknown option --flat; actuary try -h lists them", "--flat", NULL);
}

/* Abbreviations would make every new option a change of the old ones. */
static void test_no_abbreviations(void **state)
{
	(void)state;
	check_refusal("unknown option --fl; actuary try -h lists them", "--fl", NULL);
	check_refusal("unknown option --f; actuary try -h lists them", "--f", "1");
	check_refusal("unknown option --cou; actuary try -h lists them", "--cou=1", NULL);
}

static void test_too_late(void **state)
{
	(void)state;
	trying = &plain;
	check_refusal("-f comes too late: options go before \"log\"", "log", "-f");
	assert_int_equal(parse("log", "-", "--", "-f", NULL), STATUS_OK);
	assert_int_equal(parse("--", "log", "-f", NULL), STATUS_OK);
	assert_int_equal(opts.first, 2);
	assert_int_equal(parse("-f", "log", NULL), STATUS_OK);
	assert_int_equal(opts.first, 2);
	trying = &command;
}

/* What the user typed reaches the terminal only as one harmless line. */
static void test_hostile(void **state)
{
	(void)state;
	check_refusal("--count: \"1\\n\\x1b[31m\" is not a whole number; write it as 1000", "-n",
		      "1\n\x1b[31m");
	check_refusal("unknown option --\\xff; actuary try -h lists them", "--\xff", NULL);
}

static void test_help(void **state)
{
	FILE *file = tmpfile();
	char text[2048];
	size_t length;

	(void)state;
	assert_non_null(file);
	opts_print_help(&command, file);
	rewind(file);
	length = fread(text, 1, sizeof(text) - 1, file);
	text[length] = '\0';
	fclose(file);
	assert_string_equal(text,
		"Usage: actuary try [OPTION]... [-- COMMAND [ARG]...]\n\n"
		"Try options.\n\n"
		"Options:\n"
		"  -f, --flag              a flag\n"
		"  -t, --text TEXT         a text\n"
		"  -n, --count N           a count\n"
		"      --size SIZE         a size\n"
		"      --for DURATION      a duration\n"
		"      --since TIME        a time, with a help text so long that it does not fit\n"
		"                          one line of a terminal\n"
		"      --per both|process|task\n"
		"                          a choice\n"
		"  -q, --quiet             say nothing but errors and warnings on stderr\n"
		"  -h, --help              -h: this text; --help: the manual page\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_last_wins),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_no_abbreviations),
		cmocka_unit_test(test_too_late),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_help),
	};

	msg_init("t-opts", false);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of measurements: each kind, and what is refused of them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/samples.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static char directory[] = "/tmp/actuary-samples-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/file", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

static void write_text(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

struct loaded {
	struct samples *sets;
	size_t count;
};

static int load(const char *text, const struct samples_options *options, struct loaded *loaded,
		struct act_why *why)
{
	static const struct samples_options plain;

	*why = (struct act_why){ "" };
	*loaded = (struct loaded){ 0 };
	write_text(text, strlen(text));
	return samples_load(path, options ? options : &plain, &loaded->sets, &loaded->count, why);
}

static void must_load(const char *text, const struct samples_options *options,
		      struct loaded *loaded)
{
	struct act_why why;

	if (load(text, options, loaded, &why) != 0)
		fail_msg("\"%s\": %s", text, why.text);
}

static void release(struct loaded *loaded)
{
	samples_free(loaded->sets, loaded->count);
}

static void check_values(const struct samples *set, const double *values, size_t count)
{
	assert_int_equal(set->n, count);
	for (size_t i = 0; i < count; i++)
		if (fabs(set->value[i] - values[i]) > 1e-12 * fabs(values[i]))
			fail_msg("value %zu is %.17g, not %.17g", i, set->value[i], values[i]);
}

/* ---- Plain numbers ---- */

static void test_clean(void **state)
{
	static const char *const same[] = {
		"1\n2.5\n-3\n", "1\r\n2.5\r\n-3\r\n", ("\xef\xbb\xbf" "1\n2.5\n-3\n"),
		"\t1\n 2.5\n\t -3 \n", "\n\n1\n\n2.5\n   \n-3\n", "# c\n1\n#\n2.5\n -3\n# 7\n",
		"latency\n1\n2.5\n-3\n", "\"latency, ns\"\n1\n2.5\n-3\n", "1\n2.5\n-3",
		"+1\n25e-1\n-3.\n", "\xef\xbb\xbf# c\r\nwall_ns\r\n\r\n1\r\n2.50\r\n-3.0\r\n",
	};
	static const double wanted[] = { 1, 2.5, -3 };

	(void)state;
	for (size_t i = 0; i < COUNT(same); i++) {
		struct loaded loaded;

		must_load(same[i], NULL, &loaded);
		assert_int_equal(loaded.count, 1);
		check_values(loaded.sets, wanted, 3);
		assert_string_equal(loaded.sets->metric, "");
		assert_string_equal(loaded.sets->unit, "");
		assert_null(loaded.sets->condition);
		assert_null(loaded.sets->pair);
		assert_true(loaded.sets->is_primary && loaded.sets->is_time);
		assert_true(fabs(loaded.sets->summary.mean - 0.5 / 3) < 1e-15);
		assert_true(loaded.sets->summary.n == 3);
		release(&loaded);
	}
}

static void test_single(void **state)
{
	static const struct {
		const char *text;
		double value;
	} expectations[] = {
		{ "1e3\n", 1000 }, { "+5\n", 5 }, { ".5\n", 0.5 }, { "5.\n", 5 }, { "5", 5 },
		{ "1000000000.4\n", 1000000000.4 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(expectations); i++) {
		struct loaded loaded;

		must_load(expectations[i].text, NULL, &loaded);
		check_values(loaded.sets, &expectations[i].value, 1);
		assert_true(isnan(loaded.sets->summary.sd));
		release(&loaded);
	}
}

struct refusal {
	const char *text;
	int ret;
	const char *word;
};

static void check_refused(const struct refusal *refusals, size_t count,
			  const struct samples_options *options)
{
	for (size_t i = 0; i < count; i++) {
		struct loaded loaded;
		struct act_why why;
		int ret = load(refusals[i].text, options, &loaded, &why);

		if (ret != refusals[i].ret || !strstr(why.text, refusals[i].word))
			fail_msg("\"%s\" gives %d, \"%s\"", refusals[i].text, ret, why.text);
	}
}

static void test_refused(void **state)
{
	static const struct refusal refusals[] = {
		{ "", -ENODATA, "no samples" }, { "# only\n\n# comments\n", -ENODATA, "no samples" },
		{ "header\n", -ENODATA, "no samples" },
		{ "1\nnan\n3\n", -EUCLEAN, "line 2: \"nan\" is not finite" },
		{ "1\ninf\n3\n", -EUCLEAN, "line 2: \"inf\" is not finite" },
		{ "nan\n", -EUCLEAN, "line 1: \"nan\"" }, { "-Infinity\n", -EUCLEAN, "line 1" },
		{ "1\n1e400\n", -EUCLEAN, "line 2: \"1e400\" is too large" },
		{ "1,5\n", -EUCLEAN, "line 1: \"1,5\" has a comma" },
		{ "1\n1.234,5\n", -EUCLEAN, "line 2: \"1.234,5\" has a comma" },
		{ "1 234\n", -EUCLEAN, "line 1: two columns" }, { "1\t2\n", -EUCLEAN, "two columns" },
		{ "3ms\n", -EUCLEAN, "line 1: \"3ms\" has a unit" },
		{ "0x10\n", -EUCLEAN, "line 1: \"0x10\"" },
		{ "1_000\n", -EUCLEAN, "line 1: \"1_000\" is no number" },
		{ "1\nheader\n", -EUCLEAN, "line 2: \"header\" is no number" },
		{ "a\nb\n1\n", -EUCLEAN, "line 2: \"b\"" }, { "1;2\n", -EUCLEAN, "line 1" },
		{ "-\n", -EUCLEAN, "line 1" }, { "--5\n", -EUCLEAN, "line 1" },
		{ "5%\n", -EUCLEAN, "line 1" }, { "(5)\n", -EUCLEAN, "line 1" },
		{ "1\n2 # c\n", -EUCLEAN, "line 2" },
		{ "1.2.3\n", -EUCLEAN, "line 1" },
	};

	(void)state;
	check_refused(refusals, COUNT(refusals), NULL);
}

static void test_bytes(void **state)
{
	static const struct samples_options options;
	size_t length = (size_t)10 * 1000 * 1000;
	char *text = malloc(length);
	struct loaded loaded;
	struct act_why why;

	(void)state;
	assert_non_null(text);
	write_text("1\n\0\n", 4);
	assert_int_equal(samples_load(path, &options, &loaded.sets, &loaded.count, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "line 2: a NUL byte"));
	memset(text, '7', length);
	write_text(text, length);
	assert_int_equal(samples_load(path, &options, &loaded.sets, &loaded.count, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "line 1: longer"));
	free(text);
	assert_int_equal(samples_load(directory, &options, &loaded.sets, &loaded.count, &why),
			 -EISDIR);
	assert_int_equal(samples_load("/no/such", &options, &loaded.sets, &loaded.count, &why),
			 -ENOENT);
	assert_non_null(strstr(why.text, "/no/such: No such file"));
	assert_int_equal(samples_load("/dev/null", &options, &loaded.sets, &loaded.count, &why),
			 -ENODATA);
}

static void test_column(void **state)
{
	static const struct samples_options second = { .column = 2 };
	static const double wanted[] = { 2, 4 };
	static const struct refusal refusals[] = {
		{ "1 2\n3\n", -EUCLEAN, "line 2: has no column 2" },
		{ "1 2,5\n", -EUCLEAN, "comma" },
	};
	struct loaded loaded;

	(void)state;
	must_load("a b c\n1 2 x\n3\t4\n", &second, &loaded);
	check_values(loaded.sets, wanted, 2);
	release(&loaded);
	check_refused(refusals, COUNT(refusals), &second);
}

static void test_unit(void **state)
{
	static const struct samples_options ms = { .unit = "ms" }, no = { .unit = "parsec" };
	static const double wanted[] = { 3, 2500, 0.5, 7, 0.000012, 60000 };
	static const struct refusal refusals[] = { { "3kg\n", -EUCLEAN, "unit" } };
	static const struct refusal none[] = { { "3\n", -EINVAL, "parsec" } };
	struct loaded loaded;

	(void)state;
	must_load("3ms\n2.5s\n500us\n7\n12ns\n1min\n", &ms, &loaded);
	check_values(loaded.sets, wanted, COUNT(wanted));
	assert_string_equal(loaded.sets->unit, "ms");
	release(&loaded);
	check_refused(refusals, 1, &ms);
	check_refused(none, 1, &no);
}

static void test_million(void **state)
{
	static const struct samples_options options;
	FILE *file = fopen(path, "w");
	struct loaded loaded;

	(void)state;
	assert_non_null(file);
	for (int i = 0; i < 1000000; i++)
		fprintf(file, "%d.25\n", i);
	fclose(file);
	assert_int_equal(samples_load(path, &options, &loaded.sets, &loaded.count, NULL), 0);
	assert_int_equal(loaded.sets->n, 1000000);
	for (size_t i = 0; i < 1000000; i++)
		assert_true(loaded.sets->value[i] == (double)i + 0.25);
	release(&loaded);
}

/* ---- Summaries ---- */

static void test_summary(void **state)
{
	static const struct samples_options summary = { .format = SAMPLES_SUMMARY };
	static const struct refusal refusals[] = {
		{ "1 2\n", -EUCLEAN, "mean sd n" }, { "1 -2 5\n", -EUCLEAN, "sd" },
		{ "1 2 1\n", -EUCLEAN, "n a whole" }, { "1 2 2.5\n", -EUCLEAN, "n a whole" },
		{ "1 2 3\n4 5 6\n", -EUCLEAN, "line 2: a second summary without name" },
		{ "1 2 3 a\n4 5 6 a\n", -EUCLEAN, "a second summary of a" },
		{ "a b c\n", -ENODATA, "no samples" },
	};
	struct loaded loaded;

	(void)state;
	must_load("Mean SD n\n1448.65 5.72312 5 Elapsed Time\n900.47 2.81131 5 System\n", NULL,
		  &loaded);
	assert_int_equal(loaded.count, 2);
	assert_string_equal(loaded.sets[0].metric, "Elapsed Time");
	assert_true(loaded.sets[0].only_summary && loaded.sets[0].n == 0);
	assert_true(loaded.sets[0].summary.mean == 1448.65);
	assert_true(loaded.sets[1].summary.sd == 2.81131 && loaded.sets[1].summary.n == 5);
	release(&loaded);
	must_load("1455.84 4.84951 5\n", &summary, &loaded);
	assert_int_equal(loaded.count, 1);
	release(&loaded);
	check_refused(refusals, COUNT(refusals), &summary);
}

/* ---- GNU time ---- */

static void test_gnu_time(void **state)
{
	static const char text[] =
		"815.80user 113.69system 2:04.36elapsed 747%CPU (0avgtext+0avgdata 0maxresident)k\n"
		"0inputs+0outputs (0major+15123456minor)pagefaults 0swaps\n"
		"Command exited with non-zero status 2\n"
		"1.00user 1.00system 0:01.00elapsed 200%CPU (0avgtext+0avgdata 0maxresident)k\n"
		"0inputs+0outputs (0major+0minor)pagefaults 0swaps\n"
		"make: warning: clock skew\n"
		"0.00user 0.25system 1:02:03elapsed ?%CPU (0avgtext+0avgdata 0maxresident)k\n";
	static const double elapsed[] = { 124.36, 3723 }, user[] = { 815.8, 0 }, cpu[] = { 747 };
	static const struct samples_options only_user = { .metric = "user" };
	static const struct samples_options absent = { .metric = "maxrss" };
	static const struct refusal refusals[] = {
		{ text, -EINVAL, "no metric \"maxrss\"; it has: elapsed, user, system, cpu" },
	};
	static const struct refusal garbled[] = {
		{ "1.0user 1.0system 2:xxelapsed 1%CPU\n", -EUCLEAN, "line 1" },
		{ "1.0user nansystem 2:0elapsed 1%CPU\n", -EUCLEAN, "line 1" },
		{ "-1.0user 1system 2:0elapsed 1%CPU\n", -EUCLEAN, "line 1" },
		{ "Command terminated by signal 9\n1.0user 1.0system 2:01elapsed 1%CPU\n", -ENODATA,
		  "none" },
	};
	struct loaded loaded;

	(void)state;
	must_load(text, NULL, &loaded);
	assert_int_equal(loaded.count, 4);
	assert_string_equal(loaded.sets[0].metric, "elapsed");
	assert_true(loaded.sets[0].is_primary && !loaded.sets[1].is_primary);
	assert_true(loaded.sets[0].is_time && !loaded.sets[3].is_time);
	check_values(&loaded.sets[0], elapsed, 2);
	check_values(&loaded.sets[1], user, 2);
	check_values(&loaded.sets[3], cpu, 1);
	assert_int_equal(loaded.sets[0].invalid, 1);
	assert_int_equal(loaded.sets[3].unknown, 1);
	assert_int_equal(loaded.sets[0].format, SAMPLES_GNU_TIME);
	release(&loaded);
	must_load(text, &only_user, &loaded);
	assert_int_equal(loaded.count, 1);
	check_values(loaded.sets, user, 2);
	release(&loaded);
	check_refused(refusals, 1, &absent);
	check_refused(garbled, COUNT(garbled), NULL);
}

/* ---- hyperfine ---- */

static void test_hyperfine(void **state)
{
	static const char text[] =
		"{\n  \"results\": [\n    { \"command\": \"sleep 0.1\", \"mean\": 0.1,\n"
		"      \"times\": [0.101, 0.102, 9, 0.103], \"exit_codes\": [0, 0, 1, 0] },\n"
		"    { \"command\": \"true\", \"times\": [0.001] } ] }\n";
	static const double first[] = { 0.101, 0.102, 0.103 }, second[] = { 0.001 };
	static const struct samples_options one = { .condition = "true" };
	static const struct samples_options absent = { .condition = "false" };
	static const struct refusal none[] = {
		{ text, -EINVAL, "no condition \"false\"; it has: sleep 0.1, true" },
	};
	static const struct refusal refusals[] = {
		{ "{}\n", -EUCLEAN, "neither" }, { "{\"results\":1}\n", -EUCLEAN, "neither" },
		{ "{\"results\":[]}\n", -ENODATA, "no samples" },
		{ "{\"results\":[1]}\n", -EUCLEAN, "form" }, { "{\n\n,}\n", -EUCLEAN, "line 3" },
		{ "{\"results\":[{\"command\":\"a\",\"mean\":1}]}\n", -EUCLEAN, "no single times" },
		{ "{\"results\":[{\"command\":\"a\",\"times\":[\"1\"]}]}\n", -EUCLEAN, "no number" },
		{ "{\"results\":[{\"command\":\"a\",\"times\":[1],\"exit_codes\":[null]}]}\n",
		  -ENODATA, "none" },
	};
	struct loaded loaded;

	(void)state;
	must_load(text, NULL, &loaded);
	assert_int_equal(loaded.count, 2);
	assert_string_equal(loaded.sets[0].condition, "sleep 0.1");
	assert_string_equal(loaded.sets[0].unit, "s");
	check_values(&loaded.sets[0], first, 3);
	assert_int_equal(loaded.sets[0].invalid, 1);
	check_values(&loaded.sets[1], second, 1);
	release(&loaded);
	must_load(text, &one, &loaded);
	assert_int_equal(loaded.count, 1);
	check_values(loaded.sets, second, 1);
	release(&loaded);
	check_refused(none, 1, &absent);
	check_refused(refusals, COUNT(refusals), NULL);
}

/* ---- Results ---- */

#define HEAD "{\"actuary\":\"result\",\"version\":1,\"metrics\":[\"cpu_ns\",\"wall_ns\"," \
	     "\"rss_bytes\"],\"series\":\"latency_ns\",\"primary\":\"wall_ns\"," \
	     "\"conditions\":[\"off\",\"on\"]}\n"
#define RUN(run, pair, slot, condition, more) "{\"run\":" run ",\"pair\":" pair ",\"slot\":" slot \
					      ",\"condition\":\"" condition "\"" more "}\n"
#define SAMPLE(values) "{\"round\":0,\"ops\":10,\"v\":[" values "]}\n"
#define WARMUP(values) "{\"round\":0,\"ops\":10,\"warmup\":true,\"v\":[" values "]}\n"
#define END(run) "{\"end\":" run ",\"valid\":true}\n"

static const char result[] =
	HEAD
	RUN("0", "0", "0", "on", "") WARMUP("1,9990,7") "{\"series\":[5]}\n"
	SAMPLE("10,200,4096") "{\"series\":[1,2]}\n" SAMPLE("null,400,4096") "{\"series\":[3]}\n"
	SAMPLE("10,300,4096") END("0")
	RUN("1", "0", "1", "off", "") SAMPLE("20,100,4096") END("1")
	RUN("2", "1", "0", "off", "") SAMPLE("30,110,8192") END("2")
	RUN("3", "1", "1", "on", "") SAMPLE("1,1,1") "{\"series\":[77]}\n"
	"{\"end\":3,\"valid\":false}\n"
	RUN("4", "2", "0", "off", ",\"aa\":true") SAMPLE("1,50,1") END("4")
	RUN("5", "2", "1", "off", ",\"aa\":true") SAMPLE("1,60,1") END("5")
	RUN("6", "3", "0", "off", ",\"warmup\":true") SAMPLE("1,70,1") END("6")
	RUN("7", "4", "0", "off", "") SAMPLE("40,80,1");

static const struct samples *find(const struct loaded *loaded, const char *condition,
				  const char *metric, bool is_aa)
{
	for (size_t i = 0; i < loaded->count; i++)
		if (strcmp(loaded->sets[i].condition, condition) == 0 &&
		    strcmp(loaded->sets[i].metric, metric) == 0 && loaded->sets[i].is_aa == is_aa)
			return &loaded->sets[i];
	fail_msg("no %s %s", condition, metric);
	return NULL;
}

static void test_result_runs(void **state)
{
	static const double on[] = { 30 }, off[] = { 10, 11 }, aa[] = { 5, 6 }, rss[] = { 4096, 8192 };
	static const double latency[] = { 2 };
	struct loaded loaded;
	const struct samples *set;

	(void)state;
	must_load(result, NULL, &loaded);
	/* Four metrics of two conditions, and the A/A pairs of off; latencies have no A/A. */
	assert_int_equal(loaded.count, 8 + 3);
	assert_string_equal(loaded.sets[0].metric, "wall_ns");
	assert_string_equal(loaded.sets[0].condition, "off");
	assert_string_equal(loaded.sets[0].unit, "ns");
	set = find(&loaded, "off", "wall_ns", false);
	check_values(set, off, 2);
	assert_int_equal(set->pair[0], 0);
	assert_int_equal(set->pair[1], 1);
	assert_int_equal(set->slot[0], 1);
	assert_int_equal(set->slot[1], 0);
	assert_int_equal(set->warmups, 1);
	assert_int_equal(set->invalid, 1);
	set = find(&loaded, "on", "wall_ns", false);
	check_values(set, on, 1);
	assert_int_equal(set->warmups, 1);
	assert_int_equal(set->invalid, 1);
	set = find(&loaded, "off", "wall_ns", true);
	check_values(set, aa, 2);
	assert_int_equal(set->pair[0], 2);
	assert_int_equal(set->pair[1], 2);
	assert_int_equal(set->slot[1], 1);
	check_values(find(&loaded, "off", "rss_bytes", false), rss, 2);
	check_values(find(&loaded, "on", "latency_ns", false), latency, 1);
	set = find(&loaded, "off", "latency_ns", false);
	assert_int_equal(set->n, 0);
	assert_int_equal(set->unknown, 2);
	release(&loaded);
}

static void test_result_each(void **state)
{
	static const struct samples_options each = { .per = SAMPLES_EACH, .metric = "primary" };
	static const struct samples_options series = {
		.per = SAMPLES_EACH, .metric = "latency_ns", .condition = "on", .with_warmup = true,
	};
	static const struct samples_options cpu = {
		.per = SAMPLES_EACH, .metric = "cpu_ns", .condition = "on",
	};
	/* Those of the run that broke off are whole. */
	static const double off[] = { 10, 11, 8 }, on[] = { 20, 40, 30 }, both[] = { 1, 1 };
	static const double latency[] = { 5, 1, 2, 3 };
	struct loaded loaded;

	(void)state;
	must_load(result, &each, &loaded);
	check_values(find(&loaded, "off", "wall_ns", false), off, 3);
	check_values(find(&loaded, "on", "wall_ns", false), on, 3);
	assert_null(loaded.sets[0].pair);
	release(&loaded);
	must_load(result, &series, &loaded);
	assert_int_equal(loaded.count, 1);
	check_values(loaded.sets, latency, 4);
	release(&loaded);
	must_load(result, &cpu, &loaded);
	check_values(loaded.sets, both, 2);
	assert_int_equal(loaded.sets->unknown, 1);
	release(&loaded);
}

static void test_result_refused(void **state)
{
	static const struct refusal refusals[] = {
		{ HEAD, -ENODATA, "no samples" },
		{ HEAD RUN("0", "0", "0", "on", "") SAMPLE("1,1,1") "{\"end\":0,\"valid\":false}\n",
		  -ENODATA, "1 runs, none of them valid" },
		{ HEAD RUN("0", "0", "0", "on", "") SAMPLE("1,1,1") END("0")
		  RUN("1", "0", "1", "on", "") SAMPLE("1,1,1") END("1"), -EUCLEAN,
		  "pair 0 of condition \"on\" twice" },
		{ HEAD "{\"run\":0}\n", -EUCLEAN, "no condition" },
		{ "{\"actuary\":\"result\",\"version\":9}\n", -EPROTONOSUPPORT, "version 9" },
	};
	static const struct samples_options absent = { .metric = "wal_ns" };
	static const struct refusal none[] = {
		{ result, -EINVAL, "it has: wall_ns, cpu_ns, rss_bytes, latency_ns" },
	};

	(void)state;
	check_refused(refusals, COUNT(refusals), NULL);
	check_refused(none, 1, &absent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_column),
		cmocka_unit_test(test_unit),
		cmocka_unit_test(test_million),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_gnu_time),
		cmocka_unit_test(test_hyperfine),
		cmocka_unit_test(test_result_runs),
		cmocka_unit_test(test_result_each),
		cmocka_unit_test(test_result_refused),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

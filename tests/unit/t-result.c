/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <actuary/record.h>

#include "bench/result.h"
#include "bench/run.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static char directory[] = "/tmp/actuary-result-XXXXXX";
static char path[64];

static int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/result", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(directory);
}

/* ---- A file of all that there is ---- */

static const char *const argv[] = { "actuary", "ab", "\xff\xc3\xa4\n\"" };
static const char *const words[] = { "--burst", "1000" };
static const char *const metrics[] = { "wall_ns", "cpu_ns", "rss_bytes" };
static const char *const conditions[] = { "off", "on" };
static const char *const specs[] = { "none", "record" };
static const struct result_fact facts[] = { { "kernel", "6.1" }, { "governor", NULL } };
static const struct result_fact other[] = { { "governor", "powersave" } };

static const struct result_header header = {
	.argc = 3, .argv = argv, .workload = "forky", .option_count = 2, .options = words,
	.created = "2026-12-01T10:00:00Z",
	.metric_count = 3, .metrics = metrics, .series = "latency_ns", .primary = "wall_ns",
	.condition_count = 2, .conditions = conditions, .specs = specs,
	.plan = { .pairs = 30, .rounds = 2, .warmup = 1, .min_ns = ACT_UNKNOWN,
		  .timeout_ns = 5, .max_ns = ACT_UNKNOWN, .aa = 0.25, .width = NAN, .bound = 0.01 },
	.seed = INT64_MAX, .harness_ns = 350.5, .noise = "load 3.1",
	.fact_count = 2, .facts = facts,
};

static void write_run(struct result_writer *writer, uint64_t number)
{
	const double values[] = { 123456789, NAN, 0.1 + (double)number };
	const double series[] = { 643, 0.5, 1.0 / 3, 351709 };
	struct result_run run = {
		.run = number, .pair = number / 2, .slot = number % 2, .condition = number % 2,
		.is_aa = number == 1, .is_warmup = number == 0, .psi = 1.5, .steal = NAN,
		.fact_count = number % 2, .facts = other,
	};
	struct sample sample = {
		.round = 0, .is_warmup = true, .ops = 1000, .values = 3, .value = values,
	};
	struct result_end end = {
		.run = number, .is_valid = number != 2, .reason = number == 2 ? "killed" : NULL,
		.has_listener = number == 1, .listener = { 1, 2, ACT_UNKNOWN, 4 },
	};

	assert_int_equal(result_begin_run(writer, &run), 0);
	assert_int_equal(result_sample(writer, &sample), 0);
	sample.round = 1;
	sample.is_warmup = false;
	sample.series_count = 4;
	sample.series = series;
	assert_int_equal(result_sample(writer, &sample), 0);
	assert_int_equal(result_end_run(writer, &end), 0);
}

static void write_file(void)
{
	const struct result_footer footer = { 3, 1, false, "SIGINT" };
	struct result_writer *writer;

	assert_int_equal(result_create(path, true, &header, &writer, NULL), 0);
	for (uint64_t run = 0; run < 3; run++)
		write_run(writer, run);
	assert_int_equal(result_finish(writer, &footer), 0);
}

/* ---- What is read, as text ---- */

struct story {
	char text[8192];
	size_t length;
	size_t runs, samples, series, ends, unfinished;
	int stop_after; /* samples */
};

static void tell(struct story *story, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void tell(struct story *story, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	story->length += (size_t)vsnprintf(story->text + story->length,
					   sizeof(story->text) - story->length, format, args);
	va_end(args);
	assert_true(story->length < sizeof(story->text));
}

static int on_run(void *arg, const struct result_run *run)
{
	struct story *story = arg;

	story->runs++;
	tell(story, "run %" PRIu64 " %" PRIu64 ".%" PRIu64 " of %zu%s%s %g %g", run->run, run->pair,
	     run->slot, run->condition, run->is_aa ? " aa" : "", run->is_warmup ? " warmup" : "",
	     run->psi, run->steal);
	for (size_t i = 0; i < run->fact_count; i++)
		tell(story, " %s=%s", run->facts[i].key, run->facts[i].text);
	tell(story, "\n");
	return 0;
}

static int on_sample(void *arg, const struct sample *sample)
{
	struct story *story = arg;

	assert_int_equal(sample->series_count, 0);
	if (++story->samples == (size_t)story->stop_after)
		return 7;
	tell(story, "sample %" PRIu64 "%s %g", sample->round, sample->is_warmup ? " warmup" : "",
	     sample->ops);
	for (size_t i = 0; i < sample->values; i++)
		tell(story, " %.17g", sample->value[i]);
	tell(story, "\n");
	return 0;
}

static int on_series(void *arg, const double *values, size_t count)
{
	struct story *story = arg;

	story->series += count;
	for (size_t i = 0; i < count; i++)
		tell(story, "%.17g ", values[i]);
	tell(story, "\n");
	return 0;
}

static int on_end(void *arg, const struct result_end *end)
{
	struct story *story = arg;

	story->ends++;
	story->unfinished += end->is_unfinished;
	tell(story, "end %" PRIu64 "%s %s", end->run, end->is_valid ? " valid" : "",
	     end->reason ? end->reason : "-");
	if (end->has_listener)
		tell(story, " listener %" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIu64,
		     end->listener.cpu_ns, end->listener.records, end->listener.enobufs,
		     end->listener.lost);
	tell(story, "\n");
	return 0;
}

static const struct result_visitor visitor = { on_run, on_sample, on_series, on_end };

/* ---- Round trip ---- */

static void check_header(const struct result_header *read)
{
	assert_int_equal(read->version, RESULT_VERSION);
	assert_string_equal(read->created, header.created);
	assert_int_equal(read->argc, 3);
	assert_string_equal(read->argv[1], "ab");
	assert_string_equal(read->argv[2], "\xef\xbf\xbd\xc3\xa4\n\"");
	assert_string_equal(read->workload, "forky");
	assert_int_equal(read->option_count, 2);
	assert_string_equal(read->options[1], "1000");
	assert_int_equal(read->metric_count, 3);
	assert_string_equal(read->metrics[2], "rss_bytes");
	assert_string_equal(read->series, "latency_ns");
	assert_string_equal(read->primary, "wall_ns");
	assert_int_equal(read->condition_count, 2);
	assert_string_equal(read->conditions[1], "on");
	assert_string_equal(read->specs[1], "record");
	assert_int_equal(read->plan.pairs, 30);
	assert_true(read->plan.min_ns == ACT_UNKNOWN);
	assert_int_equal(read->plan.timeout_ns, 5);
	assert_true(read->plan.aa == 0.25 && isnan(read->plan.width) && read->plan.bound == 0.01);
	assert_true(read->seed == INT64_MAX);
	assert_true(read->harness_ns == 350.5);
	assert_string_equal(read->noise, "load 3.1");
	assert_int_equal(read->fact_count, 2);
	assert_string_equal(read->facts[0].text, "6.1");
	assert_null(read->facts[1].text);
}

static const char told[] =
	"run 0 0.0 of 0 warmup 1.5 nan\n"
	"sample 0 warmup 1000 123456789 nan 0.10000000000000001\n"
	"sample 1 1000 123456789 nan 0.10000000000000001\n"
	"643 0.5 0.33333333333333331 351709 \n"
	"end 0 valid -\n"
	"run 1 0.1 of 1 aa 1.5 nan governor=powersave\n"
	"sample 0 warmup 1000 123456789 nan 1.1000000000000001\n"
	"sample 1 1000 123456789 nan 1.1000000000000001\n"
	"643 0.5 0.33333333333333331 351709 \n"
	"end 1 valid - listener 1 2 8000000000000000 4\n"
	"run 2 1.0 of 0 1.5 nan\n"
	"sample 0 warmup 1000 123456789 nan 2.1000000000000001\n"
	"sample 1 1000 123456789 nan 2.1000000000000001\n"
	"643 0.5 0.33333333333333331 351709 \n"
	"end 2 killed\n";

static void test_round_trip(void **state)
{
	struct story story = { .stop_after = -1 };
	struct result *result;

	(void)state;
	write_file();
	assert_int_equal(result_open(path, &result, NULL), 0);
	check_header(result_header(result));
	assert_null(result_footer(result));
	assert_int_equal(result_read(result, &visitor, &story, NULL), 0);
	assert_string_equal(story.text, told);
	assert_non_null(result_footer(result));
	assert_int_equal(result_footer(result)->runs, 3);
	assert_int_equal(result_footer(result)->invalid, 1);
	assert_false(result_footer(result)->is_complete);
	assert_string_equal(result_footer(result)->interrupted, "SIGINT");
	assert_false(result_is_torn(result));
	result_close(result);
}

static void test_stop(void **state)
{
	static const struct result_visitor nothing = { NULL, NULL, NULL, NULL };
	struct story story = { .stop_after = 3 };
	struct result *result;

	(void)state;
	write_file();
	assert_int_equal(result_open(path, &result, NULL), 0);
	assert_int_equal(result_read(result, &visitor, &story, NULL), 7);
	assert_int_equal(story.runs, 2);
	result_close(result);
	assert_int_equal(result_open(path, &result, NULL), 0);
	assert_int_equal(result_read(result, &nothing, NULL, NULL), 0);
	result_close(result);
}

/* ---- Interruption ---- */

static char *file_text(size_t *ret_length)
{
	FILE *file = fopen(path, "r");
	char *text = malloc(65536);

	assert_non_null(file);
	assert_non_null(text);
	*ret_length = fread(text, 1, 65535, file);
	text[*ret_length] = '\0';
	fclose(file);
	return text;
}

static int open_text(const char *text, size_t length, struct result **ret, struct act_why *why)
{
	int fd = memfd_create("result", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, length), length);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return result_open_fd(fd, "FILE", ret, why);
}

/* How often @word begins a line that is whole in @text. */
static size_t count_lines(const char *text, size_t length, const char *word)
{
	size_t count = 0;

	for (const char *at = text, *end; at < text + length; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + length - at));
		/* A last line that lacks nothing but its newline is whole. */
		if (!end && text[length] != '\n')
			break;
		count += strncmp(at, word, strlen(word)) == 0;
		if (!end)
			break;
	}
	return count;
}

static void check_cut(const char *text, size_t length)
{
	struct story story = { .stop_after = -1 };
	struct result *result;
	struct act_why why = { "" };
	bool is_whole = text[length - 1] == '\n' || text[length] == '\n' || !text[length];
	char *cut = malloc(length + 1);

	assert_non_null(cut);
	memcpy(cut, text, length);
	assert_int_equal(open_text(cut, length, &result, &why), 0);
	if (result_read(result, &visitor, &story, &why) != 0)
		fail_msg("cut to %zu bytes: %s", length, why.text);
	assert_int_equal(story.runs, count_lines(text, length, "{\"run\""));
	assert_int_equal(story.samples, count_lines(text, length, "{\"round\""));
	assert_int_equal(story.series, 4 * count_lines(text, length, "{\"series\""));
	assert_int_equal(story.ends, story.runs);
	assert_int_equal(story.ends - story.unfinished, count_lines(text, length, "{\"end\""));
	assert_int_equal(!!result_footer(result), count_lines(text, length, "{\"footer\""));
	assert_int_equal(result_is_torn(result), !is_whole);
	result_close(result);
	free(cut);
}

/* Wherever it is cut, what is before the cut is read. */
static void test_every_byte(void **state)
{
	struct result *result;
	struct act_why why;
	size_t length, head;
	char *text;

	(void)state;
	write_file();
	text = file_text(&length);
	head = (size_t)(strchr(text, '\n') - text);
	assert_int_equal(open_text(text, 0, &result, &why), -ENODATA);
	for (size_t cut = 1; cut < head; cut++)
		assert_int_equal(open_text(text, cut, &result, &why), -EUCLEAN);
	for (size_t cut = head; cut <= length; cut++)
		check_cut(text, cut);
	free(text);
}

/* A file system may leave zeroes where the last block was to be. */
static void test_zeroes(void **state)
{
	struct story story = { .stop_after = -1 };
	struct result *result;
	size_t length;
	char *text;

	(void)state;
	write_file();
	text = file_text(&length);
	*strstr(text, "{\"footer\"") = '\0';
	memset(text + strlen(text), 0, 500);
	assert_int_equal(open_text(text, strlen(text) + 500, &result, NULL), 0);
	assert_int_equal(result_read(result, &visitor, &story, NULL), 0);
	assert_true(result_is_torn(result));
	assert_int_equal(story.ends, 3);
	result_close(result);
	free(text);
}

/* ---- What is refused ---- */

#define HEADER "{\"actuary\":\"result\",\"version\":1,\"metrics\":[\"wall_ns\"]," \
	       "\"series\":\"latency_ns\",\"conditions\":[\"a\"]}\n"
#define RUN "{\"run\":0}\n"
#define SAMPLE "{\"round\":0,\"ops\":1,\"v\":[1]}\n"

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		int ret;
		const char *word;
	} expectations[] = {
		{ "{\"actuary\":\"result\",\"version\":2}\n", -EPROTONOSUPPORT, "newer" },
		{ "{\"actuary\":\"result\"}\n", -EUCLEAN, "no result" },
		{ "{\"actuary\":\"result\",\"version\":0}\n", -EUCLEAN, "no result" },
		{ "{\"actuary\":\"result\",\"version\":-1}\n", -EUCLEAN, "no result" },
		{ "{\"actuary\":\"log\",\"version\":1}\n", -EUCLEAN, "no result" },
		{ "[]\n", -EUCLEAN, "no result" }, { "1\n2\n", -EUCLEAN, "no result" },
		{ "{\"actuary\":\"result\",\"version\":1}\n", -EUCLEAN, "metrics" },
		{ "{\"actuary\":\"result\",\"version\":1,\"metrics\":[1]}\n", -EUCLEAN, "metrics" },
		{ "{\"actuary\":\"result\",\"version\":1,\"metrics\":[\"a\"],\"specs\":[\"b\"]}\n",
		  -EUCLEAN, "specs" },
		{ "{\"actuary\":\"result\",\"version\":1,\"metrics\":[\"a\"],\"seed\":-1}\n",
		  -EUCLEAN, "seed" },
		{ HEADER SAMPLE, -EUCLEAN, "line 2: a sample outside" },
		{ HEADER RUN "{\"series\":[1]}\n", -EUCLEAN, "line 3: a series without" },
		{ HEADER RUN SAMPLE "{\"end\":0}\n{\"series\":[1]}\n", -EUCLEAN, "line 5" },
		{ HEADER RUN RUN, -EUCLEAN, "before the last one has ended" },
		{ HEADER RUN "{\"end\":1}\n", -EUCLEAN, "did not begin" },
		{ HEADER RUN "{\"end\":0}\n" RUN, -EUCLEAN, "\"run\"" },
		{ HEADER "{\"run\":-1}\n", -EUCLEAN, "\"run\"" },
		{ HEADER "{\"run\":0,\"condition\":\"b\"}\n", -EUCLEAN, "\"condition\"" },
		{ HEADER "{\"run\":0,\"environment\":{\"a\":1}}\n", -EUCLEAN, "\"environment\"" },
		{ HEADER RUN "{\"round\":0,\"ops\":1,\"v\":[1,2]}\n", -EUCLEAN, "not as many" },
		{ HEADER RUN "{\"round\":0,\"ops\":1}\n", -EUCLEAN, "\"v\"" },
		{ HEADER RUN "{\"round\":0,\"ops\":-1,\"v\":[1]}\n", -EUCLEAN, "\"ops\"" },
		{ HEADER RUN "{\"round\":0,\"ops\":1,\"v\":[\"1\"]}\n", -EUCLEAN, "\"v\"" },
		{ HEADER RUN SAMPLE "{\"series\":[null]}\n", -EUCLEAN, "\"series\"" },
		{ HEADER RUN SAMPLE "{\"series\":[1e400]}\n" SAMPLE, -EUCLEAN, "damaged" },
		{ HEADER RUN "{\"round\":0,\"ops\":1,\"v\":[01]}\n" SAMPLE, -EUCLEAN, "damaged" },
		{ HEADER RUN "{\"rou\n" SAMPLE, -EUCLEAN, "line 3: cannot be read" },
		{ HEADER "7\n" RUN, -EUCLEAN, "line 2" }, { HEADER "[1]\n", -EUCLEAN, "not an object" },
		{ HEADER RUN "{\"footer\":true}\n", -EUCLEAN, "within a run" },
		{ HEADER "{\"footer\":true}\n" RUN, -EUCLEAN, "follows the footer" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(expectations); i++) {
		struct story story = { .stop_after = -1 };
		struct act_why why = { "" };
		struct result *result;
		const char *text = expectations[i].text;
		int ret = open_text(text, strlen(text), &result, &why);

		if (ret == 0) {
			ret = result_read(result, &visitor, &story, &why);
			result_close(result);
		}
		if (ret != expectations[i].ret || !strstr(why.text, expectations[i].word))
			fail_msg("%s gives %d, \"%s\"", text, ret, why.text);
	}
}

/* JSON of another hand: blanks, another order, members and lines of a later day. */
static void test_other_hand(void **state)
{
	static const char text[] =
		HEADER "\r\n"
		"{ \"later\": [1, {}], \"run\": 4 }\r\n"
		"{ \"v\": [ 1.50 ], \"more\": 1, \"ops\": 2, \"round\": 9 }\n"
		"{ \"series\": [ 1, 2e0 ] }\n"
		"{\"series\":[]}\n"
		"{\"weather\":\"fine\"}\n"
		"\n"
		"{\"valid\":true, \"end\":4}\n";
	struct story story = { .stop_after = -1 };
	struct result *result;

	(void)state;
	assert_int_equal(open_text(text, strlen(text), &result, NULL), 0);
	assert_true(result_header(result)->seed == ACT_UNKNOWN);
	assert_int_equal(result_read(result, &visitor, &story, NULL), 0);
	assert_non_null(strstr(story.text, "sample 9 2 1.5\n1 2 \n\nend 4 valid -\n"));
	result_close(result);
}

static void test_long_line(void **state)
{
	size_t length = (size_t)10 * 1000 * 1000;
	char *text = malloc(length);
	struct act_why why = { "" };
	struct result *result;

	(void)state;
	assert_non_null(text);
	memset(text, ' ', length);
	assert_int_equal(open_text(text, length, &result, &why), -EUCLEAN);
	assert_non_null(strstr(why.text, "longer than"));
	free(text);
}

/* ---- Writing ---- */

static void test_not_overwritten(void **state)
{
	struct result_writer *writer;
	struct act_why why = { "" };
	size_t length, after;

	(void)state;
	write_file();
	free(file_text(&length));
	assert_int_equal(result_create(path, false, &header, &writer, &why), -EEXIST);
	assert_non_null(strstr(why.text, "--force"));
	free(file_text(&after));
	assert_int_equal(length, after);
	assert_int_equal(result_create(path, true, &header, &writer, &why), 0);
	assert_int_equal(result_finish(writer, NULL), 0);
	free(file_text(&after));
	assert_true(after < length);
	assert_int_equal(result_create("/dev/null", false, &header, &writer, &why), 0);
	assert_int_equal(result_finish(writer, NULL), 0);
	assert_int_equal(result_create("/nowhere/at/all", false, &header, &writer, &why), -ENOENT);
	assert_int_equal(result_finish(NULL, NULL), 0);
}

static void test_full_disk(void **state)
{
	struct result_writer *writer;
	struct act_why why = { "" };

	(void)state;
	if (access("/dev/full", W_OK) < 0)
		skip();
	assert_int_equal(result_create("/dev/full", false, &header, &writer, &why), -ENOSPC);
	assert_non_null(strstr(why.text, strerror(ENOSPC)));
}

/* A mistake of the caller's is an error, and stays one. */
static void test_order(void **state)
{
	const double values[] = { 1, 2, INFINITY };
	const struct sample sample = { .ops = 1, .values = 3, .value = values };
	const struct sample few = { .ops = 1, .values = 2, .value = values };
	const struct result_run run = { .run = 5, .condition = 2 };
	const struct result_run good = { .run = 5, .condition = SIZE_MAX };
	const struct result_end end = { .run = 5 };
	struct result_writer *writer;

	(void)state;
	for (int mistake = 0; mistake < 5; mistake++) {
		int ret;

		assert_int_equal(result_create(path, true, &header, &writer, NULL), 0);
		if (mistake > 2)
			assert_int_equal(result_begin_run(writer, &good), 0);
		ret = mistake == 0 ? result_sample(writer, &few) :
		      mistake == 1 ? result_begin_run(writer, &run) :
		      mistake == 2 ? result_end_run(writer, &end) :
		      mistake == 3 ? result_sample(writer, &few) : result_sample(writer, &sample);
		assert_int_equal(ret, -EINVAL);
		assert_int_equal(result_begin_run(writer, &good), -EINVAL);
		assert_int_equal(result_finish(writer, NULL), -EINVAL);
	}
}

/* ---- Millions ---- */

#define MANY ((size_t)5 * 1000 * 1000)

struct sum {
	size_t count;
	double sum;
};

static int add_up(void *arg, const double *values, size_t count)
{
	struct sum *sum = arg;

	for (size_t i = 0; i < count; i++)
		sum->sum += values[i];
	sum->count += count;
	return 0;
}

static void test_millions(void **state)
{
	static const struct result_visitor adding = { .series = add_up };
	const double values[] = { 1, 2, 3 };
	const struct result_run run = { .run = 0, .pair = ACT_UNKNOWN, .slot = ACT_UNKNOWN };
	double *series = malloc(MANY * sizeof(*series)), wanted = 0;
	struct sample sample = {
		.ops = 1, .values = 3, .value = values, .series_count = MANY, .series = series,
	};
	struct result_writer *writer;
	struct result *result;
	struct sum sum = { 0 };

	(void)state;
	assert_non_null(series);
	for (size_t i = 0; i < MANY; i++)
		wanted += series[i] = (double)(600 + i * 7919 % 1009);
	assert_int_equal(result_create(path, true, &header, &writer, NULL), 0);
	assert_int_equal(result_begin_run(writer, &run), 0);
	assert_int_equal(result_sample(writer, &sample), 0);
	assert_int_equal(result_finish(writer, NULL), 0);
	free(series);
	assert_int_equal(result_open(path, &result, NULL), 0);
	assert_int_equal(result_read(result, &adding, &sum, NULL), 0);
	result_close(result);
	assert_int_equal(sum.count, MANY);
	assert_true(sum.sum == wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_zeroes),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_other_hand),
		cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_not_overwritten),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_millions),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

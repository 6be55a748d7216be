/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/result.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "bench/json.h"
#include "bench/number.h"
#include "bench/run.h"
#include "bench/why.h"

/* Numbers on one line of a series. */
#define SERIES_LINE 1000
/* Written when there is so much, or when the oldest of it is so old. */
#define FLUSH_BYTES ((size_t)256 * 1024)
#define FLUSH_NS NSEC_PER_SEC

struct result_writer {
	int fd;
	int error;         /* the first one; nothing is written after it */
	size_t metrics;
	size_t condition_count;
	char **conditions;
	bool in_run;
	uint64_t run;      /* the number of the last one */
	bool has_run;
	struct buffer buffer;
	uint64_t flushed_ns;
};

/* ---- The file ---- */

static int write_all(int fd, const uint8_t *data, size_t length)
{
	while (length) {
		ssize_t count = write(fd, data, length);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		data += count;
		length -= (size_t)count;
	}
	return 0;
}

static int flush(struct result_writer *writer)
{
	if (writer->error || !writer->buffer.length)
		return writer->error;
	writer->error = writer->buffer.failed ? -ENOMEM :
			write_all(writer->fd, writer->buffer.data, writer->buffer.length);
	buffer_clear(&writer->buffer);
	writer->flushed_ns = clock_monotonic_ns();
	return writer->error;
}

/* A result is not to be lost because someone looks at it: not even an empty file is. */
static int open_new(const char *path, bool force)
{
	struct stat st;
	int fd;

	if (strcmp(path, "-") == 0) {
		fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return fd < 0 ? -errno : fd;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
	/* A terminal, a pipe or /dev/null holds nothing that could be lost. */
	if (fd < 0 && errno == EEXIST && (stat(path, &st) < 0 || S_ISREG(st.st_mode)))
		return -EEXIST;
	if (fd < 0 && errno == EEXIST)
		fd = open(path, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* ---- Lines ---- */

/* Takes @line over; NULL: it could not be made. */
static int append_json(struct result_writer *writer, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;

	json_decref(line);
	if (!text)
		return writer->error = -ENOMEM;
	buffer_append(&writer->buffer, text, strlen(text));
	buffer_append(&writer->buffer, "\n", 1);
	free(text);
	return 0;
}

static void append_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text));
}

static void append_number(struct buffer *buffer, double value)
{
	char text[NUMBER_ROOM];

	if (isnan(value))
		append_text(buffer, "null");
	else
		buffer_append(buffer, text, number_write(value, text));
}

static void append_numbers(struct buffer *buffer, const double *values, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i)
			buffer_append(buffer, ",", 1);
		append_number(buffer, values[i]);
	}
}

/* ---- The header ---- */

static json_t *plan_json(const struct result_plan *plan)
{
	json_t *object = json_object();

	json_set_u64(object, "pairs", plan->pairs);
	json_set_u64(object, "rounds", plan->rounds);
	json_set_u64(object, "warmup", plan->warmup);
	json_set_u64(object, "min_ns", plan->min_ns);
	json_set_u64(object, "timeout_ns", plan->timeout_ns);
	json_set_u64(object, "max_ns", plan->max_ns);
	json_set_real(object, "aa", plan->aa);
	json_set_real(object, "width", plan->width);
	json_set_real(object, "bound", plan->bound);
	return object;
}

static json_t *facts_json(const struct result_fact *facts, size_t count)
{
	json_t *object = json_object();

	for (size_t i = 0; i < count; i++)
		json_set_text(object, facts[i].key, facts[i].text);
	return object;
}

static void now_text(char ret_text[32])
{
	time_t now = (time_t)(clock_wall_ns() / NSEC_PER_SEC);
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(ret_text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static json_t *header_json(const struct result_header *header)
{
	json_t *object = json_object();
	char now[32];

	now_text(now);
	json_set_text(object, "actuary", "result");
	json_set_u64(object, "version", RESULT_VERSION);
	json_set_text(object, "created", header->created ? header->created : now);
	json_set_texts(object, "argv", header->argv, header->argc);
	json_set_text(object, "workload", header->workload);
	json_set_texts(object, "options", header->options, header->option_count);
	json_set_texts(object, "metrics", header->metrics, header->metric_count);
	json_set_text(object, "series", header->series);
	json_set_text(object, "primary", header->primary);
	json_set_texts(object, "conditions", header->conditions, header->condition_count);
	if (header->specs)
		json_set_texts(object, "specs", header->specs, header->condition_count);
	json_object_set_new(object, "plan", plan_json(&header->plan));
	json_set_u64(object, "seed", header->seed);
	json_set_real(object, "harness_ns", header->harness_ns);
	json_set_text(object, "noise", header->noise);
	json_object_set_new(object, "environment",
			    facts_json(header->facts, header->fact_count));
	return object;
}

static int begin(struct result_writer *writer, const char *path, bool force,
		 const struct result_header *header, struct act_why *ret_why)
{
	int ret;

	writer->fd = open_new(path, force);
	if (writer->fd == -EEXIST)
		return because(ret_why, -EEXIST, "%s exists; choose another name, or replace it "
			       "with --force", path);
	ret = writer->fd < 0 ? writer->fd : append_json(writer, header_json(header));
	if (!ret)
		ret = flush(writer);
	return ret < 0 ? because(ret_why, ret, "cannot write %s: %s", path, strerror(-ret)) : 0;
}

static void free_conditions(struct result_writer *writer)
{
	for (size_t i = 0; writer->conditions && i < writer->condition_count; i++)
		free(writer->conditions[i]);
	free(writer->conditions);
}

static int keep_conditions(struct result_writer *writer, const struct result_header *header)
{
	if (header->metric_count > RESULT_METRICS_MAX ||
	    header->condition_count > RESULT_CONDITIONS_MAX)
		return -EINVAL;
	writer->metrics = header->metric_count;
	writer->condition_count = header->condition_count;
	writer->conditions = calloc(header->condition_count + 1, sizeof(*writer->conditions));
	if (!writer->conditions)
		return -ENOMEM;
	for (size_t i = 0; i < header->condition_count; i++) {
		writer->conditions[i] = strdup(header->conditions[i]);
		if (!writer->conditions[i])
			return -ENOMEM;
	}
	return 0;
}

int result_create(const char *path, bool force, const struct result_header *header,
		  struct result_writer **ret, struct act_why *ret_why)
{
	struct result_writer *writer = calloc(1, sizeof(*writer));
	int error;

	if (!writer)
		return because(ret_why, -ENOMEM, "cannot write %s: out of memory", path);
	writer->fd = -1;
	error = keep_conditions(writer, header);
	error = error ? because(ret_why, error, "cannot write %s: %s", path, strerror(-error)) :
			begin(writer, path, force, header, ret_why);
	if (error < 0) {
		result_finish(writer, NULL);
		return error;
	}
	*ret = writer;
	return 0;
}

/* ---- Runs and samples ---- */

/* What every call begins with; a caller's mistake is remembered like any other error. */
static int expect(struct result_writer *writer, bool is_right)
{
	if (!writer->error && !is_right)
		writer->error = -EINVAL;
	return writer->error;
}

static int flush_if_due(struct result_writer *writer)
{
	if (writer->buffer.length >= FLUSH_BYTES ||
	    clock_monotonic_ns() - writer->flushed_ns >= FLUSH_NS)
		return flush(writer);
	return 0;
}

static json_t *run_json(const struct result_run *run, const char *condition)
{
	json_t *object = json_object();

	json_set_u64(object, "run", run->run);
	json_set_u64(object, "pair", run->pair);
	json_set_u64(object, "slot", run->slot);
	json_set_text(object, "condition", condition);
	json_object_set_new(object, "aa", json_boolean(run->is_aa));
	json_object_set_new(object, "warmup", json_boolean(run->is_warmup));
	json_set_real(object, "psi", run->psi);
	json_set_real(object, "steal", run->steal);
	json_object_set_new(object, "environment", facts_json(run->facts, run->fact_count));
	return object;
}

int result_begin_run(struct result_writer *writer, const struct result_run *run)
{
	bool has_condition = run->condition != SIZE_MAX;

	if (expect(writer, !writer->in_run &&
		   (!has_condition || run->condition < writer->condition_count) &&
		   (!writer->has_run || run->run > writer->run)) < 0)
		return writer->error;
	writer->in_run = writer->has_run = true;
	writer->run = run->run;
	if (append_json(writer, run_json(run, has_condition ?
					 writer->conditions[run->condition] : NULL)) < 0)
		return writer->error;
	return flush_if_due(writer);
}

static bool has_finite(const double *values, size_t count, bool allow_unknown)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(values[i]) && !(allow_unknown && isnan(values[i])))
			return false;
	return true;
}

static void append_series(struct buffer *buffer, const double *values, size_t count)
{
	while (count) {
		size_t piece = count < SERIES_LINE ? count : SERIES_LINE;

		append_text(buffer, "{\"series\":[");
		append_numbers(buffer, values, piece);
		append_text(buffer, "]}\n");
		values += piece;
		count -= piece;
	}
}

/* By hand, since there can be millions; the reader knows this form by heart. */
int result_sample(struct result_writer *writer, const struct sample *sample)
{
	struct buffer *buffer = &writer->buffer;

	if (expect(writer, writer->in_run && sample->values == writer->metrics &&
		   has_finite(&sample->ops, 1, true) &&
		   has_finite(sample->value, sample->values, true) &&
		   has_finite(sample->series, sample->series_count, false)) < 0)
		return writer->error;
	append_text(buffer, "{\"round\":");
	append_number(buffer, (double)sample->round);
	append_text(buffer, ",\"ops\":");
	append_number(buffer, sample->ops);
	append_text(buffer, sample->is_warmup ? ",\"warmup\":true,\"v\":[" : ",\"v\":[");
	append_numbers(buffer, sample->value, sample->values);
	append_text(buffer, "]}\n");
	append_series(buffer, sample->series, sample->series_count);
	return flush_if_due(writer);
}

static json_t *listener_json(const struct result_listener *listener)
{
	json_t *object = json_object();

	json_set_u64(object, "cpu_ns", listener->cpu_ns);
	json_set_u64(object, "records", listener->records);
	json_set_u64(object, "enobufs", listener->enobufs);
	json_set_u64(object, "lost", listener->lost);
	return object;
}

int result_end_run(struct result_writer *writer, const struct result_end *end)
{
	json_t *object;

	if (expect(writer, writer->in_run && end->run == writer->run) < 0)
		return writer->error;
	writer->in_run = false;
	object = json_object();
	json_set_u64(object, "end", end->run);
	json_object_set_new(object, "valid", json_boolean(end->is_valid));
	json_set_text(object, "reason", end->reason);
	if (end->has_listener)
		json_object_set_new(object, "listener", listener_json(&end->listener));
	if (append_json(writer, object) < 0)
		return writer->error;
	return flush(writer);
}

static int finish(struct result_writer *writer, const struct result_footer *footer)
{
	json_t *object;

	if (writer->error || !footer)
		return flush(writer);
	object = json_object();
	json_object_set_new(object, "footer", json_true());
	json_set_u64(object, "runs", footer->runs);
	json_set_u64(object, "invalid", footer->invalid);
	json_object_set_new(object, "complete", json_boolean(footer->is_complete));
	json_set_text(object, "interrupted", footer->interrupted);
	if (append_json(writer, object) < 0 || flush(writer) < 0)
		return writer->error;
	/* Pipes and devices cannot, and need not. */
	return fdatasync(writer->fd) < 0 && errno != EINVAL && errno != EROFS ? -errno : 0;
}

int result_finish(struct result_writer *writer, const struct result_footer *footer)
{
	int ret;

	if (!writer)
		return 0;
	ret = finish(writer, footer);
	if (writer->fd >= 0 && close(writer->fd) < 0 && !ret)
		ret = -errno;
	free_conditions(writer);
	buffer_release(&writer->buffer);
	free(writer);
	return ret;
}

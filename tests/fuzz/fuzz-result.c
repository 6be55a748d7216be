/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Result files.  What can be read keeps to the order that readers count on, and
 * written anew it is read as the same.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/result.h"
#include "bench/run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
	if (!is_true)
		abort();
}

/* What was read, in a few numbers. */
struct digest {
	const struct result_header *header;
	struct result_writer *writer; /* NULL: only read */
	bool in_run, has_sample;
	uint64_t run;
	size_t runs, samples, series, valid;
	double sum;
};

static int on_run(void *arg, const struct result_run *run)
{
	struct digest *digest = arg;

	must(!digest->in_run && (!digest->runs || run->run > digest->run));
	must(run->condition == SIZE_MAX || run->condition < digest->header->condition_count);
	for (size_t i = 0; i < run->fact_count; i++)
		must(run->facts[i].key);
	digest->in_run = true;
	digest->has_sample = false;
	digest->run = run->run;
	digest->runs++;
	return digest->writer ? result_begin_run(digest->writer, run) : 0;
}

static int on_sample(void *arg, const struct sample *sample)
{
	struct digest *digest = arg;

	must(digest->in_run && sample->values == digest->header->metric_count);
	must(!sample->series_count && !(sample->ops < 0) && !isinf(sample->ops));
	for (size_t i = 0; i < sample->values; i++) {
		must(!isinf(sample->value[i]));
		digest->sum += isnan(sample->value[i]) ? 1 : fmod(sample->value[i], 1e9);
	}
	digest->has_sample = true;
	digest->samples++;
	return digest->writer ? result_sample(digest->writer, sample) : 0;
}

static int on_series(void *arg, const double *values, size_t count)
{
	struct digest *digest = arg;

	must(digest->has_sample);
	for (size_t i = 0; i < count; i++)
		must(isfinite(values[i]));
	digest->series += count;
	return 0;
}

static int on_end(void *arg, const struct result_end *end)
{
	struct digest *digest = arg;

	must(digest->in_run && end->run == digest->run && !(end->is_valid && end->is_unfinished));
	digest->in_run = false;
	digest->valid += end->is_valid;
	return digest->writer ? result_end_run(digest->writer, end) : 0;
}

static const struct result_visitor visitor = { on_run, on_sample, on_series, on_end };

/* True if all of it could be read. */
static bool read_fd(int fd, const char *copy, struct digest *digest)
{
	struct act_why why = { "" };
	struct result *result;
	int ret;

	must(lseek(fd, 0, SEEK_SET) == 0);
	ret = result_open_fd(fd, "FILE", &result, &why);
	must(ret <= 0 && !*why.text == !ret);
	if (ret < 0)
		return false;
	digest->header = result_header(result);
	if (copy)
		must(result_create(copy, true, digest->header, &digest->writer, NULL) == 0);
	ret = result_read(result, &visitor, digest, &why);
	must(ret <= 0 && !*why.text == !ret && (ret < 0 || !digest->in_run));
	if (copy)
		must(result_finish(digest->writer, ret ? NULL : result_footer(result)) == 0);
	digest->header = NULL;
	result_close(result);
	return ret == 0;
}

static void check_copy(int fd, const struct digest *first)
{
	struct digest second = { 0 };

	must(read_fd(fd, NULL, &second));
	must(first->runs == second.runs && first->samples == second.samples);
	must(first->valid == second.valid && first->sum == second.sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("result", MFD_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
	struct digest digest = { 0 };
	char path[64];

	must(fd >= 0 && copy >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	if (read_fd(fd, path, &digest))
		check_copy(copy, &digest);
	else
		close(copy);
	return 0;
}

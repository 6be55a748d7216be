/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of measurements: the first byte says how they are read, the rest is the
 * file.  Whatever it is, it is refused with a sentence, or all that comes of it is
 * finite, and described without a fault.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/samples.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_set(const struct samples *set)
{
	struct act_description description;

	must(set->file && set->metric && set->unit && !set->value == !set->n);
	must(!set->pair == !set->slot && (!set->only_summary || !set->n));
	for (size_t i = 0; i < set->n; i++)
		must(isfinite(set->value[i]));
	if (!set->n)
		return;
	must(act_sort(set->value, set->n) == 0);
	must(act_describe(set->value, set->value, set->n, &description) == 0);
	must(description.n == set->n && description.min <= description.max);
}

static void load(const char *path, const struct samples_options *options)
{
	struct act_why why = { "" };
	struct samples *sets;
	size_t count, values = 0;
	int ret = samples_load(path, options, &sets, &count, &why);

	must(ret <= 0 && !*why.text == !ret);
	if (ret < 0)
		return;
	for (size_t i = 0; i < count; i++) {
		check_set(&sets[i]);
		values += sets[i].n + sets[i].only_summary;
	}
	must(values > 0);
	samples_free(sets, count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const metrics[] = { NULL, "primary", "user", "latency_ns" };
	struct samples_options options = { 0 };
	char path[64];
	int fd;

	if (!size)
		return 0;
	options.per = data[0] & 1 ? SAMPLES_EACH : SAMPLES_PER_RUN;
	options.with_warmup = data[0] & 2;
	options.metric = metrics[data[0] >> 2 & 3];
	options.column = data[0] >> 4 & 1 ? 2 : 0;
	options.unit = data[0] >> 5 & 1 ? "us" : NULL;
	options.format = data[0] >> 6 == 1 ? SAMPLES_SUMMARY : SAMPLES_DETECT;
	fd = memfd_create("numbers", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	load(path, &options);
	close(fd);
	return 0;
}

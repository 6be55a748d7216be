/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of hyperfine --export-json: {"results":[{"command":"...","times":[...],
 * "exit_codes":[...]}, ...]}, in seconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/json.h"
#include "bench/samples-load.h"
#include "bench/why.h"

/* Beyond that it is not hyperfine's. */
#define BYTES_MAX ((size_t)64 * 1024 * 1024)
#define RESULTS_MAX 4096

struct feed {
	struct reader *reader;
	size_t bytes;
	int error;
};

static size_t feed(void *data, size_t size, void *arg)
{
	struct feed *feed = arg;
	ssize_t count = reader_bytes(feed->reader, data, size);

	if (count < 0)
		feed->error = (int)count;
	else
		feed->bytes += (size_t)count;
	if (feed->bytes > BYTES_MAX)
		feed->error = -EFBIG;
	return feed->error ? (size_t)-1 : (size_t)count;
}

static int complain(struct loader *loader, const char *what)
{
	return because(loader->why, -EUCLEAN, "%s: %s", loader->path, what);
}

/* Runs that failed and were ignored measure something else. */
static bool has_failed(const json_t *codes, size_t i)
{
	const json_t *code = json_array_get(codes, i);

	return code && !(json_is_integer(code) && json_integer_value(code) == 0);
}

static int take_times(struct loader *loader, struct growing *set, const json_t *times,
		      const json_t *codes)
{
	size_t count = json_array_size(times);

	for (size_t i = 0; i < count; i++) {
		const json_t *time = json_array_get(times, i);
		int ret;

		if (!json_is_number(time))
			return complain(loader, "a time in it is no number");
		if (has_failed(codes, i)) {
			set->set.invalid++;
			continue;
		}
		ret = set->is_selected ? loader_push(loader, set, json_number_value(time)) : 0;
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int take_result(struct loader *loader, json_t *object)
{
	struct json_pick pick = { object, NULL };
	const char *command = json_pick_text(&pick, "command");
	const json_t *times = json_pick_array(&pick, "times");
	const json_t *codes = json_pick_array(&pick, "exit_codes");
	struct growing *set;
	int ret;

	if (!command || pick.bad)
		return complain(loader, "a result in it is not of hyperfine's form");
	if (!times)
		return complain(loader, "has no single times; keep what hyperfine "
				"--export-json writes");
	ret = loader_add(loader, command, "time", "s", true, &set);
	if (ret < 0)
		return ret;
	set->set.format = SAMPLES_HYPERFINE;
	return take_times(loader, set, times, codes);
}

static int take_results(struct loader *loader, const json_t *root)
{
	const json_t *results = json_object_get(root, "results");
	size_t count = json_array_size(results);
	int ret = 0;

	if (!json_is_array(results))
		return complain(loader, "neither a result of actuary nor hyperfine's JSON");
	if (count > RESULTS_MAX)
		return complain(loader, "more results than a file of hyperfine can have");
	ret = loader_reserve(loader, count);
	for (size_t i = 0; i < count && ret == 0; i++)
		ret = take_result(loader, json_array_get(results, i));
	return ret;
}

int load_hyperfine(struct loader *loader)
{
	struct feed source = { .reader = &loader->reader };
	json_error_t error;
	json_t *root = json_load_callback(feed, &source, 0, &error);
	int ret;

	if (source.error == -EFBIG)
		ret = complain(loader, "too large for hyperfine's JSON");
	else if (source.error)
		ret = reader_failed(&loader->reader, loader->path, source.error, loader->why);
	else if (!root)
		ret = because(loader->why, -EUCLEAN, "%s, line %d: no JSON: %s", loader->path,
			      error.line, error.text);
	else
		ret = take_results(loader, root);
	json_decref(root);
	return ret;
}

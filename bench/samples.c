/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/samples-load.h"
#include "bench/why.h"

/* The longest line of text; a result's are shorter, too. */
#define LINE_MAX_BYTES ((size_t)1024 * 1024)

/* ---- Errors ---- */

int loader_complain(struct loader *loader, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return because(loader->why, -EUCLEAN, "%s, line %" PRIu64 ": %s", loader->path,
		       loader->reader.line, text);
}

int loader_no_memory(struct loader *loader)
{
	return because(loader->why, -ENOMEM, "cannot read %s: out of memory", loader->path);
}

/* ---- Units ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

const char *unit_of_metric(const char *metric)
{
	return ends_with(metric, "_ns") ? "ns" : ends_with(metric, "_bytes") ? "bytes" : "";
}

const struct time_unit *time_unit_find(const char *name, size_t length)
{
	static const struct time_unit units[] = {
		{ "ns", 1e-9 }, { "us", 1e-6 }, { "\xc2\xb5s", 1e-6 }, { "\xce\xbcs", 1e-6 },
		{ "ms", 1e-3 }, { "s", 1 }, { "sec", 1 }, { "m", 60 }, { "min", 60 },
		{ "h", 3600 },
	};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
			return &units[i];
	return NULL;
}

/* ---- Sets ---- */

int loader_reserve(struct loader *loader, size_t count)
{
	loader->sets = calloc(count ? count : 1, sizeof(*loader->sets));
	return loader->sets ? 0 : loader_no_memory(loader);
}

static bool is_asked_for(const struct samples_options *options, const struct samples *samples)
{
	const char *condition = options->condition, *metric = options->metric;

	if (condition && (!samples->condition || strcmp(samples->condition, condition) != 0))
		return false;
	if (!metric || strcmp(samples->metric, metric) == 0)
		return true;
	return samples->is_primary && strcmp(metric, "primary") == 0;
}

int loader_add(struct loader *loader, const char *condition, const char *metric,
	       const char *unit, bool is_primary, struct growing **ret_set)
{
	struct growing *set = &loader->sets[loader->count++];
	struct samples *samples = &set->set;

	samples->file = strdup(loader->path);
	samples->condition = condition ? strdup(condition) : NULL;
	samples->metric = strdup(metric);
	samples->unit = unit;
	samples->is_time = !*unit ? !*metric : time_unit_find(unit, strlen(unit)) != NULL;
	samples->is_primary = is_primary;
	*ret_set = set;
	if (!samples->file || !samples->metric || (condition && !samples->condition))
		return loader_no_memory(loader);
	set->is_selected = is_asked_for(loader->options, samples);
	return 0;
}

int loader_push(struct loader *loader, struct growing *set, double value)
{
	set->is_unpaired = true;
	return vector_push(&set->value, value) < 0 ? loader_no_memory(loader) : 0;
}

static int reserve_pairs(struct growing *set)
{
	size_t room = set->room ? set->room * 2 : 64;
	uint64_t *pair = realloc(set->pair, room * sizeof(*pair));
	uint8_t *slot;

	if (!pair)
		return -ENOMEM;
	set->pair = pair;
	slot = realloc(set->slot, room * sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	set->slot = slot;
	set->room = room;
	return 0;
}

int loader_push_pair(struct loader *loader, struct growing *set, double value, uint64_t pair,
		     uint8_t slot)
{
	if (set->value.n >= set->room && reserve_pairs(set) < 0)
		return loader_no_memory(loader);
	set->pair[set->value.n] = pair;
	set->slot[set->value.n] = slot;
	return vector_push(&set->value, value) < 0 ? loader_no_memory(loader) : 0;
}

/* Of what was gathered makes what was asked for. */
static int settle(struct loader *loader, struct growing *set)
{
	struct samples *samples = &set->set;

	samples->n = set->value.n;
	samples->value = set->value.value;
	set->value = (struct vector){ 0 };
	if (!set->is_unpaired && samples->n) {
		samples->pair = set->pair;
		samples->slot = set->slot;
		set->pair = NULL;
		set->slot = NULL;
	}
	if (samples->n && act_summarize(samples->value, samples->n, &samples->summary) < 0)
		return loader_no_memory(loader);
	return 0;
}

static void samples_release(struct samples *samples)
{
	free(samples->file);
	free(samples->condition);
	free(samples->metric);
	free(samples->value);
	free(samples->pair);
	free(samples->slot);
}

void samples_free(struct samples *sets, size_t count)
{
	for (size_t i = 0; sets && i < count; i++)
		samples_release(&sets[i]);
	free(sets);
}

static void loader_release(struct loader *loader)
{
	reader_release(&loader->reader);
	for (size_t i = 0; i < loader->count; i++) {
		samples_release(&loader->sets[i].set);
		vector_release(&loader->sets[i].value);
		free(loader->sets[i].pair);
		free(loader->sets[i].slot);
	}
	free(loader->sets);
}

/* A/A pairs are there or not; a condition without samples is worth telling. */
static bool is_wanted(const struct growing *set)
{
	if (!set->is_selected)
		return false;
	return set->set.n || set->set.only_summary || !set->set.is_aa;
}

static int deliver(struct loader *loader, struct samples **ret_sets, size_t *ret_count)
{
	struct samples *sets = calloc(loader->count ? loader->count : 1, sizeof(*sets));
	size_t count = 0;

	if (!sets)
		return loader_no_memory(loader);
	for (size_t i = 0; i < loader->count; i++) {
		if (!is_wanted(&loader->sets[i]))
			continue;
		sets[count++] = loader->sets[i].set;
		loader->sets[i].set = (struct samples){ 0 };
	}
	*ret_sets = sets;
	*ret_count = count;
	return 0;
}

/* ---- Loading ---- */

static enum samples_format detect(const char *text, size_t length)
{
	const char *end = memchr(text, '\n', length);

	if (!length || *text != '{')
		return SAMPLES_NUMBERS;
	return memmem(text, end ? (size_t)(end - text) : length, "\"actuary\"", 9) ?
	       SAMPLES_RESULT : SAMPLES_HYPERFINE;
}

static int load(struct loader *loader)
{
	enum samples_format format = loader->options->format;
	const char *text;
	size_t length;
	int ret = reader_peek(&loader->reader, &text, &length);

	if (ret < 0)
		return reader_failed(&loader->reader, loader->path, ret, loader->why);
	if (format == SAMPLES_DETECT)
		format = detect(text, length);
	switch (format) {
	case SAMPLES_RESULT:
		return load_result(loader);
	case SAMPLES_HYPERFINE:
		return load_hyperfine(loader);
	default:
		return load_numbers(loader);
	}
}

/* What is asked for by name and is not there; lists what is. */
static int complain_absent(struct loader *loader, bool is_metric)
{
	const struct samples_options *options = loader->options;
	char list[256] = "";
	const char *last = NULL;
	size_t at = 0;

	for (size_t i = 0; i < loader->count && at < sizeof(list); i++) {
		const struct samples *set = &loader->sets[i].set;
		const char *other = is_metric ? set->metric : set->condition;

		if (!other || (last && strcmp(last, other) == 0) || !*other)
			continue;
		last = other;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", other);
	}
	return because(loader->why, -EINVAL, "%s has no %s \"%.40s\"%s%s", loader->path,
		       is_metric ? "metric" : "condition",
		       is_metric ? options->metric : options->condition,
		       *list ? "; it has: " : "", list);
}

/* Whether sets were asked for that exist, and whether there is anything in them. */
static int check(struct loader *loader)
{
	const struct samples_options *options = loader->options;
	bool has_condition = !options->condition, has_any = false, has_values = false;
	uint64_t invalid = 0;

	for (size_t i = 0; i < loader->count; i++) {
		const struct growing *set = &loader->sets[i];
		const char *condition = set->set.condition;

		has_condition |= condition && options->condition &&
				 strcmp(condition, options->condition) == 0;
		has_any |= set->is_selected;
		has_values |= set->is_selected && (set->value.n || set->set.only_summary);
		invalid += set->set.is_primary ? set->set.invalid : 0;
	}
	if (!has_any && loader->count)
		return complain_absent(loader, has_condition);
	if (has_values)
		return 0;
	if (invalid)
		return because(loader->why, -ENODATA, "no samples in %s: %" PRIu64 " runs, none "
			       "of them valid", loader->path, invalid);
	return because(loader->why, -ENODATA, "no samples in %s", loader->path);
}

static int find_unit(struct loader *loader)
{
	const char *unit = loader->options->unit;

	loader->unit = unit ? time_unit_find(unit, strlen(unit)) : NULL;
	if (unit && !loader->unit)
		return because(loader->why, -EINVAL, "\"%.40s\" is no unit; ns, us, ms, s, min "
			       "and h are", unit);
	return 0;
}

int samples_load(const char *path, const struct samples_options *options,
		 struct samples **ret_sets, size_t *ret_count, struct act_why *ret_why)
{
	struct loader loader = { .path = path, .options = options, .why = ret_why };
	int ret = find_unit(&loader);

	if (!ret)
		ret = reader_open(&loader.reader, path, LINE_MAX_BYTES, ret_why);
	if (ret < 0)
		return ret;
	ret = load(&loader);
	if (!ret)
		ret = check(&loader);
	for (size_t i = 0; !ret && i < loader.count; i++)
		ret = settle(&loader, &loader.sets[i]);
	if (!ret)
		ret = deliver(&loader, ret_sets, ret_count);
	loader_release(&loader);
	return ret;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/samples.h"
#include "cmd.h"
#include "msg.h"

struct loaded {
	const char *path;
	struct samples *sets;
	size_t count;
};

/* ---- Files ---- */

static int load_files(struct comparable *all, const struct samples_options *options, size_t count,
		      char *const *paths)
{
	struct act_why why = { "" };

	all->file = calloc(count, sizeof(*all->file));
	if (!all->file)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct loaded *file = &all->file[i];
		int ret = samples_load(paths[i], options, &file->sets, &file->count, &why);

		if (ret < 0) {
			msg_error("%s", why.text);
			/* Told; what load() itself lacks memory for is told by its caller. */
			return ret == -ENOMEM ? -EIO : ret;
		}
		file->path = paths[i];
		all->files++;
	}
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- Arms ---- */

/* The index of the condition among those of the file, which is added if it is new. */
static size_t find_condition(const char **conditions, size_t *count, const char *condition)
{
	size_t i = 0;

	while (i < *count && !is_same(conditions[i], condition))
		i++;
	if (i == *count)
		conditions[(*count)++] = condition;
	return i;
}

/* Conditions of a file in its order; @ret has room for as many as there are sets. */
static size_t list_conditions(const struct loaded *file, const char **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		if (!file->sets[i].is_aa)
			find_condition(ret, &count, file->sets[i].condition);
	return count;
}

/* Where an arm comes from. */
struct source {
	const struct loaded *file;
	const char *condition;
};

static size_t count_sets(const struct comparable *all)
{
	size_t count = 0;

	for (size_t i = 0; i < all->files; i++)
		count += all->file[i].count;
	return count;
}

static int list_sources(const struct comparable *all, struct source **ret, size_t *ret_count)
{
	size_t room = count_sets(all) + 1, count = 0;
	const char **conditions = calloc(room, sizeof(*conditions));
	struct source *sources = calloc(room, sizeof(*sources));
	int status = 0;

	if (!conditions || !sources)
		status = -ENOMEM;
	for (size_t i = 0; status == 0 && i < all->files; i++) {
		const struct loaded *file = &all->file[i];
		size_t found = list_conditions(file, conditions);

		if (found > 1 && all->files > 1) {
			msg_error("%s has %zu conditions, and one of each file is compared; "
				  "--condition names it", file->path, found);
			status = -EINVAL;
		}
		for (size_t k = 0; k < found; k++)
			sources[count++] = (struct source){ file, conditions[k] };
	}
	free(conditions);
	*ret = sources;
	*ret_count = count;
	return status;
}

/* ---- Names ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The length without an extension that all have: "01-audit.time" of a series of them. */
static size_t stem_length(const struct comparable *all, const char *name)
{
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name || all->files < 2)
		return strlen(name);
	for (size_t i = 0; i < all->files; i++)
		if (!is_same(strrchr(base_name(all->file[i].path), '.'), dot))
			return strlen(name);
	return (size_t)(dot - name);
}

static bool are_base_names_unique(const struct comparable *all)
{
	for (size_t i = 0; i < all->files; i++)
		for (size_t k = 0; k < i; k++)
			if (is_same(base_name(all->file[i].path), base_name(all->file[k].path)))
				return false;
	return true;
}

static char *name_arm(const struct comparable *all, const struct source *source)
{
	const char *name;

	if (all->files == 1)
		return strdup(source->condition ? source->condition : source->file->path);
	if (!are_base_names_unique(all))
		return strdup(source->file->path);
	name = base_name(source->file->path);
	return strndup(name, stem_length(all, name));
}

/* ---- Metrics ---- */

static const struct samples *find_set(const struct source *source, const char *metric)
{
	for (size_t i = 0; i < source->file->count; i++) {
		const struct samples *set = &source->file->sets[i];

		if (!set->is_aa && is_same(set->condition, source->condition) &&
		    is_same(set->metric, metric))
			return set;
	}
	return NULL;
}

static bool has_values(const struct samples *set)
{
	return set && (set->n || set->only_summary);
}

/* Whether the first arm and another have it. */
static bool is_common(const struct source *sources, size_t count, const char *metric)
{
	if (!has_values(find_set(&sources[0], metric)))
		return false;
	for (size_t i = 1; i < count; i++)
		if (has_values(find_set(&sources[i], metric)))
			return true;
	return false;
}

static int check_units(const struct source *sources, size_t count, const struct samples *first)
{
	for (size_t i = 1; i < count; i++) {
		const struct samples *set = find_set(&sources[i], first->metric);

		if (!set || is_same(set->unit, first->unit))
			continue;
		msg_error("%s is in \"%s\", %s in \"%s\": these cannot be compared",
			  first->file, first->unit, set->file, set->unit);
		return -EINVAL;
	}
	return 0;
}

static int list_metrics(struct comparable *all, const struct source *sources, size_t count)
{
	const struct loaded *file = sources[0].file;
	int ret = 0;

	all->metric = calloc(file->count, sizeof(*all->metric));
	if (!all->metric)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < file->count; i++) {
		const struct samples *set = &file->sets[i];

		if (set->is_aa || !is_same(set->condition, sources[0].condition) ||
		    !is_common(sources, count, set->metric))
			continue;
		ret = check_units(sources, count, set);
		all->metric[all->metrics] = (struct quantity){
			.name = set->metric, .unit = set->unit, .is_time = set->is_time,
			.is_primary = !all->metrics, .noise = NAN,
		};
		all->metrics++;
	}
	if (ret == 0 && !all->metrics) {
		msg_error("%s and %s have no metric in common that was measured",
			  file->path, sources[count - 1].file->path);
		ret = -EINVAL;
	}
	return ret;
}

/* ---- Sets ---- */

static int fill_set(struct set *set, const struct samples *samples)
{
	set->n = samples->n;
	set->value = samples->only_summary ? NULL : samples->value;
	set->pair = samples->pair;
	set->slot = samples->slot;
	set->summary = samples->summary;
	if (samples->only_summary)
		set->n = (size_t)fmin(samples->summary.n, (double)(SIZE_MAX >> 12));
	return set_prepare(set);
}

static int fill_arm(struct comparable *all, struct arm *arm, const struct source *source)
{
	int ret = 0;

	arm->name = name_arm(all, source);
	arm->file = (size_t)(source->file - all->file);
	arm->set = calloc(all->metrics, sizeof(*arm->set));
	if (!arm->name || !arm->set)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < all->metrics; i++) {
		const struct samples *samples = find_set(source, all->metric[i].name);

		if (samples && i == 0) {
			arm->invalid = samples->invalid;
			arm->warmups = samples->warmups;
			arm->unknown = samples->unknown;
		}
		if (has_values(samples))
			ret = fill_set(&arm->set[i], samples);
	}
	return ret;
}

static int fill_arms(struct comparable *all, const struct source *sources, size_t count)
{
	int ret = 0;

	all->arm = calloc(count, sizeof(*all->arm));
	if (!all->arm)
		return -ENOMEM;
	for (size_t i = 0; ret == 0 && i < count; i++) {
		all->arms++;
		ret = fill_arm(all, &all->arm[i], &sources[i]);
	}
	return ret;
}

/* ---- What runs of the same differ by ---- */

/* The runs of slot 0 or 1 of A/A pairs, as if they were an arm; 0 or -ENOMEM. */
static int take_slot(const struct samples *aa, uint8_t slot, struct set *ret)
{
	double *value = malloc(aa->n * sizeof(*value));
	uint64_t *pair = malloc(aa->n * sizeof(*pair));

	*ret = (struct set){ .value = value, .pair = pair };
	if (!value || !pair)
		return -ENOMEM;
	for (size_t i = 0; i < aa->n; i++) {
		if (aa->slot[i] != slot)
			continue;
		value[ret->n] = aa->value[i];
		pair[ret->n++] = aa->pair[i];
	}
	return 0;
}

/* Half the interval of log(second / first) of A/A pairs. */
static int measure_noise(const struct pairs *pairs, double level, struct quantity *metric)
{
	double *d = malloc(pairs->n * sizeof(*d)), middle, half;
	struct act_interval interval;
	int ret = -ENOMEM;

	if (d) {
		pairs_differences(pairs, true, d);
		ret = act_pseudomedian(d, pairs->n, level, &middle, &interval);
	}
	free(d);
	if (ret < 0)
		return ret;
	half = expm1((interval.high - interval.low) / 2);
	if (isnan(half) || half < metric->noise)
		return 0;
	metric->noise = half;
	metric->noise_pairs = pairs->n;
	return 0;
}

static bool is_all_positive(const struct samples *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (!(set->value[i] > 0))
			return false;
	return true;
}

static int take_noise(const struct samples *aa, double level, struct quantity *metric)
{
	struct set first = { 0 }, second = { 0 };
	struct pairs pairs = { 0 };
	const char *why = NULL;
	int ret;

	if (!aa->n || !aa->slot || !is_all_positive(aa))
		return 0;
	ret = take_slot(aa, 0, &first);
	if (ret == 0)
		ret = take_slot(aa, 1, &second);
	if (ret == 0 && first.n && second.n)
		ret = pairs_make(&first, &second, false, &pairs, &why);
	if (ret == 0 && pairs.n)
		ret = measure_noise(&pairs, level, metric);
	pairs_release(&pairs);
	free((double *)first.value);
	free((uint64_t *)first.pair);
	free((double *)second.value);
	free((uint64_t *)second.pair);
	/* Broken A/A pairs tell nothing of the noise; what they were run for is sound. */
	return ret == -EINVAL ? 0 : ret;
}

/* Of several files the noisiest counts. */
static int find_noise(struct comparable *all, double level)
{
	int ret = 0;

	for (size_t m = 0; m < all->metrics; m++)
		for (size_t f = 0; f < all->files; f++)
			for (size_t i = 0; ret == 0 && i < all->file[f].count; i++) {
				const struct samples *set = &all->file[f].sets[i];

				if (set->is_aa && is_same(set->metric, all->metric[m].name))
					ret = take_noise(set, level, &all->metric[m]);
			}
	return ret;
}

/* ---- All of it ---- */

static int count_arms(const struct comparable *all, size_t count)
{
	if (count >= 2)
		return 0;
	if (count)
		msg_error("%s has but one set of values, and a comparison takes two",
			  all->file[0].path);
	else
		msg_error("%s has no values to compare", all->file[0].path);
	return -EINVAL;
}

static int look_around(struct comparable *all, const struct source *sources)
{
	struct origin *origins = calloc(all->arms, sizeof(*origins));
	int ret = -ENOMEM;

	for (size_t i = 0; origins && i < all->arms; i++) {
		const struct loaded *file = &all->file[all->arm[i].file];

		origins[i] = (struct origin){
			.path = file->path, .condition = sources[i].condition,
			.is_result = file->count && file->sets[0].format == SAMPLES_RESULT,
		};
	}
	if (origins)
		ret = comparable_look_around(all, origins);
	free(origins);
	return ret;
}

static int load(struct comparable *all, const struct samples_options *options, double level,
		size_t count, char *const *paths)
{
	struct source *sources = NULL;
	size_t source_count = 0;
	int ret = load_files(all, options, count, paths);

	if (ret == 0)
		ret = list_sources(all, &sources, &source_count);
	if (ret == 0)
		ret = count_arms(all, source_count);
	if (ret == 0)
		ret = list_metrics(all, sources, source_count);
	if (ret == 0)
		ret = fill_arms(all, sources, source_count);
	if (ret == 0)
		ret = find_noise(all, level);
	if (ret == 0)
		ret = look_around(all, sources);
	free(sources);
	return ret;
}

/* What was said already needs no second message. */
static int status_of_load(int error)
{
	switch (error) {
	case 0:
		return STATUS_OK;
	case -ENOMEM:
		msg_error("out of memory");
		return STATUS_FAILED;
	case -EINVAL:
		return STATUS_USAGE;
	default:
		return status_of(error);
	}
}

int comparable_load(const struct samples_options *options, double level, size_t count,
		    char *const *paths, struct comparable *ret)
{
	struct comparable all = { 0 };
	int status = status_of_load(load(&all, options, level, count, paths));

	if (status)
		comparable_free(&all);
	else
		*ret = all;
	return status;
}

static void free_arm(const struct comparable *all, struct arm *arm)
{
	for (size_t i = 0; arm->set && i < all->metrics; i++)
		free(arm->set[i].sorted);
	free(arm->set);
	free(arm->name);
}

void comparable_free(struct comparable *all)
{
	for (size_t i = 0; i < all->arms; i++)
		free_arm(all, &all->arm[i]);
	for (size_t i = 0; i < all->differences; i++) {
		free(all->difference[i].key);
		free(all->difference[i].base);
		free(all->difference[i].other);
	}
	for (size_t i = 0; i < all->files; i++)
		samples_free(all->file[i].sets, all->file[i].count);
	free(all->arm);
	free(all->metric);
	free(all->difference);
	free(all->file);
	*all = (struct comparable){ 0 };
}

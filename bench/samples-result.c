/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of a result file: of each metric a set for each condition. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#include "bench/result-open.h"
#include "bench/result.h"
#include "bench/run.h"
#include "bench/samples-load.h"
#include "bench/why.h"

/* A metric, and what the run at hand has of it. */
struct gathered {
	const char *name;
	size_t index;         /* in a sample's values; SIZE_MAX: the series */
	bool is_per_op;
	size_t first;         /* of its sets: each condition's, then each one's A/A pairs */
	struct vector value;  /* of the run; per run only */
	size_t before;        /* values of its set before this run; each only */
	uint64_t unknown, warmups;
};

struct gathering {
	struct loader *loader;
	const struct result_header *header;
	struct gathered *metrics;
	size_t count;
	size_t conditions;    /* 1 if the file names none */
	struct result_run run;
	size_t group;         /* which of the metrics' sets the run's are */
	bool is_left_out;     /* the sample at hand is warm-up, and so is its series */
};

static bool is_each(const struct gathering *all)
{
	return all->loader->options->per == SAMPLES_EACH;
}

static struct growing *set_of(const struct gathering *all, const struct gathered *metric)
{
	return &all->loader->sets[metric->first + all->group];
}

static bool is_kept(const struct gathering *all, const struct gathered *metric)
{
	return set_of(all, metric)->is_selected;
}

/* ---- One value ---- */

static int keep(struct gathering *all, struct gathered *metric, double value)
{
	if (!isfinite(value)) {
		metric->unknown++;
		return 0;
	}
	if (is_each(all))
		return loader_push(all->loader, set_of(all, metric), value);
	return vector_push(&metric->value, value) < 0 ? loader_no_memory(all->loader) : 0;
}

static bool is_warmup(struct gathering *all, bool is_sample_warmup)
{
	return (is_sample_warmup || all->run.is_warmup) && !all->loader->options->with_warmup;
}

/* ---- What the reader gives ---- */

static int begin_run(void *arg, const struct result_run *run)
{
	struct gathering *all = arg;

	all->run = *run;
	all->run.facts = NULL;
	if (all->header->condition_count && run->condition == SIZE_MAX)
		return because(all->loader->why, -EUCLEAN, "%s: run %" PRIu64 " is of no condition",
			       all->loader->path, run->run);
	all->group = (run->condition == SIZE_MAX ? 0 : run->condition) +
		     (run->is_aa ? all->conditions : 0);
	for (size_t i = 0; i < all->count; i++) {
		struct gathered *metric = &all->metrics[i];

		metric->value.n = 0;
		metric->unknown = metric->warmups = 0;
		metric->before = set_of(all, metric)->value.n;
	}
	return 0;
}

static int add_sample(void *arg, const struct sample *sample)
{
	struct gathering *all = arg;
	bool is_left_out = is_warmup(all, sample->is_warmup);

	for (size_t i = 0; i < all->count; i++) {
		struct gathered *metric = &all->metrics[i];
		double value;
		int ret;

		if (!is_kept(all, metric))
			continue;
		metric->warmups += is_left_out;
		if (metric->index == SIZE_MAX || is_left_out)
			continue;
		value = sample->value[metric->index] / (metric->is_per_op ? sample->ops : 1);
		ret = keep(all, metric, value);
		if (ret < 0)
			return ret;
	}
	/* The series that follows is the sample's. */
	all->is_left_out = is_left_out;
	return 0;
}

static int add_series(void *arg, const double *values, size_t count)
{
	struct gathering *all = arg;
	struct gathered *metric = &all->metrics[all->count - 1];
	struct vector *vector = is_each(all) ? &set_of(all, metric)->value : &metric->value;

	if (all->is_left_out || metric->index != SIZE_MAX || !is_kept(all, metric))
		return 0;
	set_of(all, metric)->is_unpaired |= is_each(all);
	return vector_append(vector, values, count) < 0 ? loader_no_memory(all->loader) : 0;
}

/* The run's value is the median of its samples; what it has none of is unknown. */
static int settle_run(struct gathering *all, struct gathered *metric)
{
	struct growing *set = set_of(all, metric);
	const struct result_run *run = &all->run;
	double median;

	if (!metric->value.n) {
		set->set.unknown += !all->run.is_warmup;
		return 0;
	}
	if (act_sort(metric->value.value, metric->value.n) < 0)
		return loader_no_memory(all->loader);
	median = act_quantile(metric->value.value, metric->value.n, 0.5);
	if (run->pair == ACT_UNKNOWN || run->slot > UINT8_MAX)
		return loader_push(all->loader, set, median);
	return loader_push_pair(all->loader, set, median, run->pair, (uint8_t)run->slot);
}

static int end_run(void *arg, const struct result_end *end)
{
	struct gathering *all = arg;
	/* The samples of a run that broke off are whole, each by itself. */
	bool is_good = end->is_valid || (end->is_unfinished && is_each(all));

	for (size_t i = 0; i < all->count; i++) {
		struct gathered *metric = &all->metrics[i];
		struct growing *set = set_of(all, metric);
		int ret;

		set->set.invalid += !is_good;
		if (!is_good)
			set->value.n = metric->before;
		if (!is_good || !is_kept(all, metric))
			continue;
		set->set.warmups += metric->warmups;
		if (is_each(all)) {
			set->set.unknown += metric->unknown;
			continue;
		}
		ret = settle_run(all, metric);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- Pairs ---- */

struct place {
	uint64_t pair;
	uint8_t slot;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->pair != other->pair)
		return one->pair < other->pair ? -1 : 1;
	return one->slot - other->slot;
}

/* A pair has one run of each condition, or two of one in two places. */
static int check_pairs(struct loader *loader, const struct growing *set)
{
	size_t n = set->is_unpaired ? 0 : set->value.n;
	struct place *places = calloc(n ? n : 1, sizeof(*places));
	int ret = 0;

	if (!places)
		return loader_no_memory(loader);
	for (size_t i = 0; i < n; i++)
		places[i] = (struct place){ set->pair[i], set->set.is_aa ? set->slot[i] : 0 };
	qsort(places, n, sizeof(*places), compare_places);
	for (size_t i = 1; i < n && !ret; i++)
		if (compare_places(&places[i - 1], &places[i]) == 0)
			ret = because(loader->why, -EUCLEAN, "%s has pair %" PRIu64 " of condition "
				      "\"%s\" twice", loader->path, places[i].pair,
				      set->set.condition ? set->set.condition : "");
	free(places);
	return ret;
}

/* ---- The whole ---- */

static bool is_primary(const struct result_header *header, const char *name)
{
	if (!header->primary)
		return header->metric_count && name == header->metrics[0];
	return strcmp(header->primary, name) == 0;
}

/* Sizes are states, and a series has its own single values: those are of no operation. */
static void list_metrics(struct gathering *all)
{
	const struct result_header *header = all->header;

	for (size_t i = 0; i < header->metric_count; i++) {
		const char *name = header->metrics[i];

		all->metrics[all->count++] = (struct gathered){
			.name = name, .index = i,
			.is_per_op = strcmp(unit_of_metric(name), "bytes") != 0,
		};
	}
	if (header->series)
		all->metrics[all->count++] = (struct gathered){
			.name = header->series, .index = SIZE_MAX,
		};
}

static int add_sets(struct gathering *all, struct gathered *metric)
{
	bool primary = is_primary(all->header, metric->name);

	metric->first = all->loader->count;
	for (size_t i = 0; i < all->conditions * 2; i++) {
		const char *condition = all->header->condition_count ?
					all->header->conditions[i % all->conditions] : NULL;
		struct growing *set;
		int ret = loader_add(all->loader, condition, metric->name,
				     unit_of_metric(metric->name), primary, &set);

		if (ret < 0)
			return ret;
		set->set.is_aa = i >= all->conditions;
		set->set.format = SAMPLES_RESULT;
	}
	return 0;
}

static int begin(struct gathering *all)
{
	const struct result_header *header = all->header;
	size_t count = header->metric_count + (header->series != NULL);
	int ret;

	all->conditions = header->condition_count ? header->condition_count : 1;
	all->metrics = calloc(count, sizeof(*all->metrics));
	ret = loader_reserve(all->loader, count * all->conditions * 2);
	if (!all->metrics || ret < 0)
		return loader_no_memory(all->loader);
	list_metrics(all);
	for (int rank = 1; rank >= 0 && ret == 0; rank--)
		for (size_t i = 0; i < all->count && ret == 0; i++)
			if (is_primary(header, all->metrics[i].name) == rank)
				ret = add_sets(all, &all->metrics[i]);
	return ret;
}

static int gather(struct gathering *all, struct result *result)
{
	static const struct result_visitor visitor = {
		.run = begin_run, .sample = add_sample, .series = add_series, .end = end_run,
	};
	struct loader *loader = all->loader;
	int ret = begin(all);

	if (!ret)
		ret = result_read(result, &visitor, all, loader->why);
	for (size_t i = 0; i < loader->count && !ret; i++)
		ret = check_pairs(loader, &loader->sets[i]);
	for (size_t i = 0; i < all->count; i++)
		vector_release(&all->metrics[i].value);
	free(all->metrics);
	return ret;
}

int load_result(struct loader *loader)
{
	struct gathering all = { .loader = loader };
	struct result *result;
	int ret = result_open_reader(&loader->reader, loader->path, &result, loader->why);

	if (ret < 0)
		return ret;
	all.header = result_header(result);
	ret = gather(&all, result);
	result_close(result);
	return ret;
}

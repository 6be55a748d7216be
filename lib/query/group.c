/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Groups of records.
 *
 * A batch is taken in columns: first each row's group is found, then each
 * measure runs down its column.  With one text key a group is looked up once
 * for each different text of the batch, not once a row; with other keys rows
 * are hashed, but not where they equal the row before.
 */
#include <actuary/query.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "intern.h"
#include "keys.h"
#include "measure.h"

#define DEFAULT_MEMORY (40 << 20)
#define ROOM_MIN 64 /* a power of two, as every room */
#define NO_GROUP UINT32_MAX
#define NO_TEXT UINT32_MAX
/* Key value of a text that there was no room to keep. */
#define NOT_KEPT UINT64_MAX

struct order {
	uint64_t rank; /* larger is greater */
	uint32_t group;
	bool is_known;
};

struct act_groups {
	size_t key_count, metric_count, measure_count;
	struct act_key key[ACT_KEYS_MAX];
	struct keys_span span[ACT_KEYS_MAX];
	struct act_metric metric[ACT_METRICS_MAX];
	size_t measure_of[ACT_METRICS_MAX]; /* index of the metric's measure */
	struct measure measure[ACT_METRICS_MAX];
	struct intern texts;
	struct histogram_budget budget;
	size_t limit; /* bytes for groups and texts */

	size_t count, room;
	uint64_t *keys;    /* key_count a group */
	uint64_t *records; /* one a group */
	uint32_t *bucket;  /* 2 * room: group + 1; 0: free */
	uint32_t other;    /* the group of the others, NO_GROUP if there is none */
	struct order *order; /* NULL: as they appeared */

	/* Of one batch. */
	size_t row_room, text_room;
	uint32_t *group;  /* each row's */
	uint64_t *values; /* each row's keys, a key at a time */
	uint64_t *picked[2]; /* of columns, the values in the rows that are added */
	uint32_t *of_text; /* each text's number or group */
};

/* ---- Groups by their keys ---- */

static uint64_t hash_key(const uint64_t *key, size_t count)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < count; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 32;
	}
	return hash;
}

/* Keys are short: a loop takes less than a call of memcmp(3). */
static bool is_same_key(const uint64_t *a, const uint64_t *b, size_t count)
{
	uint64_t difference = 0;

	for (size_t i = 0; i < count; i++)
		difference |= a[i] ^ b[i];
	return !difference;
}

static uint32_t *find_bucket(const struct act_groups *groups, const uint64_t *key)
{
	size_t mask = 2 * groups->room - 1;
	size_t at = hash_key(key, groups->key_count) & mask;

	/* There is always a free one: at most half of them are taken. */
	for (;; at = (at + 1) & mask) {
		uint32_t group = groups->bucket[at];

		if (!group || is_same_key(&groups->keys[(group - 1) * groups->key_count], key,
					  groups->key_count))
			return &groups->bucket[at];
	}
}

static void rebuild_buckets(struct act_groups *groups)
{
	memset(groups->bucket, 0, 2 * groups->room * sizeof(*groups->bucket));
	for (size_t i = 0; i < groups->count; i++)
		if (i != groups->other)
			*find_bucket(groups, &groups->keys[i * groups->key_count]) =
				(uint32_t)i + 1;
}

static size_t bytes_a_group(const struct act_groups *groups)
{
	return groups->key_count * sizeof(*groups->keys) + sizeof(*groups->records) +
	       2 * sizeof(*groups->bucket) + groups->measure_count * sizeof(struct cell);
}

static int grow_array(void *array_pointer, size_t room, size_t size)
{
	void *array, *grown;

	memcpy(&array, array_pointer, sizeof(array));
	grown = reallocarray(array, room, size);
	if (!grown)
		return -ENOMEM;
	memcpy(array_pointer, &grown, sizeof(grown));
	/* cppcheck-suppress memleak ; copied as bytes, which it does not follow */
	return 0;
}

/* When it fails some arrays are larger than they need be, which harms nobody. */
static int grow(struct act_groups *groups, size_t room)
{
	int ret = grow_array(&groups->keys, room, groups->key_count * sizeof(*groups->keys));

	if (!ret)
		ret = grow_array(&groups->records, room, sizeof(*groups->records));
	if (!ret)
		ret = grow_array(&groups->bucket, 2 * room, sizeof(*groups->bucket));
	for (size_t i = 0; i < groups->measure_count && !ret; i++)
		ret = grow_array(&groups->measure[i].cells, room, sizeof(struct cell));
	if (ret)
		return ret;
	groups->room = room;
	rebuild_buckets(groups);
	return 0;
}

static uint32_t add_group(struct act_groups *groups, const uint64_t *key)
{
	size_t group = groups->count++;

	memcpy(&groups->keys[group * groups->key_count], key, groups->key_count * sizeof(*key));
	groups->records[group] = 0;
	for (size_t i = 0; i < groups->measure_count; i++)
		cell_init(&groups->measure[i].cells[group]);
	return (uint32_t)group;
}

/* There is always room for one more, kept for this. */
static uint32_t other_group(struct act_groups *groups)
{
	uint64_t key[ACT_KEYS_MAX];

	if (groups->other != NO_GROUP)
		return groups->other;
	for (size_t i = 0; i < ACT_KEYS_MAX; i++)
		key[i] = ACT_UNKNOWN;
	groups->other = add_group(groups, key);
	return groups->other;
}

/* One place is kept for the others. */
static bool has_place(const struct act_groups *groups)
{
	return groups->count + 1 < groups->room;
}

static bool may_grow(const struct act_groups *groups)
{
	return 2 * groups->room * bytes_a_group(groups) + groups->texts.bytes <= groups->limit;
}

static int find_group(struct act_groups *groups, const uint64_t *key, uint32_t *ret_group)
{
	uint32_t *bucket = find_bucket(groups, key);
	int ret;

	if (*bucket) {
		*ret_group = *bucket - 1;
		return 0;
	}
	if (!has_place(groups) && !may_grow(groups)) {
		*ret_group = other_group(groups);
		return 0;
	}
	if (!has_place(groups)) {
		ret = grow(groups, 2 * groups->room);
		if (ret < 0)
			return ret;
		bucket = find_bucket(groups, key);
	}
	*ret_group = add_group(groups, key);
	*bucket = *ret_group + 1;
	return 0;
}

/* ---- Texts ---- */

/* The text's number among all texts; NOT_KEPT if there is no room for another. */
static int keep_text(struct act_groups *groups, const char *text, size_t length,
		     uint64_t *ret_number)
{
	int64_t known = intern_find(&groups->texts, text, length);
	uint32_t number;
	int ret;

	*ret_number = NOT_KEPT;
	if (known >= 0)
		*ret_number = (uint64_t)known;
	else if (groups->texts.bytes + length <= groups->limit / 2) {
		ret = intern_add(&groups->texts, text, length, &number);
		if (ret < 0)
			return ret;
		*ret_number = number;
	}
	return 0;
}

static int ready_texts(struct act_groups *groups, size_t count)
{
	if (count > groups->text_room) {
		int ret = grow_array(&groups->of_text, count, sizeof(*groups->of_text));

		if (ret < 0)
			return ret;
		groups->text_room = count;
	}
	for (size_t i = 0; i < count; i++)
		groups->of_text[i] = NO_TEXT;
	return 0;
}

/* The group of one text, where it is the only key. */
static int group_of_text(struct act_groups *groups, const struct act_texts *texts, uint64_t text,
			 uint32_t *ret_group)
{
	uint64_t number = ACT_UNKNOWN;
	int ret = 0;

	if (text < texts->count)
		ret = keep_text(groups, texts->text[text], texts->length[text], &number);
	if (ret < 0)
		return ret;
	if (number == NOT_KEPT) {
		*ret_group = other_group(groups);
		return 0;
	}
	return find_group(groups, &number, ret_group);
}

static int find_by_text(struct act_groups *groups, const struct act_texts *texts,
			const uint64_t *text, size_t count)
{
	int ret = ready_texts(groups, texts->count);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < count; i++) {
		bool is_there = text[i] < texts->count;
		uint32_t group = is_there ? groups->of_text[text[i]] : NO_GROUP;

		if (group == NO_GROUP) {
			ret = group_of_text(groups, texts, text[i], &group);
			if (ret < 0)
				return ret;
			if (is_there)
				groups->of_text[text[i]] = group;
		}
		groups->group[i] = group;
	}
	return 0;
}

/* ---- Any keys ---- */

static int text_values(struct act_groups *groups, enum act_field field,
		       const struct act_batch *batch, const uint32_t *rows, size_t count,
		       uint64_t *ret_values)
{
	const struct act_texts *texts = &batch->text[field];
	int ret = ready_texts(groups, texts->count);

	for (size_t i = 0; i < count && ret >= 0; i++) {
		uint64_t text = batch->column[field][rows[i]];

		ret_values[i] = ACT_UNKNOWN;
		if (text >= texts->count)
			continue;
		if (groups->of_text[text] != NO_TEXT) {
			ret_values[i] = groups->of_text[text];
			continue;
		}
		ret = keep_text(groups, texts->text[text], texts->length[text], &ret_values[i]);
		if (ret_values[i] != NOT_KEPT)
			groups->of_text[text] = (uint32_t)ret_values[i];
	}
	return ret;
}

static bool is_kept(const struct act_groups *groups, const uint64_t *key)
{
	for (size_t i = 0; i < groups->key_count; i++)
		if (key[i] == NOT_KEPT && keys_is_text(&groups->key[i]))
			return false;
	return true;
}

static int find_by_values(struct act_groups *groups, size_t count)
{
	uint64_t key[ACT_KEYS_MAX], last[ACT_KEYS_MAX];
	uint32_t group = NO_GROUP;
	int ret = 0;

	for (size_t i = 0; i < count && ret >= 0; i++) {
		for (size_t k = 0; k < groups->key_count; k++)
			key[k] = groups->values[k * groups->row_room + i];
		if (group == NO_GROUP || !is_same_key(key, last, groups->key_count)) {
			if (is_kept(groups, key))
				ret = find_group(groups, key, &group);
			else
				group = other_group(groups);
			memcpy(last, key, groups->key_count * sizeof(*key));
		}
		groups->group[i] = group;
	}
	return ret;
}

static int find_by_keys(struct act_groups *groups, const struct act_batch *batch,
			const uint32_t *rows, size_t count)
{
	int ret = 0;

	for (size_t k = 0; k < groups->key_count && ret >= 0; k++) {
		const struct act_key *key = &groups->key[k];
		uint64_t *values = groups->values + k * groups->row_room;

		if (keys_is_text(key))
			ret = text_values(groups, key->field, batch, rows, count, values);
		else
			keys_values(key, &groups->span[k], batch, rows, count, values);
	}
	return ret < 0 ? ret : find_by_values(groups, count);
}

/* ---- Adding ---- */

static int ready_rows(struct act_groups *groups, size_t count)
{
	int ret;

	if (count <= groups->row_room)
		return 0;
	ret = grow_array(&groups->group, count, sizeof(*groups->group));
	if (!ret)
		ret = grow_array(&groups->values, count,
				 groups->key_count * sizeof(*groups->values));
	for (size_t i = 0; i < 2 && !ret; i++)
		ret = grow_array(&groups->picked[i], count, sizeof(*groups->picked[i]));
	if (!ret)
		groups->row_room = count;
	return ret;
}

/* The column's values in these rows only; the column itself if that is all of them. */
static const uint64_t *pick(const struct act_batch *batch, enum act_field field,
			    const uint32_t *rows, size_t count, uint64_t *room)
{
	const uint64_t *column = batch->column[field];

	if (count == batch->rows)
		return column;
	for (size_t i = 0; i < count; i++)
		room[i] = column[rows[i]];
	return room;
}

static void add_measure(struct act_groups *groups, struct measure *measure,
			const struct act_batch *batch, const uint32_t *rows, size_t count)
{
	const uint64_t *values = pick(batch, measure->field, rows, count, groups->picked[0]);
	const uint64_t *per = NULL;

	if (measure->what == MEASURE_RATIO)
		per = pick(batch, measure->per, rows, count, groups->picked[1]);
	measure_add(measure, values, per, groups->group, count, &groups->budget);
}

int act_groups_add(struct act_groups *groups, const struct act_batch *batch,
		   const uint32_t *rows, size_t count)
{
	int ret;

	if (!count)
		return 0;
	ret = ready_rows(groups, count);
	if (ret < 0)
		return ret;
	if (groups->key_count == 1 && keys_is_text(&groups->key[0]))
		ret = find_by_text(groups, &batch->text[groups->key[0].field],
				   pick(batch, groups->key[0].field, rows, count,
					groups->picked[0]), count);
	else
		ret = find_by_keys(groups, batch, rows, count);
	if (ret < 0)
		return ret;
	free(groups->order);
	groups->order = NULL;
	for (size_t i = 0; i < count; i++)
		groups->records[groups->group[i]]++;
	for (size_t i = 0; i < groups->measure_count; i++)
		add_measure(groups, &groups->measure[i], batch, rows, count);
	return 0;
}

/* ---- Making ---- */

/* Metrics of the same field share a measure. */
static void add_metric(struct act_groups *groups, const struct act_metric *metric)
{
	size_t at = groups->metric_count++, i = 0;

	groups->metric[at] = *metric;
	if (metric->type == ACT_METRIC_COUNT)
		return;
	while (i < groups->measure_count && !measure_serves(&groups->measure[i], metric))
		i++;
	if (i == groups->measure_count)
		groups->measure[groups->measure_count++] = measure_for(metric);
	groups->measure[i].keep |= measure_keep_for(metric);
	groups->measure_of[at] = i;
}

static bool are_valid(const struct act_groups_options *options)
{
	if (options->size != sizeof(*options) || !options->key_count ||
	    options->key_count > ACT_KEYS_MAX || options->metric_count > ACT_METRICS_MAX)
		return false;
	for (size_t i = 0; i < options->key_count; i++)
		if (options->keys[i].type == ACT_KEY_FIELD && options->keys[i].field >= ACT_FIELDS)
			return false;
	for (size_t i = 0; i < options->metric_count; i++)
		if (!act_metric_is_valid(&options->metrics[i]))
			return false;
	return true;
}

int act_groups_new(const struct act_groups_options *options, struct act_groups **ret_groups)
{
	struct act_groups *groups;
	size_t memory = options->memory_bytes ? options->memory_bytes : DEFAULT_MEMORY;

	if (!are_valid(options))
		return -EINVAL;
	groups = calloc(1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	groups->limit = memory / 2;
	groups->budget.limit = memory / 2;
	groups->other = NO_GROUP;
	groups->key_count = options->key_count;
	memcpy(groups->key, options->keys, options->key_count * sizeof(*options->keys));
	for (size_t i = 0; i < options->metric_count; i++)
		add_metric(groups, &options->metrics[i]);
	if (grow(groups, ROOM_MIN) < 0) {
		act_groups_free(groups);
		return -ENOMEM;
	}
	*ret_groups = groups;
	return 0;
}

void act_groups_free(struct act_groups *groups)
{
	if (!groups)
		return;
	for (size_t i = 0; i < groups->measure_count; i++) {
		struct measure *measure = &groups->measure[i];

		for (size_t j = 0; j < groups->count && measure->keep & KEEP_HISTOGRAM; j++)
			histogram_release(&measure->cells[j].histogram);
		free(measure->cells);
	}
	intern_release(&groups->texts);
	free(groups->keys);
	free(groups->records);
	free(groups->bucket);
	free(groups->order);
	free(groups->group);
	free(groups->values);
	free(groups->picked[0]);
	free(groups->picked[1]);
	free(groups->of_text);
	free(groups);
}

void act_groups_fields(const struct act_groups *groups, struct act_field_set *fields)
{
	for (size_t i = 0; i < groups->key_count; i++)
		keys_fields(&groups->key[i], fields);
	for (size_t i = 0; i < groups->measure_count; i++)
		measure_fields(&groups->measure[i], fields);
}

/* ---- Results ---- */

size_t act_groups_count(const struct act_groups *groups)
{
	return groups->count;
}

bool act_groups_is_full(const struct act_groups *groups)
{
	return groups->other != NO_GROUP;
}

static uint32_t group_at(const struct act_groups *groups, size_t at)
{
	return groups->order ? groups->order[at].group : (uint32_t)at;
}

bool act_groups_is_other(const struct act_groups *groups, size_t at)
{
	return group_at(groups, at) == groups->other;
}

uint64_t act_groups_key(const struct act_groups *groups, size_t at, size_t key,
			const char **ret_text, size_t *ret_length)
{
	uint64_t value = groups->keys[group_at(groups, at) * groups->key_count + key];
	bool is_text = keys_is_text(&groups->key[key]) && value < groups->texts.count;

	if (ret_text) {
		*ret_text = is_text ? groups->texts.text[value] : NULL;
		*ret_length = is_text ? groups->texts.length[value] : 0;
	}
	return value;
}

uint64_t act_groups_value(const struct act_groups *groups, size_t at, size_t metric)
{
	uint32_t group = group_at(groups, at);

	if (groups->metric[metric].type == ACT_METRIC_COUNT)
		return groups->records[group];
	return measure_value(&groups->measure[groups->measure_of[metric]], group,
			     groups->records[group], &groups->metric[metric]);
}

double act_groups_real(const struct act_groups *groups, size_t at, size_t metric)
{
	uint32_t group = group_at(groups, at);

	if (groups->metric[metric].type == ACT_METRIC_COUNT)
		return (double)groups->records[group];
	return measure_real(&groups->measure[groups->measure_of[metric]], group,
			    groups->records[group], &groups->metric[metric]);
}

/* ---- Order ---- */

struct sorting {
	const struct act_groups *groups;
	bool is_descending;
	size_t text_key; /* sort by the text of this key; SIZE_MAX: by rank */
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_texts(const struct intern *texts, uint64_t a, uint64_t b)
{
	size_t length, length_a, length_b;
	int order;

	if (a >= texts->count || b >= texts->count)
		return compare_numbers(a, b);
	length_a = texts->length[a];
	length_b = texts->length[b];
	length = length_a < length_b ? length_a : length_b;
	order = memcmp(texts->text[a], texts->text[b], length);
	return order ? order : compare_numbers(length_a, length_b);
}

static int compare_key(const struct act_groups *groups, uint32_t a, uint32_t b, size_t key)
{
	uint64_t value_a = groups->keys[a * groups->key_count + key];
	uint64_t value_b = groups->keys[b * groups->key_count + key];

	return keys_is_text(&groups->key[key]) ? compare_texts(&groups->texts, value_a, value_b) :
						 compare_numbers(value_a, value_b);
}

static int compare_groups(const void *a_void, const void *b_void, void *arg)
{
	const struct order *a = a_void, *b = b_void;
	const struct sorting *sorting = arg;
	const struct act_groups *groups = sorting->groups;
	int order;

	if (a->is_known != b->is_known)
		return a->is_known ? -1 : 1;
	order = sorting->text_key == SIZE_MAX ? compare_numbers(a->rank, b->rank) :
		compare_key(groups, a->group, b->group, sorting->text_key);
	if (order)
		return sorting->is_descending ? -order : order;
	for (size_t i = 0; i < groups->key_count && !order; i++)
		order = compare_key(groups, a->group, b->group, i);
	return order ? order : compare_numbers(a->group, b->group);
}

/* Numbers that are in the order of the reals, which have no NaN among them. */
static uint64_t rank_of_real(double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static int start_order(struct act_groups *groups)
{
	free(groups->order);
	groups->order = NULL;
	/* Never of size 0, whose NULL would look like a failure. */
	groups->order = calloc(groups->count + 1, sizeof(*groups->order));
	if (!groups->order)
		return -ENOMEM;
	for (size_t i = 0; i < groups->count; i++)
		groups->order[i].group = (uint32_t)i;
	return 0;
}

static void sort_groups(struct act_groups *groups, size_t text_key, bool descending)
{
	struct sorting sorting = { groups, descending, text_key };

	qsort_r(groups->order, groups->count, sizeof(*groups->order), compare_groups, &sorting);
}

int act_groups_sort_by_metric(struct act_groups *groups, size_t metric, bool descending)
{
	int ret = start_order(groups);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < groups->count; i++) {
		double real = act_groups_real(groups, i, metric);

		groups->order[i].is_known = !isnan(real);
		groups->order[i].rank = isnan(real) ? 0 : rank_of_real(real);
	}
	sort_groups(groups, SIZE_MAX, descending);
	return 0;
}

int act_groups_sort_by_key(struct act_groups *groups, size_t key, bool descending)
{
	bool is_text = keys_is_text(&groups->key[key]);
	bool is_signed = groups->key[key].type == ACT_KEY_FIELD &&
			 act_field_table[groups->key[key].field].type == ACT_TYPE_SIGNED;
	int ret = start_order(groups);

	if (ret < 0)
		return ret;
	for (size_t i = 0; i < groups->count; i++) {
		uint64_t value = act_groups_key(groups, i, key, NULL, NULL);

		groups->order[i].is_known = value != ACT_UNKNOWN;
		groups->order[i].rank = is_signed ? value ^ UINT64_C(1) << 63 : value;
	}
	sort_groups(groups, is_text ? key : SIZE_MAX, descending);
	return 0;
}

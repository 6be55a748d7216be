/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 4096 /* a power of two, as every room */

void gather_select(struct gather *gather, const struct act_field_set *fields)
{
	gather->fields = *fields;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_name(const char *name, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* The bucket that holds the name, or the free one where it belongs. */
static uint32_t *find_bucket(const struct gather *gather, const char *name, size_t length)
{
	size_t mask = 2 * gather->room - 1;
	size_t at = hash_name(name, length) & mask;

	/* There is always a free one: at most half of them are taken. */
	for (;; at = (at + 1) & mask) {
		uint32_t index = gather->bucket[at];

		if (!index || (gather->name_length[index - 1] == length &&
			       memcmp(gather->name[index - 1], name, length) == 0))
			return &gather->bucket[at];
	}
}

static void rebuild_buckets(struct gather *gather)
{
	memset(gather->bucket, 0, 2 * gather->room * sizeof(*gather->bucket));
	for (size_t i = 0; i < gather->names; i++)
		*find_bucket(gather, gather->name[i], gather->name_length[i]) = (uint32_t)i + 1;
}

static int grow_array(void *array_pointer, size_t room, size_t size)
{
	void *array;

	memcpy(&array, array_pointer, sizeof(array));
	array = reallocarray(array, room, size);
	if (!array)
		return -ENOMEM;
	memcpy(array_pointer, &array, sizeof(array));
	return 0;
}

/* On failure some arrays are larger than they need be, which harms nobody. */
static int grow(struct gather *gather)
{
	size_t room = gather->room ? 2 * gather->room : ROOM_MIN;
	int ret = 0;

	for (int field = 0; field < ACT_FIELDS && !ret; field++)
		if (act_field_set_has(&gather->fields, field))
			ret = grow_array(&gather->column[field], room, sizeof(uint64_t));
	if (!ret)
		ret = grow_array(&gather->name, room, sizeof(*gather->name));
	if (!ret)
		ret = grow_array(&gather->name_text, room, sizeof(*gather->name_text));
	if (!ret)
		ret = grow_array(&gather->name_length, room, sizeof(*gather->name_length));
	if (!ret)
		ret = grow_array(&gather->bucket, 2 * room, sizeof(*gather->bucket));
	if (ret)
		return ret;
	gather->room = room;
	rebuild_buckets(gather);
	return 0;
}

static uint64_t intern(struct gather *gather, const struct act_record *record)
{
	size_t length = strnlen(record->comm_text, sizeof(record->comm_text) - 1);
	uint32_t *bucket = find_bucket(gather, record->comm_text, length);

	if (!*bucket) {
		size_t index = gather->names++;

		memset(gather->name[index], 0, sizeof(gather->name[index]));
		memcpy(gather->name[index], record->comm_text, length);
		gather->name_length[index] = (uint32_t)length;
		*bucket = (uint32_t)index + 1;
	}
	return *bucket - 1;
}

int gather_append(struct gather *gather, const struct act_record *record)
{
	struct act_record derived = *record;
	int ret = gather->rows == gather->room ? grow(gather) : 0;

	if (ret < 0)
		return ret;
	act_record_derive(&derived);
	for (int field = 0; field < ACT_FIELDS; field++)
		if (act_field_set_has(&gather->fields, field))
			gather->column[field][gather->rows] = field == ACT_F_comm ?
				intern(gather, record) : derived.value[field];
	gather->rows++;
	return 0;
}

bool gather_take(struct gather *gather, struct act_batch *ret_batch)
{
	if (gather->taken == gather->rows)
		return false;
	*ret_batch = (struct act_batch){
		.rows = gather->rows - gather->taken,
		.first = gather->first + gather->taken,
	};
	for (int field = 0; field < ACT_FIELDS; field++)
		if (act_field_set_has(&gather->fields, field))
			ret_batch->column[field] = gather->column[field] + gather->taken;
	for (size_t i = 0; i < gather->names; i++)
		gather->name_text[i] = gather->name[i];
	if (act_field_set_has(&gather->fields, ACT_F_comm))
		ret_batch->text[ACT_F_comm] = (struct act_texts){
			gather->names, gather->name_text, gather->name_length,
		};
	gather->taken = gather->rows;
	return true;
}

void gather_clear(struct gather *gather)
{
	gather->first += gather->rows;
	gather->rows = gather->taken = 0;
	gather->names = 0;
	if (gather->bucket)
		rebuild_buckets(gather);
}

void gather_release(struct gather *gather)
{
	for (int field = 0; field < ACT_FIELDS; field++)
		free(gather->column[field]);
	free(gather->name);
	free(gather->name_text);
	free(gather->name_length);
	free(gather->bucket);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 4096

void gather_select(struct gather *gather, const struct act_field_set *fields)
{
	gather->fields = *fields;
}

static int grow(struct gather *gather)
{
	size_t room = gather->room ? 2 * gather->room : ROOM_MIN;

	for (int field = 0; field < ACT_FIELDS; field++) {
		uint64_t *column;

		if (!act_field_set_has(&gather->fields, field))
			continue;
		column = reallocarray(gather->column[field], room, sizeof(*column));
		if (!column)
			return -ENOMEM;
		gather->column[field] = column;
	}
	gather->room = room;
	return 0;
}

static int intern_name(struct gather *gather, const char *name, uint64_t *ret_value)
{
	uint32_t number;
	int ret = intern_add(&gather->names, name, strnlen(name, ACT_COMM_SIZE - 1), &number);

	*ret_value = ret < 0 ? ACT_UNKNOWN : number;
	return ret;
}

int gather_append(struct gather *gather, const struct act_record *record)
{
	struct act_record derived = *record;
	int ret = gather->rows == gather->room ? grow(gather) : 0;

	if (ret < 0)
		return ret;
	act_record_derive(&derived);
	if (act_field_set_has(&gather->fields, ACT_F_comm))
		ret = intern_name(gather, record->comm_text, &derived.comm);
	if (ret < 0)
		return ret;
	for (int field = 0; field < ACT_FIELDS; field++)
		if (act_field_set_has(&gather->fields, field))
			gather->column[field][gather->rows] = derived.value[field];
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
	if (act_field_set_has(&gather->fields, ACT_F_comm))
		ret_batch->text[ACT_F_comm] = intern_texts(&gather->names);
	gather->taken = gather->rows;
	return true;
}

void gather_clear(struct gather *gather)
{
	gather->first += gather->rows;
	gather->rows = gather->taken = 0;
	intern_clear(&gather->names);
}

void gather_release(struct gather *gather)
{
	for (int field = 0; field < ACT_FIELDS; field++)
		free(gather->column[field]);
	intern_release(&gather->names);
}

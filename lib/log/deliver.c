/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks to items: each record and event once, and what is missing between them. */
#include "log/walk.h"

#include <errno.h>
#include <string.h>

/* ---- Damage ---- */

void reader_tell_damage(struct act_log_reader *reader, uint64_t records, uint64_t exits,
			struct act_item *ret_item)
{
	struct act_damage *damage = &ret_item->damage;

	memset(damage, 0, sizeof(*damage));
	ret_item->type = ACT_ITEM_DAMAGE;
	memcpy(damage->segment, reader->name, sizeof(reader->name));
	damage->records = records;
	damage->exits = exits;
	damage->reason = "missing";
	damage->offset = reader->segment.offset;
	if (reader->pending.is_there) {
		damage->offset = reader->pending.offset;
		damage->bytes = reader->pending.bytes;
		damage->reason = reader->pending.reason;
		damage->is_torn_tail = reader->pending.is_torn;
		memcpy(damage->segment, reader->pending.name, sizeof(reader->pending.name));
	}
	memset(&reader->pending, 0, sizeof(reader->pending));
}

/*
 * Compares where the counts should stand with where they do.  True if damage
 * is to be told first.
 */
bool reader_check_position(struct act_log_reader *reader, struct position found,
			   struct act_item *ret_item)
{
	uint64_t records, exits, events;

	if (!reader->has_next) {
		/* The beginning of what is kept: older ones may be deleted. */
		reader->next = found;
		reader->has_next = true;
	}
	records = beyond(found.records, reader->next.records);
	exits = beyond(found.exits, reader->next.exits);
	if (reader->pending.is_unknown)
		records = exits = ACT_UNKNOWN;
	events = beyond(found.events, reader->next.events);
	/* What a tail lacks at its end was never durable, or its segment has it. */
	if (reader->pending.is_of_tail && !records && !exits && !events)
		memset(&reader->pending, 0, sizeof(reader->pending));
	if (!reader->pending.is_there && !records && !exits && !events)
		return false;
	reader_tell_damage(reader, records, exits, ret_item);
	reader->next.records += beyond(found.records, reader->next.records);
	reader->next.exits += beyond(found.exits, reader->next.exits);
	reader->next.events += events;
	return true;
}

/* ---- Delivering a block ---- */

static bool is_pruned(const struct act_log_reader *reader)
{
	for (size_t i = 0; i < reader->prunes; i++)
		if (block_is_outside(&reader->header.schema, &reader->block, reader->body.data,
				     &reader->prune[i]))
			return true;
	return false;
}

static void skip_rows(struct act_batch *batch, uint64_t rows)
{
	batch->rows -= rows;
	batch->first += rows;
	for (size_t field = 0; field < ACT_FIELDS; field++)
		if (batch->column[field])
			batch->column[field] += rows;
}

static int tell_unreadable(struct act_log_reader *reader, struct act_item *ret_item)
{
	struct stream *from = reader->phase == PHASE_TAIL ? &reader->tail : &reader->segment;

	reader_note_pending(reader, from, reader_block_bytes(reader), "unreadable block");
	reader->pending.offset -= reader_block_bytes(reader);
	reader_tell_damage(reader, reader->block.count, reader->block.exits, ret_item);
	return 0;
}

/* 0: an item, 1: nothing of this block is to be delivered. */
static int deliver_records(struct act_log_reader *reader, struct act_item *ret_item)
{
	const struct block_header *block = &reader->block;
	struct position after = block_after(block);
	uint64_t seen = beyond(reader->next.records, block->before.records);
	int ret;

	if (block->last_ns != ACT_UNKNOWN &&
	    (reader->last_ns == ACT_UNKNOWN || block->last_ns > reader->last_ns))
		reader->last_ns = block->last_ns;
	reader->next.records = after.records;
	reader->next.exits = after.exits;
	if (block->schema != reader->header.schema.hash)
		return tell_unreadable(reader, ret_item);
	if (is_pruned(reader))
		return 1;
	ret_item->type = ACT_ITEM_BATCH;
	ret = decoder_decode(reader->decoder, &reader->header.schema, block, reader->body.data,
			     &reader->wanted, &ret_item->batch);
	if (ret == -EBADMSG)
		return tell_unreadable(reader, ret_item);
	if (ret < 0)
		return ret;
	skip_rows(&ret_item->batch, seen);
	return 0;
}

int reader_next_event(struct act_log_reader *reader, struct act_item *ret_item)
{
	while (reader->events_left) {
		int ret = event_unpack(&reader->events, ret_item);

		reader->events_left--;
		if (ret == 0)
			return 0;
		if (ret < 0) {
			reader->events_left = 0;
			return tell_unreadable(reader, ret_item);
		}
	}
	return 1;
}

static int deliver_events(struct act_log_reader *reader, struct act_item *ret_item)
{
	const struct block_header *block = &reader->block;
	uint64_t seen = beyond(reader->next.events, block->before.events);

	cursor_init(&reader->events, reader->body.data, block->body_bytes);
	reader->events_left = block->count;
	for (; seen && reader->events_left; seen--, reader->events_left--)
		if (event_unpack(&reader->events, ret_item) < 0)
			reader->events_left = 1;
	reader->next.events = block_after(block).events;
	return reader_next_event(reader, ret_item);
}

/* Whether all that a block holds was delivered before. */
static bool is_known(const struct act_log_reader *reader)
{
	struct position after = block_after(&reader->block);

	if (!reader->has_next)
		return false;
	return reader->block.type == BLOCK_EVENTS ? after.events <= reader->next.events
						  : after.records <= reader->next.records;
}

/* 0: an item; 1: go on. */
int reader_deliver_block(struct act_log_reader *reader, struct act_item *ret_item)
{
	bool is_of_known_type = reader->block.type == BLOCK_RECORDS ||
				reader->block.type == BLOCK_EVENTS;

	/* Of a known one it may still be told what lay before it. */
	if (is_of_known_type && is_known(reader) && !reader->pending.is_there) {
		reader->has_block = false;
		return 1;
	}
	if (reader_check_position(reader, reader->block.before, ret_item))
		return 0;
	reader->has_block = false;
	if (!is_of_known_type || is_known(reader))
		return 1;
	return reader->block.type == BLOCK_EVENTS ? deliver_events(reader, ret_item)
						  : deliver_records(reader, ret_item);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "log/format.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>
#ifdef HAVE_XXH_DISPATCH
#include <xxh_x86dispatch.h> /* the same sums, by the widest registers there are */
#endif

uint64_t format_checksum(const void *data, size_t length)
{
	return XXH3_64bits(data, length);
}

/* ---- Block header ---- */

#define CHECKED_FROM 16 /* the header's checksum covers what follows itself */

static void block_header_pack(const struct block_header *header, struct buffer *buffer)
{
	size_t start = buffer->length;

	buffer_append_u32(buffer, BLOCK_MAGIC);
	buffer_append_u8(buffer, (uint8_t)header->type);
	buffer_append_u8(buffer, 0);
	buffer_append_u16(buffer, 0);
	buffer_append_u64(buffer, 0); /* the checksum, below */
	buffer_append_u64(buffer, header->body_checksum);
	buffer_append_u32(buffer, header->body_bytes);
	buffer_append_u32(buffer, header->count);
	buffer_append_u64(buffer, header->before.records);
	buffer_append_u64(buffer, header->before.events);
	buffer_append_u64(buffer, header->before.exits);
	buffer_append_u64(buffer, header->exits);
	buffer_append_u64(buffer, header->first_ns);
	buffer_append_u64(buffer, header->last_ns);
	buffer_append_u64(buffer, header->forks);
	buffer_append_u32(buffer, header->schema);
	buffer_append_u32(buffer, 0);
	if (buffer->failed)
		return;
	/* The type is covered, too: it takes part as the seed. */
	uint64_t sum = XXH3_64bits_withSeed(buffer->data + start + CHECKED_FROM,
					    BLOCK_HEADER_BYTES - CHECKED_FROM, header->type);
	for (size_t i = 0; i < sizeof(sum); i++)
		buffer->data[start + 8 + i] = (uint8_t)(sum >> 8 * i);
}

size_t block_begin(struct buffer *buffer)
{
	static const uint8_t room[BLOCK_HEADER_BYTES];
	size_t start = buffer->length;

	buffer_append(buffer, room, sizeof(room));
	return start;
}

void block_seal(struct block_header *header, size_t start, struct buffer *buffer)
{
	size_t body = start + BLOCK_HEADER_BYTES, end = buffer->length;

	if (buffer->failed)
		return;
	header->body_bytes = (uint32_t)(end - body);
	header->body_checksum = format_checksum(buffer->data + body, end - body);
	/* Into the room that was left for it. */
	buffer->length = start;
	block_header_pack(header, buffer);
	buffer->length = end;
}

bool block_header_unpack(const uint8_t *bytes, struct block_header *ret_header)
{
	struct block_header header;
	struct cursor cursor;
	uint64_t sum;

	cursor_init(&cursor, bytes, BLOCK_HEADER_BYTES);
	if (cursor_u32(&cursor) != BLOCK_MAGIC)
		return false;
	header.type = cursor_u8(&cursor);
	if (cursor_u8(&cursor) != 0 || cursor_u16(&cursor) != 0)
		return false;
	sum = cursor_u64(&cursor);
	if (sum != XXH3_64bits_withSeed(bytes + CHECKED_FROM,
					BLOCK_HEADER_BYTES - CHECKED_FROM, header.type))
		return false;
	header.body_checksum = cursor_u64(&cursor);
	header.body_bytes = cursor_u32(&cursor);
	header.count = cursor_u32(&cursor);
	header.before.records = cursor_u64(&cursor);
	header.before.events = cursor_u64(&cursor);
	header.before.exits = cursor_u64(&cursor);
	header.exits = cursor_u64(&cursor);
	header.first_ns = cursor_u64(&cursor);
	header.last_ns = cursor_u64(&cursor);
	header.forks = cursor_u64(&cursor);
	header.schema = cursor_u32(&cursor);
	if (header.body_bytes > BLOCK_BODY_MAX || header.count > BLOCK_ROWS_MAX)
		return false;
	*ret_header = header;
	return true;
}

struct position block_after(const struct block_header *header)
{
	struct position after = header->before;

	if (header->type == BLOCK_RECORDS) {
		after.records += header->count;
		after.exits += header->exits;
	} else if (header->type == BLOCK_EVENTS) {
		after.events += header->count;
	}
	return after;
}

/* ---- Schema ---- */

static const char *const type_units[] = {
	[ACT_TYPE_NUMBER] = "count", [ACT_TYPE_ID] = "id", [ACT_TYPE_SIGNED] = "signed",
	[ACT_TYPE_DURATION] = "ns", [ACT_TYPE_TIME] = "ns since epoch",
	[ACT_TYPE_SIZE] = "bytes", [ACT_TYPE_INTEGRAL] = "MB us", [ACT_TYPE_FLAGS] = "bits",
	[ACT_TYPE_BOOL] = "bool", [ACT_TYPE_KIND] = "kind", [ACT_TYPE_TEXT] = "bytes of text",
};

static void append_text(struct buffer *buffer, const char *text)
{
	size_t length = strlen(text);

	buffer_append_u8(buffer, (uint8_t)length);
	buffer_append(buffer, text, length);
}

/* Its columns are numbered in this order. */
static void schema_pack(struct buffer *buffer)
{
	uint16_t count = 0;

	for (int field = 0; field < ACT_FIELDS; field++)
		count += field_is_stored(field);
	buffer_append_u16(buffer, count);
	for (int field = 0; field < ACT_FIELDS; field++) {
		const struct act_field_info *info = &act_field_table[field];

		if (!field_is_stored(field))
			continue;
		buffer_append_u8(buffer, info->type == ACT_TYPE_TEXT);
		append_text(buffer, info->name);
		append_text(buffer, type_units[info->type]);
	}
}

static bool schema_unpack(struct cursor *cursor, struct schema *ret_schema)
{
	const uint8_t *start = cursor->at;

	ret_schema->columns = cursor_u16(cursor);
	if (ret_schema->columns > sizeof(ret_schema->field) / sizeof(*ret_schema->field))
		return false;
	for (size_t i = 0; i < ret_schema->columns && !cursor->failed; i++) {
		bool is_text = cursor_u8(cursor);
		size_t length = cursor_u8(cursor);
		const uint8_t *name = cursor_bytes(cursor, length);
		int field = name ? act_field_find((const char *)name, length) : -1;

		/* What is text here and a number there is not the same field. */
		if (field >= 0 && (act_field_table[field].type == ACT_TYPE_TEXT) != is_text)
			field = -1;
		if (field >= 0 && !field_is_stored(field))
			field = -1;
		ret_schema->field[i] = (int16_t)field;
		length = cursor_u8(cursor);
		cursor_bytes(cursor, length);
	}
	if (cursor->failed)
		return false;
	ret_schema->hash = (uint32_t)format_checksum(start, (size_t)(cursor->at - start));
	return true;
}

void schema_own(struct schema *ret_schema)
{
	struct buffer buffer = BUFFER_INIT;
	struct cursor cursor;

	memset(ret_schema, 0, sizeof(*ret_schema));
	schema_pack(&buffer);
	cursor_init(&cursor, buffer.data, buffer.length);
	if (buffer.failed || !schema_unpack(&cursor, ret_schema))
		ret_schema->columns = 0;
	buffer_release(&buffer);
}

/* ---- Segment header ---- */

#define LENGTH_AT 12

void segment_header_pack(const struct segment_header *header, struct buffer *buffer)
{
	size_t start = buffer->length;

	buffer_append(buffer, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES);
	buffer_append_u16(buffer, FORMAT_VERSION);
	buffer_append_u16(buffer, 0);
	buffer_append_u32(buffer, 0); /* the length, below */
	buffer_append_u64(buffer, header->number);
	buffer_append_u64(buffer, header->before.records);
	buffer_append_u64(buffer, header->before.events);
	buffer_append_u64(buffer, header->before.exits);
	buffer_append_u64(buffer, header->created_ns);
	buffer_append(buffer, header->boot_id, sizeof(header->boot_id));
	append_text(buffer, header->host);
	append_text(buffer, header->kernel);
	schema_pack(buffer);
	if (buffer->failed)
		return;
	uint32_t length = (uint32_t)(buffer->length - start + 8);
	for (size_t i = 0; i < sizeof(length); i++)
		buffer->data[start + LENGTH_AT + i] = (uint8_t)(length >> 8 * i);
	buffer_append_u64(buffer, format_checksum(buffer->data + start, buffer->length - start));
}

static void take_text(struct cursor *cursor, char *ret_text, size_t room)
{
	size_t length = cursor_u8(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, length);

	if (!bytes)
		return;
	length = length < room ? length : room - 1;
	memcpy(ret_text, bytes, length);
	ret_text[length] = '\0';
}

/* How many of the first bytes are not those of a segment. */
static unsigned int wrong_magic_bytes(const uint8_t *bytes, size_t length)
{
	unsigned int wrong = 0;

	for (size_t i = 0; i < length && i < SEGMENT_MAGIC_BYTES; i++)
		wrong += bytes[i] != (uint8_t)SEGMENT_MAGIC[i];
	return wrong;
}

/*
 * Of a header whose checksum is wrong: a version that is ours but for one bit,
 * or one byte turned over, is damage; any other one is believed.
 */
static int judge_version(unsigned int format)
{
	int bits = __builtin_popcount(format ^ FORMAT_VERSION);

	return format > FORMAT_VERSION && bits != 1 && bits != 8 ? -EPROTONOSUPPORT : -EBADMSG;
}

int segment_header_unpack(const uint8_t *bytes, size_t length, struct segment_header *ret_header)
{
	struct segment_header header = { .number = 0 };
	struct cursor cursor, sum;
	uint32_t total;

	/* One wrong byte is damage, more are another kind of file. */
	if (wrong_magic_bytes(bytes, length) > (length >= SEGMENT_MAGIC_BYTES))
		return -EUCLEAN;
	if (length < SEGMENT_MAGIC_BYTES)
		return -ENODATA;
	if (wrong_magic_bytes(bytes, length))
		return -EBADMSG;
	cursor_init(&cursor, bytes + SEGMENT_MAGIC_BYTES, length - SEGMENT_MAGIC_BYTES);
	header.format = cursor_u16(&cursor);
	cursor_u16(&cursor);
	total = cursor_u32(&cursor);
	if (cursor.failed)
		return -ENODATA;
	if (total < 64 || total > SEGMENT_HEADER_MAX)
		return judge_version(header.format);
	if (total > length)
		return judge_version(header.format) == -EBADMSG ? -ENODATA : -EPROTONOSUPPORT;
	cursor_init(&sum, bytes + total - 8, 8);
	if (cursor_u64(&sum) != format_checksum(bytes, total - 8))
		return judge_version(header.format);
	if (header.format != FORMAT_VERSION)
		return header.format > FORMAT_VERSION ? -EPROTONOSUPPORT : -EBADMSG;
	header.number = cursor_u64(&cursor);
	header.before.records = cursor_u64(&cursor);
	header.before.events = cursor_u64(&cursor);
	header.before.exits = cursor_u64(&cursor);
	header.created_ns = cursor_u64(&cursor);
	const uint8_t *boot_id = cursor_bytes(&cursor, sizeof(header.boot_id));
	if (boot_id)
		memcpy(header.boot_id, boot_id, sizeof(header.boot_id));
	take_text(&cursor, header.host, sizeof(header.host));
	take_text(&cursor, header.kernel, sizeof(header.kernel));
	if (!schema_unpack(&cursor, &header.schema) || cursor.failed)
		return -EBADMSG;
	*ret_header = header;
	return (int)total;
}

/* ---- Events ---- */

enum event_type {
	EVENT_GAP = 1,
	EVENT_STATE = 2,
};

static void event_pack(enum event_type type, const struct buffer *payload, struct buffer *buffer)
{
	if (payload->failed) {
		buffer->failed = 1;
		return;
	}
	buffer_append_u16(buffer, (uint16_t)type);
	buffer_append_u16(buffer, (uint16_t)payload->length);
	buffer_append(buffer, payload->data, payload->length);
}

void event_pack_gap(const struct act_gap *gap, struct buffer *buffer)
{
	struct buffer payload = BUFFER_INIT;

	buffer_append_u64(&payload, gap->from_ns);
	buffer_append_u64(&payload, gap->to_ns);
	buffer_append_u64(&payload, gap->count);
	buffer_append_u32(&payload, (uint32_t)gap->cpu);
	buffer_append_u16(&payload, (uint16_t)gap->cause);
	event_pack(EVENT_GAP, &payload, buffer);
	buffer_release(&payload);
}

void event_pack_state(const struct act_state *state, struct buffer *buffer)
{
	struct buffer payload = BUFFER_INIT;

	buffer_append_u16(&payload, (uint16_t)state->type);
	buffer_append_u64(&payload, state->time_ns);
	buffer_append_u64(&payload, state->delayacct);
	buffer_append_u64(&payload, state->forks);
	buffer_append_u64(&payload, state->recorded);
	buffer_append_u64(&payload, state->lost);
	append_text(&payload, state->text);
	event_pack(EVENT_STATE, &payload, buffer);
	buffer_release(&payload);
}

static void unpack_gap(struct cursor *payload, struct act_gap *gap)
{
	gap->from_ns = cursor_u64(payload);
	gap->to_ns = cursor_u64(payload);
	gap->count = cursor_u64(payload);
	gap->cpu = (int32_t)cursor_u32(payload);
	gap->cause = cursor_u16(payload);
}

static void unpack_state(struct cursor *payload, struct act_state *state)
{
	memset(state, 0, sizeof(*state));
	state->type = cursor_u16(payload);
	state->time_ns = cursor_u64(payload);
	state->delayacct = cursor_u64(payload);
	state->forks = cursor_u64(payload);
	state->recorded = cursor_u64(payload);
	state->lost = cursor_u64(payload);
	take_text(payload, state->text, sizeof(state->text));
}

int event_unpack(struct cursor *cursor, struct act_item *ret_item)
{
	unsigned int type = cursor_u16(cursor);
	size_t length = cursor_u16(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, length);
	struct cursor payload;

	if (!bytes)
		return -EBADMSG;
	cursor_init(&payload, bytes, length);
	switch (type) {
	case EVENT_GAP:
		ret_item->type = ACT_ITEM_GAP;
		unpack_gap(&payload, &ret_item->gap);
		break;
	case EVENT_STATE:
		ret_item->type = ACT_ITEM_STATE;
		unpack_state(&payload, &ret_item->state);
		break;
	default:
		return 1;
	}
	return payload.failed ? -EBADMSG : 0;
}

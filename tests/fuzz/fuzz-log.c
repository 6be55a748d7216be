/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a segment of any bytes, as they are and once more with their
 * checksums put right, so that what lies behind them is reached.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <actuary/log.h>
#include <xxhash.h>

#include "log/files.h"
#include "log/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int is_true)
{
	if (!is_true)
		abort();
}

static uint64_t read_le(const uint8_t *bytes, unsigned int count)
{
	uint64_t value = 0;

	while (count--)
		value = value << 8 | bytes[count];
	return value;
}

static void write_le(uint8_t *bytes, uint64_t value)
{
	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

/* ---- Checksums, at the places that actuary-log(5) gives ---- */

static void mend_header(uint8_t *data, size_t size)
{
	uint64_t length;

	if (size < 16 || memcmp(data, SEGMENT_MAGIC, SEGMENT_MAGIC_BYTES))
		return;
	length = read_le(data + 12, 4);
	if (length >= 24 && length <= size)
		write_le(data + length - 8, format_checksum(data, length - 8));
}

static void mend_block(uint8_t *block, size_t left)
{
	uint64_t length;

	if (left < BLOCK_HEADER_BYTES || read_le(block, 4) != BLOCK_MAGIC)
		return;
	length = read_le(block + 24, 4);
	if (length > left - BLOCK_HEADER_BYTES)
		return;
	write_le(block + 16, format_checksum(block + BLOCK_HEADER_BYTES, length));
	write_le(block + 8, XXH3_64bits_withSeed(block + 16, BLOCK_HEADER_BYTES - 16, block[4]));
}

static void mend(uint8_t *data, size_t size)
{
	mend_header(data, size);
	for (size_t at = 0; at < size; at++)
		mend_block(data + at, size - at);
}

/* ---- Reading ---- */

static void check_batch(const struct act_batch *batch, uint64_t *next)
{
	const struct act_texts *texts = &batch->text[ACT_F_comm];
	struct act_record record;

	need(batch->rows > 0 && batch->rows <= BLOCK_ROWS_MAX);
	need(batch->first >= *next);
	*next = batch->first + batch->rows;
	for (size_t i = 0; i < texts->count; i++)
		need(texts->text[i][texts->length[i]] == '\0');
	for (size_t row = 0; row < batch->rows; row++) {
		need(batch->column[ACT_F_comm][row] < texts->count);
		act_batch_record(batch, row, &record);
		need(memchr(record.comm_text, 0, sizeof(record.comm_text)) != NULL);
	}
}

static void check_state(const struct act_state *state)
{
	need(memchr(state->text, 0, sizeof(state->text)) != NULL);
	need(act_state_name(state->type) != NULL);
}

static void read_all(struct act_log_reader *reader)
{
	struct act_item item;
	uint64_t next = 0;
	int ret;

	while ((ret = act_log_next(reader, &item)) == 0) {
		if (item.type == ACT_ITEM_BATCH)
			check_batch(&item.batch, &next);
		else if (item.type == ACT_ITEM_STATE)
			check_state(&item.state);
		else if (item.type == ACT_ITEM_DAMAGE)
			need(item.damage.reason != NULL);
	}
	need(ret == 1);
}

static void read_bytes(const uint8_t *data, size_t size, bool is_pruned)
{
	struct act_field_set fields = { { 0 } };
	struct act_log_reader *reader;
	struct act_why why = { "" };
	char path[64];
	int fd = memfd_create("segment", MFD_CLOEXEC);

	need(fd >= 0);
	need(write_at(fd, data, size, 0) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (act_log_reader_open(path, &reader, &why) == 0) {
		act_field_set_all(&fields);
		act_log_select(reader, &fields);
		if (is_pruned)
			act_log_prune(reader, ACT_F_pid, 100, 200);
		read_all(reader);
		act_log_reader_free(reader);
	} else {
		need(why.text[0] && !strchr(why.text, '\n'));
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *mended = malloc(size ? size : 1);

	need(mended != NULL);
	memcpy(mended, data, size);
	read_bytes(data, size, false);
	mend(mended, size);
	read_bytes(mended, size, size % 2);
	free(mended);
	return 0;
}

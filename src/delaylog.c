/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "delaylog.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4 * DELAYLOG_COMMANDS_MAX };

#define OTHERS "***other"

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

static struct delay_command *add_command(struct delaylog *log, const char *name)
{
	struct delay_command *command;

	if (log->count == log->room) {
		size_t room = log->room ? 2 * log->room : 64;
		struct delay_command *more = reallocarray(log->commands, room, sizeof(*more));

		if (!more)
			return NULL;
		log->commands = more;
		log->room = room;
	}
	command = &log->commands[log->count++];
	memset(command, 0, sizeof(*command));
	/* The rest is zero already. */
	memcpy(command->comm, name, strnlen(name, sizeof(command->comm) - 1));
	delays_init(&command->delays);
	return command;
}

/* NULL: no memory. */
static struct delay_command *find_command(struct delaylog *log, const char *name)
{
	uint32_t at = hash_name(name) % BUCKETS;

	for (; log->bucket[at]; at = (at + 1) % BUCKETS)
		if (strcmp(log->commands[log->bucket[at] - 1].comm, name) == 0)
			return &log->commands[log->bucket[at] - 1];
	if (log->has_overflow)
		return &log->commands[DELAYLOG_COMMANDS_MAX];
	if (log->count == DELAYLOG_COMMANDS_MAX) {
		log->has_overflow = true;
		return add_command(log, OTHERS);
	}
	if (!add_command(log, name))
		return NULL;
	log->bucket[at] = (uint32_t)log->count;
	return &log->commands[log->count - 1];
}

static int add_batch(struct delaylog *log, const struct act_filter *filter,
		     const struct act_batch *batch)
{
	uint32_t *rows = reallocarray(NULL, batch->rows ? batch->rows : 1, sizeof(*rows));
	size_t count;
	int ret = 0;

	if (!rows)
		return -ENOMEM;
	count = act_filter_rows(filter, batch, rows);
	for (size_t i = 0; ret == 0 && i < count; i++) {
		struct delay_command *command;
		struct act_record record;

		act_batch_record(batch, rows[i], &record);
		command = find_command(log, record.comm_text);
		if (!command) {
			ret = -ENOMEM;
			break;
		}
		delays_add(&command->delays, &record);
		log->records++;
		log->uncounted += record.blkio_delay_count == ACT_UNKNOWN;
	}
	free(rows);
	return ret;
}

static int read_items(struct delaylog *log, const struct act_filter *filter,
		      struct act_input *input)
{
	struct act_item item;
	int ret;

	while ((ret = act_input_next(input, &item)) == 0) {
		loss_add(&log->loss, &item, input);
		if (item.type == ACT_ITEM_BATCH)
			ret = add_batch(log, filter, &item.batch);
		if (ret < 0)
			return ret;
	}
	return ret < 0 ? ret : 0;
}

static int compare_commands(const void *a, const void *b)
{
	const struct delay_command *x = a, *y = b;
	uint64_t x_ns = delays_total_ns(&x->delays), y_ns = delays_total_ns(&y->delays);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return strcmp(x->comm, y->comm);
}

int delaylog_read(const char *path, const struct act_filter *filter,
		  struct delaylog *ret_log, struct act_why *ret_why)
{
	struct act_field_set fields = { 0 };
	struct act_input *input;
	int ret;

	memset(ret_log, 0, sizeof(*ret_log));
	loss_init(&ret_log->loss, filter);
	ret_why->text[0] = '\0';
	ret_log->bucket = calloc(BUCKETS, sizeof(*ret_log->bucket));
	if (!ret_log->bucket)
		return -ENOMEM;
	ret = act_input_open(path, &input, ret_why);
	if (ret < 0)
		return ret;
	act_filter_fields(filter, &fields);
	act_field_set_add(&fields, ACT_F_comm);
	delays_fields(&fields);
	loss_fields(&ret_log->loss, &fields);
	act_input_select(input, &fields);
	act_filter_prune(filter, input);
	ret = read_items(ret_log, filter, input);
	act_input_free(input);
	if (ret == 0 && ret_log->count)
		qsort(ret_log->commands, ret_log->count, sizeof(*ret_log->commands),
		      compare_commands);
	return ret;
}

void delaylog_release(struct delaylog *log)
{
	free(log->commands);
	free(log->bucket);
	memset(log, 0, sizeof(*log));
}

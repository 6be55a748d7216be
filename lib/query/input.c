/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A log or a capture, both as batches.  A log gives them itself; a capture is
 * decoded, folded and gathered: one drain of its source makes one batch, and
 * the gaps that it told follow the batch.
 */
#include <actuary/query.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gather.h"

struct capture {
	struct act_source *source;
	struct act_fold *fold;
	struct gather gather;
	struct act_gap *gaps;
	size_t gap_count, gap_room, gap_next;
	uint64_t now_ns; /* the latest end seen */
	bool is_damaged; /* not told yet */
	bool is_at_end;
	char name[64];
};

struct act_input {
	struct act_log_reader *log; /* or, if NULL: */
	struct capture capture;
};

/* ---- A capture ---- */

static int on_record(void *arg, const struct act_record *record)
{
	struct capture *capture = arg;

	return gather_append(&capture->gather, record);
}

static int on_task(void *arg, const struct act_record *task, const struct act_record *group)
{
	struct capture *capture = arg;

	if (task->end_ns != ACT_UNKNOWN && task->end_ns > capture->now_ns)
		capture->now_ns = task->end_ns;
	return act_fold_task(capture->fold, task, group);
}

static int on_gap(void *arg, const struct act_gap *gap)
{
	struct capture *capture = arg;

	if (capture->gap_count == capture->gap_room) {
		size_t room = capture->gap_room ? 2 * capture->gap_room : 16;
		struct act_gap *gaps = reallocarray(capture->gaps, room, sizeof(*gaps));

		if (!gaps)
			return -ENOMEM;
		capture->gaps = gaps;
		capture->gap_room = room;
	}
	capture->gaps[capture->gap_count++] = *gap;
	act_fold_gap(capture->fold, gap->to_ns);
	return 0;
}

static int end_capture(struct capture *capture, bool is_damaged)
{
	capture->is_at_end = true;
	capture->is_damaged = is_damaged;
	if (is_damaged)
		act_fold_gap(capture->fold, capture->now_ns);
	return act_fold_flush(capture->fold);
}

/* Gathers what one drain gives. */
static int fill(struct capture *capture)
{
	const struct act_sink sink = {
		.task = on_task, .gap = on_gap, .record = on_record, .arg = capture,
	};
	int ret;

	gather_clear(&capture->gather);
	capture->gap_count = capture->gap_next = 0;
	ret = act_source_drain(capture->source, &sink);
	if (ret == 1 || ret == -ENODATA)
		return end_capture(capture, ret == -ENODATA);
	if (ret < 0)
		return ret;
	return act_fold_expire(capture->fold, capture->now_ns);
}

static void tell_damage(struct capture *capture, struct act_item *ret_item)
{
	capture->is_damaged = false;
	*ret_item = (struct act_item){
		.type = ACT_ITEM_DAMAGE,
		.damage = {
			.offset = ACT_UNKNOWN, .bytes = ACT_UNKNOWN,
			.records = ACT_UNKNOWN, .exits = ACT_UNKNOWN,
			.reason = "damaged or cut short",
		},
	};
	memcpy(ret_item->damage.segment, capture->name, sizeof(capture->name));
}

static int capture_next(struct capture *capture, struct act_item *ret_item)
{
	int ret;

	for (;;) {
		if (gather_take(&capture->gather, &ret_item->batch)) {
			ret_item->type = ACT_ITEM_BATCH;
			return 0;
		}
		if (capture->gap_next < capture->gap_count) {
			ret_item->type = ACT_ITEM_GAP;
			ret_item->gap = capture->gaps[capture->gap_next++];
			return 0;
		}
		if (capture->is_damaged) {
			tell_damage(capture, ret_item);
			return 0;
		}
		if (capture->is_at_end)
			return 1;
		ret = fill(capture);
		if (ret < 0)
			return ret;
	}
}

static void capture_release(struct capture *capture)
{
	gather_release(&capture->gather);
	act_fold_free(capture->fold);
	act_source_free(capture->source);
	free(capture->gaps);
}

static int capture_open(struct capture *capture, const char *path, struct act_why *ret_why)
{
	const struct act_fold_options options = {
		.size = sizeof(options), .per = ACT_PER_BOTH, .emit = on_record, .arg = capture,
	};
	const char *name = strrchr(path, '/');
	int ret = act_source_open_replay(path, &capture->source, ret_why);

	if (ret < 0)
		return ret;
	name = name ? name + 1 : path;
	memcpy(capture->name, name, strnlen(name, sizeof(capture->name) - 1));
	ret = act_fold_new(&options, &capture->fold);
	if (ret < 0)
		strcpy(ret_why->text, "out of memory");
	return ret;
}

/* ---- Either ---- */

int act_input_open(const char *path, struct act_input **ret_input, struct act_why *ret_why)
{
	struct act_input *input = calloc(1, sizeof(*input));
	int ret;

	if (!input) {
		strcpy(ret_why->text, "out of memory");
		return -ENOMEM;
	}
	ret = act_log_reader_open(path, &input->log, ret_why);
	if (ret == -EUCLEAN) {
		struct act_why why;

		/* What the log's reader says of a directory is what there is to say. */
		ret = capture_open(&input->capture, path, &why);
		if (ret < 0 && ret != -EUCLEAN && ret != -EISDIR)
			*ret_why = why;
		if (ret == -EISDIR)
			ret = -EUCLEAN;
	}
	if (ret < 0) {
		act_input_free(input);
		return ret;
	}
	*ret_input = input;
	return 0;
}

void act_input_select(struct act_input *input, const struct act_field_set *fields)
{
	if (input->log)
		act_log_select(input->log, fields);
	else
		gather_select(&input->capture.gather, fields);
}

void act_input_prune(struct act_input *input, enum act_field field, uint64_t min, uint64_t max)
{
	if (input->log)
		act_log_prune(input->log, field, min, max);
}

int act_input_next(struct act_input *input, struct act_item *ret_item)
{
	if (input->log)
		return act_log_next(input->log, ret_item);
	return capture_next(&input->capture, ret_item);
}

bool act_input_is_live(const struct act_input *input)
{
	return input->log && act_log_is_live(input->log);
}

void act_input_free(struct act_input *input)
{
	if (!input)
		return;
	act_log_reader_free(input->log);
	capture_release(&input->capture);
	free(input);
}

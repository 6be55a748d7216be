/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records and gaps out of a log. */
#include "source/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/log.h>

#include "source/source.h"

struct replay_log {
	struct act_source source;
	struct act_log_reader *reader;
	struct act_item item;
	bool has_batch; /* item is one, taken up to row */
	size_t row;
	struct act_record record;
	struct act_gap damage; /* count 0: none; waits for the record behind it */
	uint64_t last_ns;      /* end of the last record */
};

static int take_gap(struct replay_log *replay, const struct act_gap *gap,
		    const struct act_sink *sink)
{
	if (gap->count != ACT_UNKNOWN)
		replay->source.stats.lost += gap->count;
	return sink->gap(sink->arg, gap);
}

static int settle_damage(struct replay_log *replay, uint64_t to_ns, const struct act_sink *sink)
{
	struct act_gap gap = replay->damage;

	if (gap.count == 0)
		return 0;
	replay->damage.count = 0;
	gap.to_ns = to_ns;
	return take_gap(replay, &gap, sink);
}

static void note_damage(struct replay_log *replay, const struct act_damage *damage)
{
	struct act_gap *gap = &replay->damage;

	/* What a writer is about to finish is not lost. */
	if (damage->exits == 0 || (damage->is_torn_tail && act_log_is_live(replay->reader)))
		return;
	if (gap->count == 0)
		*gap = (struct act_gap){ .from_ns = replay->last_ns, .cpu = -1,
					 .cause = ACT_CAUSE_DAMAGE };
	if (gap->count == ACT_UNKNOWN || damage->exits == ACT_UNKNOWN)
		gap->count = ACT_UNKNOWN;
	else
		gap->count += damage->exits;
}

static int take_record(struct replay_log *replay, const struct act_sink *sink)
{
	struct act_source_stats *stats = &replay->source.stats;
	const struct act_record *record = &replay->record;

	if (record->end_ns != ACT_UNKNOWN)
		replay->last_ns = record->end_ns;
	if (record->exits != ACT_UNKNOWN)
		stats->received += record->exits;
	if (record->version != ACT_UNKNOWN && record->version > stats->version)
		stats->version = (unsigned int)record->version;
	return sink->record ? sink->record(sink->arg, record) : 0;
}

/* Goes on where the sink stopped it. */
static int take_batch(struct replay_log *replay, const struct act_sink *sink)
{
	const struct act_batch *batch = &replay->item.batch;
	int ret = 0;

	while (ret == 0 && replay->row < batch->rows) {
		act_batch_record(batch, replay->row, &replay->record);
		/* Its gap ends here; what a sink refuses is not told again. */
		if (replay->damage.count != 0) {
			ret = settle_damage(replay, replay->record.end_ns, sink);
			continue;
		}
		replay->row++;
		ret = take_record(replay, sink);
	}
	return ret;
}

static int take_item(struct replay_log *replay, const struct act_sink *sink)
{
	const struct act_item *item = &replay->item;

	switch (item->type) {
	case ACT_ITEM_BATCH:
		replay->has_batch = true;
		replay->row = 0;
		return take_batch(replay, sink);
	case ACT_ITEM_GAP:
		return take_gap(replay, &item->gap, sink);
	case ACT_ITEM_DAMAGE:
		note_damage(replay, &item->damage);
		return 0;
	case ACT_ITEM_STATE:
		replay->source.stats.delayacct = item->state.delayacct;
		return 0;
	case ACT_ITEM_SEGMENT:
		return 0;
	}
	return 0;
}

static int wait_log(struct act_source *source, uint64_t timeout_ns)
{
	(void)source;
	(void)timeout_ns;
	return 0;
}

static int drain_log(struct act_source *source, const struct act_sink *sink)
{
	struct replay_log *replay = (struct replay_log *)source;
	int ret = 0;

	source->stats.drains++;
	if (replay->has_batch)
		ret = take_batch(replay, sink);
	if (ret < 0)
		return ret;
	replay->has_batch = false;
	while (ret == 0 && !replay->has_batch) {
		ret = act_log_next(replay->reader, &replay->item);
		if (ret == 0)
			ret = take_item(replay, sink);
	}
	if (ret == 1) {
		int error = settle_damage(replay, replay->last_ns, sink);

		ret = error < 0 ? error : ret;
	}
	return ret;
}

static int finish_log(struct act_source *source, bool is_end, const struct act_sink *sink)
{
	struct replay_log *replay = (struct replay_log *)source;

	(void)is_end;
	return settle_damage(replay, replay->last_ns, sink);
}

static bool is_behind_log(struct act_source *source)
{
	(void)source;
	return false;
}

static void free_log(struct act_source *source)
{
	act_log_reader_free(((struct replay_log *)source)->reader);
	free(source);
}

static const struct source_ops log_ops = {
	.wait = wait_log,
	.drain = drain_log,
	.finish = finish_log,
	.is_behind = is_behind_log,
	.free = free_log,
};

int replay_open_log(const char *path, struct act_source **ret_source, struct act_why *ret_why)
{
	struct replay_log *replay = calloc(1, sizeof(*replay));
	struct act_field_set fields = { { 0 } };
	int ret;

	if (!replay) {
		source_explain(ret_why, "%s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	}
	ret = act_log_reader_open(path, &replay->reader, ret_why);
	if (ret < 0) {
		free(replay);
		return ret;
	}
	act_field_set_all(&fields);
	act_log_select(replay->reader, &fields);
	replay->source.ops = &log_ops;
	replay->source.stats.delayacct = ACT_UNKNOWN;
	*ret_source = &replay->source;
	return 0;
}

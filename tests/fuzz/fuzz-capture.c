/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replaying a capture: its frames, the messages in them, the counting of what
 * is missing, and the fold behind it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <actuary/record.h>
#include <actuary/source.h>

#include "source/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct totals {
	struct act_fold *fold;
	uint64_t tasks;
	uint64_t lost;
};

static int emit(void *arg, const struct act_record *record)
{
	(void)arg;
	return record->kind == ACT_UNKNOWN ? -1 : 0;
}

static int take_task(void *arg, const struct act_record *task, const struct act_record *group)
{
	struct totals *totals = arg;

	totals->tasks++;
	return act_fold_task(totals->fold, task, group);
}

static int take_gap(void *arg, const struct act_gap *gap)
{
	struct totals *totals = arg;

	totals->lost += gap->count;
	act_fold_gap(totals->fold, gap->to_ns);
	return 0;
}

static void replay(struct act_source *source)
{
	struct act_fold_options options = { .size = sizeof(options), .per = ACT_PER_BOTH,
					    .limit = 16, .emit = emit };
	struct totals totals = { 0 };
	struct act_sink sink = { .task = take_task, .gap = take_gap, .arg = &totals };
	struct act_source_stats stats;

	if (act_fold_new(&options, &totals.fold) < 0)
		abort();
	while (act_source_drain(source, &sink) == 0)
		;
	act_source_finish(source, &sink);
	act_source_stats(source, &stats);
	if (stats.received != totals.tasks || stats.lost != totals.lost)
		abort();
	act_fold_flush(totals.fold);
	act_fold_free(totals.fold);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "rb") : NULL;
	struct act_source *source;
	struct act_why why;

	if (!file)
		return 0;
	if (replay_open_capture(file, "input", &source, &why) < 0)
		return 0;
	replay(source);
	act_source_free(source);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static int on_record(void *arg, const struct act_record *record)
{
	struct recorder *recorder = arg;

	if (record->kind & ACT_KIND_PROCESS) {
		recorder->processes++;
		recorder->partial += record->partial == 1;
		recorder->killed += record->signal != ACT_UNKNOWN && record->signal != 0;
		recorder->failed += record->code != ACT_UNKNOWN && record->code != 0;
	}
	return act_log_append(recorder->writer, record);
}

static void count_exits(struct recorder *recorder, uint64_t exits)
{
	uint64_t before = recorder->exits;

	recorder->exits += exits;
	if (recorder->every && recorder->exits / recorder->every != before / recorder->every)
		recorder->on_every(recorder->on_every_arg, recorder);
}

static int on_task(void *arg, const struct act_record *task, const struct act_record *group)
{
	struct recorder *recorder = arg;
	int ret = act_fold_task(recorder->fold, task, group);

	count_exits(recorder, 1);
	return ret;
}

static int on_folded(void *arg, const struct act_record *record)
{
	struct recorder *recorder = arg;

	count_exits(recorder, record->exits == ACT_UNKNOWN ? 0 : record->exits);
	return on_record(arg, record);
}

static int on_gap(void *arg, const struct act_gap *gap)
{
	struct recorder *recorder = arg;

	act_fold_gap(recorder->fold, gap->to_ns);
	return act_log_append_gap(recorder->writer, gap);
}

static struct act_sink sink_of(struct recorder *recorder)
{
	return (struct act_sink){
		.task = on_task, .gap = on_gap, .record = on_folded, .arg = recorder,
	};
}

uint64_t recorder_forks(const struct recorder *recorder)
{
	/* The line is behind one for each CPU and a long one of interrupts. */
	char *text = NULL, *line;
	size_t room = 65536, length = 0;
	uint64_t forks = ACT_UNKNOWN;
	ssize_t got;

	if (recorder->stat_fd < 0)
		return ACT_UNKNOWN;
	text = malloc(room + 1);
	while (text && (got = pread(recorder->stat_fd, text + length, room - length,
				    (off_t)length)) > 0) {
		length += (size_t)got;
		if (length < room)
			continue;
		char *more = realloc(text, 2 * room + 1);
		if (!more)
			break;
		text = more;
		room *= 2;
	}
	if (text) {
		text[length] = '\0';
		line = strstr(text, "\nprocesses ");
		if (line)
			forks = strtoull(line + strlen("\nprocesses "), NULL, 10);
	}
	free(text);
	return forks;
}

int recorder_init(struct recorder *recorder, struct act_source *source,
		  struct act_log_writer *writer, enum act_per per, bool is_replay)
{
	*recorder = (struct recorder){
		.source = source, .writer = writer, .per = per, .stat_fd = -1,
		.began_ns = clock_wall_ns(), .delayacct = ACT_UNKNOWN,
	};
	struct act_fold_options options = {
		.size = sizeof(options), .per = per, .emit = on_record, .arg = recorder,
		/* Of what is replayed nobody knows since when it is complete. */
		.complete_since_ns = is_replay ? UINT64_MAX : recorder->began_ns,
	};

	if (!is_replay)
		recorder->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	recorder->began_forks = recorder_forks(recorder);
	return act_fold_new(&options, &recorder->fold);
}

static int append_state(struct recorder *recorder, enum act_state_type type, const char *text)
{
	struct act_source_stats stats;
	struct act_log_writer_stats written;

	act_source_stats(recorder->source, &stats);
	act_log_writer_stats(recorder->writer, &written);
	struct act_state state = {
		.type = type, .time_ns = clock_wall_ns(), .delayacct = stats.delayacct,
		.forks = recorder_forks(recorder),
		.recorded = recorder->exits - written.dropped_exits,
		.lost = stats.lost + written.dropped_exits,
	};

	recorder->delayacct = stats.delayacct;
	snprintf(state.text, sizeof(state.text), "%s", text);
	return act_log_append_state(recorder->writer, &state);
}

int recorder_start(struct recorder *recorder, const struct act_gap *gap, const char *text)
{
	int ret;

	if (!gap->cause)
		return append_state(recorder, ACT_STATE_START, text);
	ret = act_log_append_gap(recorder->writer, gap);
	return ret < 0 ? ret : append_state(recorder, ACT_STATE_RESTART, text);
}

int recorder_drain(struct recorder *recorder)
{
	struct act_sink sink = sink_of(recorder);
	int end = act_source_drain(recorder->source, &sink);
	int ret;

	if (end != 0)
		return end;
	/* A replay keeps its own time, which the fold takes from its records. */
	if (recorder->stat_fd < 0)
		return 0;
	ret = act_fold_expire(recorder->fold, clock_wall_ns());
	return ret;
}

static int log_switch(struct recorder *recorder)
{
	struct act_source_stats stats;

	act_source_stats(recorder->source, &stats);
	if (stats.delayacct == recorder->delayacct)
		return 0;
	return append_state(recorder, ACT_STATE_SWITCH,
			    stats.delayacct == 1 ? "kernel.task_delayacct on"
						 : "kernel.task_delayacct off");
}

int recorder_sync(struct recorder *recorder)
{
	struct act_sink sink = sink_of(recorder);
	uint64_t forks = ACT_UNKNOWN;
	int ret = 0;

	if (act_source_is_behind(recorder->source))
		ret = act_source_sync(recorder->source, &sink);
	if (ret >= 0)
		ret = log_switch(recorder);
	if (ret < 0)
		return ret;
	if (recorder->exits != recorder->synced_exits)
		forks = recorder_forks(recorder);
	recorder->synced_exits = recorder->exits;
	/* A full disk is not the end: the writer waits for room and counts. */
	act_log_writer_sync(recorder->writer, forks, false);
	return 0;
}

int recorder_stop(struct recorder *recorder)
{
	struct act_sink sink = sink_of(recorder);
	int ret = act_source_finish(recorder->source, &sink);

	if (ret >= 0)
		ret = act_fold_flush(recorder->fold);
	if (ret >= 0)
		ret = log_switch(recorder);
	if (ret >= 0)
		ret = append_state(recorder, ACT_STATE_STOP, "");
	return ret < 0 ? ret : 0;
}

int recorder_release(struct recorder *recorder)
{
	int ret = act_log_writer_close(recorder->writer);

	act_fold_free(recorder->fold);
	act_source_free(recorder->source);
	if (recorder->stat_fd >= 0)
		close(recorder->stat_fd);
	return ret;
}

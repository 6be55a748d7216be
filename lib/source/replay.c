/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Exits out of a capture of raw messages. */
#include "source/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "source/capture.h"
#include "source/intake.h"
#include "source/source.h"

#define DRAIN_FRAMES 4096

struct replay {
	struct act_source source;
	struct intake intake;
	FILE *file;
	int end; /* 0: goes on, 1: at its end, negative errno: damaged there */
	struct capture_frame frame;
	uint8_t payload[CAPTURE_PAYLOAD_MAX] __attribute__((aligned(8)));
};

/* Returns 0, 1 at the end of the file, or a negative errno. */
static int read_frame(struct replay *replay)
{
	struct capture_frame *frame = &replay->frame;
	size_t got = fread(frame, 1, sizeof(*frame), replay->file);

	if (got == 0 && !ferror(replay->file))
		return 1;
	if (got == sizeof(*frame) && frame->length <= CAPTURE_PAYLOAD_MAX &&
	    fread(replay->payload, 1, frame->length, replay->file) == frame->length)
		return 0;
	return ferror(replay->file) ? -EIO : -ENODATA;
}

/* ---- Frames ---- */

static size_t find_cpu(const struct replay *replay, int cpu)
{
	size_t index = 0;

	while (index < replay->intake.cpus && replay->intake.cpu_stats[index].cpu != cpu)
		index++;
	return index;
}

static void take_switch(struct replay *replay, const struct capture_switch *state)
{
	replay->intake.delayacct.state = state->state;
	replay->intake.delayacct.since_ns = state->since_ns;
	replay->source.stats.delayacct = state->state <= 1 ? state->state : ACT_UNKNOWN;
}

static int damaged(struct replay *replay)
{
	replay->end = -ENODATA;
	return 0;
}

/*
 * Returns 0 or the sink's error.  Frames of a type that we don't know are of
 * newer writers: skipped.
 */
static int take_frame(struct replay *replay, const struct act_sink *sink)
{
	const struct capture_frame *frame = &replay->frame;
	struct intake *intake = &replay->intake;
	size_t cpu = find_cpu(replay, frame->cpu);
	bool is_of_cpu = cpu < intake->cpus;
	struct capture_switch state;
	uint32_t number;
	uint64_t drops;

	switch (frame->type) {
	case CAPTURE_MESSAGE:
		if (!is_of_cpu)
			return damaged(replay);
		return intake_message(intake, cpu, replay->payload, frame->length,
				      frame->time_ns, sink);
	case CAPTURE_START:
		if (!is_of_cpu || frame->length < sizeof(number))
			return damaged(replay);
		memcpy(&number, replay->payload, sizeof(number));
		sequence_start(&intake->sequence, cpu, number, frame->time_ns);
		return 0;
	case CAPTURE_DROPS:
		if (!is_of_cpu || frame->length < sizeof(drops))
			return damaged(replay);
		memcpy(&drops, replay->payload, sizeof(drops));
		intake_drops(intake, cpu, drops);
		return 0;
	case CAPTURE_SWITCH:
		if (frame->length < sizeof(state))
			return damaged(replay);
		memcpy(&state, replay->payload, sizeof(state));
		take_switch(replay, &state);
		return 0;
	default:
		return 0;
	}
}

/* ---- The source ---- */

static int wait_replay(struct act_source *source, uint64_t timeout_ns)
{
	(void)source;
	(void)timeout_ns;
	return 0;
}

static int drain_replay(struct act_source *source, const struct act_sink *sink)
{
	struct replay *replay = (struct replay *)source;
	int ret = 0;

	source->stats.drains++;
	for (int i = 0; ret == 0 && replay->end == 0 && i < DRAIN_FRAMES; i++) {
		replay->end = read_frame(replay);
		if (replay->end == 0)
			ret = take_frame(replay, sink);
	}
	if (ret < 0)
		return ret;
	ret = replay->end == 0 ? intake_settle(&replay->intake, replay->frame.time_ns, sink)
			       : intake_flush(&replay->intake, true, sink);
	return ret < 0 ? ret : replay->end;
}

static int finish_replay(struct act_source *source, bool is_end, const struct act_sink *sink)
{
	struct replay *replay = (struct replay *)source;
	int ret = intake_flush(&replay->intake, is_end, sink);

	return ret < 0 ? ret : replay->end;
}

static bool is_behind_replay(struct act_source *source)
{
	return intake_is_behind(&((struct replay *)source)->intake);
}

static void free_replay(struct act_source *source)
{
	struct replay *replay = (struct replay *)source;

	fclose(replay->file);
	intake_release(&replay->intake);
	free(replay);
}

static const struct source_ops replay_ops = {
	.wait = wait_replay,
	.drain = drain_replay,
	.finish = finish_replay,
	.is_behind = is_behind_replay,
	.free = free_replay,
};

/* ---- Opening ---- */

static int read_header(struct replay *replay, const char *path, struct act_why *ret_why)
{
	struct capture_header header;

	rewind(replay->file);
	if (fread(&header, 1, sizeof(header), replay->file) != sizeof(header)) {
		source_explain(ret_why, "%s: the capture ends within its header", path);
		return -EUCLEAN;
	}
	if (header.order != CAPTURE_ORDER) {
		source_explain(ret_why, "%s: captured on a machine of the other byte order; replay "
			       "it on one like that", path);
		return -EUCLEAN;
	}
	if (header.version != CAPTURE_VERSION) {
		source_explain(ret_why, "%s: a capture of format %u, and this program knows %d",
			       path, header.version, CAPTURE_VERSION);
		return -EPROTONOSUPPORT;
	}
	replay->intake.family = header.family;
	return 0;
}

static int read_cpus(struct replay *replay, const char *path, struct act_why *ret_why)
{
	uint16_t family = replay->intake.family;
	size_t count = 0;
	int *numbers;
	int ret = read_frame(replay);

	if (ret == 0 && replay->frame.type == CAPTURE_CPUS)
		count = replay->frame.length / sizeof(uint16_t);
	if (count == 0) {
		source_explain(ret_why, "%s: the capture does not say of which CPUs it is", path);
		return ret == -EIO ? ret : -EUCLEAN;
	}
	numbers = calloc(count, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		uint16_t cpu;

		memcpy(&cpu, replay->payload + i * sizeof(cpu), sizeof(cpu));
		numbers[i] = cpu;
	}
	ret = intake_init(&replay->intake, &replay->source.stats, numbers, count);
	replay->intake.family = family;
	free(numbers);
	return ret;
}

int replay_open_capture(FILE *file, const char *path, struct act_source **ret_source,
			struct act_why *ret_why)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int ret = -ENOMEM;

	if (!replay) {
		fclose(file);
		goto out;
	}
	replay->file = file;
	replay->source.ops = &replay_ops;
	replay->intake.delayacct.fd = -1;
	ret = read_header(replay, path, ret_why);
	if (ret == 0)
		ret = read_cpus(replay, path, ret_why);
	if (ret == 0) {
		*ret_source = &replay->source;
		return 0;
	}
	free_replay(&replay->source);
out:
	if (ret == -ENOMEM)
		source_explain(ret_why, "%s: %s", path, strerror(ENOMEM));
	return ret;
}

/* Sets *@ret_file if it is a capture.  Returns 0 or a negative errno. */
static int open_if_capture(const char *path, FILE **ret_file)
{
	char magic[sizeof(CAPTURE_MAGIC) - 1];
	struct stat status;
	FILE *file;

	if (stat(path, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return 0;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (capture_is_magic(magic, fread(magic, 1, sizeof(magic), file))) {
		*ret_file = file;
		return 0;
	}
	fclose(file);
	return 0;
}

int act_source_open_replay(const char *path, struct act_source **ret_source,
			   struct act_why *ret_why)
{
	FILE *file = NULL;
	int ret = open_if_capture(path, &file);

	if (ret < 0) {
		source_explain(ret_why, "cannot open %s: %s", path, strerror(-ret));
		return ret;
	}
	return file ? replay_open_capture(file, path, ret_source, ret_why)
		    : replay_open_log(path, ret_source, ret_why);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int intake_init(struct intake *intake, struct act_source_stats *stats,
		const int *numbers, size_t cpus)
{
	memset(intake, 0, sizeof(*intake));
	intake->delayacct = (struct delayacct)DELAYACCT_UNKNOWN;
	intake->cpus = cpus;
	intake->cpu = calloc(cpus, sizeof(*intake->cpu));
	intake->cpu_stats = calloc(cpus, sizeof(*intake->cpu_stats));
	if (!intake->cpu || !intake->cpu_stats || sequence_init(&intake->sequence, cpus) < 0) {
		intake_release(intake);
		return -ENOMEM;
	}
	for (size_t i = 0; i < cpus; i++)
		intake->cpu_stats[i].cpu = numbers[i];
	intake->stats = stats;
	stats->cpu = intake->cpu_stats;
	stats->cpus = cpus;
	stats->delayacct = ACT_UNKNOWN;
	return 0;
}

void intake_release(struct intake *intake)
{
	delayacct_close(&intake->delayacct);
	sequence_release(&intake->sequence);
	free(intake->cpu_stats);
	free(intake->cpu);
	intake->cpu_stats = NULL;
	intake->cpu = NULL;
}

/* ---- Gaps ---- */

static int hand_out_gap(struct intake *intake, size_t cpu, const struct act_gap *gap,
			const struct act_sink *sink)
{
	intake->cpu_stats[cpu].lost += gap->count;
	intake->stats->lost += gap->count;
	return sink->gap(sink->arg, gap);
}

/* An overflow moves the socket's drop counter, other losses don't. */
static enum act_cause explain_drops(struct intake_cpu *cpu, uint64_t count)
{
	enum act_cause cause = cpu->unexplained ? ACT_CAUSE_OVERFLOW : ACT_CAUSE_KERNEL;

	cpu->unexplained -= count < cpu->unexplained ? count : cpu->unexplained;
	return cause;
}

static int hand_out_hole(struct intake *intake, const struct sequence_gap *hole,
			 const struct act_sink *sink)
{
	struct act_gap gap = {
		.from_ns = hole->from_ns, .to_ns = hole->to_ns, .count = hole->count,
		.cpu = intake->cpu_stats[hole->cpu].cpu,
		.cause = explain_drops(&intake->cpu[hole->cpu], hole->count),
	};

	intake->holes += hole->count;
	return hand_out_gap(intake, hole->cpu, &gap, sink);
}

/*
 * Drops that were not told as holes yet; of all CPUs together, for which of them a
 * hole is put down to may be wrong.
 */
static uint64_t count_explained(const struct intake *intake)
{
	uint64_t known = intake->stats->drops + intake->undropped;

	return known > intake->holes ? known - intake->holes : 0;
}

static int hand_out_holes(struct intake *intake, enum sequence_hold hold,
			  const struct act_sink *sink)
{
	struct sequence_gap hole;
	int ret = 0;

	while (ret == 0 && sequence_take(&intake->sequence, hold, count_explained(intake), &hole))
		ret = hand_out_hole(intake, &hole, sink);
	/* The drop counters were read before: what they lack they will never have. */
	if (intake->holes > intake->stats->drops + intake->undropped)
		intake->undropped = intake->holes - intake->stats->drops;
	return ret;
}

/* There is no room for more holes: the oldest are the surest. */
static int make_room(struct intake *intake, const struct act_sink *sink)
{
	struct sequence_gap hole;
	int ret = 0;

	while (ret == 0 && intake->sequence.gaps > SEQUENCE_GAPS / 2 &&
	       sequence_take(&intake->sequence, HOLD_NONE, 0, &hole))
		ret = hand_out_hole(intake, &hole, sink);
	return ret;
}

static int hand_out_unreadable(struct intake *intake, size_t cpu, const struct act_sink *sink)
{
	struct intake_cpu *state = &intake->cpu[cpu];
	struct act_gap gap = {
		.from_ns = state->unreadable_from_ns, .to_ns = state->unreadable_to_ns,
		.count = state->unreadable, .cpu = intake->cpu_stats[cpu].cpu,
		.cause = ACT_CAUSE_TRUNCATED,
	};

	if (state->unreadable == 0)
		return 0;
	state->unreadable = 0;
	return hand_out_gap(intake, cpu, &gap, sink);
}

int intake_settle(struct intake *intake, uint64_t now_ns, const struct act_sink *sink)
{
	size_t given_up = sequence_settle(&intake->sequence, now_ns);
	int ret = 0;

	/* Their holes were told by mistake, in the place of some that are held still. */
	for (; given_up > 0 && intake_awaits_more(intake); given_up--)
		sequence_forgive(&intake->sequence);
	for (size_t i = 0; i < intake->cpus; i++) {
		intake->cpu_stats[i].foreign = intake->sequence.cpu[i].foreign;
		if (ret == 0)
			ret = hand_out_unreadable(intake, i, sink);
	}
	return ret < 0 ? ret : hand_out_holes(intake, HOLD_USUAL, sink);
}

int intake_flush(struct intake *intake, bool is_end, const struct act_sink *sink)
{
	int ret = intake_settle(intake, intake->sequence.now_ns, sink);

	while (ret == 0 && !sequence_confirm(&intake->sequence))
		ret = make_room(intake, sink);
	return ret < 0 ? ret : hand_out_holes(intake, is_end ? HOLD_NONE : HOLD_UNEXPLAINED, sink);
}

void intake_drops(struct intake *intake, size_t cpu, uint64_t drops)
{
	struct intake_cpu *state = &intake->cpu[cpu];

	if (drops <= state->drops)
		return;
	state->unexplained += drops - state->drops;
	intake->stats->drops += drops - state->drops;
	state->drops = drops;
}

int intake_write_off(struct intake *intake, size_t cpu, uint64_t time_ns,
		     const struct act_sink *sink)
{
	struct sequence_cpu *stream = &intake->sequence.cpu[cpu];
	uint64_t drops = intake->cpu[cpu].unexplained, all = count_explained(intake);
	struct sequence_gap hole = {
		.cpu = cpu, .count = (uint32_t)(drops < all ? drops : all),
		.from_ns = stream->last_ns, .to_ns = time_ns,
	};

	if (hole.count == 0)
		return 0;
	/* Told now, so not to be told again by the next number. */
	if (stream->is_started)
		sequence_start(&intake->sequence, cpu, stream->next + hole.count, time_ns);
	return hand_out_hole(intake, &hole, sink);
}

bool intake_is_behind(const struct intake *intake)
{
	return intake->stats->drops + intake->undropped >
	       intake->holes + sequence_pending(&intake->sequence);
}

bool intake_awaits_more(const struct intake *intake)
{
	return intake->holes + sequence_pending(&intake->sequence) >
	       intake->stats->drops + intake->undropped;
}

/* ---- Messages ---- */

static void hide_uncounted(struct intake *intake, struct decoded *decoded)
{
	const struct act_record *task = &decoded->task;
	uint64_t start_ns = task->end_ns > task->wall_ns ? task->end_ns - task->wall_ns : 0;

	if (!decoded->task_waited && !delayacct_covers(&intake->delayacct, start_ns))
		decode_hide_switched(&decoded->task);
	if (!decoded->has_group || decoded->group_waited)
		return;
	/* The sums are over tasks as old as the process. */
	if (task->tgetime_ns != ACT_UNKNOWN)
		start_ns = task->end_ns > task->tgetime_ns ? task->end_ns - task->tgetime_ns : 0;
	if (!delayacct_covers(&intake->delayacct, start_ns))
		decode_hide_switched(&decoded->group);
}

static int deliver(struct intake *intake, size_t cpu, uint64_t time_ns,
		   const struct act_sink *sink)
{
	struct decoded *decoded = &intake->decoded;

	decoded->task.cpu = (uint64_t)intake->cpu_stats[cpu].cpu;
	decoded->task.end_ns = time_ns;
	if (decoded->task.version > intake->stats->version)
		intake->stats->version = (unsigned int)decoded->task.version;
	hide_uncounted(intake, decoded);
	if (decoded->has_group) {
		decoded->group.cpu = decoded->task.cpu;
		decoded->group.end_ns = time_ns;
	}
	intake->cpu_stats[cpu].received++;
	intake->stats->received++;
	return sink->task(sink->arg, &decoded->task,
			  decoded->has_group ? &decoded->group : NULL);
}

/* An exit whose message tells nothing but its number. */
static void note_unreadable(struct intake *intake, size_t cpu, uint64_t time_ns)
{
	struct intake_cpu *state = &intake->cpu[cpu];

	intake->stats->truncated++;
	if (state->unreadable++ == 0)
		state->unreadable_from_ns = intake->sequence.cpu[cpu].last_ns;
	state->unreadable_to_ns = time_ns;
}

int intake_message(struct intake *intake, size_t cpu, const void *message, size_t length,
		   uint64_t time_ns, const struct act_sink *sink)
{
	enum decoded_as as = decode_message(message, length, intake->family, &intake->decoded);
	uint32_t number;
	int ret = 0;

	if (as == DECODED_ALIEN || !decode_number(message, length, &number)) {
		intake->stats->alien++;
		return 0;
	}
	if (sequence_is_full(&intake->sequence))
		ret = make_room(intake, sink);
	if (as == DECODED_EXIT && intake->decoded.has_task) {
		int error = deliver(intake, cpu, time_ns, sink);

		ret = ret < 0 ? ret : error;
	} else {
		note_unreadable(intake, cpu, time_ns);
	}
	sequence_note(&intake->sequence, cpu, number, time_ns);
	return ret;
}

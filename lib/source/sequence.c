/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/sequence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

/* A gap that was found in one drain counts at the end of the next, at the earliest. */
#define HELD_DRAINS 2
#define HELD_NS (30 * NSEC_PER_SEC)

/* So far behind its next number a CPU's hole may still show: more than any buffer holds. */
#define HOLE_AHEAD 65536

/* So many in a row confirm a jump ahead. */
#define CONFIRMING 3

/* So many in a row behind show that a jump ahead was believed wrongly. */
#define REWINDING 16

int sequence_init(struct sequence *sequence, size_t cpus)
{
	memset(sequence, 0, sizeof(*sequence));
	sequence->cpu = calloc(cpus, sizeof(*sequence->cpu));
	if (!sequence->cpu)
		return -ENOMEM;
	sequence->cpus = cpus;
	return 0;
}

void sequence_release(struct sequence *sequence)
{
	free(sequence->cpu);
	sequence->cpu = NULL;
}

static bool is_behind(uint32_t number, uint32_t next)
{
	return (int32_t)(number - next) < 0;
}

static bool is_missing_from(const struct sequence_gap *gap, uint32_t number)
{
	return gap->count > 0 && number - gap->first < gap->span;
}

void sequence_start(struct sequence *sequence, size_t cpu, uint32_t next, uint64_t time_ns)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];

	state->is_started = true;
	state->suspects = 0;
	state->behind_run = 0;
	state->next = next;
	state->last_ns = time_ns;
}

static void remove_homeless(struct sequence *sequence, size_t index)
{
	sequence->foreign--;
	memmove(&sequence->homeless[index], &sequence->homeless[index + 1],
		(sequence->foreign - index) * sizeof(sequence->homeless[0]));
}

static void note_foreign(struct sequence *sequence, size_t cpu, uint32_t number)
{
	sequence->cpu[cpu].foreign++;
	for (size_t i = 0; i < sequence->gaps; i++) {
		if (is_missing_from(&sequence->gap[i], number)) {
			sequence->gap[i].count--;
			return;
		}
	}
	if (sequence->foreign == SEQUENCE_FOREIGN)
		remove_homeless(sequence, 0);
	sequence->homeless[sequence->foreign++] = number;
}

/* The numbers from state->next up to before @number are missing. */
static void open_gap(struct sequence *sequence, size_t cpu, uint32_t number, uint64_t time_ns)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];
	struct sequence_gap *gap = &sequence->gap[sequence->gaps++];

	*gap = (struct sequence_gap){
		.cpu = cpu, .first = state->next,
		.span = number - state->next, .count = number - state->next,
		.from_ns = state->last_ns, .to_ns = time_ns,
	};
	for (size_t i = 0; i < sequence->foreign;) {
		if (is_missing_from(gap, sequence->homeless[i])) {
			gap->count--;
			remove_homeless(sequence, i);
		} else {
			i++;
		}
	}
}

static void advance(struct sequence_cpu *state, uint32_t number, uint64_t time_ns)
{
	state->next = number + 1;
	state->last_ns = time_ns;
}

/* The first jump ahead was a real one. */
static void confirm_first(struct sequence *sequence, size_t cpu)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];
	uint32_t number = state->suspect[0].number;
	uint64_t time_ns = state->suspect[0].time_ns;

	if (number != state->next)
		open_gap(sequence, cpu, number, time_ns);
	advance(state, number, time_ns);
	state->suspects--;
	memmove(&state->suspect[0], &state->suspect[1],
		state->suspects * sizeof(state->suspect[0]));
}

/* Confirms all jumps of the CPU.  False if there was no room for the gaps. */
static bool confirm_all(struct sequence *sequence, size_t cpu)
{
	while (sequence->cpu[cpu].suspects > 0) {
		if (sequence_is_full(sequence))
			return false;
		confirm_first(sequence, cpu);
	}
	return true;
}

/* The stream has come to @number only: it has not gone beyond. */
static void refute(struct sequence *sequence, size_t cpu, uint32_t number)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];

	while (state->suspects > 0 &&
	       is_behind(number, state->suspect[state->suspects - 1].number))
		note_foreign(sequence, cpu, state->suspect[--state->suspects].number);
}

static bool is_confirmed(const struct sequence_cpu *state)
{
	size_t last = state->suspects - 1;

	return state->suspects >= CONFIRMING &&
	       state->suspect[last - (CONFIRMING - 1)].number ==
	       state->suspect[last].number - (CONFIRMING - 1);
}

static void suspect(struct sequence *sequence, size_t cpu, uint32_t number, uint64_t time_ns)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];

	/* Under heavy loss no two numbers are neighbours. */
	if (state->suspects == SEQUENCE_SUSPECTS)
		confirm_first(sequence, cpu);
	state->suspect[state->suspects].number = number;
	state->suspect[state->suspects++].time_ns = time_ns;
	if (is_confirmed(state))
		confirm_all(sequence, cpu);
}

/* Nothing is missing of the CPU from @number on. */
static void cancel_gaps(struct sequence *sequence, size_t cpu, uint32_t number)
{
	for (size_t i = 0; i < sequence->gaps; i++) {
		struct sequence_gap *gap = &sequence->gap[i];

		if (gap->cpu == cpu && !is_behind(gap->first + gap->span, number))
			gap->count = 0;
	}
}

static void note_behind(struct sequence *sequence, size_t cpu, uint32_t number, uint64_t time_ns)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];

	state->behind_run = number == state->behind ? state->behind_run + 1 : 1;
	state->behind = number + 1;
	note_foreign(sequence, cpu, number);
	if (state->behind_run < REWINDING)
		return;
	cancel_gaps(sequence, cpu, number + 1);
	sequence_start(sequence, cpu, number + 1, time_ns);
}

void sequence_note(struct sequence *sequence, size_t cpu, uint32_t number, uint64_t time_ns)
{
	struct sequence_cpu *state = &sequence->cpu[cpu];

	if (!state->is_started) {
		sequence_start(sequence, cpu, number + 1, time_ns);
	} else if (is_behind(number, state->next)) {
		note_behind(sequence, cpu, number, time_ns);
	} else {
		refute(sequence, cpu, number);
		if (number == state->next)
			advance(state, number, time_ns);
		else
			suspect(sequence, cpu, number, time_ns);
	}
}

bool sequence_is_full(const struct sequence *sequence)
{
	return sequence->gaps == SEQUENCE_GAPS;
}

/* Whether a CPU has not come to @number yet, so that its hole may still show. */
static bool is_awaited(const struct sequence *sequence, uint32_t number)
{
	for (size_t cpu = 0; cpu < sequence->cpus; cpu++)
		if (sequence->cpu[cpu].is_started &&
		    number - sequence->cpu[cpu].next < HOLE_AHEAD)
			return true;
	return false;
}

size_t sequence_settle(struct sequence *sequence, uint64_t now_ns)
{
	size_t foreign = sequence->foreign;

	sequence->now_ns = now_ns;
	for (size_t i = 0; i < sequence->gaps; i++)
		sequence->gap[i].drains++;
	for (size_t i = sequence->foreign; i > 0; i--)
		if (!is_awaited(sequence, sequence->homeless[i - 1]))
			remove_homeless(sequence, i - 1);
	return foreign - sequence->foreign;
}

void sequence_forgive(struct sequence *sequence)
{
	for (size_t i = 0; i < sequence->gaps; i++) {
		if (sequence->gap[i].count > 0) {
			sequence->gap[i].count--;
			return;
		}
	}
}

bool sequence_confirm(struct sequence *sequence)
{
	for (size_t cpu = 0; cpu < sequence->cpus; cpu++)
		if (!confirm_all(sequence, cpu))
			return false;
	return true;
}

/* A clock that was set back ends it. */
static bool is_held(const struct sequence *sequence, const struct sequence_gap *gap,
		    enum sequence_hold hold, uint64_t explained)
{
	if (hold == HOLD_NONE)
		return false;
	if (hold == HOLD_USUAL && gap->drains < HELD_DRAINS)
		return true;
	return gap->count > explained && sequence->now_ns - gap->to_ns < HELD_NS;
}

static void remove_gap(struct sequence *sequence, size_t index)
{
	sequence->gaps--;
	memmove(&sequence->gap[index], &sequence->gap[index + 1],
		(sequence->gaps - index) * sizeof(sequence->gap[0]));
}

bool sequence_take(struct sequence *sequence, enum sequence_hold hold, uint64_t explained,
		   struct sequence_gap *ret_gap)
{
	for (size_t i = 0; i < sequence->gaps;) {
		const struct sequence_gap *gap = &sequence->gap[i];

		if (gap->count > 0 && is_held(sequence, gap, hold, explained)) {
			i++;
			continue;
		}
		*ret_gap = *gap;
		remove_gap(sequence, i);
		if (ret_gap->count > 0)
			return true;
	}
	return false;
}

uint64_t sequence_pending(const struct sequence *sequence)
{
	uint64_t count = 0;

	for (size_t i = 0; i < sequence->gaps; i++)
		count += sequence->gap[i].count;
	for (size_t cpu = 0; cpu < sequence->cpus; cpu++) {
		const struct sequence_cpu *state = &sequence->cpu[cpu];

		if (state->suspects > 0)
			count += state->suspect[state->suspects - 1].number - state->next -
				 (state->suspects - 1);
	}
	return count;
}

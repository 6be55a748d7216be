/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_INTAKE_H
#define SOURCE_INTAKE_H

/*
 * From raw messages, each with the CPU and the time it was received at, to
 * what a sink takes: records and gaps.  It is the same for messages that the
 * kernel sends now and for those that a capture kept.
 */
#include <actuary/source.h>

#include "source/decode.h"
#include "source/delayacct.h"
#include "source/sequence.h"

struct intake_cpu {
	uint64_t drops;       /* the socket's counter, from open on */
	uint64_t unexplained; /* drops that no gap has accounted for */
	uint64_t unreadable;  /* messages since the last settling that told nothing */
	uint64_t unreadable_from_ns;
	uint64_t unreadable_to_ns;
};

struct intake {
	struct act_source_stats *stats; /* the source's */
	struct act_source_cpu *cpu_stats;
	struct intake_cpu *cpu;
	size_t cpus;
	uint16_t family;
	struct delayacct delayacct;
	struct sequence sequence;
	uint64_t holes;    /* exits that were told as holes */
	uint64_t undropped; /* of them, as many as no socket dropped */
	struct decoded decoded; /* the last exit */
};

/* @numbers are the CPUs' own numbers.  Returns 0 or -ENOMEM. */
int intake_init(struct intake *intake, struct act_source_stats *stats,
		const int *numbers, size_t cpus);
void intake_release(struct intake *intake);

/*
 * A message that came to the socket of the CPU with index @cpu.  Returns 0 or
 * the sink's error; either way the message is dealt with.
 */
int intake_message(struct intake *intake, size_t cpu, const void *message, size_t length,
		   uint64_t time_ns, const struct act_sink *sink);

/* The socket's drop counter, from open on, has come to @drops. */
void intake_drops(struct intake *intake, size_t cpu, uint64_t drops);

/* The buffers were emptied: hands out the gaps that are sure by now. */
int intake_settle(struct intake *intake, uint64_t now_ns, const struct act_sink *sink);

/*
 * No more is to come for now: hands out all gaps that drops explain, and at the end
 * the others, too.
 */
int intake_flush(struct intake *intake, bool is_end, const struct act_sink *sink);

/* Takes the drops of a CPU whose stream could not be closed for a gap. */
int intake_write_off(struct intake *intake, size_t cpu, uint64_t time_ns,
		     const struct act_sink *sink);

/* Whether drops are known that no gap, taken or held, accounts for. */
bool intake_is_behind(const struct intake *intake);

/* Whether holes wait that no drop accounts for: their numbers may be on their way. */
bool intake_awaits_more(const struct intake *intake);

#endif

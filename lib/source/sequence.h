/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SEQUENCE_H
#define SOURCE_SEQUENCE_H

/*
 * Exact counts of what is missing, from sequence numbers that are per CPU.
 *
 * The kernel picks a CPU's listeners, may then be moved to another CPU, and
 * there takes the number (kernel/taskstats.c, prepare_reply()): such a number
 * of B's arrives in A's stream, and B's stream has a hole of one that is no
 * loss.  So
 *  - numbers that jump ahead are believed only when the stream goes on from
 *    there; whatever a later, lower number shows to be out of order was foreign;
 *  - a foreign number fills the hole that it is missing from, wherever that is;
 *  - a hole is held back before it counts, over a whole further drain; and where
 *    no drop of a socket explains it, for half a minute: a task that took its
 *    number may have to wait for a CPU before it sends it, and the busier the
 *    machine, the longer;
 *  - a foreign number whose hole does not show yet is remembered until each CPU
 *    has gone beyond it: one that is idle shows its holes late.
 * However numbers are attributed, the sum of holes less foreign numbers is the
 * number of exits lost.  Numbers are 32 bits and wrap; the first is arbitrary.
 * Pure: no clock, no system call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_GAPS 1024
#define SEQUENCE_FOREIGN 64
#define SEQUENCE_SUSPECTS 16

struct sequence_cpu {
	bool is_started;
	uint32_t next;
	uint64_t last_ns; /* receipt of the number before next */
	/* Jumps ahead that nothing has confirmed or refuted yet, rising. */
	size_t suspects;
	struct {
		uint32_t number;
		uint64_t time_ns;
	} suspect[SEQUENCE_SUSPECTS];
	/* Numbers behind next that go on from one another. */
	uint32_t behind;
	unsigned int behind_run;
	uint64_t foreign; /* numbers of other CPUs seen here */
};

struct sequence_gap {
	size_t cpu;
	uint32_t first;  /* missing from here ... */
	uint32_t span;   /* ... so many numbers, ... */
	uint32_t count;  /* ... of which so many did not turn up elsewhere */
	unsigned int drains; /* that ended since it was found */
	uint64_t from_ns; /* receipt of the number before */
	uint64_t to_ns;   /* and of the one behind */
};

struct sequence {
	struct sequence_cpu *cpu;
	size_t cpus;
	size_t gaps;    /* in use, oldest first */
	size_t foreign; /* in use, oldest first */
	uint64_t now_ns; /* of the last drain's end */
	struct sequence_gap gap[SEQUENCE_GAPS];
	uint32_t homeless[SEQUENCE_FOREIGN]; /* foreign numbers that fill no known hole */
};

int sequence_init(struct sequence *sequence, size_t cpus); /* 0 or -ENOMEM */
void sequence_release(struct sequence *sequence);

/* The next number of @cpu will be @next; what is missing counts from there. */
void sequence_start(struct sequence *sequence, size_t cpu, uint32_t next, uint64_t time_ns);

/* @number was received on @cpu.  Not while sequence_is_full(). */
void sequence_note(struct sequence *sequence, size_t cpu, uint32_t number, uint64_t time_ns);

/* True when gaps must be taken before the next number. */
bool sequence_is_full(const struct sequence *sequence);

/*
 * A drain has ended: all that waited on every CPU has been noted.  Same clock.
 * Returns how many foreign numbers were given up: no CPU's hole can show any more
 * that they fill, so that if it was one's here it was taken before they came.
 */
size_t sequence_settle(struct sequence *sequence, uint64_t now_ns);

/* One of the pending is not missing: the oldest gap is less by one. */
void sequence_forgive(struct sequence *sequence);

/*
 * No more numbers will come: jumps ahead that wait to be confirmed are.
 * Returns false if gaps must be taken first, then call it again.
 */
bool sequence_confirm(struct sequence *sequence);

enum sequence_hold {
	HOLD_USUAL,       /* over a further drain; unexplained ones longer */
	HOLD_UNEXPLAINED, /* only them */
	HOLD_NONE,
};

/*
 * Takes the oldest gap that is no longer to be held; one is explained if its count
 * is @explained at most.  Returns false if there is none.
 */
bool sequence_take(struct sequence *sequence, enum sequence_hold hold, uint64_t explained,
		   struct sequence_gap *ret_gap);

/* Exits known to be missing that were not taken yet. */
uint64_t sequence_pending(const struct sequence *sequence);

#endif

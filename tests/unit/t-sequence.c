/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting what is missing, by numbers that are per CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/sequence.h"

static struct sequence *new_sequence(size_t cpus)
{
	struct sequence *sequence = malloc(sizeof(*sequence));

	assert_non_null(sequence);
	assert_int_equal(sequence_init(sequence, cpus), 0);
	return sequence;
}

static void free_sequence(struct sequence *sequence)
{
	sequence_release(sequence);
	free(sequence);
}

/* Notes first to last; the time of a number is the number. */
static void note_run(struct sequence *sequence, size_t cpu, uint32_t first, uint32_t last)
{
	for (uint32_t number = first; number != last + 1; number++)
		sequence_note(sequence, cpu, number, number);
}

/* Takes all gaps; returns how many exits they stand for. */
static uint64_t take_all(struct sequence *sequence)
{
	struct sequence_gap gap;
	uint64_t count = 0;

	do {
		while (sequence_take(sequence, HOLD_NONE, 0, &gap))
			count += gap.count;
	} while (!sequence_confirm(sequence));
	while (sequence_take(sequence, HOLD_NONE, 0, &gap))
		count += gap.count;
	return count;
}

static void test_whole(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	note_run(sequence, 0, 4711, 5711);
	assert_int_equal(sequence_pending(sequence), 0);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

static void test_gap(void **state)
{
	struct sequence *sequence = new_sequence(2);
	struct sequence_gap gap;

	(void)state;
	note_run(sequence, 1, 100, 109);
	note_run(sequence, 1, 127, 130);
	assert_int_equal(sequence_pending(sequence), 17);
	assert_true(sequence_take(sequence, HOLD_NONE, 0, &gap));
	assert_int_equal(gap.cpu, 1);
	assert_int_equal(gap.first, 110);
	assert_int_equal(gap.count, 17);
	assert_int_equal(gap.from_ns, 109);
	assert_int_equal(gap.to_ns, 127);
	assert_false(sequence_take(sequence, HOLD_NONE, 0, &gap));
	assert_int_equal(sequence_pending(sequence), 0);
	free_sequence(sequence);
}

static void test_started(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	sequence_start(sequence, 0, 50, 1);
	note_run(sequence, 0, 53, 60);
	assert_int_equal(take_all(sequence), 3);
	free_sequence(sequence);
}

static void test_wrap(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	note_run(sequence, 0, UINT32_MAX - 5, UINT32_MAX - 2);
	note_run(sequence, 0, 4, 9);
	assert_int_equal(take_all(sequence), 6); /* MAX - 1, MAX, 0, 1, 2, 3 */
	note_run(sequence, 0, 10, 20);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

#define SECOND UINT64_C(1000000000)

/* A gap is handed out after two drains; half a minute if nothing explains it. */
static void test_held(void **state)
{
	struct sequence *sequence = new_sequence(1);
	struct sequence_gap gap;

	(void)state;
	note_run(sequence, 0, 1, 3);
	note_run(sequence, 0, 5, 7);
	sequence_settle(sequence, SECOND);
	assert_false(sequence_take(sequence, HOLD_USUAL, 1, &gap));
	note_run(sequence, 0, 8, 9);
	sequence_settle(sequence, 2 * SECOND);
	assert_false(sequence_take(sequence, HOLD_USUAL, 0, &gap));
	assert_true(sequence_take(sequence, HOLD_USUAL, 1, &gap));
	assert_int_equal(gap.count, 1);
	note_run(sequence, 0, 11, 13);
	note_run(sequence, 0, 17, 19);
	sequence_settle(sequence, 3 * SECOND);
	assert_true(sequence_take(sequence, HOLD_UNEXPLAINED, 1, &gap));
	assert_int_equal(gap.count, 1);
	assert_false(sequence_take(sequence, HOLD_UNEXPLAINED, 2, &gap));
	sequence_settle(sequence, 29 * SECOND);
	assert_false(sequence_take(sequence, HOLD_USUAL, 2, &gap));
	sequence_settle(sequence, 31 * SECOND);
	assert_true(sequence_take(sequence, HOLD_USUAL, 2, &gap));
	assert_int_equal(gap.count, 3);
	free_sequence(sequence);
}

/* Its hole was taken: it is given up, and one of those that wait is forgiven. */
static void test_forgive(void **state)
{
	struct sequence *sequence = new_sequence(1);
	struct sequence_gap gap;

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 0, 111, 119);
	assert_true(sequence_take(sequence, HOLD_NONE, 0, &gap));
	note_run(sequence, 0, 122, 129);
	assert_int_equal(sequence_settle(sequence, 130), 0);
	sequence_note(sequence, 0, 110, 140);
	assert_int_equal(sequence_settle(sequence, 150), 1);
	sequence_forgive(sequence);
	assert_int_equal(sequence_pending(sequence), 1);
	free_sequence(sequence);
}

/* A's socket gets a number of B's; B's stream lacks it.  Nothing is lost. */
static void foreign(uint32_t a, uint32_t b, bool a_first)
{
	struct sequence *sequence = new_sequence(2);

	note_run(sequence, 0, a, a + 9);
	note_run(sequence, 1, b, b + 9);
	for (int i = 0; i < 2; i++) {
		if ((i == 0) == a_first) {
			sequence_note(sequence, 0, b + 10, 1);
			note_run(sequence, 0, a + 10, a + 19);
		} else {
			note_run(sequence, 1, b + 11, b + 19);
		}
	}
	assert_int_equal(sequence_pending(sequence), 0);
	assert_int_equal(take_all(sequence), 0);
	assert_int_equal(sequence->cpu[0].foreign, 1);
	assert_int_equal(sequence->cpu[1].foreign, 0);
	free_sequence(sequence);
}

static void test_foreign(void **state)
{
	(void)state;
	for (int a_first = 0; a_first < 2; a_first++) {
		foreign(1000, 5000000, a_first);    /* far ahead */
		foreign(5000000, 1000, a_first);    /* far behind */
		foreign(1000, 1040, a_first);       /* just ahead */
		foreign(1040, 1000, a_first);       /* just behind */
		foreign(1000, 3000000000u, a_first); /* beyond half the circle */
		foreign(UINT32_MAX - 12, 7, a_first);
	}
}

/* Before its hole is known, and after the hole was found. */
static void test_foreign_across_drains(void **state)
{
	struct sequence *sequence = new_sequence(2);
	struct sequence_gap gap;

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 1, 900, 909);
	note_run(sequence, 1, 911, 915);
	sequence_settle(sequence, 1000);
	assert_false(sequence_take(sequence, HOLD_USUAL, 0, &gap));
	sequence_note(sequence, 0, 910, 1);
	note_run(sequence, 0, 110, 112);
	sequence_settle(sequence, SECOND);
	assert_false(sequence_take(sequence, HOLD_USUAL, 0, &gap));
	sequence_note(sequence, 0, 916, 1);
	note_run(sequence, 0, 113, 115);
	sequence_settle(sequence, 4 * SECOND);
	note_run(sequence, 1, 917, 920);
	sequence_settle(sequence, 7 * SECOND);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

/* The CPU that it is missing from is idle for a long time. */
static void test_foreign_of_idle(void **state)
{
	struct sequence *sequence = new_sequence(2);

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 1, 900, 909);
	sequence_note(sequence, 0, 910, 1);
	for (uint32_t i = 1; i <= 1000; i++) {
		note_run(sequence, 0, 100 + 10 * i, 109 + 10 * i);
		sequence_settle(sequence, i * SECOND);
	}
	note_run(sequence, 1, 911, 915);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

/* It waited for a CPU while many drains went by. */
static void test_late(void **state)
{
	struct sequence *sequence = new_sequence(1);
	struct sequence_gap gap;

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 0, 111, 119);
	for (uint32_t i = 0; i < 100; i++) {
		sequence_settle(sequence, 119 + i * SECOND / 100);
		assert_false(sequence_take(sequence, HOLD_USUAL, 0, &gap));
	}
	sequence_note(sequence, 0, 110, SECOND);
	note_run(sequence, 0, 120, 129);
	sequence_settle(sequence, 9 * SECOND);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

/* A foreign number amid real losses on both sides. */
static void test_foreign_and_gaps(void **state)
{
	struct sequence *sequence = new_sequence(2);

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 1, 10000, 10009);
	sequence_note(sequence, 0, 10010, 1);
	note_run(sequence, 0, 115, 120);     /* 5 lost */
	note_run(sequence, 1, 10014, 10020); /* 3 lost besides the foreign one */
	assert_int_equal(take_all(sequence), 8);
	free_sequence(sequence);
}

/* The closing exit shows what was lost behind the last message. */
static void test_closer(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	note_run(sequence, 0, 100, 109);
	sequence_note(sequence, 0, 150, 150);
	assert_int_equal(sequence_pending(sequence), 40);
	assert_int_equal(take_all(sequence), 40);
	note_run(sequence, 0, 151, 160);
	assert_int_equal(take_all(sequence), 0);
	free_sequence(sequence);
}

static void test_full(void **state)
{
	struct sequence *sequence = new_sequence(1);
	uint64_t count = 0;
	uint32_t number = 0;

	(void)state;
	for (int i = 0; i < 3 * SEQUENCE_GAPS; i++, number += 3) {
		if (sequence_is_full(sequence))
			count += take_all(sequence);
		sequence_note(sequence, 0, number, number);
	}
	count += take_all(sequence);
	assert_int_equal(count, 2 * (3 * SEQUENCE_GAPS - 1));
	free_sequence(sequence);
}

/* More foreign numbers than are kept must not break anything else. */
static void test_many_homeless(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	note_run(sequence, 0, 1000000, 1000009);
	for (uint32_t i = 0; i < 3 * SEQUENCE_FOREIGN; i++)
		sequence_note(sequence, 0, 2 * i, i);
	note_run(sequence, 0, 1000010, 1000020);
	note_run(sequence, 0, 1000022, 1000030);
	assert_int_equal(sequence->cpu[0].foreign, 3 * SEQUENCE_FOREIGN);
	assert_int_equal(take_all(sequence), 1);
	sequence_settle(sequence, SECOND);
	assert_int_equal(sequence->foreign, 0);
	free_sequence(sequence);
}

/* Two foreign numbers in a row, of one CPU and of two. */
static void test_foreign_pairs(void **state)
{
	struct sequence *sequence = new_sequence(3);

	(void)state;
	note_run(sequence, 0, 100, 109);
	note_run(sequence, 1, 1000, 1009);
	note_run(sequence, 2, 2000, 2009);
	note_run(sequence, 0, 1010, 1011);
	note_run(sequence, 0, 110, 119);
	sequence_note(sequence, 0, 1012, 1);
	sequence_note(sequence, 0, 2010, 1);
	note_run(sequence, 0, 120, 129);
	note_run(sequence, 1, 1013, 1019);
	note_run(sequence, 2, 2011, 2019);
	assert_int_equal(take_all(sequence), 0);
	assert_int_equal(sequence->cpu[0].foreign, 4);
	free_sequence(sequence);
}

/* Whatever was believed wrongly, the stream is found again. */
static void test_rewind(void **state)
{
	struct sequence *sequence = new_sequence(1);

	(void)state;
	sequence_note(sequence, 0, 5000000, 1); /* foreign, and the first */
	note_run(sequence, 0, 100, 150);
	note_run(sequence, 0, 153, 160);
	assert_int_equal(take_all(sequence), 2);
	note_run(sequence, 0, 7000, 7002); /* three of them, then 16 of ours */
	note_run(sequence, 0, 161, 180);
	assert_int_equal(take_all(sequence), 0);
	note_run(sequence, 0, 184, 190);
	assert_int_equal(take_all(sequence), 3);
	free_sequence(sequence);
}

/* With a tiny buffer no two numbers are neighbours for long. */
static void test_scattered(void **state)
{
	struct sequence *sequence = new_sequence(1);
	struct sequence_gap gap;
	uint64_t count = 0;

	(void)state;
	sequence_start(sequence, 0, 0, 0);
	for (uint32_t number = 9; number < 10000; number += 10) {
		sequence_note(sequence, 0, number, number);
		sequence_settle(sequence, number * SECOND);
		while (sequence_take(sequence, HOLD_USUAL, 0, &gap))
			count += gap.count;
		assert_int_equal(count + sequence_pending(sequence), number / 10 * 9 + 9);
	}
	assert_int_equal(count + take_all(sequence), 9000);
	free_sequence(sequence);
}

/* ---- A machine: numbers are taken, some are lost, some are moved ---- */

#define CPUS 4
#define QUEUE 64

struct machine {
	uint32_t counter[CPUS];
	uint32_t queue[CPUS][QUEUE];
	size_t queued[CPUS];
	uint64_t random;
	uint64_t lost;
	uint64_t moved;
	uint64_t now_ns;
};

static uint32_t draw(struct machine *machine, uint32_t below)
{
	machine->random = machine->random * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(machine->random >> 33) % below;
}

static void exit_on(struct machine *machine, size_t cpu, uint32_t loss, uint32_t move)
{
	size_t to = cpu;
	uint32_t number = machine->counter[cpu]++;

	if (draw(machine, 1000) < move)
		to = draw(machine, CPUS);
	if (draw(machine, 1000) < loss || machine->queued[to] == QUEUE) {
		machine->lost++;
		return;
	}
	machine->moved += to != cpu;
	machine->queue[to][machine->queued[to]++] = number;
}

static uint64_t drain(struct machine *machine, struct sequence *sequence)
{
	struct sequence_gap gap;
	uint64_t count = 0;

	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		for (size_t i = 0; i < machine->queued[cpu]; i++)
			sequence_note(sequence, cpu, machine->queue[cpu][i], machine->now_ns);
		machine->queued[cpu] = 0;
	}
	machine->now_ns += 40 * SECOND;
	sequence_settle(sequence, machine->now_ns);
	while (sequence_take(sequence, HOLD_USUAL, 0, &gap))
		count += gap.count;
	return count;
}

static void run_machine(uint64_t seed, uint32_t loss, uint32_t move)
{
	struct machine machine = { .random = seed };
	struct sequence *sequence = new_sequence(CPUS);
	uint64_t told = 0;

	/* Far apart on some seeds, near on others; one wraps on the way. */
	for (size_t cpu = 0; cpu < CPUS; cpu++) {
		machine.counter[cpu] = seed % 2 ? draw(&machine, 1u << 31) * 2
						: 1000 * (uint32_t)cpu;
		if (cpu == 0)
			machine.counter[cpu] = UINT32_MAX - 500;
		sequence_start(sequence, cpu, machine.counter[cpu], 0);
	}
	for (int i = 0; i < 500; i++) {
		uint32_t exits = draw(&machine, 100);

		for (uint32_t j = 0; j < exits; j++)
			exit_on(&machine, draw(&machine, CPUS), loss, move);
		told += drain(&machine, sequence);
	}
	/* Two exits on each CPU, so that the last jump is confirmed. */
	for (size_t cpu = 0; cpu < 2 * CPUS; cpu++)
		exit_on(&machine, cpu % CPUS, 0, 0);
	told += drain(&machine, sequence) + take_all(sequence);
	assert_int_equal(told, machine.lost);
	if (move)
		assert_true(machine.moved > 0);
	free_sequence(sequence);
}

static void test_machine_losses(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_machine(seed, 200, 0);
}

static void test_machine_moves(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_machine(seed, 0, 3);
}

static void test_machine_both(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++)
		run_machine(seed, 20, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_started),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_forgive),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_foreign_across_drains),
		cmocka_unit_test(test_foreign_of_idle),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_foreign_and_gaps),
		cmocka_unit_test(test_closer),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_many_homeless),
		cmocka_unit_test(test_foreign_pairs),
		cmocka_unit_test(test_rewind),
		cmocka_unit_test(test_scattered),
		cmocka_unit_test(test_machine_losses),
		cmocka_unit_test(test_machine_moves),
		cmocka_unit_test(test_machine_both),
	};

	return cmocka_run_group_tests_name("sequence", tests, NULL, NULL);
}

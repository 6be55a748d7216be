/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Drops, gaps and what becomes of them when a sink refuses; the switch. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#include "source/intake.h"

#define FAMILY 0x1c

struct told {
	uint64_t tasks;
	uint64_t lost;
	struct act_gap gap;
	int refuse_gaps; /* that many */
};

static int take_task(void *arg, const struct act_record *task, const struct act_record *group)
{
	(void)group;
	assert_int_not_equal(task->end_ns, ACT_UNKNOWN);
	((struct told *)arg)->tasks++;
	return 0;
}

static int take_gap(void *arg, const struct act_gap *gap)
{
	struct told *told = arg;

	told->lost += gap->count;
	told->gap = *gap;
	return told->refuse_gaps-- > 0 ? -ENOSPC : 0;
}

struct set {
	struct intake intake;
	struct act_source_stats stats;
	struct told told;
	struct act_sink sink;
};

static struct set *new_set(void)
{
	static const int cpus[] = { 0, 2 };
	struct set *set = calloc(1, sizeof(*set));

	assert_non_null(set);
	assert_int_equal(intake_init(&set->intake, &set->stats, cpus, 2), 0);
	set->intake.family = FAMILY;
	set->sink = (struct act_sink){ .task = take_task, .gap = take_gap, .arg = &set->told };
	sequence_start(&set->intake.sequence, 0, 100, 1000);
	sequence_start(&set->intake.sequence, 1, 500, 1000);
	return set;
}

static void free_set(struct set *set)
{
	intake_release(&set->intake);
	free(set);
}

/* An exit message of version 16, all zero but for what it must have. */
static int receive(struct set *set, size_t cpu, uint32_t number, uint64_t time_ns)
{
	struct {
		struct nlmsghdr header;
		struct genlmsghdr genl;
		struct nlattr nest, id_attr;
		uint32_t id;
		struct nlattr stats_attr;
		uint16_t version;
		uint8_t stats[558];
	} message = {
		.header = { sizeof(message), FAMILY, 0, number, 0 },
		.genl = { TASKSTATS_CMD_NEW, 1, 0 },
		.nest = { sizeof(message) - 20, TASKSTATS_TYPE_AGGR_PID },
		.id_attr = { 8, TASKSTATS_TYPE_PID },
		.id = 4711,
		.stats_attr = { 564, TASKSTATS_TYPE_STATS },
		.version = 16,
	};

	assert_int_equal(sizeof(message), 596);
	return intake_message(&set->intake, cpu, &message, sizeof(message), time_ns, &set->sink);
}

static void test_overflow(void **state)
{
	struct set *set = new_set();

	(void)state;
	assert_int_equal(receive(set, 1, 500, 2000), 0);
	intake_drops(&set->intake, 1, 7);
	assert_true(intake_is_behind(&set->intake));
	assert_int_equal(receive(set, 1, 508, 3000), 0);
	assert_false(intake_is_behind(&set->intake));
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.tasks, 2);
	assert_int_equal(set->told.gap.count, 7);
	assert_int_equal(set->told.gap.cpu, 2);
	assert_int_equal(set->told.gap.from_ns, 2000);
	assert_int_equal(set->told.gap.to_ns, 3000);
	assert_int_equal(set->told.gap.cause, ACT_CAUSE_OVERFLOW);
	assert_int_equal(set->stats.drops, 7);
	assert_int_equal(set->stats.lost, 7);
	assert_int_equal(set->stats.cpu[1].lost, 7);
	assert_int_equal(set->stats.cpu[1].received, 2);
	assert_false(intake_is_behind(&set->intake));
	free_set(set);
}

/* A stream that no child could close: told once, whatever comes later. */
static void test_write_off(void **state)
{
	struct set *set = new_set();

	(void)state;
	assert_int_equal(receive(set, 0, 100, 2000), 0);
	intake_drops(&set->intake, 0, 5);
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.lost, 0);
	assert_int_equal(intake_write_off(&set->intake, 0, 9000, &set->sink), 0);
	assert_int_equal(set->told.lost, 5);
	assert_int_equal(set->told.gap.cause, ACT_CAUSE_OVERFLOW);
	assert_int_equal(set->told.gap.from_ns, 2000);
	assert_int_equal(set->told.gap.to_ns, 9000);
	assert_int_equal(intake_write_off(&set->intake, 0, 9000, &set->sink), 0);
	assert_false(intake_is_behind(&set->intake));
	for (uint32_t number = 106; number < 110; number++)
		assert_int_equal(receive(set, 0, number, 10000), 0);
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.lost, 5);
	assert_int_equal(set->stats.lost, 5);
	free_set(set);
}

/* A gap that a sink refuses counts once; the next ones come later. */
static void test_refused(void **state)
{
	struct set *set = new_set();

	(void)state;
	receive(set, 0, 102, 2000);
	receive(set, 1, 503, 2000);
	set->told.refuse_gaps = 1;
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), -ENOSPC);
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.lost, 5);
	assert_int_equal(set->stats.lost, 5);
	free_set(set);
}

/* More gaps in one drain than are held: none is forgotten. */
static void test_many_gaps(void **state)
{
	struct set *set = new_set();
	uint32_t number = 100;

	(void)state;
	for (int i = 0; i < 3 * SEQUENCE_GAPS; i++, number += 2)
		assert_int_equal(receive(set, 0, number + 1, 2000), 0);
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.lost, 3 * SEQUENCE_GAPS);
	assert_int_equal(set->told.tasks, 3 * SEQUENCE_GAPS);
	free_set(set);
}

static void test_foreign(void **state)
{
	struct set *set = new_set();

	(void)state;
	receive(set, 0, 500, 2000); /* of the other CPU */
	receive(set, 0, 100, 2000);
	receive(set, 1, 501, 2000);
	assert_int_equal(intake_flush(&set->intake, true, &set->sink), 0);
	assert_int_equal(set->told.lost, 0);
	assert_int_equal(set->stats.received, 3);
	assert_int_equal(set->stats.cpu[0].foreign, 1);
	free_set(set);
}

static void test_delayacct(void **state)
{
	struct delayacct off = { -1, 0, DELAYACCT_NEVER, 0 };
	struct delayacct booted = { -1, 1, 0, 0 };
	struct delayacct since = { -1, 1, UINT64_C(5000000000), 0 };

	(void)state;
	assert_false(delayacct_covers(&off, UINT64_C(9000000000)));
	assert_true(delayacct_covers(&booted, 0));
	assert_false(delayacct_covers(&since, UINT64_C(4900000000)));
	/* A start seems later than it was, by as long as its message waited. */
	assert_false(delayacct_covers(&since, UINT64_C(5050000000)));
	assert_true(delayacct_covers(&since, UINT64_C(5100000000)));
	assert_false(delayacct_covers(&since, ACT_UNKNOWN));
	assert_false(delayacct_look(&since, UINT64_C(9000000000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_write_off),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many_gaps),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_delayacct),
	};

	return cmocka_run_group_tests_name("intake", tests, NULL, NULL);
}

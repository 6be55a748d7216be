/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folding tasks into processes.  The shapes are those of real programs, as the
 * kernel reported them; the live tests check them against the kernel itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <actuary/record.h>

#define MS UINT64_C(1000000)
#define T0 UINT64_C(1796083200000000000) /* when the recording began */
#define AGROUP 0x20
#define AXSIG 0x10

struct kept {
	struct act_record record[64];
	size_t count;
	size_t fail_after; /* 0: never */
};

static int keep(void *arg, const struct act_record *record)
{
	struct kept *kept = arg;

	if (kept->fail_after && kept->count >= kept->fail_after)
		return -ENOSPC;
	assert_true(kept->count < 64);
	kept->record[kept->count++] = *record;
	return 0;
}

static struct act_fold *new_fold(struct kept *kept, enum act_per per, size_t limit)
{
	struct act_fold_options options = {
		.size = sizeof(options), .per = per, .limit = limit,
		.emit = keep, .arg = kept, .complete_since_ns = T0,
	};
	struct act_fold *fold;

	memset(kept, 0, sizeof(*kept));
	assert_int_equal(act_fold_new(&options, &fold), 0);
	return fold;
}

/* A task that began at @start and ended at @end, ms after T0. */
static struct act_record task(uint64_t pid, uint64_t tid, int start, int end,
			      uint64_t status, uint64_t flags)
{
	struct act_record record;

	act_record_clear(&record);
	record.pid = pid;
	record.tid = tid;
	record.end_ns = T0 + (uint64_t)end * MS;
	record.wall_ns = (uint64_t)(end - start) * MS;
	record.tgetime_ns = record.wall_ns;
	record.status = status;
	record.flags = flags;
	record.user_ns = 4 * MS;
	record.system_ns = 1 * MS;
	record.threads = 1;
	strcpy(record.comm_text, tid == pid ? "leader" : "worker");
	return record;
}

static struct act_record group_of(uint64_t pid, uint64_t wall_ms)
{
	struct act_record record;

	act_record_clear(&record);
	record.pid = pid;
	record.wall_ns = wall_ms * MS;
	return record;
}

static void feed(struct act_fold *fold, struct act_record record, const struct act_record *group)
{
	assert_int_equal(act_fold_task(fold, &record, group), 0);
}

static uint64_t exits_in(const struct kept *kept)
{
	uint64_t exits = 0;

	for (size_t i = 0; i < kept->count; i++)
		exits += kept->record[i].exits;
	return exits;
}

static const struct act_record *process_in(const struct kept *kept)
{
	const struct act_record *found = NULL;

	for (size_t i = 0; i < kept->count; i++) {
		if (!(kept->record[i].kind & ACT_KIND_PROCESS))
			continue;
		assert_null(found);
		found = &kept->record[i];
	}
	assert_non_null(found);
	return found;
}

static void one_task_is_both(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_BOTH, 0);

	(void)state;
	feed(fold, task(10, 10, 1, 2, 0x300, AGROUP), NULL);
	assert_int_equal(kept.count, 1);
	assert_int_equal(kept.record[0].kind, ACT_KIND_BOTH);
	assert_int_equal(kept.record[0].threads, 1);
	assert_int_equal(kept.record[0].exits, 1);
	assert_int_equal(kept.record[0].code, 3);
	assert_int_equal(kept.record[0].signal, 0);
	assert_int_equal(kept.record[0].cpu_ns, 5 * MS);
	assert_int_equal(kept.record[0].partial, 0);
	assert_int_equal(act_fold_flush(fold), 0);
	assert_int_equal(kept.count, 1);
	act_fold_free(fold);
}

/* exit(3) while two threads sleep: AXSIG on those that nobody signalled. */
static void exit_group_with_sleepers(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record group = group_of(10, 9 + 8 + 8);
	const struct act_record *process;

	(void)state;
	feed(fold, task(10, 10, 1, 10, 0x300, 0), NULL);
	feed(fold, task(10, 11, 2, 10, 0x300, AXSIG), NULL);
	struct act_record last = task(10, 12, 2, 10, 0x300, AXSIG | AGROUP);
	last.tgetime_ns = 9 * MS;
	feed(fold, last, &group);
	assert_int_equal(kept.count, 0);
	assert_int_equal(act_fold_flush(fold), 0);
	process = process_in(&kept);
	assert_int_equal(process->threads, 3);
	assert_int_equal(process->exits, 3);
	assert_int_equal(process->code, 3);
	assert_int_equal(process->signal, 0);
	assert_int_equal(process->user_ns, 12 * MS);
	assert_int_equal(process->wall_ns, 9 * MS);
	assert_int_equal(process->partial, 0);
	assert_string_equal(process->comm_text, "leader");
	act_fold_free(fold);
}

/* The leader ends first with code 5; a worker runs on and ends the process. */
static void leader_first(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_BOTH, 0);
	struct act_record group = group_of(10, 4 + 18);
	const struct act_record *process;

	(void)state;
	feed(fold, task(10, 10, 1, 5, 0x500, 0), NULL);
	struct act_record worker = task(10, 11, 2, 20, 0, AGROUP);
	worker.tgetime_ns = 19 * MS;
	feed(fold, worker, &group);
	/* Time goes on: the linger ends by itself with the next exit. */
	feed(fold, task(77, 77, 1, 1000, 0, AGROUP), NULL);
	assert_int_equal(kept.count, 4);
	assert_int_equal(exits_in(&kept), 3);
	process = &kept.record[2];
	assert_int_equal(process->kind, ACT_KIND_PROCESS);
	assert_int_equal(process->code, 5);
	assert_int_equal(process->end_ns, T0 + 20 * MS);
	assert_int_equal(process->wall_ns, 19 * MS);
	assert_int_equal(process->start_ns, T0 + 1 * MS);
	assert_int_equal(process->tid, 10);
	assert_int_equal(process->partial, 0);
	act_fold_free(fold);
}

/* A worker execs: two records say pid == tid for one process. */
static void exec_by_worker(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_BOTH, 0);
	struct act_record group = group_of(10, 4 + 60);
	const struct act_record *process;

	(void)state;
	feed(fold, task(10, 10, 1, 5, 0, AXSIG), NULL);
	struct act_record end = task(10, 10, 1, 61, 0x700, AGROUP);
	strcpy(end.comm_text, "sleep");
	feed(fold, end, &group);
	assert_int_equal(act_fold_flush(fold), 0);
	process = process_in(&kept);
	assert_string_equal(process->comm_text, "sleep");
	assert_int_equal(process->code, 7);
	assert_int_equal(process->threads, 2);
	assert_int_equal(process->wall_ns, 60 * MS);
	assert_int_equal(exits_in(&kept), 2);
	act_fold_free(fold);
}

/* A record may follow that of the last of its group. */
static void straggler(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record group = group_of(10, 10);

	(void)state;
	feed(fold, task(10, 10, 0, 10, 0, AGROUP), &group);
	feed(fold, task(10, 11, 0, 11, 0, 0), NULL);
	assert_int_equal(kept.count, 0);
	assert_int_equal(act_fold_expire(fold, T0 + 11 * MS + ACT_FOLD_LINGER_NS), 0);
	assert_int_equal(kept.count, 1);
	assert_int_equal(kept.record[0].threads, 2);
	assert_int_equal(kept.record[0].end_ns, T0 + 11 * MS);
	act_fold_free(fold);
}

static void sums_maxima_minima(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record a = task(10, 10, 0, 10, 0, 0), b = task(10, 11, 0, 10, 0, AGROUP);
	struct act_record group = group_of(10, 20);
	const struct act_record *process;

	(void)state;
	a.blkio_delay_count = 2, a.blkio_delay_ns = 30, a.blkio_delay_max_ns = 20;
	a.blkio_delay_min_ns = 10, a.blkio_delay_max_at_ns = 111;
	b.blkio_delay_count = 1, b.blkio_delay_ns = 25, b.blkio_delay_max_ns = 25;
	b.blkio_delay_min_ns = 25, b.blkio_delay_max_at_ns = 222;
	a.swapin_delay_count = 0, a.swapin_delay_min_ns = 0;
	b.swapin_delay_count = 1, b.swapin_delay_min_ns = 7;
	a.rss_max_bytes = 4096, b.rss_max_bytes = ACT_UNKNOWN;
	a.syscr = ACT_UNKNOWN, b.syscr = ACT_UNKNOWN;
	/* The kernel overwrites a group's maxima: they must not be believed. */
	group.blkio_delay_max_ns = 99;
	feed(fold, a, NULL);
	feed(fold, b, &group);
	assert_int_equal(act_fold_flush(fold), 0);
	process = process_in(&kept);
	assert_int_equal(process->blkio_delay_count, 3);
	assert_int_equal(process->blkio_delay_ns, 55);
	assert_int_equal(process->blkio_delay_max_ns, 25);
	assert_int_equal(process->blkio_delay_max_at_ns, 222);
	assert_int_equal(process->blkio_delay_min_ns, 10);
	assert_int_equal(process->swapin_delay_min_ns, 7);
	assert_int_equal(process->rss_max_bytes, 4096);
	assert_int_equal(process->syscr, ACT_UNKNOWN);
	assert_int_equal(process->irq_delay_count, ACT_UNKNOWN);
	act_fold_free(fold);
}

/* Began before the recording; the kernel's sum tells of tasks never seen. */
static void tasks_before_recording(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record group = group_of(10, 100000);
	struct act_record last = task(10, 10, -5000, 10, 0, AGROUP);

	(void)state;
	group.user_ns = 900 * MS;
	feed(fold, last, &group);
	group.wall_ns = last.wall_ns + 50000;
	last.pid = last.tid = 20;
	feed(fold, last, &group);
	assert_int_equal(act_fold_flush(fold), 0);
	assert_int_equal(kept.record[0].partial, 1);
	assert_int_equal(kept.record[0].user_ns, 900 * MS);
	/* A second task ended long ago but its time is accounted for: whole. */
	assert_int_equal(kept.record[1].partial, 0);
	act_fold_free(fold);
}

static void gap_makes_partial(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record group = group_of(10, 30);

	(void)state;
	act_fold_gap(fold, T0 + 5 * MS);
	feed(fold, task(10, 10, 0, 10, 0, AGROUP), &group); /* 20 ms were lost */
	feed(fold, task(20, 20, 6, 16, 0, AGROUP), &group); /* began after it */
	feed(fold, task(30, 31, 6, 16, 0, AGROUP), &group); /* its leader is missing */
	assert_int_equal(act_fold_flush(fold), 0);
	assert_int_equal(kept.record[0].partial, 1);
	assert_int_equal(kept.record[1].partial, 0);
	assert_int_equal(kept.record[2].partial, 1);
	assert_int_equal(kept.record[2].status, ACT_UNKNOWN);
	assert_int_equal(kept.record[2].code, ACT_UNKNOWN);
	assert_string_equal(kept.record[2].comm_text, "worker");
	act_fold_free(fold);
}

static void id_used_again(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);
	struct act_record group = group_of(10, 9);

	(void)state;
	/* Its end was lost; ten seconds later the id belongs to another. */
	feed(fold, task(10, 11, 0, 10, 0, 0), NULL);
	feed(fold, task(10, 10, 10000, 10010, 0, AGROUP), NULL);
	assert_int_equal(kept.count, 2);
	assert_int_equal(kept.record[0].partial, 1);
	assert_int_equal(kept.record[1].kind, ACT_KIND_BOTH);
	/* And within the linger of the former one. */
	feed(fold, task(50, 50, 10000, 10020, 0, AGROUP), &group);
	feed(fold, task(50, 50, 10021, 10022, 0, AGROUP), NULL);
	assert_int_equal(kept.count, 4);
	assert_int_equal(exits_in(&kept), 4);
	act_fold_free(fold);
}

static void memory_is_bounded(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 8);

	(void)state;
	for (uint64_t pid = 100; pid < 120; pid++)
		feed(fold, task(pid, pid + 1000, 0, 10, 0, 0), NULL);
	assert_int_equal(kept.count, 12);
	assert_int_equal(kept.record[0].pid, 100);
	assert_int_equal(kept.record[0].partial, 1);
	assert_int_equal(act_fold_flush(fold), 0);
	assert_int_equal(kept.count, 20);
	assert_int_equal(exits_in(&kept), 20);
	act_fold_free(fold);
}

static void per_task(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_TASK, 0);

	(void)state;
	feed(fold, task(10, 10, 0, 10, 0, AGROUP), NULL);
	feed(fold, task(20, 21, 0, 10, 0, 0), NULL);
	assert_int_equal(act_fold_flush(fold), 0);
	assert_int_equal(kept.count, 2);
	assert_int_equal(kept.record[0].kind, ACT_KIND_TASK);
	assert_int_equal(kept.record[1].kind, ACT_KIND_TASK);
	act_fold_free(fold);
}

/* Before version 12 a record does not tell its process. */
static void process_unknown(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_PROCESS, 0);

	(void)state;
	feed(fold, task(ACT_UNKNOWN, 10, 0, 10, 0, 0), NULL);
	assert_int_equal(kept.record[0].kind, ACT_KIND_TASK);
	assert_int_equal(kept.record[0].exits, 1);
	act_fold_free(fold);
}

static void errors_are_passed_on(void **state)
{
	struct kept kept;
	struct act_fold *fold = new_fold(&kept, ACT_PER_BOTH, 0);
	struct act_record one = task(10, 10, 0, 10, 0, AGROUP);
	struct act_fold_options bad = { .size = sizeof(bad), .per = 7, .emit = keep };

	(void)state;
	kept.fail_after = 1;
	assert_int_equal(act_fold_task(fold, &one, NULL), 0);
	assert_int_equal(act_fold_task(fold, &one, NULL), -ENOSPC);
	act_fold_free(fold);
	assert_int_equal(act_fold_new(&bad, &fold), -EINVAL);
	act_fold_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_task_is_both),
		cmocka_unit_test(exit_group_with_sleepers),
		cmocka_unit_test(leader_first),
		cmocka_unit_test(exec_by_worker),
		cmocka_unit_test(straggler),
		cmocka_unit_test(sums_maxima_minima),
		cmocka_unit_test(tasks_before_recording),
		cmocka_unit_test(gap_makes_partial),
		cmocka_unit_test(id_used_again),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(per_task),
		cmocka_unit_test(process_unknown),
		cmocka_unit_test(errors_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

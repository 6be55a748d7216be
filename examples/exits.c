/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints every process that ends in the next ten seconds or, given a log or a
 * capture, every one in there:
 *
 *	cc -o exits exits.c $(pkg-config --cflags --libs libactuary)
 *	sudo ./exits
 *	./exits /var/log/actuary
 */
#include <actuary/actuary.h>

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

/* A name is whatever its owner chose: not all of it is fit for a terminal. */
static void print_name(const char *name)
{
	for (; *name; name++)
		putchar(*name >= ' ' && *name <= '~' ? *name : '?');
}

/* Unknown is never zero. */
static void print_number(uint64_t value)
{
	if (value == ACT_UNKNOWN)
		printf("%14s", "-");
	else
		printf("%14" PRIu64, value);
}

static int on_record(void *arg, const struct act_record *record)
{
	(void)arg;
	if (!(record->kind & ACT_KIND_PROCESS))
		return 0;
	print_number(record->pid);
	print_number(record->wall_ns);
	print_number(record->cpu_ns);
	printf("  ");
	print_name(record->comm_text);
	putchar('\n');
	return 0;
}

/* The kernel tells of tasks; the fold makes processes of them. */
static int on_task(void *fold, const struct act_record *task, const struct act_record *group)
{
	int ret = act_fold_expire(fold, task->end_ns);

	return ret < 0 ? ret : act_fold_task(fold, task, group);
}

static int on_gap(void *fold, const struct act_gap *gap)
{
	printf("lost:");
	print_number(gap->count);
	putchar('\n');
	act_fold_gap(fold, gap->to_ns);
	return 0;
}

/* To the end of what is replayed or, if @seconds is not 0, for that long. */
static int print_exits(struct act_source *source, struct act_fold *fold, int seconds)
{
	const struct act_sink sink = {
		.task = on_task, .gap = on_gap, .record = on_record, .arg = fold,
	};
	time_t until = time(NULL) + seconds;
	int ret;

	do {
		act_source_wait(source, UINT64_C(200000000));
		ret = act_source_drain(source, &sink);
	} while (ret == 0 && (!seconds || time(NULL) < until));
	if (ret == 0) /* what was lost at the very end shows only now */
		ret = act_source_finish(source, &sink);
	return ret < 0 ? ret : act_fold_flush(fold);
}

int main(int argc, char **argv)
{
	struct act_taskstats_options live = { .size = sizeof(live) };
	struct act_fold_options options = {
		.size = sizeof(options), .per = ACT_PER_PROCESS, .emit = on_record,
	};
	struct act_source *source;
	struct act_fold *fold;
	struct act_why why;
	int ret;

	ret = argc > 1 ? act_source_open_replay(argv[1], &source, &why)
		       : act_source_open_taskstats(&live, &source, &why);
	if (ret < 0) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	ret = act_fold_new(&options, &fold);
	if (ret == 0) {
		printf("%14s%14s%14s  %s\n", "PID", "WALL, NS", "CPU, NS", "NAME");
		ret = print_exits(source, fold, argc > 1 ? 0 : 10);
		act_fold_free(fold);
	}
	act_source_free(source);
	return ret < 0;
}

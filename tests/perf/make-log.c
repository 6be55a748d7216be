/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	make-log DIR RECORDS [NAMES]
 *
 * Writes a log as a busy build machine would leave it: short commands from a
 * few dozen names with skewed shares (and NAMES further ones that are rare), a
 * few users, tick-sized CPU times, page-sized memory, ids that wrap, ends that
 * come at irregular distances, delays mostly small.  The same arguments make
 * the same records.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/actuary.h>

#define MSEC UINT64_C(1000000)
#define TICK (4 * MSEC)
#define SYNC_EVERY 100000
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const struct command {
	const char *name;
	unsigned int share;
	unsigned int ticks;  /* of CPU, about */
	unsigned int pages;  /* resident */
	bool execs;
} commands[] = {
	{ "sh", 180, 1, 220, true },      { "sh", 140, 0, 160, false },
	{ "cc1", 110, 60, 24000, true },  { "as", 100, 4, 2600, true },
	{ "gcc", 100, 1, 700, true },     { "sed", 60, 0, 260, true },
	{ "grep", 55, 0, 270, true },     { "cat", 50, 0, 200, true },
	{ "expr", 40, 0, 190, true },     { "rm", 40, 0, 180, true },
	{ "mkdir", 25, 0, 190, true },    { "make", 22, 3, 900, true },
	{ "collect2", 16, 1, 450, true }, { "ld", 16, 30, 30000, true },
	{ "python3", 12, 15, 3200, true }, { "git", 10, 2, 1400, true },
	{ "date", 8, 0, 190, true },      { "sleep", 8, 0, 190, true },
	{ "perl", 6, 6, 1500, true },     { "sshd", 4, 3, 2000, true },
	{ "bash", 4, 2, 900, true },      { "ssh", 2, 4, 1800, true },
	{ "cron", 2, 0, 600, false },     { "kworker/u8:1", 1, 1, 0, false },
};

static uint64_t seed = 88172645463325252;

/* xorshift64*: the same numbers on every machine. */
static uint64_t next_random(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t below(uint64_t limit)
{
	return next_random() % limit;
}

/* Around @scale, seldom much more. */
static uint64_t skewed(uint64_t scale)
{
	uint64_t value = below(scale + 1) + below(scale + 1);

	while (!below(6) && value < UINT64_C(1) << 50)
		value *= 2;
	return value;
}

static const struct command *pick(unsigned int shares)
{
	unsigned int at = (unsigned int)below(shares);

	for (size_t i = 0; i < COMMANDS; i++) {
		if (at < commands[i].share)
			return &commands[i];
		at -= commands[i].share;
	}
	return &commands[0];
}

static uint64_t status_of(void)
{
	uint64_t dice = below(1000);

	if (dice < 920)
		return 0;
	return dice < 990 ? 0x100 : dice < 997 ? 0x200 : dice < 999 ? 15 : 0x8b;
}

static void set_delays(struct act_record *record)
{
	record->cpu_delay_count = below(12);
	record->cpu_delay_ns = record->cpu_delay_count * below(90000);
	record->cpu_delay_max_ns = record->cpu_delay_ns / (1 + below(3));
	record->cpu_delay_min_ns = record->cpu_delay_count ? below(2000) : 0;
	record->nvcsw = below(6);
	record->nivcsw = below(4);
}

static void set_times(struct act_record *record, const struct command *command)
{
	uint64_t ticks = command->ticks ? skewed(command->ticks) : !below(9);

	record->system_ns = below(ticks + 1) * TICK;
	record->user_ns = ticks * TICK - record->system_ns;
	record->wall_ns = ticks * TICK + (300 + skewed(2500)) * 1000;
	record->run_ns = ticks * TICK + below(TICK);
	record->run_real_ns = ticks * TICK;
	record->tgetime_ns = record->wall_ns;
}

static void set_memory(struct act_record *record, const struct command *command)
{
	/* Runs of a command differ by a tenth: so it was seen of cat, grep and ls. */
	uint64_t pages = command->pages * 9 / 10 + below(command->pages / 5 + 1);
	uint64_t cpu_us = (record->user_ns + record->system_ns) / 1000;

	record->rss_max_bytes = pages << 12;
	record->vm_max_bytes = (pages * 3 + 500) << 12;
	record->rss_integral = (pages * cpu_us) >> 9;
	record->vm_integral = (pages * 3 * cpu_us) >> 9;
	record->minflt = 60 + pages / 3;
	record->majflt = !below(400);
	record->rchar_bytes = below(40) << 10;
	record->wchar_bytes = below(6) << 10;
	record->read_bytes = below(300) ? 0 : below(2000) << 10;
	record->write_bytes = below(8) ? 0 : below(60) << 10;
	record->cancelled_bytes = 0;
}

static void make_record(struct act_record *record, const struct command *command, uint64_t number)
{
	static uint64_t end_ns = UINT64_C(1796083200000000000);

	end_ns += 20000 + skewed(60000);
	act_record_clear(record);
	record->kind = ACT_KIND_BOTH;
	record->pid = record->tid = 300 + number % 32000;
	record->ppid = 300 + (number - 1 - below(40)) % 32000;
	record->uid = below(20) ? 1000 : below(3) ? 0 : 65534;
	record->gid = record->uid;
	record->end_ns = end_ns;
	record->status = status_of();
	record->flags = command->execs ? 0x20 : 0x21;
	record->cpu = below(8);
	record->threads = record->exits = 1;
	record->partial = 0;
	record->nice = below(50) ? 0 : 10;
	record->sched = 0;
	record->version = 16;
	record->exe_dev = 0x800001;
	record->exe_inode = 131072 + (uint64_t)(command - commands) * 37;
	strcpy(record->comm_text, command->name);
	set_times(record, command);
	set_memory(record, command);
	set_delays(record);
	record->btime_ns = (end_ns - record->wall_ns) / 1000000000 * 1000000000;
	act_record_derive(record);
}

static int write_records(struct act_log_writer *writer, uint64_t count, uint64_t names)
{
	unsigned int shares = 0;
	int ret = 0;

	for (size_t i = 0; i < COMMANDS; i++)
		shares += commands[i].share;
	for (uint64_t number = 1; number <= count && ret >= 0; number++) {
		struct act_record record;

		make_record(&record, pick(shares), number);
		if (names && !below(100))
			snprintf(record.comm_text, sizeof(record.comm_text), "tool-%u",
				 (unsigned int)below(names));
		ret = act_log_append(writer, &record);
		if (ret >= 0 && number % SYNC_EVERY == 0)
			ret = act_log_writer_sync(writer, ACT_UNKNOWN, false);
	}
	return ret;
}

int main(int argc, char **argv)
{
	struct act_log_writer_options options = { .size = sizeof(options) };
	struct act_log_writer_stats stats;
	struct act_log_writer *writer;
	struct act_gap gap;
	struct act_why why;
	uint64_t count;
	int ret;

	if (argc < 3 || argc > 4)
		errx(2, "usage: make-log DIR RECORDS [NAMES]");
	count = strtoull(argv[2], NULL, 10);
	ret = act_log_writer_open(argv[1], &options, &writer, &gap, &why);
	if (ret < 0)
		errx(1, "%s: %s", argv[1], why.text);
	ret = write_records(writer, count, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
	if (ret >= 0)
		ret = act_log_writer_sync(writer, ACT_UNKNOWN, true);
	if (ret < 0)
		errx(1, "%s: %s", argv[1], strerror(-ret));
	act_log_writer_stats(writer, &stats);
	ret = act_log_writer_close(writer);
	if (ret < 0)
		errx(1, "%s: %s", argv[1], strerror(-ret));
	printf("%llu records, %.1f bytes each\n", (unsigned long long)stats.records,
	       stats.records ? (double)stats.bytes / (double)stats.records : 0);
	return 0;
}

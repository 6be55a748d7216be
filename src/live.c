/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"

/* How often a process is asked for all at once, see settle(). */
#define TRIES 4

static void live_clear(struct live *live)
{
	memset(live, 0, sizeof(*live));
	live->pid = ACT_UNKNOWN;
	delays_init(&live->delays);
}

static void count_task(struct live *live, const struct act_record *task)
{
	live->tasks++;
	if (task->blkio_delay_count == ACT_UNKNOWN)
		live->uncounted++;
}

/* ---- I/O ---- */

static void read_io_line(const char *line, struct act_record *record)
{
	static const struct {
		const char *key;
		enum act_field field;
	} keys[] = {
		{ "rchar: ", ACT_F_rchar_bytes },
		{ "wchar: ", ACT_F_wchar_bytes },
		{ "syscr: ", ACT_F_syscr },
		{ "syscw: ", ACT_F_syscw },
		{ "read_bytes: ", ACT_F_read_bytes },
		{ "write_bytes: ", ACT_F_write_bytes },
		{ "cancelled_write_bytes: ", ACT_F_cancelled_bytes },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		size_t length = strlen(keys[i].key);
		char number[32];
		uint64_t value;

		if (strncmp(line, keys[i].key, length))
			continue;
		snprintf(number, sizeof(number), "%.*s", (int)strcspn(line + length, "\n"),
			 line + length);
		if (parse_count(number, &value) == 0)
			record->value[keys[i].field] = value;
	}
}

/*
 * The counts of /proc are exact, those of taskstats cut to multiples of 1024,
 * and its sums for a process have none.  Without permission to read them they
 * stay as they are.
 */
static void read_io(const char *path, struct act_record *record)
{
	FILE *file = fopen(path, "re");
	char line[128];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		read_io_line(line, record);
	fclose(file);
}

/* ---- A task ---- */

static int add_task(struct ask *ask, uint32_t tid, struct live *live)
{
	struct act_record task;
	char path[64];
	int ret = ask_task(ask, tid, &task);

	if (ret < 0)
		return ret;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/io", tid, tid);
	read_io(path, &task);
	count_task(live, &task);
	live->pid = task.pid;
	memcpy(live->comm, task.comm_text, sizeof(live->comm));
	delays_add(&live->delays, &task);
	return 0;
}

int live_task(struct ask *ask, uint32_t tid, struct live *ret_live)
{
	live_clear(ret_live);
	return add_task(ask, tid, ret_live);
}

/* ---- A process ---- */

/* The tasks of a process that are still there. */
struct tally {
	struct live live; /* only how many */
	struct act_record leader;
	struct delay_sum sum[DELAY_KINDS];
};

static int add_to_tally(struct ask *ask, uint32_t tid, struct tally *tally)
{
	struct act_record task;
	int ret = ask_task(ask, tid, &task);

	if (ret < 0)
		return ret == -ESRCH ? 0 : ret; /* ended meanwhile */
	count_task(&tally->live, &task);
	delays_add(&tally->live.delays, &task);
	return 0;
}

static int tally_tasks(struct ask *ask, uint32_t pid, struct tally *tally)
{
	const struct dirent *entry;
	char path[64];
	DIR *directory;
	int ret = 0;

	live_clear(&tally->live);
	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	directory = opendir(path);
	/* Without /proc only the leader can be asked. */
	if (!directory)
		return add_to_tally(ask, pid, tally);
	while (ret == 0 && (entry = readdir(directory))) {
		uint64_t tid;

		if (parse_count(entry->d_name, &tid) == 0 && tid <= UINT32_MAX)
			ret = add_to_tally(ask, (uint32_t)tid, tally);
	}
	closedir(directory);
	return ret;
}

/*
 * The kernel's longest and shortest wait of a process are those of the task
 * it added last (delayacct_add_tsk() overwrites them), so they are taken from
 * the tasks.  That is right if the tasks, asked first, have all the waits that
 * the process, asked later, has: counts only grow.  True if it is for all.
 */
static bool settle(const struct tally *tally, struct act_record *process)
{
	bool is_settled = true;

	for (size_t i = 0; i < DELAY_KINDS; i++) {
		const struct delay_kind *kind = &delay_kinds[i];
		const struct delay_sum *sum = &tally->live.delays.sum[i];
		uint64_t count = process->value[kind->count];

		process->value[kind->max_ns] = process->value[kind->min_ns] = ACT_UNKNOWN;
		if (count == ACT_UNKNOWN || count == 0)
			continue;
		if (sum->count != count) {
			is_settled = false;
		} else if (!sum->lacks_extremes) {
			process->value[kind->max_ns] = sum->max_ns;
			process->value[kind->min_ns] = sum->min_ns;
		}
	}
	return is_settled;
}

/*
 * The sums of a process leave out ended tasks that are not reaped, but for
 * those it added when they ended; and it adds none while a process has never
 * had a second task (taskstats_tgid_alloc()).  Such a process, once it has
 * ended, has no sums: its leader's record is all.
 */
static bool has_no_sums(const struct act_record *leader, const struct act_record *group)
{
	return group->cpu_delay_count != ACT_UNKNOWN &&
	       leader->cpu_delay_count != ACT_UNKNOWN &&
	       group->cpu_delay_count < leader->cpu_delay_count;
}

/* The leader's record, with the sums of the group where they are known. */
static void join(const struct act_record *leader, const struct act_record *group,
		 struct act_record *ret_process)
{
	*ret_process = *leader;
	for (size_t field = 0; field < ACT_FIELDS; field++) {
		unsigned int sources = act_field_table[field].sources;

		if (sources & ACT_FROM_GROUP)
			ret_process->value[field] = group->value[field];
		/* Those of the leader alone would pass for the process's. */
		else if (act_field_table[field].fold == ACT_FOLD_SUM)
			ret_process->value[field] = ACT_UNKNOWN;
	}
	act_record_derive(ret_process);
}

/* @ret_process is the process's record, @ret_tally its tasks that are there. */
static int ask_all(struct ask *ask, uint32_t pid, struct tally *ret_tally,
		   struct act_record *ret_process)
{
	for (int i = 0; i < TRIES; i++) {
		struct act_record group;
		int ret = ask_task(ask, pid, &ret_tally->leader);

		act_record_clear(&group);
		if (ret == 0)
			ret = tally_tasks(ask, pid, ret_tally);
		if (ret == 0)
			ret = ask_process(ask, pid, &group);
		if (ret < 0)
			return ret;
		if (has_no_sums(&ret_tally->leader, &group)) {
			*ret_process = ret_tally->leader;
			return 0;
		}
		join(&ret_tally->leader, &group, ret_process);
		if (settle(ret_tally, ret_process))
			break;
	}
	return 0;
}

static int add_process(struct ask *ask, uint32_t pid, struct live *live)
{
	struct act_record process;
	struct tally tally;
	char path[64];
	int ret = ask_all(ask, pid, &tally, &process);

	if (ret < 0)
		return ret;
	live->pid = process.pid;
	if (process.pid != ACT_UNKNOWN && process.pid != process.tid)
		return -ENOTUNIQ;
	snprintf(path, sizeof(path), "/proc/%u/io", pid);
	read_io(path, &process);
	live->tasks += tally.live.tasks;
	live->uncounted += tally.live.uncounted;
	memcpy(live->comm, process.comm_text, sizeof(live->comm));
	delays_add(&live->delays, &process);
	return 0;
}

int live_process(struct ask *ask, uint32_t pid, struct live *ret_live)
{
	live_clear(ret_live);
	return add_process(ask, pid, ret_live);
}

/* ---- A cgroup ---- */

struct ids {
	uint32_t *id;
	size_t count, room;
};

static int append_id(struct ids *ids, uint32_t id)
{
	if (ids->count == ids->room) {
		size_t room = ids->room ? 2 * ids->room : 64;
		uint32_t *more = reallocarray(ids->id, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		ids->id = more;
		ids->room = room;
	}
	ids->id[ids->count++] = id;
	return 0;
}

/* A threaded cgroup's cgroup.procs opens, but reading it is -EOPNOTSUPP. */
static int read_ids(int directory, const char *name, struct ids *ids)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	unsigned int id;
	int ret = 0;

	if (!file) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	errno = 0;
	/* 0 stands for a process outside of our pid namespace. */
	while (ret == 0 && fscanf(file, "%u", &id) == 1)
		if (id)
			ret = append_id(ids, id);
	if (ret == 0 && ferror(file))
		ret = -errno;
	fclose(file);
	return ret;
}

static int compare_ids(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* A version 1 list may name a process twice. */
static void sort_unique(struct ids *ids)
{
	size_t count = 0;

	if (!ids->count)
		return;
	qsort(ids->id, ids->count, sizeof(*ids->id), compare_ids);
	for (size_t i = 0; i < ids->count; i++)
		if (!count || ids->id[count - 1] != ids->id[i])
			ids->id[count++] = ids->id[i];
	ids->count = count;
}

static int add_ids(struct ask *ask, struct ids *ids, bool are_tasks, struct live *live)
{
	sort_unique(ids);
	for (size_t i = 0; i < ids->count; i++) {
		int ret = are_tasks ? add_task(ask, ids->id[i], live)
				    : add_process(ask, ids->id[i], live);

		if (ret < 0 && ret != -ESRCH) /* ended meanwhile */
			return ret;
	}
	live->comm[0] = '\0';
	live->pid = ACT_UNKNOWN;
	return 0;
}

int live_cgroup(struct ask *ask, const char *directory, struct live *ret_live)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ids ids = { 0 };
	bool are_tasks = false;
	int ret;

	if (fd < 0)
		return -errno;
	live_clear(ret_live);
	ret = read_ids(fd, "cgroup.procs", &ids);
	if (ret == -ENOENT)
		ret = -ENOTDIR; /* it is one, but not of cgroups */
	if (ret == -EOPNOTSUPP) {
		are_tasks = true;
		ids.count = 0;
		ret = read_ids(fd, "cgroup.threads", &ids);
	}
	if (ret == 0)
		ret = add_ids(ask, &ids, are_tasks, ret_live);
	/* Refused for version 2, which has no such count. */
	if (ret == 0)
		ret_live->has_states = ask_cgroup(ask, fd, &ret_live->states) == 0;
	free(ids.id);
	close(fd);
	return ret;
}

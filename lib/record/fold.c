/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folding tasks into processes.
 *
 * What the kernel tells at exit (kernel/taskstats.c, taskstats_exit()):
 *  - one record a task; that of the last task of its group is flagged AGROUP,
 *    and it need not be the leader's;
 *  - a sum for the group comes with it only if the process ever had a second
 *    task, so AGROUP without a sum on the leader is a process of one task;
 *  - the process's wait status is in the leader's record.  When another task
 *    execs, the old leader ends first, under the same ids: the later of two
 *    leaders counts;
 *  - "last" is decided before the record is sent, so a record can follow that
 *    of the last of its group.  Hence the linger.
 */
#include <actuary/record.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_LIMIT 4096
#define BUCKETS 4096 /* a power of two */

#define AGROUP 0x20 /* include/uapi/linux/acct.h: last task of its group */

/*
 * Two tasks that tell a process's start further apart than this are of two
 * processes that had the same id.  The start is the time of receipt less the
 * age, so it jitters by a drain interval and a late delivery.
 */
#define SAME_START_NS UINT64_C(2000000000)

/*
 * The kernel reads the clock separately for a task's own record and for the
 * group's sum; beyond this much a task, something was not seen.
 */
#define WALL_SLACK_NS UINT64_C(100000)

/* A process of which at least one task has ended. */
struct held {
	struct act_record process;
	struct act_record group; /* the kernel's sum, if has_group */
	uint64_t start_ns;
	uint64_t ended_ns; /* when its last task's record came; 0: not yet */
	uint64_t task_wall_ns; /* sum over the tasks seen */
	uint64_t tasks;
	bool has_leader;
	bool has_group;
	struct held *next_in_bucket;
	struct held *older, *newer; /* in its queue */
};

struct queue {
	struct held *oldest, *newest;
};

struct act_fold {
	struct act_fold_options options;
	uint64_t last_gap_ns; /* exits were lost up to then */
	size_t count;
	struct queue open;  /* more tasks to come, oldest touched first */
	struct queue ended; /* lingering, oldest end first */
	struct held *free_list;
	struct held *buckets[BUCKETS];
};

static struct held **bucket_of(struct act_fold *fold, uint64_t pid)
{
	return &fold->buckets[(pid * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (BUCKETS - 1)];
}

static void queue_append(struct queue *queue, struct held *held)
{
	held->newer = NULL;
	held->older = queue->newest;
	if (queue->newest)
		queue->newest->newer = held;
	else
		queue->oldest = held;
	queue->newest = held;
}

static void queue_remove(struct queue *queue, struct held *held)
{
	if (held->older)
		held->older->newer = held->newer;
	else
		queue->oldest = held->newer;
	if (held->newer)
		held->newer->older = held->older;
	else
		queue->newest = held->older;
}

static struct queue *queue_of(struct act_fold *fold, const struct held *held)
{
	return held->ended_ns ? &fold->ended : &fold->open;
}

int act_fold_new(const struct act_fold_options *options, struct act_fold **ret_fold)
{
	struct act_fold *fold;

	if (options->size != sizeof(*options) || !options->emit ||
	    options->per < ACT_PER_TASK || options->per > ACT_PER_BOTH)
		return -EINVAL;
	fold = calloc(1, sizeof(*fold));
	if (!fold)
		return -ENOMEM;
	fold->options = *options;
	if (!fold->options.limit)
		fold->options.limit = DEFAULT_LIMIT;
	*ret_fold = fold;
	return 0;
}

static void free_chain(struct held *held)
{
	while (held) {
		struct held *newer = held->newer;

		free(held);
		held = newer;
	}
}

void act_fold_free(struct act_fold *fold)
{
	if (!fold)
		return;
	free_chain(fold->open.oldest);
	free_chain(fold->ended.oldest);
	free_chain(fold->free_list);
	free(fold);
}

/* ---- One process ---- */

static void add_known(uint64_t *sum, uint64_t value)
{
	if (value == ACT_UNKNOWN)
		return;
	*sum = *sum == ACT_UNKNOWN ? value : *sum + value;
}

/* A delay's shortest wait is told as 0 by tasks that never waited. */
static bool is_shorter(uint64_t value, uint64_t than)
{
	if (value == ACT_UNKNOWN)
		return false;
	return than == ACT_UNKNOWN || than == 0 || (value != 0 && value < than);
}

static bool is_larger(uint64_t value, uint64_t than)
{
	return value != ACT_UNKNOWN && (than == ACT_UNKNOWN || value > than);
}

/*
 * Until the leader is seen, its task's names stand in for it; its status and
 * start can't be known from another task.
 */
static bool is_stand_in(enum act_field field)
{
	return field != ACT_F_status && field != ACT_F_btime_ns;
}

static inline __attribute__((always_inline)) void
fold_field(struct held *held, const struct act_record *task, enum act_field field,
	   enum act_fold_rule rule)
{
	uint64_t *value = &held->process.value[field];
	uint64_t from = task->value[field];
	bool is_leader = task->tid == task->pid;

	switch (rule) {
	case ACT_FOLD_LEADER:
		if (is_leader || (held->tasks == 0 && is_stand_in(field)))
			*value = from;
		break;
	case ACT_FOLD_LAST:
		if (task->end_ns >= held->process.end_ns || held->tasks == 0)
			*value = from;
		break;
	case ACT_FOLD_SUM:
		add_known(value, from);
		break;
	case ACT_FOLD_MAX:
		if (!is_larger(from, *value))
			break;
		*value = from;
		if (field + 2 < ACT_FIELDS && act_field_table[field + 2].fold == ACT_FOLD_AT_MAX)
			held->process.value[field + 2] = task->value[field + 2];
		break;
	case ACT_FOLD_MIN:
		if (is_shorter(from, *value))
			*value = from;
		break;
	case ACT_FOLD_OR:
		if (from != ACT_UNKNOWN)
			*value = *value == ACT_UNKNOWN ? from : *value | from;
		break;
	case ACT_FOLD_WALL:
		/* Every task tells how long ago its process began. */
		if (is_larger(task->tgetime_ns, *value))
			*value = task->tgetime_ns;
		break;
	case ACT_FOLD_AT_MAX: /* done with its maximum */
	case ACT_FOLD_NONE:
		break;
	}
}

/* A statement for each field, compiled for its rule: threads come by the thousand. */
static void fold_fields(struct held *held, const struct act_record *task)
{
#define FOLD_FIELD(name, type, since, sources, rule, help) \
	fold_field(held, task, ACT_F_##name, ACT_FOLD_##rule);
	ACT_FIELD_TABLE(FOLD_FIELD)
#undef FOLD_FIELD
}

static void add_task(struct held *held, const struct act_record *task)
{
	bool is_leader = task->tid == task->pid;

	fold_fields(held, task);
	if (is_leader || held->tasks == 0)
		memcpy(held->process.comm_text, task->comm_text, sizeof(task->comm_text));
	held->process.tid = task->pid;
	held->has_leader |= is_leader;
	held->task_wall_ns += task->wall_ns == ACT_UNKNOWN ? 0 : task->wall_ns;
	held->tasks++;
}

/*
 * The kernel's sums count the tasks that we did not see; ours count one that
 * came after the last of its group.  So the larger of the two is the truth.
 */
static void merge_group(struct held *held)
{
	for (int field = 0; field < ACT_FIELDS; field++) {
		uint64_t *value = &held->process.value[field];

		if (act_field_table[field].sources & ACT_FROM_GROUP &&
		    act_field_table[field].fold == ACT_FOLD_SUM &&
		    *value != ACT_UNKNOWN && is_larger(held->group.value[field], *value))
			*value = held->group.value[field];
	}
}

/* Whether tasks of the process may have ended without our knowing it. */
static bool is_partial(const struct act_fold *fold, const struct held *held)
{
	uint64_t slack = WALL_SLACK_NS * held->tasks;

	if (!held->ended_ns || !held->has_leader)
		return true;
	if (held->start_ns >= fold->options.complete_since_ns &&
	    held->start_ns > fold->last_gap_ns)
		return false;
	return !held->has_group || held->group.wall_ns == ACT_UNKNOWN ||
	       held->group.wall_ns > held->task_wall_ns + slack;
}

static int emit_as(struct act_fold *fold, struct act_record *record, enum act_kind kind,
		   uint64_t threads, uint64_t exits, bool partial)
{
	record->kind = kind;
	record->threads = threads;
	record->exits = exits;
	record->partial = partial;
	act_record_derive(record);
	return fold->options.emit(fold->options.arg, record);
}

/* A task's own record, which accounts for its exit. */
static int emit_task(struct act_fold *fold, const struct act_record *task, enum act_kind kind)
{
	struct act_record copy = *task;

	return emit_as(fold, &copy, kind, 1, 1, false);
}

static int emit_held(struct act_fold *fold, struct held *held)
{
	bool stands_for_tasks = fold->options.per == ACT_PER_PROCESS;
	bool partial = is_partial(fold, held);

	if (held->has_group)
		merge_group(held);
	return emit_as(fold, &held->process, ACT_KIND_PROCESS, held->tasks,
		       stands_for_tasks ? held->tasks : 0, partial);
}

/* ---- The processes held ---- */

static int release(struct act_fold *fold, struct held *held)
{
	struct held **at = bucket_of(fold, held->process.pid);
	int ret = emit_held(fold, held);

	while (*at != held)
		at = &(*at)->next_in_bucket;
	*at = held->next_in_bucket;
	queue_remove(queue_of(fold, held), held);
	fold->count--;
	held->newer = fold->free_list;
	fold->free_list = held;
	return ret;
}

static int make_room(struct act_fold *fold)
{
	if (fold->count < fold->options.limit)
		return 0;
	/* One that has ended most likely lacks nothing any more. */
	return release(fold, fold->ended.oldest ? fold->ended.oldest : fold->open.oldest);
}

static uint64_t start_of_process(const struct act_record *task)
{
	uint64_t age = task->tgetime_ns != ACT_UNKNOWN ? task->tgetime_ns : task->wall_ns;

	return age == ACT_UNKNOWN || age > task->end_ns ? 0 : task->end_ns - age;
}

static struct held *find(struct act_fold *fold, uint64_t pid)
{
	struct held *held;

	/* Most often there is none, and the table is not in the CPU's cache. */
	if (!fold->count)
		return NULL;
	held = *bucket_of(fold, pid);
	while (held && held->process.pid != pid)
		held = held->next_in_bucket;
	return held;
}

static bool is_same_process(const struct held *held, const struct act_record *task)
{
	uint64_t start = start_of_process(task);
	uint64_t apart = start > held->start_ns ? start - held->start_ns : held->start_ns - start;

	/* No process has two last tasks. */
	return !(held->ended_ns && task->flags & AGROUP) && apart <= SAME_START_NS;
}

static int hold(struct act_fold *fold, const struct act_record *task, struct held **ret_held)
{
	struct held **bucket = bucket_of(fold, task->pid);
	struct held *held;
	int ret = make_room(fold);

	if (ret < 0)
		return ret;
	held = fold->free_list;
	if (held)
		fold->free_list = held->newer;
	else
		held = malloc(sizeof(*held));
	if (!held)
		return -ENOMEM;
	memset(held, 0, sizeof(*held));
	act_record_clear(&held->process);
	held->process.pid = task->pid;
	held->start_ns = start_of_process(task);
	held->next_in_bucket = *bucket;
	*bucket = held;
	queue_append(&fold->open, held);
	fold->count++;
	*ret_held = held;
	return 0;
}

static void touch(struct act_fold *fold, struct held *held, const struct act_record *task,
		  const struct act_record *group)
{
	queue_remove(queue_of(fold, held), held);
	add_task(held, task);
	if (group) {
		held->group = *group;
		held->has_group = true;
	}
	if (task->flags & AGROUP)
		held->ended_ns = task->end_ns;
	queue_append(queue_of(fold, held), held);
}

static int fold_into_process(struct act_fold *fold, const struct act_record *task,
			     const struct act_record *group, struct held *held)
{
	int ret = 0;

	if (!held)
		ret = hold(fold, task, &held);
	if (ret < 0)
		return ret;
	touch(fold, held, task, group);
	return 0;
}

int act_fold_task(struct act_fold *fold, const struct act_record *task,
		  const struct act_record *group)
{
	struct held *held;
	int ret = act_fold_expire(fold, task->end_ns);

	if (ret < 0)
		return ret;
	/* Before version 12 nothing tells which process a task is of. */
	if (fold->options.per == ACT_PER_TASK || task->pid == ACT_UNKNOWN ||
	    task->flags == ACT_UNKNOWN)
		return emit_task(fold, task, ACT_KIND_TASK);
	held = find(fold, task->pid);
	if (held && !is_same_process(held, task)) {
		ret = release(fold, held);
		if (ret < 0)
			return ret;
		held = NULL;
	}
	if (!held && !group && task->tid == task->pid && task->flags & AGROUP)
		return emit_task(fold, task, ACT_KIND_BOTH);
	if (fold->options.per == ACT_PER_BOTH) {
		ret = emit_task(fold, task, ACT_KIND_TASK);
		if (ret < 0)
			return ret;
	}
	return fold_into_process(fold, task, group, held);
}

void act_fold_gap(struct act_fold *fold, uint64_t now_ns)
{
	if (now_ns > fold->last_gap_ns)
		fold->last_gap_ns = now_ns;
}

int act_fold_expire(struct act_fold *fold, uint64_t now_ns)
{
	int ret = 0;

	while (ret >= 0 && fold->ended.oldest &&
	       fold->ended.oldest->ended_ns + ACT_FOLD_LINGER_NS <= now_ns)
		ret = release(fold, fold->ended.oldest);
	return ret < 0 ? ret : 0;
}

int act_fold_flush(struct act_fold *fold)
{
	int ret = 0;

	while (ret >= 0 && fold->ended.oldest)
		ret = release(fold, fold->ended.oldest);
	while (ret >= 0 && fold->open.oldest)
		ret = release(fold, fold->open.oldest);
	return ret < 0 ? ret : 0;
}

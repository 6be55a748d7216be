/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_RECORD_H
#define ACTUARY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/fields.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A record: what is known of one task, or of one process, that has ended.
 *
 * Every value is a 64-bit number in the unit its name tells (ns, bytes, ...);
 * signed ones (nice) are stored in two's complement.  A value that the source,
 * the kernel or its switches did not give is ACT_UNKNOWN, which is never zero
 * and never a number that a kernel sends.  Text values are bytes chosen by
 * whoever ran the task: escape them before they reach a terminal or a page.
 */
#define ACT_UNKNOWN (UINT64_C(1) << 63)

/* Room for a command name: struct taskstats keeps 32 bytes, NUL included. */
#define ACT_COMM_SIZE 32

enum act_kind {
	ACT_KIND_TASK = 1,    /* one task (thread) */
	ACT_KIND_PROCESS = 2, /* a process, folded from its tasks */
	ACT_KIND_BOTH = 3,    /* a process of one task: one record serves as both */
};

enum act_type {
	ACT_TYPE_NUMBER,   /* a count; sums have a meaning */
	ACT_TYPE_ID,       /* a number that names something */
	ACT_TYPE_SIGNED,   /* a signed number */
	ACT_TYPE_DURATION, /* nanoseconds */
	ACT_TYPE_TIME,     /* nanoseconds since the epoch, wall clock */
	ACT_TYPE_SIZE,     /* bytes */
	ACT_TYPE_INTEGRAL, /* megabytes times microseconds */
	ACT_TYPE_FLAGS,    /* a bit set */
	ACT_TYPE_BOOL,     /* 0 or 1 */
	ACT_TYPE_KIND,     /* enum act_kind */
	ACT_TYPE_TEXT,     /* bytes */
};

enum act_from {
	ACT_FROM_TASKSTATS = 1u << 0, /* in the task's own taskstats record */
	ACT_FROM_GROUP = 1u << 1,     /* also in the kernel's sum for the group */
	ACT_FROM_SWITCH = 1u << 2,    /* only while kernel.task_delayacct is on */
	ACT_FROM_RECORDER = 1u << 3,  /* added by whoever received it */
	ACT_FROM_DERIVED = 1u << 4,   /* computed from others, never stored */
};

enum act_fold_rule {
	ACT_FOLD_NONE,   /* set by the fold itself, or derived */
	ACT_FOLD_LEADER, /* the thread group leader's */
	ACT_FOLD_LAST,   /* the last task's */
	ACT_FOLD_SUM,    /* added up, unknown ones left out */
	ACT_FOLD_MAX,    /* the largest */
	ACT_FOLD_MIN,    /* the smallest, of tasks that waited at all */
	ACT_FOLD_AT_MAX, /* goes with the largest of the field two lines above */
	ACT_FOLD_OR,     /* bits set in any */
	ACT_FOLD_WALL,   /* from the leader's start to the last task's end */
};

/* What the table says of a field. */
struct act_field_info {
	const char *name;
	enum act_type type;
	unsigned int since;   /* first taskstats version, 0: not from there */
	unsigned int sources; /* enum act_from bits */
	enum act_fold_rule fold;
	const char *help;     /* one line, no full stop */
};

/* The table, ACT_FIELDS entries, indexed by enum act_field. */
extern const struct act_field_info act_field_table[ACT_FIELDS];

struct act_record {
	union {
		uint64_t value[ACT_FIELDS]; /* indexed by enum act_field */
		struct {
#define ACT_FIELD_MEMBER(name, ...) uint64_t name;
			ACT_FIELD_TABLE(ACT_FIELD_MEMBER)
#undef ACT_FIELD_MEMBER
		};
	};
	/* The text of field comm, NUL-terminated; value[ACT_F_comm] is unused. */
	char comm_text[ACT_COMM_SIZE];
};

/* Sets every value to ACT_UNKNOWN and the text to "". */
void act_record_clear(struct act_record *record);

/* Computes the derived values (start_ns, cpu_ns, code, signal, core) anew. */
void act_record_derive(struct act_record *record);

/*
 * Which fields a derived field is computed from, and how.  -1 ends the list.
 * act_field_derive() does it for @rows values at once: @a and @b are the two
 * columns (@b may be NULL where @info says there is but one).
 */
struct act_derivation {
	int from[2]; /* enum act_field, or -1 */
};
const struct act_derivation *act_field_derivation(enum act_field field);
void act_field_derive(enum act_field field, const uint64_t *a,
		      const uint64_t *b, uint64_t *ret_values, size_t rows);

/*
 * Finds a field by its name, of @length bytes.  Returns -1 if there is none.
 */
int act_field_find(const char *name, size_t length);

/* Whether values of the field can be added up to a total with a meaning. */
bool act_field_is_additive(enum act_field field);

/*
 * Folding: tasks in, records out.
 *
 * Feed every task's record, in the order it was received, with the kernel's
 * sum for its group where the message had one.  The fold hands out, through
 * @emit, what is to be kept: task records, process records, or both.  A process
 * that ever had a second task is held back for ACT_FOLD_LINGER_NS after its
 * end, since a task's record can arrive after that of the last of its group
 * (they come from different CPUs).  Memory is bounded: when @limit processes
 * are held, the oldest that has ended is emitted early, else the one whose last
 * task is longest ago, marked partial.
 */
#define ACT_FOLD_LINGER_NS UINT64_C(500000000)

enum act_per {
	ACT_PER_TASK = ACT_KIND_TASK,
	ACT_PER_PROCESS = ACT_KIND_PROCESS,
	ACT_PER_BOTH = ACT_KIND_BOTH,
};

struct act_fold;

struct act_fold_options {
	size_t size; /* sizeof(struct act_fold_options) */
	enum act_per per;
	size_t limit; /* processes held at once; 0: a default of 4096 */
	/* Called for every record; 0 goes on, negative errno stops and is returned. */
	int (*emit)(void *arg, const struct act_record *record);
	void *arg;
	/*
	 * Wall-clock ns since which every exit has been received: processes that
	 * began before may have lost tasks unseen.  0: since ever (replay).
	 */
	uint64_t complete_since_ns;
};

/* Returns 0, -EINVAL or -ENOMEM. */
int act_fold_new(const struct act_fold_options *options, struct act_fold **ret_fold);
void act_fold_free(struct act_fold *fold); /* NULL is allowed; emits nothing */

/*
 * One task.  @group is the kernel's sum for the whole process (fields marked
 * ACT_FROM_GROUP, and wall_ns as the sum over tasks), NULL if there was none.
 */
int act_fold_task(struct act_fold *fold, const struct act_record *task,
		  const struct act_record *group);

/* Exits were lost up to @now_ns: processes alive then may become partial. */
void act_fold_gap(struct act_fold *fold, uint64_t now_ns);

/* Emits the processes whose linger is over at @now_ns (wall clock). */
int act_fold_expire(struct act_fold *fold, uint64_t now_ns);

/* Emits all that is held; the unfinished ones are marked partial. */
int act_fold_flush(struct act_fold *fold);

#ifdef __cplusplus
}
#endif

#endif

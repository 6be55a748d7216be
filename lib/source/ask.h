/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_ASK_H
#define SOURCE_ASK_H

/*
 * Questions to the kernel about tasks that still live (or are not reaped yet).
 *
 * A task's and a process's question need CAP_NET_ADMIN in the initial user
 * namespace, even about oneself; the ids are those of the caller's pid
 * namespace.  A cgroup's question needs no privilege.  Each answer is waited
 * for at most ASK_TIMEOUT_MS.
 */
#include <stdint.h>

#include <actuary/record.h>
#include <actuary/source.h>

#define ASK_TIMEOUT_MS 1000

struct ask;

/* Returns 0, -ENOENT (taskstats not built in) or other errno; fills @ret_why. */
int ask_open(struct ask **ret_ask, struct act_why *ret_why);
void ask_close(struct ask *ask); /* NULL is allowed */

/* kernel.task_delayacct as it is now: 0, 1, or ACT_UNKNOWN if the kernel has none. */
uint64_t ask_delayacct(struct ask *ask);

/*
 * Vouches that whatever is asked about from now on began after ask_open(): if
 * the switch was on then and still is, zeros are real.  For one's own children,
 * whose ages are too short to show it.
 */
void ask_vouch_younger(struct ask *ask);

/*
 * One task, as far as it has come: the fields of a task's record, end_ns being
 * now and wall_ns its age.  status is unknown unless the task has ended with
 * something other than 0.  Fields behind kernel.task_delayacct are unknown if
 * the switch is off, or if nothing shows that the task is younger than it.
 * Returns 0, -ESRCH (no such task), -EPERM, -ETIMEDOUT, other errno.
 */
int ask_task(struct ask *ask, uint32_t tid, struct act_record *ret_task);

/*
 * The sums for a process: its live tasks and those that have ended.  Only
 * fields marked ACT_FROM_GROUP, pid, end_ns, and wall_ns, which is the sum of
 * the tasks' ages and not the process's.  Maxima and minima of delays are
 * unknown: the kernel's are not those of the group.  Same returns.
 */
int ask_process(struct ask *ask, uint32_t pid, struct act_record *ret_group);

/* How many tasks of a cgroup are in which state. */
struct ask_states {
	uint64_t sleeping;
	uint64_t running;
	uint64_t stopped;
	uint64_t uninterruptible;
	uint64_t io_wait;
};

/*
 * @fd is a directory of a version 1 cgroup hierarchy.  Returns 0, -EINVAL (any
 * other directory, a version 2 one too), -EBADF, -ETIMEDOUT, other errno.
 */
int ask_cgroup(struct ask *ask, int fd, struct ask_states *ret_states);

#endif

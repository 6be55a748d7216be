/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LIVE_H
#define ACTUARY_LIVE_H

/* What a live task, process or cgroup has waited for until now. */
#include <stdbool.h>
#include <stdint.h>

#include "delays.h"
#include "source/ask.h"

struct live {
	struct delays delays;
	char comm[ACT_COMM_SIZE]; /* of a task or process; hostile bytes */
	uint64_t pid;             /* of a task: the process it is in, if known */
	uint64_t tasks;           /* that were asked about */
	uint64_t uncounted;       /* of these, those that only know waits for a CPU */
	bool has_states;          /* version 1 cgroups */
	struct ask_states states;
};

/*
 * 0, -ESRCH if there is no such task, -EPERM, -ETIMEDOUT, other errno.  One
 * that has ended but is not reaped answers too.
 */
int live_task(struct ask *ask, uint32_t tid, struct live *ret_live);

/*
 * The same for a process: its live tasks and those that have ended.  The
 * longest and shortest waits are known where no ended task has waited, for the
 * kernel keeps them by task only.  -ENOTUNIQ: a task that leads no process, of
 * process ret_live->pid.
 */
int live_process(struct ask *ask, uint32_t pid, struct live *ret_live);

/*
 * All processes (or tasks, if it is threaded) of a cgroup's directory, not of
 * those below it.  Also the errors of opening it; -ENOTDIR if it is none.
 */
int live_cgroup(struct ask *ask, const char *directory, struct live *ret_live);

#endif

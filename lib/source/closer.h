/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_CLOSER_H
#define SOURCE_CLOSER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Lets a child exit on @cpu and reaps it; when this returns 0, the message of
 * its exit waits in that CPU's sockets or was dropped there.  Returns
 * -EINVAL if nothing of ours can run on that CPU (offline, or not in our
 * cpuset), -ETIMEDOUT if it did not get to run there by @deadline_ns
 * (monotonic; a real-time task may hold the CPU), or other errno.  In the
 * second case *@ret_pid is still to be reaped.
 */
int closer_run(int cpu, uint64_t deadline_ns, pid_t *ret_pid);

/* Reaps a child that was left.  Returns false while it still lives. */
bool closer_reap(pid_t pid);

#endif

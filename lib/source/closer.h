/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_CLOSER_H
#define SOURCE_CLOSER_H

#include <sys/types.h>

/*
 * Lets a child exit on @cpu and reaps it; when this returns, the message of
 * its exit waits in that CPU's sockets or was dropped there.  Returns 0,
 * -EINVAL if nothing of ours can run on that CPU (offline, or not in our
 * cpuset), or other errno.
 */
int closer_run(int cpu, pid_t *ret_pid);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_CHILD_H
#define ACTUARY_CHILD_H

/*
 * A command to be watched from its first moment: forked early, with the
 * privileges of whoever asked for it, and held at a gate until the watcher is
 * ready.
 */
#include <stdbool.h>
#include <sys/types.h>

struct child {
	pid_t pid;  /* 0: none, or reaped */
	int gate;   /* written to let it go */
	int failed; /* read: errno of a failed exec */
};

/* Forks; @argv ends with NULL.  0 or negative errno. */
int child_hold(struct child *child, char **argv);

/* Lets it exec.  0, or the negative errno for which the exec failed. */
int child_go(struct child *child);

/* Its wait status, if it has ended: true, once. */
bool child_has_ended(struct child *child, int *ret_status);

/* Ends one that was never let go, and closes what is open. */
void child_release(struct child *child);

/* The exit status with which a shell would tell this wait status. */
int child_exit_status(int status);

#endif

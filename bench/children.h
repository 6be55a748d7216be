/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_CHILDREN_H
#define BENCH_CHILDREN_H

/* A command that a workload runs, and all that it starts. */
#include <sys/resource.h>

#include <actuary/source.h> /* struct act_why */

struct child_end {
	double ns;           /* until the command itself was reaped */
	struct rusage usage; /* of it and what it waited for */
	double orphans;      /* that outlived their parents and were waited for */
};

/*
 * Makes this process the one to which orphans go, for good; without, what outlives
 * its parent is not waited for.  0, or a negative errno after explaining.
 */
int children_adopt(struct act_why *why);

/*
 * Executes @argv, found in PATH, and waits until there is no child left.  0, or a
 * negative errno after explaining: it could not be executed, was killed, or ended
 * with a status above 0.  @ret is filled in when it was executed.
 */
int children_run(char *const *argv, struct child_end *ret, struct act_why *why);

#endif

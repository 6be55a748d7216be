/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SWITCH_H
#define ACTUARY_SWITCH_H

/*
 * kernel.task_delayacct, turned on for a while.
 *
 * The former value is written back by switch_restore(), which a signal handler
 * may call, and at exit(3); only SIGKILL leaves the switch on.
 */

/*
 * Turns it on if it is off.  0, -ENOENT (the kernel has none), -EACCES or
 * -EPERM (root is needed), other errno.
 */
int switch_enable(void);

/* Turns it off again if switch_enable() turned it on.  Async-signal-safe. */
void switch_restore(void);

#endif

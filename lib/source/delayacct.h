/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_DELAYACCT_H
#define SOURCE_DELAYACCT_H

/*
 * The switch kernel.task_delayacct.
 *
 * A task's delays are counted only if the switch was on when it was forked and
 * stayed on (kernel/delayacct.c, delayacct_tsk_init()); its record does not
 * tell.  So we keep since when the switch has been on for sure: a task that
 * began later has real zeros, an older one with nothing but zeros is unknown.
 */
#include <stdbool.h>
#include <stdint.h>

#define DELAYACCT_NEVER UINT64_MAX

struct delayacct {
	int fd;            /* of the switch; -1: this kernel has none */
	uint64_t state;    /* 0, 1 or ACT_UNKNOWN */
	uint64_t since_ns; /* on for sure since, wall clock; DELAYACCT_NEVER: not on */
	uint64_t look_ns;  /* when to look again */
};

/* What it takes for a reader of somebody else's observations. */
#define DELAYACCT_UNKNOWN { -1, ACT_UNKNOWN, DELAYACCT_NEVER, UINT64_MAX }

void delayacct_open(struct delayacct *delayacct, uint64_t now_ns);
void delayacct_close(struct delayacct *delayacct);

/* Looks at the switch if a second has passed.  True if it was turned. */
bool delayacct_look(struct delayacct *delayacct, uint64_t now_ns);

/* Whether the zeros of a task that began at @start_ns are real. */
bool delayacct_covers(const struct delayacct *delayacct, uint64_t start_ns);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_CONDITION_TOGGLE_H
#define BENCH_CONDITION_TOGGLE_H

/*
 * A kind of toggle: one struct toggle_kind and a line in the table of
 * condition.c.  parse() runs in the program, enter() in the workload's process,
 * everything else in the holder.
 */
#include <sched.h>

#include "bench/condition.h"

struct toggle {
	const struct toggle_kind *kind;
	char *text;        /* what followed "kind:", to be cut up; "" for nothing */
	char *word[3];     /* pieces of it */
	uint64_t number;   /* watchers, rcvbuf */
	int value;         /* nice */
	int fd;            /* what is held open, else -1 */
	pid_t pid;         /* a child of the holder, else 0 */
	char *before;      /* what it was: sysctl's value */
	cpu_set_t cpus;
	void *data;        /* the kind's own */
	struct condition_costs costs;
};

struct toggle_kind {
	const char *name;
	const char *form;     /* "sysctl:KEY=VALUE" */
	const char *facts;    /* facts of the environment that it changes, "a b"; NULL: none */
	bool is_listener;
	bool takes_all;       /* what follows is its own to the end, '+' too */
	/* Refuses what is wrong; 0 or negative errno, after explaining. */
	int (*parse)(struct toggle *toggle, struct act_why *why);
	/* Switches on and reads back.  On failure what it did is undone by off(). */
	int (*on)(struct toggle *toggle, bool *ret_was_so, struct act_why *why);
	/* Something came at toggle->fd. */
	void (*serve)(struct toggle *toggle);
	/* Whether it is still on; NULL: it cannot but be. */
	int (*check)(struct toggle *toggle, struct act_why *why);
	/* Switches off and reads back; also after a failed on().  NULL: nothing to do. */
	int (*off)(struct toggle *toggle, struct act_why *why);
	/* In the workload's process, async-signal-safe. */
	int (*enter)(const struct toggle *toggle);
	void (*release)(struct toggle *toggle); /* what @data holds; @data itself is freed */
};

extern const struct toggle_kind toggle_sysctl, toggle_acct, toggle_cmd;     /* -setting.c */
extern const struct toggle_kind toggle_raw_listener, toggle_connector;      /* -listener.c */
extern const struct toggle_kind toggle_record;                              /* -record.c */
extern const struct toggle_kind toggle_nice, toggle_cpus, toggle_cgroup;    /* -place.c */
extern const struct toggle_kind toggle_with;                                /* -with.c */

/* No command, no recorder may take longer to switch. */
#define TOGGLE_LIMIT_NS (60 * UINT64_C(1000000000))

/*
 * Starts @argv in the holder, /dev/null its input; its output goes to @output_fd and
 * what it says to @error_fd, -1: nowhere, or where ours goes.  It is the leader of
 * a process group and ends with the holder.  Returns the pid or a negative errno.
 */
pid_t toggle_spawn(char *const *argv, int output_fd, int error_fd);

/* A child on @cpu (-1: anywhere) that ends at once, and is gone: something to be seen. */
void toggle_birth(int cpu);

/*
 * The next of "a=1,b=2-3,5,c": a NUL is put behind it.  What follows a comma and
 * begins with a digit belongs to a list before it.  NULL: no more.
 */
char *toggle_piece(char **at);

/* Waits for it, and kills it when it is too late (-ETIMEDOUT); 0 and its wait status. */
int toggle_wait(pid_t pid, uint64_t limit_ns, int *ret_status);

#endif

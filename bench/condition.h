/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_CONDITION_H
#define BENCH_CONDITION_H

/*
 * A condition: the state of the system under which a run is made.
 *
 * It is one toggle or several ("record+nice:5"), each of a kind of its own
 * (condition-*.c).  A *holder*, a process forked for each time, switches them on,
 * reads back that they are, and waits; told to end, or when the program that
 * forked it is gone, whatever the reason, it switches them off and reads back
 * again.  So nothing stays switched when the program is killed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <actuary/source.h> /* struct act_why */

/* What listeners did meanwhile; ACT_UNKNOWN: not known, or no listener. */
struct condition_costs {
	uint64_t cpu_ns, records, enobufs, lost;
};

/* What came of switching. */
struct condition_report {
	int32_t error;    /* negative errno; 0: done and verified */
	bool was_so;      /* on: everything was already as it was to become */
	bool broke;       /* off: it was not on any more, so the run is invalid: why tells */
	struct condition_costs costs; /* off */
	struct act_why why;
};

struct toggle; /* condition-toggle.h */

struct condition {
	char *name;
	const char *spec;  /* behind the '=' */
	size_t toggles;
	struct toggle *toggle;
	pid_t holder;      /* 0: off */
	int fd;            /* to it */
};

/*
 * "NAME=SPEC", which must stay.  -EINVAL or -ENOTSUP (a kind that cannot be had
 * here), after explaining.
 */
int condition_parse(const char *text, struct condition *ret, struct act_why *ret_why);
void condition_release(struct condition *condition); /* switches off first */

/* Both return @ret->error.  Off: of one that is off, 0; it is off afterwards if that can be. */
int condition_on(struct condition *condition, struct condition_report *ret);
int condition_off(struct condition *condition, struct condition_report *ret);

bool condition_has_listener(const struct condition *condition);

/*
 * For run_spec: enters the workload's process into the condition (nice, CPUs,
 * cgroup).  @arg is the condition, which is on.  Async-signal-safe.
 */
int condition_enter(void *arg);

/*
 * The options that the condition gives the workload, to come behind those that it has
 * already; they stay the condition's.  NULL: none.
 */
char *const *condition_words(const struct condition *condition, size_t *ret_count);

/*
 * The keys of sysctl toggles, one after the other: 0, 1, ... until NULL.  They
 * are facts of the environment, too.
 */
const char *condition_sysctl(const struct condition *condition, size_t index);

/* Whether a difference of this fact of the environment is what the condition is for. */
bool condition_explains(const struct condition *condition, const char *fact);

/* The kinds and their forms, a line each, for help and messages. */
const char *condition_forms(void);

#endif

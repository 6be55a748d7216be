/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_ENVIRONMENT_H
#define BENCH_ENVIRONMENT_H

/*
 * What is around a measurement and can change its outcome: the kernel, its
 * switches, the machine, what else listens, the limits of the process.  Facts
 * are compared between the arms; any difference but the one wanted is a warning.
 */
#include <stdbool.h>
#include <stddef.h>

#include "bench/result.h" /* struct result_fact */

struct environment {
	struct result_fact *fact; /* texts are owned; NULL: could not be read */
	size_t count, room;
};

/*
 * Facts from files below @root, "" for this machine's own (tests have others),
 * and of @sysctls, NULL or ending with NULL: "sysctl KEY" each.  0 or -ENOMEM.
 */
int environment_capture_files(struct environment *environment, const char *root,
			      const char *const *sysctls);
/* Facts of this process and what the kernel tells by system calls. */
int environment_capture_process(struct environment *environment);
/* One more fact; both texts are copied.  0 or -ENOMEM. */
int environment_add(struct environment *environment, const char *key, const char *text);
void environment_release(struct environment *environment);

/* NULL with @ret_has false: there is no such fact. */
const char *environment_get(const struct environment *environment, const char *key,
			    bool *ret_has);

/* The facts of @now that differ from those of @base; @ret has room for @now->count. */
size_t environment_diff(const struct environment *base, const struct environment *now,
			struct result_fact *ret);

#endif

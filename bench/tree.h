/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_TREE_H
#define BENCH_TREE_H

/*
 * A tree of C files with a makefile, always the same for the same number of files:
 * something to build where there is no kernel tree.
 */
#include <stdint.h>

#include <actuary/source.h> /* struct act_why */

/*
 * Makes it below TMPDIR, which is the run's own.  0 and the directory, to be freed,
 * or a negative errno after explaining.
 */
int tree_make(uint64_t files, char **ret_path, struct act_why *why);
/* Takes away what a build has made: negative errno after explaining. */
int tree_clean(const char *path, struct act_why *why);

#endif

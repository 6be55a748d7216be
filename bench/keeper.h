/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KEEPER_H
#define BENCH_KEEPER_H

/*
 * A process between the program and a run.  All that the run brings forth and
 * leaves behind becomes the keeper's child (it is their subreaper), and of
 * nobody else's: so it can kill all of it without touching what else the program
 * has started.  It also ends the run when the program itself is killed.
 */
#include <stdint.h>
#include <sys/types.h>

struct keeper_spec {
	char **argv;              /* to execute: this program, anew */
	int (*enter)(void *arg);  /* in the run, before that; 0 or negative errno; or NULL */
	void *enter_arg;
	int samples_fd;           /* becomes WIRE_FD of the run */
	const char *scratch;      /* directory to delete when nothing is left of the run; or NULL */
};

/* How it went; comes over a pipe when nothing is left of the run. */
struct keeper_report {
	int32_t status;     /* wait status of the run */
	uint32_t leftovers; /* processes that it left behind, ended by the keeper */
};

/*
 * Starts it: 0 or negative errno.  @ret_report_fd yields one report, or just the
 * end of the file if the keeper was killed.  SIGTERM to @ret_pid ends the run.
 */
int keeper_start(const struct keeper_spec *spec, pid_t *ret_pid, int *ret_report_fd);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_TOKEN_H
#define BENCH_TOKEN_H

/* What two threads hand to each other, and sleep for when they don't have it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <actuary/source.h> /* struct act_why */

struct token {
	_Atomic unsigned int futex[2];
	int read_fd[2], write_fd[2];
	pthread_mutex_t mutex;
	pthread_cond_t cond[2];
	bool is_there[2];
};

/*
 * Sides are 0 and 1; nobody has it at first.  wake() gives it to @side, await()
 * takes it there; neither can fail on what open() made.
 */
struct token_kind {
	int (*open)(struct token *token, struct act_why *why); /* 0 or negative errno, explained */
	void (*wake)(struct token *token, int side);
	void (*await)(struct token *token, int side);
	void (*close)(struct token *token);
};

extern const struct token_kind token_futex, token_eventfd, token_pipe, token_condvar;

#endif

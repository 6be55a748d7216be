/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/token.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench/why.h"

/* ---- futex(2) itself ---- */

static int open_futex(struct token *token, struct act_why *why)
{
	(void)why;
	atomic_init(&token->futex[0], 0);
	atomic_init(&token->futex[1], 0);
	return 0;
}

static void wake_futex(struct token *token, int side)
{
	atomic_store(&token->futex[side], 1);
	syscall(SYS_futex, &token->futex[side], FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await_futex(struct token *token, int side)
{
	while (!atomic_load(&token->futex[side]))
		syscall(SYS_futex, &token->futex[side], FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	atomic_store(&token->futex[side], 0);
}

static void close_futex(struct token *token)
{
	(void)token;
}

const struct token_kind token_futex = { open_futex, wake_futex, await_futex, close_futex };

/* ---- Files: eight bytes are a count to an eventfd, and bytes to a pipe ---- */

static void close_files(struct token *token)
{
	for (int side = 0; side < 2; side++) {
		close(token->read_fd[side]);
		if (token->write_fd[side] != token->read_fd[side])
			close(token->write_fd[side]);
	}
}

static void wake_file(struct token *token, int side)
{
	uint64_t one = 1;

	while (write(token->write_fd[side], &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void await_file(struct token *token, int side)
{
	uint64_t got;

	while (read(token->read_fd[side], &got, sizeof(got)) < 0 && errno == EINTR)
		;
}

static int open_eventfd(struct token *token, struct act_why *why)
{
	for (int side = 0; side < 2; side++) {
		int fd = eventfd(0, EFD_CLOEXEC);

		if (fd < 0) {
			int error = errno;

			if (side)
				close(token->read_fd[0]);
			return because(why, -error, "cannot make an eventfd: %s", strerror(error));
		}
		token->read_fd[side] = token->write_fd[side] = fd;
	}
	return 0;
}

const struct token_kind token_eventfd = { open_eventfd, wake_file, await_file, close_files };

static int open_pipe(struct token *token, struct act_why *why)
{
	for (int side = 0; side < 2; side++) {
		int pair[2];

		if (pipe2(pair, O_CLOEXEC) < 0) {
			int error = errno;

			if (side) {
				close(token->read_fd[0]);
				close(token->write_fd[0]);
			}
			return because(why, -error, "cannot make a pipe: %s", strerror(error));
		}
		token->read_fd[side] = pair[0];
		token->write_fd[side] = pair[1];
	}
	return 0;
}

const struct token_kind token_pipe = { open_pipe, wake_file, await_file, close_files };

/* ---- A condition variable of the C library ---- */

static int open_condvar(struct token *token, struct act_why *why)
{
	(void)why;
	pthread_mutex_init(&token->mutex, NULL);
	for (int side = 0; side < 2; side++) {
		pthread_cond_init(&token->cond[side], NULL);
		token->is_there[side] = false;
	}
	return 0;
}

static void wake_condvar(struct token *token, int side)
{
	pthread_mutex_lock(&token->mutex);
	token->is_there[side] = true;
	pthread_cond_signal(&token->cond[side]);
	pthread_mutex_unlock(&token->mutex);
}

static void await_condvar(struct token *token, int side)
{
	pthread_mutex_lock(&token->mutex);
	while (!token->is_there[side])
		pthread_cond_wait(&token->cond[side], &token->mutex);
	token->is_there[side] = false;
	pthread_mutex_unlock(&token->mutex);
}

static void close_condvar(struct token *token)
{
	for (int side = 0; side < 2; side++)
		pthread_cond_destroy(&token->cond[side]);
	pthread_mutex_destroy(&token->mutex);
}

const struct token_kind token_condvar = {
	open_condvar, wake_condvar, await_condvar, close_condvar,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/closer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_BYTES 32768

struct place {
	cpu_set_t *set;
	size_t size;
};

/* The child: shares our memory while we wait, so it must not do more. */
static int exit_there(void *arg)
{
	const struct place *place = arg;

	_exit(sched_setaffinity(0, place->size, place->set) < 0 ? errno : 0);
}

/* Like vfork(), and without a signal to whoever handles SIGCHLD. */
static int run_child(const struct place *place, pid_t *ret_pid)
{
	char stack[STACK_BYTES] __attribute__((aligned(16)));
	int status;
	pid_t pid;

	pid = clone(exit_there, stack + sizeof(stack), CLONE_VM | CLONE_VFORK, (void *)place);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, __WCLONE) < 0)
		if (errno != EINTR)
			return -errno;
	*ret_pid = pid;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
}

int closer_run(int cpu, pid_t *ret_pid)
{
	struct place place = { .size = CPU_ALLOC_SIZE(cpu + 1) };
	sigset_t all, before;
	int ret;

	place.set = CPU_ALLOC(cpu + 1);
	if (!place.set)
		return -ENOMEM;
	CPU_ZERO_S(place.size, place.set);
	CPU_SET_S(cpu, place.size, place.set);
	/* A handler must not run in the child, on our memory. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = run_child(&place, ret_pid);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	CPU_FREE(place.set);
	return ret;
}

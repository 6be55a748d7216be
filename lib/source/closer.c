/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/closer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"

#define STACK_BYTES 32768

/* A child is there and gone in a fraction of a millisecond. */
#define LOOK_FIRST_NS (50 * NSEC_PER_USEC)
#define LOOK_LAST_NS (10 * NSEC_PER_MSEC)

struct place {
	cpu_set_t *set;
	size_t size;
};

static int exit_there(void *arg)
{
	const struct place *place = arg;

	/* The child's exit status. */
	return sched_setaffinity(0, place->size, place->set) < 0 ? errno : 0;
}

/*
 * Like fork(), but without handlers of it and without a signal at its end:
 * whoever waits for children of its own does not see it.  Not like vfork():
 * that would wait for ever for a CPU that a real-time task holds.
 */
static int start_child(const struct place *place, pid_t *ret_pid)
{
	char stack[STACK_BYTES] __attribute__((aligned(16)));
	sigset_t all, before;
	pid_t pid;
	int ret;

	/* No handler of ours is to run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = clone(exit_there, stack + sizeof(stack), 0, (void *)place);
	ret = pid < 0 ? -errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (ret == 0)
		*ret_pid = pid;
	return ret;
}

static int wait_child(pid_t pid, uint64_t deadline_ns)
{
	uint64_t look_ns = LOOK_FIRST_NS;
	int status;

	for (;;) {
		struct timespec time = { .tv_nsec = (long)look_ns };
		pid_t ret = waitpid(pid, &status, WNOHANG | __WCLONE);

		if (ret == pid)
			return WIFEXITED(status) ? -WEXITSTATUS(status) : -EINTR;
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (clock_monotonic_ns() >= deadline_ns)
			return -ETIMEDOUT;
		nanosleep(&time, NULL);
		if (look_ns < LOOK_LAST_NS)
			look_ns *= 2;
	}
}

int closer_run(int cpu, uint64_t deadline_ns, pid_t *ret_pid)
{
	struct place place = { .size = CPU_ALLOC_SIZE(cpu + 1) };
	int ret;

	place.set = CPU_ALLOC(cpu + 1);
	if (!place.set)
		return -ENOMEM;
	CPU_ZERO_S(place.size, place.set);
	CPU_SET_S(cpu, place.size, place.set);
	ret = start_child(&place, ret_pid);
	CPU_FREE(place.set);
	if (ret < 0)
		return ret;
	ret = wait_child(*ret_pid, deadline_ns);
	if (ret == -ETIMEDOUT)
		kill(*ret_pid, SIGKILL);
	return ret;
}

bool closer_reap(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG | __WCLONE) != 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/children.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/why.h"

int children_adopt(struct act_why *why)
{
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return because(why, -errno, "cannot become a subreaper: %s", strerror(errno));
	return 0;
}

static int check_status(const char *name, int status, struct act_why *why)
{
	if (WIFSIGNALED(status))
		return because(why, -EINTR, "%s was killed by signal %d (%s)", name,
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		return because(why, -EIO, "%s ended with status %d", name, WEXITSTATUS(status));
	return 0;
}

int children_run(char *const *argv, struct child_end *ret, struct act_why *why)
{
	uint64_t begin_ns = clock_monotonic_ns();
	struct rusage usage;
	int status, all = 0, error;
	pid_t pid, ended;

	*ret = (struct child_end){ 0 };
	error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (error)
		return because(why, -error, "cannot execute %s: %s", argv[0], strerror(error));
	while ((ended = wait4(-1, &status, 0, &usage)) > 0 || errno == EINTR) {
		if (ended == pid) {
			ret->ns = (double)(clock_monotonic_ns() - begin_ns);
			ret->usage = usage;
			all = status;
		} else if (ended > 0) {
			ret->orphans++;
		}
	}
	return check_status(argv[0], all, why);
}

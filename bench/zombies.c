/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that have exited pile up, then all are reaped. */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/why.h"

#define PILE_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */

struct zombies_options {
	uint64_t pile;
	bool is_double;
};

#define OPTION(member) offsetof(struct zombies_options, member)
static const struct option_spec options[] = {
	{ 'p', "pile", OPTION_COUNT, "N", OPTION(pile), "children of a round (1000)" },
	{ 'd', "double", OPTION_FLAG, NULL, OPTION(is_double),
	  "each child forks a grandchild and leaves it an orphan: double fork" },
	{ 0 },
};

enum { FORK_NS, PILE_NS, REAP_NS };
static const struct metric metrics[] = {
	[FORK_NS] = { "fork_ns", "from before the first fork to after the last" },
	[PILE_NS] = { "pile_ns", "from then until all are dead, and none is reaped" },
	[REAP_NS] = { "reap_ns", "from then until the last was reaped" },
	{ NULL, NULL },
};

struct zombies {
	const struct zombies_options *opt;
	pid_t *pid;
};

static void set_defaults(void *arg)
{
	((struct zombies_options *)arg)->pile = 1000;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct zombies_options *opt = arg;

	(void)argc;
	(void)argv;
	if (!opt->pile || opt->pile > PILE_MAX)
		return because(why, -EINVAL, "--pile must be from 1 to %" PRIu64, PILE_MAX);
	return 0;
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	const struct zombies_options *opt = arg;
	struct zombies *zombies = calloc(1, sizeof(*zombies));

	(void)argc;
	(void)argv;
	if (zombies)
		zombies->pid = calloc(opt->pile, sizeof(*zombies->pid));
	if (!zombies || !zombies->pid) {
		free(zombies);
		return because(why, -ENOMEM, "out of memory");
	}
	zombies->opt = opt;
	*ret_state = zombies;
	/* Orphans become ours, as they would become init's; this cannot fail. */
	prctl(PR_SET_CHILD_SUBREAPER, opt->is_double);
	return 0;
}

static void tear_down(void *state)
{
	struct zombies *zombies = state;

	free(zombies->pid);
	free(zombies);
}

/* A child's status tells whether its own child was born. */
static void live(bool is_double)
{
	if (is_double && fork() < 0)
		_exit(errno < 256 ? errno : 1);
	_exit(0);
}

static uint64_t fork_all(const struct zombies *zombies, int *ret_error)
{
	uint64_t born;

	*ret_error = 0;
	for (born = 0; born < zombies->opt->pile; born++) {
		zombies->pid[born] = fork();
		if (zombies->pid[born] == 0)
			live(zombies->opt->is_double);
		if (zombies->pid[born] < 0) {
			*ret_error = errno;
			break;
		}
	}
	return born;
}

/* What the double fork's orphans come to is seen only when they are reaped. */
static int await_deaths(const struct zombies *zombies, uint64_t born, struct act_why *why)
{
	siginfo_t info;

	for (uint64_t i = 0; i < born; i++)
		while (waitid(P_PID, (id_t)zombies->pid[i], &info, WEXITED | WNOWAIT) < 0)
			if (errno != EINTR)
				return because(why, -errno, "waitid: %s", strerror(errno));
	return 0;
}

/* Whatever there is, also when a fork failed; *ret_error is that of a grandchild's. */
static uint64_t reap_all(int *ret_error)
{
	uint64_t reaped = 0;
	int status;

	for (;;) {
		if (wait(&status) > 0) {
			reaped++;
			if (WIFEXITED(status) && WEXITSTATUS(status))
				*ret_error = WEXITSTATUS(status);
		} else if (errno != EINTR) {
			return reaped;
		}
	}
}

static int pile_up(void *state, struct round *round, struct act_why *why)
{
	struct zombies *zombies = state;
	uint64_t pile = zombies->opt->pile, wanted = zombies->opt->is_double ? 2 * pile : pile;
	uint64_t begin_ns = clock_monotonic_ns(), forked_ns, dead_ns, born, reaped;
	int error, ret;

	born = fork_all(zombies, &error);
	forked_ns = clock_monotonic_ns();
	ret = await_deaths(zombies, born, why);
	dead_ns = clock_monotonic_ns();
	reaped = reap_all(&error);
	round->value[FORK_NS] = (double)(forked_ns - begin_ns);
	round->value[PILE_NS] = (double)(dead_ns - forked_ns);
	round->value[REAP_NS] = (double)(clock_monotonic_ns() - dead_ns);
	round->ops = (double)wanted;
	if (error)
		return explain_limit(why, error, "fork", reaped, wanted);
	if (ret < 0)
		return ret;
	return reaped == wanted ? 0 :
	       because(why, -ECHILD, "%" PRIu64 " of %" PRIu64 " processes were reaped: something "
		       "else took the others", reaped, wanted);
}

const struct workload workload_zombies = {
	.name = "zombies",
	.synopsis = "[OPTION]...",
	.summary = "let children that have exited pile up, then reap them all",
	.options = options,
	.options_size = sizeof(struct zombies_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "wall_ns",
	.check = check,
	.setup = set_up,
	.round = pile_up,
	.teardown = tear_down,
};

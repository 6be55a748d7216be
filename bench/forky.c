/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A burst of forks whose children exit at once; then all are waited for. */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/limit.h"
#include "bench/sleepers.h"
#include "bench/why.h"

#define BURST_MAX UINT64_C(4000000) /* the kernel's own limit of pids is 2^22 */

struct forky_options {
	uint64_t burst;
	uint64_t child_cpu_ns;
	uint64_t resident_bytes;
	uint64_t mappings;
	uint64_t threads;
	bool each;
};

#define OPTION(member) offsetof(struct forky_options, member)
static const struct option_spec options[] = {
	{ 'b', "burst", OPTION_COUNT, "N", OPTION(burst), "forks of a round (1000)" },
	{ 0, "child-cpu", OPTION_DURATION, "DURATION", OPTION(child_cpu_ns),
	  "CPU time that each child burns before it exits (0)" },
	{ 0, "resident", OPTION_SIZE, "SIZE", OPTION(resident_bytes),
	  "memory of the parent, written to, beside what it needs (0)" },
	{ 0, "mappings", OPTION_COUNT, "N", OPTION(mappings),
	  "mappings of the parent beside those that it needs (0)" },
	{ 0, "threads", OPTION_COUNT, "N", OPTION(threads),
	  "threads that sleep in the parent (0)" },
	{ 'e', "each", OPTION_FLAG, NULL, OPTION(each),
	  "keep the time of every single fork, as each_fork_ns" },
	{ 0 },
};

enum { FORK_NS, WAIT_NS };
static const struct metric metrics[] = {
	[FORK_NS] = { "fork_ns", "from before the first fork to after the last" },
	[WAIT_NS] = { "wait_ns", "from then until the last child was reaped" },
	{ NULL, NULL },
};

struct forky {
	const struct forky_options *opt;
	struct sleepers *sleepers;
	void *resident;
	char *mappings;
	size_t mapping_bytes;
	double *each; /* NULL: not kept */
};

static void set_defaults(void *arg)
{
	((struct forky_options *)arg)->burst = 1000;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct forky_options *opt = arg;

	(void)argc;
	(void)argv;
	if (!opt->burst || opt->burst > BURST_MAX)
		return because(why, -EINVAL, "--burst must be from 1 to %" PRIu64, BURST_MAX);
	return 0;
}

/* ---- The parent's shape ---- */

static int take_memory(struct forky *forky, struct act_why *why)
{
	size_t bytes = forky->opt->resident_bytes;

	if (!bytes)
		return 0;
	forky->resident = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			       -1, 0);
	if (forky->resident == MAP_FAILED) {
		forky->resident = NULL;
		return because(why, -errno, "--resident: %s", strerror(errno));
	}
	/* A huge page is copied as one entry: what a fork costs must not hang on luck. */
	madvise(forky->resident, bytes, MADV_NOHUGEPAGE);
	memset(forky->resident, 1, bytes);
	return 0;
}

/* Every other page of one area read-only: neighbours that differ are not merged. */
static int make_mappings(struct forky *forky, struct act_why *why)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = forky->opt->mappings;

	if (!count)
		return 0;
	if (count > SIZE_MAX / page)
		return because(why, -ENOMEM, "--mappings: too many");
	forky->mapping_bytes = count * page;
	forky->mappings = mmap(NULL, forky->mapping_bytes, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (forky->mappings == MAP_FAILED) {
		forky->mappings = NULL;
		return because(why, -errno, "--mappings: %s", strerror(errno));
	}
	for (size_t i = 0; i < count; i += 2)
		if (mprotect(forky->mappings + i * page, page, PROT_READ) < 0)
			return because(why, -errno, "--mappings: %s after %zu; sysctl "
				       "vm.max_map_count limits them", strerror(errno), i);
	return 0;
}

static void tear_down(void *state)
{
	struct forky *forky = state;

	sleepers_end(forky->sleepers);
	if (forky->resident)
		munmap(forky->resident, forky->opt->resident_bytes);
	if (forky->mappings)
		munmap(forky->mappings, forky->mapping_bytes);
	free(forky->each);
	free(forky);
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	const struct forky_options *opt = arg;
	struct forky *forky = calloc(1, sizeof(*forky));
	int ret;

	(void)argc;
	(void)argv;
	if (!forky)
		return because(why, -ENOMEM, "out of memory");
	forky->opt = opt;
	if (opt->each)
		forky->each = calloc(opt->burst, sizeof(*forky->each));
	if (opt->each && !forky->each)
		ret = because(why, -ENOMEM, "out of memory");
	else
		ret = take_memory(forky, why);
	if (ret == 0)
		ret = make_mappings(forky, why);
	if (ret == 0 && opt->threads)
		ret = sleepers_start(opt->threads, &forky->sleepers, why);
	if (ret < 0) {
		tear_down(forky);
		return ret;
	}
	*ret_state = forky;
	return 0;
}

/* ---- The burst ---- */

static void live(uint64_t cpu_ns)
{
	if (cpu_ns) {
		uint64_t end_ns = clock_own_cpu_ns() + cpu_ns;

		while (clock_own_cpu_ns() < end_ns)
			;
	}
	_exit(0);
}

/* Returns how many were born; *ret_error is 0 or the errno of the one that was not. */
static uint64_t fork_all(const struct forky *forky, int *ret_error)
{
	const struct forky_options *opt = forky->opt;
	uint64_t before_ns = 0, born;

	*ret_error = 0;
	for (born = 0; born < opt->burst; born++) {
		pid_t pid;

		if (forky->each)
			before_ns = clock_monotonic_ns();
		pid = fork();
		if (pid == 0)
			live(opt->child_cpu_ns);
		if (pid < 0) {
			*ret_error = errno;
			break;
		}
		if (forky->each)
			forky->each[born] = (double)(clock_monotonic_ns() - before_ns);
	}
	return born;
}

/* Also when a fork failed: no child is left to anybody else. */
static int wait_for_all(uint64_t born, struct act_why *why)
{
	uint64_t reaped = 0, failed = 0;
	int status;

	while (reaped < born) {
		if (wait(&status) > 0) {
			reaped++;
			failed += status != 0;
		} else if (errno != EINTR) {
			return because(why, -errno, "wait: %s after %" PRIu64 " of %" PRIu64
				       " children", strerror(errno), reaped, born);
		}
	}
	if (failed)
		return because(why, -ECHILD, "%" PRIu64 " of %" PRIu64 " children did not exit "
			       "as they should: something killed them", failed, born);
	return 0;
}

static int fork_burst(void *state, struct round *round, struct act_why *why)
{
	struct forky *forky = state;
	uint64_t begin_ns = clock_monotonic_ns(), forked_ns, born;
	int error, ret;

	born = fork_all(forky, &error);
	forked_ns = clock_monotonic_ns();
	ret = wait_for_all(born, why);
	round->value[FORK_NS] = (double)(forked_ns - begin_ns);
	round->value[WAIT_NS] = (double)(clock_monotonic_ns() - forked_ns);
	round->ops = (double)forky->opt->burst;
	round->series = forky->each;
	round->series_count = forky->each ? born : 0;
	return error ? explain_limit(why, error, "fork", born, forky->opt->burst) : ret;
}

const struct workload workload_forky = {
	.name = "forky",
	.synopsis = "[OPTION]...",
	.summary = "fork a burst of children that exit at once, then wait for all",
	.options = options,
	.options_size = sizeof(struct forky_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.series = "each_fork_ns",
	.primary = "wall_ns",
	.check = check,
	.setup = set_up,
	.round = fork_burst,
	.teardown = tear_down,
};

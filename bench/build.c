/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernbench: a tree is built from nothing, by so many jobs at a time. */
#include "bench/workload.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/children.h"
#include "bench/tree.h"
#include "bench/why.h"

#define FILES_MAX UINT64_C(100000)
#define JOBS_MAX UINT64_C(1000000)

/* As kernbench has them: of CPUs, one job for two, four for each, no limit. */
enum load { LOAD_HALF, LOAD_OPTIMAL, LOAD_MAXIMAL, LOAD_UNSET };

struct build_options {
	uint64_t files;
	uint64_t jobs;
	int load; /* enum load */
	const char *prepare;
};

#define OPTION(member) offsetof(struct build_options, member)
static const struct option_spec options[] = {
	{ 'l', "load", OPTION_CHOICE, "half|optimal|maximal", OPTION(load),
	  "jobs at a time: half as many as CPUs, four times as many, all at once (optimal; of a "
	  "COMMAND: as it is)" },
	{ 'j', "jobs", OPTION_COUNT, "N", OPTION(jobs), "so many jobs at a time instead" },
	{ 'F', "files", OPTION_COUNT, "N", OPTION(files),
	  "C files of the tree that is made for it (40)" },
	{ 'p', "prepare", OPTION_TEXT, "COMMAND", OPTION(prepare),
	  "what sh is to do before each round, untimed, such as \"make clean\"" },
	{ 0 },
};

enum { BUILD_NS, MAXRSS_BYTES, MAJFLT };
static const struct metric metrics[] = {
	[BUILD_NS] = { "build_ns", "until the command itself was reaped" },
	[MAXRSS_BYTES] = { "maxrss_bytes", "the largest resident set of a process" },
	[MAJFLT] = { "majflt", "page faults with I/O" },
	{ NULL, NULL },
};

struct build {
	const struct build_options *opt;
	char *tree;      /* NULL: a command of the user's */
	char jobs[32];   /* "-j8"; "": as the command is */
	char **argv;
};

static void set_defaults(void *arg)
{
	struct build_options *opt = arg;

	opt->files = 40;
	opt->load = LOAD_UNSET;
}

static int check(const void *arg, int argc, char **argv, struct act_why *why)
{
	const struct build_options *opt = arg;

	(void)argv;
	if (!opt->files || opt->files > FILES_MAX)
		return because(why, -EINVAL, "--files must be from 1 to %" PRIu64, FILES_MAX);
	if (opt->jobs > JOBS_MAX)
		return because(why, -EINVAL, "--jobs must be from 1 to %" PRIu64, JOBS_MAX);
	if (opt->jobs && opt->load != LOAD_UNSET)
		return because(why, -EINVAL, "--jobs and --load both tell how many jobs");
	if (opt->prepare && !argc)
		return because(why, -EINVAL, "--prepare is for a command of your own; what is built "
			       "by default is cleaned by itself");
	return 0;
}

static void choose_jobs(struct build *build, bool has_command)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int load = build->opt->load == LOAD_UNSET && !has_command ? LOAD_OPTIMAL : build->opt->load;
	uint64_t jobs = build->opt->jobs;

	if (!jobs && load == LOAD_UNSET)
		return;
	if (load == LOAD_HALF)
		jobs = cpus > 1 ? (uint64_t)cpus / 2 : 1;
	else if (load == LOAD_OPTIMAL)
		jobs = 4 * (uint64_t)cpus;
	if (jobs)
		snprintf(build->jobs, sizeof(build->jobs), "-j%" PRIu64, jobs);
	else
		strcpy(build->jobs, "-j");
}

/* The command, with the jobs as its last word. */
static int make_command(struct build *build, int argc, char **argv, struct act_why *why)
{
	char *own[] = { (char *)"make", (char *)"-s", (char *)"-C", build->tree };
	char **from = build->tree ? own : argv;
	size_t count = build->tree ? sizeof(own) / sizeof(*own) : (size_t)argc;

	build->argv = calloc(count + 2, sizeof(*build->argv));
	if (!build->argv)
		return because(why, -ENOMEM, "out of memory");
	memcpy(build->argv, from, count * sizeof(*from));
	if (*build->jobs)
		build->argv[count] = build->jobs;
	return 0;
}

static void tear_down(void *state)
{
	struct build *build = state;

	free(build->tree);
	free(build->argv);
	free(build);
}

static int set_up(const void *arg, int argc, char **argv, void **ret_state, struct act_why *why)
{
	struct build *build = calloc(1, sizeof(*build));
	int ret;

	if (!build)
		return because(why, -ENOMEM, "out of memory");
	build->opt = arg;
	choose_jobs(build, argc > 0);
	ret = children_adopt(why);
	if (ret == 0 && !argc)
		ret = tree_make(build->opt->files, &build->tree, why);
	if (ret == 0)
		ret = make_command(build, argc, argv, why);
	if (ret < 0) {
		tear_down(build);
		return ret;
	}
	*ret_state = build;
	return 0;
}

static int prepare(void *state, struct act_why *why)
{
	struct build *build = state;
	char *command[] = { (char *)"sh", (char *)"-c", (char *)build->opt->prepare, NULL };
	struct child_end end;

	if (build->tree)
		return tree_clean(build->tree, why);
	return build->opt->prepare ? children_run(command, &end, why) : 0;
}

static int build_once(void *state, struct round *round, struct act_why *why)
{
	struct build *build = state;
	struct child_end end;
	int ret = children_run(build->argv, &end, why);

	round->value[BUILD_NS] = end.ns;
	round->value[MAXRSS_BYTES] = (double)end.usage.ru_maxrss * 1024;
	round->value[MAJFLT] = (double)end.usage.ru_majflt;
	round->ops = 1;
	return ret;
}

const struct workload workload_build = {
	.name = "build",
	.synopsis = "[OPTION]... [-- COMMAND...]",
	.summary = "build a C tree from nothing, or whatever a command builds: kernbench",
	.options = options,
	.options_size = sizeof(struct build_options),
	.defaults = set_defaults,
	.metrics = metrics,
	.primary = "wall_ns",
	.takes_arguments = true,
	.writes_files = true,
	.check = check,
	.setup = set_up,
	.prepare = prepare,
	.round = build_once,
	.teardown = tear_down,
};

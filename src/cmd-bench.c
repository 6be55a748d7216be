/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/record.h>

#include "base/clock.h"
#include "bench/environment.h"
#include "bench/noise.h"
#include "bench/result.h"
#include "bench/run.h"
#include "manual.h"
#include "msg.h"
#include "out.h"
#include "summary.h"
#include "workopts.h"

struct bench_options {
	uint64_t runs, rounds, warmup;
	uint64_t for_ns, timeout_ns;
	const char *output;
	bool force, json, list;
};

#define OPTION(member) offsetof(struct bench_options, member)
static const struct option_spec options[] = {
	{ 'r', "runs", OPTION_COUNT, "N", OPTION(runs),
	  "fresh processes, one after the other (10)" },
	{ 'n', "rounds", OPTION_COUNT, "N", OPTION(rounds),
	  "timed rounds, that is samples, of each run (20)" },
	{ 'w', "warmup", OPTION_COUNT, "N", OPTION(warmup),
	  "rounds before them, kept but not counted (2)" },
	{ 0, "for", OPTION_DURATION, "DURATION", OPTION(for_ns),
	  "go on with each run for at least that long" },
	{ 0, "timeout", OPTION_DURATION, "DURATION", OPTION(timeout_ns),
	  "end a run that takes longer; 0: never (10m)" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output),
	  "keep every sample there, see actuary-result(5)" },
	{ 'f', "force", OPTION_FLAG, NULL, OPTION(force), "replace a result that is there" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "print the summary as JSON" },
	{ 'L', "list", OPTION_FLAG, NULL, OPTION(list), "list the workloads" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct bench_options *opt = arg;

	opt->runs = 10;
	opt->rounds = 20;
	opt->warmup = 2;
	opt->timeout_ns = 600 * NSEC_PER_SEC;
}

/* ---- Signals: the run is ended, what was measured is told ---- */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = number;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- Runs ---- */

struct bench {
	const struct bench_options *opt;
	struct workopts work;
	struct summary summary;
	struct result_writer *writer; /* NULL: nothing is kept */
	uint64_t run;                 /* the one that is made */
	uint64_t samples;             /* of it, so far */
	uint64_t told_ns;             /* when progress was told last */
	struct environment environment;
	struct noise_ticks ticks;     /* when the run before began */
};

static void tell_progress(struct bench *bench)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < bench->told_ns + 200 * NSEC_PER_MSEC)
		return;
	bench->told_ns = now_ns;
	msg_progress("%s: run %" PRIu64 " of %" PRIu64 ", %" PRIu64 " samples",
		     bench->work.workload->name, bench->run + 1, bench->opt->runs,
		     bench->samples);
}

static int take_sample(void *arg, const struct sample *sample)
{
	struct bench *bench = arg;
	int ret = summary_add(&bench->summary, sample);

	if (ret == 0 && bench->writer)
		ret = result_sample(bench->writer, sample);
	bench->samples++;
	tell_progress(bench);
	return ret;
}

static int keep_begin(struct bench *bench)
{
	struct result_run run = {
		.run = bench->run, .pair = ACT_UNKNOWN, .slot = ACT_UNKNOWN,
		.condition = SIZE_MAX, .steal = NAN,
	};
	struct noise_ticks before = bench->ticks;
	struct noise noise;

	if (!bench->writer)
		return 0;
	noise_read(&noise, 0);
	noise_read_ticks(&bench->ticks);
	run.psi = noise.pressure;
	if (bench->run)
		run.steal = noise_steal(&before, &bench->ticks);
	return result_begin_run(bench->writer, &run);
}

static int keep_end(struct bench *bench, const struct run_outcome *outcome)
{
	const struct result_end end = {
		.run = bench->run, .is_valid = outcome->is_valid,
		.reason = outcome->is_valid ? NULL : outcome->reason,
	};

	return bench->writer ? result_end_run(bench->writer, &end) : 0;
}

static void tell_outcome(struct bench *bench, const struct run_outcome *outcome)
{
	if (!outcome->is_valid && !outcome->signal)
		msg_warning("run %" PRIu64 " of %s does not count: %s", bench->run + 1,
			    bench->work.workload->name, outcome->reason);
	if (outcome->leftovers && outcome->is_valid)
		msg_warning("run %" PRIu64 " of %s left %" PRIu64 " processes behind; "
			    "they were ended", bench->run + 1, bench->work.workload->name,
			    outcome->leftovers);
}

static int make_run(struct bench *bench)
{
	const struct bench_options *opt = bench->opt;
	const struct run_spec spec = {
		.workload = bench->work.workload,
		.argc = bench->work.given_argc, .argv = bench->work.given,
		.rounds = opt->rounds, .min_ns = opt->for_ns, .warmup = opt->warmup,
		.timeout_ns = opt->timeout_ns, .stop = &stop,
	};
	struct run_outcome outcome;
	struct act_why why;
	int ret = keep_begin(bench), kept;

	if (ret < 0)
		return ret;
	bench->samples = 0;
	summary_mark(&bench->summary);
	ret = run_execute(&spec, take_sample, bench, &outcome, &why);
	if (ret < 0) {
		msg_error("%s", why.text);
		return ret;
	}
	tell_outcome(bench, &outcome);
	if (outcome.is_valid)
		bench->summary.runs++;
	else
		summary_take_back(&bench->summary);
	bench->summary.invalid += !outcome.is_valid && !outcome.signal;
	kept = keep_end(bench, &outcome);
	return kept;
}

/* When not even the first run works, no other will: it is told once. */
static bool is_hopeless(const struct bench *bench)
{
	return bench->summary.invalid && !bench->summary.runs;
}

static int make_runs(struct bench *bench)
{
	int ret = 0;

	for (; ret == 0 && !stop && bench->run < bench->opt->runs; bench->run++) {
		ret = make_run(bench);
		if (is_hopeless(bench))
			break;
	}
	msg_progress_end();
	return ret;
}

/* ---- The result ---- */

static size_t list_metrics(const struct bench *bench, const char **ret_names)
{
	size_t count = bench->summary.metrics - (bench->work.workload->series != NULL);

	for (size_t i = 0; i < count; i++)
		ret_names[i] = summary_metric(&bench->summary, i);
	return count;
}

static int capture_environment(struct bench *bench)
{
	int ret = environment_capture_files(&bench->environment, "", NULL);

	return ret < 0 ? ret : environment_capture_process(&bench->environment);
}

static int open_result(struct bench *bench)
{
	const struct bench_options *opt = bench->opt;
	const struct words words = words_called();
	const char *metrics[HARNESS_METRICS + METRICS_MAX];
	struct result_header header = {
		.version = RESULT_VERSION,
		.argc = words.count, .argv = words.word,
		.workload = bench->work.workload->name,
		.option_count = (size_t)bench->work.given_argc,
		.options = (const char *const *)bench->work.given,
		.metrics = metrics, .primary = bench->work.workload->primary,
		.plan = {
			.pairs = ACT_UNKNOWN, .rounds = opt->rounds, .warmup = opt->warmup,
			.min_ns = opt->for_ns, .timeout_ns = opt->timeout_ns,
			.max_ns = ACT_UNKNOWN, .aa = NAN, .width = NAN, .bound = NAN,
		},
		.seed = ACT_UNKNOWN,
		.series = bench->work.workload->series,
		.harness_ns = bench->summary.harness_ns,
	};
	struct act_why why;
	int ret;

	if (!opt->output)
		return 0;
	if (capture_environment(bench) < 0) {
		msg_error("out of memory");
		return -ENOMEM;
	}
	header.fact_count = bench->environment.count;
	header.facts = bench->environment.fact;
	header.metric_count = list_metrics(bench, metrics);
	ret = result_create(opt->output, opt->force, &header, &bench->writer, &why);
	if (ret < 0)
		msg_error("%s", why.text);
	return ret;
}

static int close_result(struct bench *bench, int error)
{
	const struct result_footer footer = {
		.runs = bench->summary.runs + bench->summary.invalid,
		.invalid = bench->summary.invalid,
		.is_complete = !stop && bench->run == bench->opt->runs,
		.interrupted = stop == SIGINT ? "SIGINT" : stop == SIGTERM ? "SIGTERM" :
			       stop == SIGHUP ? "SIGHUP" : NULL,
	};
	int ret = result_finish(bench->writer, error < 0 ? NULL : &footer);

	bench->writer = NULL;
	if (error >= 0 && ret < 0)
		msg_error("cannot write %s: %s", bench->opt->output, strerror(-ret));
	return ret;
}

/* ---- The summary ---- */

static int print_summary(struct bench *bench)
{
	const char *output = bench->opt->output;
	struct out *out;
	int ret;

	/* Where the samples went to the standard output, nothing else does. */
	if (output && strcmp(output, "-") == 0)
		return STATUS_OK;
	out = open_output(NULL);
	if (!out)
		return STATUS_FAILED;
	if (bench->opt->json)
		ret = summary_print_json(&bench->summary, out);
	else
		ret = summary_print(&bench->summary, out, terminal_width());
	if (ret < 0)
		msg_error("cannot summarise: %s", strerror(-ret));
	/* An error of writing is main's to tell. */
	out_close(out);
	return ret < 0 ? STATUS_FAILED : STATUS_OK;
}

static int list_workloads(void)
{
	for (size_t i = 0; workloads[i]; i++)
		printf("%-10s  %s\n", workloads[i]->name, workloads[i]->summary);
	return STATUS_OK;
}

/* ---- The command ---- */

static int measure(struct bench *bench)
{
	struct act_why why;
	int ret = run_harness_ns(&bench->summary.harness_ns, &why), closed;

	if (ret < 0) {
		msg_error("%s", why.text);
		return STATUS_FAILED;
	}
	ret = open_result(bench);
	if (ret < 0)
		return ret == -EEXIST ? STATUS_USAGE : STATUS_FAILED;
	ret = make_runs(bench);
	closed = close_result(bench, ret);
	if (ret < 0 || closed < 0)
		return STATUS_FAILED;
	if (bench->summary.runs && print_summary(bench) != STATUS_OK)
		return STATUS_FAILED;
	if (stop)
		return 128 + stop;
	return bench->summary.invalid ? STATUS_UNTRUSTED : STATUS_OK;
}

static int bench_workload(const struct bench_options *opt, int argc, char **argv)
{
	struct bench bench = { .opt = opt };
	int status = workopts_parse(&bench.work, "bench", argc, argv);

	if (status != STATUS_OK)
		return status;
	if (bench.work.wants_manual)
		manual_show("actuary-workloads");
	if (bench.work.wants_help || bench.work.wants_manual) {
		workopts_print_help(&bench.work, "bench", stdout);
	} else if (summary_init(&bench.summary, bench.work.workload) < 0) {
		msg_error("out of memory");
		status = STATUS_FAILED;
	} else {
		catch_signals();
		status = measure(&bench);
	}
	environment_release(&bench.environment);
	summary_release(&bench.summary);
	workopts_release(&bench.work);
	return status;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	const struct bench_options *opt = arg;

	(void)self;
	if (opt->list)
		return argc ? refuse("--list goes without a workload") : list_workloads();
	if (!opt->runs)
		return refuse("--runs needs one run at least");
	if (!opt->rounds && !opt->for_ns)
		return refuse("--rounds 0 needs --for to tell when to stop");
	if (opt->force && !opt->output)
		return refuse("--force replaces the file of --output; there is none");
	return bench_workload(opt, argc, argv);
}

const struct command cmd_bench = {
	.name = "bench",
	.synopsis = "[OPTION]... WORKLOAD [OPTION]... | -- COMMAND...",
	.summary = "run a workload again and again, and tell what it takes",
	.options = options,
	.options_size = sizeof(struct bench_options),
	.defaults = set_defaults,
	.run = run,
};

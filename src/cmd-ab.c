/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "ab.h"
#include "base/clock.h"
#include "compare.h"
#include "manual.h"
#include "msg.h"

#define OPTION(member) offsetof(struct ab_options, member)
static const struct option_spec options[] = {
	{ 'c', "condition", OPTION_TEXTS, "NAME=SPEC", OPTION(conditions),
	  "a state of the system, as off=none or on=record; the first is the baseline" },
	{ 'p', "pairs", OPTION_COUNT, "N", OPTION(pairs),
	  "pairs of runs (30); with --width at most so many (1000)" },
	{ 0, "width", OPTION_TEXT, "PERCENT", OPTION(width),
	  "go on until the interval is no wider than this" },
	{ 0, "max-time", OPTION_DURATION, "DURATION", OPTION(max_ns),
	  "begin no pair after that long" },
	{ 'w', "warmup", OPTION_COUNT, "N", OPTION(warmup),
	  "pairs before them, kept but not counted (2)" },
	{ 0, "aa", OPTION_TEXT, "PERCENT", OPTION(aa),
	  "this part of all pairs has the baseline twice: the noise floor (25%)" },
	{ 'n', "rounds", OPTION_COUNT, "N", OPTION(rounds),
	  "timed rounds, that is samples, of each run (20)" },
	{ 0, "for", OPTION_DURATION, "DURATION", OPTION(for_ns),
	  "go on with each run for at least that long" },
	{ 0, "timeout", OPTION_DURATION, "DURATION", OPTION(timeout_ns),
	  "end a run that takes longer; 0: never (10m)" },
	{ 0, "settle", OPTION_DURATION, "DURATION", OPTION(settle_ns),
	  "wait that long after switching (50ms)" },
	{ 0, "seed", OPTION_COUNT, "N", OPTION(seed), "draw the order from this number again" },
	{ 0, "plan", OPTION_FLAG, NULL, OPTION(plan),
	  "a pilot of 10 pairs: how many are needed to find --bound" },
	{ 0, "bound", OPTION_TEXT, "PERCENT", OPTION(bound),
	  "a difference below this does not matter (1%)" },
	{ 0, "gate", OPTION_FLAG, NULL, OPTION(gate), "exit with 3 if there is a difference" },
	{ 'f', "force", OPTION_FLAG, NULL, OPTION(force),
	  "measure on a busy machine, too; replace a result that is there" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output),
	  "keep every sample there, see actuary-result(5)" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "print the comparison as JSON" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct ab_options *opt = arg;

	opt->pairs = opt->seed = ACT_UNKNOWN;
	opt->rounds = 20;
	opt->warmup = 2;
	opt->timeout_ns = 600 * NSEC_PER_SEC;
	opt->settle_ns = 50 * NSEC_PER_MSEC;
	opt->aa = "25%";
	opt->bound = "1%";
}

/* ---- Signals: the run is ended, the condition switched off, what was measured is told ---- */

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = number;
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

static const char *signal_name(void)
{
	return stop == SIGINT ? "SIGINT" : stop == SIGTERM ? "SIGTERM" :
	       stop == SIGHUP ? "SIGHUP" : "SIGQUIT";
}

/* ---- Options ---- */

static int check_numbers(struct ab *ab)
{
	const struct ab_options *opt = ab->opt;
	bool has_width = opt->width;

	ab->width = NAN;
	if ((has_width && parse_percent("width", opt->width, &ab->width) != STATUS_OK) ||
	    parse_percent("aa", opt->aa, &ab->aa) != STATUS_OK ||
	    parse_percent("bound", opt->bound, &ab->bound) != STATUS_OK)
		return STATUS_USAGE;
	if (has_width && !(ab->width > 0))
		return refuse("--width needs a part above zero, such as 1%");
	if (!(ab->aa < 0.9) || ab->aa < 0)
		return refuse("--aa needs a part from 0% to below 90%");
	if (!(ab->bound > 0))
		return refuse("--bound needs a part above zero, such as 1%");
	ab->pairs = opt->pairs != ACT_UNKNOWN ? opt->pairs :
		    opt->plan ? AB_PAIRS_PILOT : has_width ? AB_PAIRS_MOST : AB_PAIRS;
	if (!ab->pairs || ab->pairs > 1000000)
		return refuse("--pairs needs a number from 1 to 1000000");
	if (!opt->rounds && !opt->for_ns)
		return refuse("--rounds 0 needs --for: how long each run goes on");
	return STATUS_OK;
}

static int check_words(const struct ab *ab)
{
	const struct ab_options *opt = ab->opt;

	if (opt->plan && (opt->width || opt->gate))
		return refuse("--plan measures a pilot only; it goes without --width and --gate");
	if (opt->output && strcmp(opt->output, "-") == 0)
		return refuse("--output needs a file, since it is read again for the comparison");
	if (opt->conditions.count < 2)
		return refuse("at least two conditions are needed, such as "
			      "--condition off=none --condition on=record");
	if (opt->conditions.count > PLAN_CONDITIONS_MAX)
		return refuse("there can be no more than 8 conditions");
	return STATUS_OK;
}

static int parse_conditions(struct ab *ab)
{
	const struct option_texts *texts = &ab->opt->conditions;
	struct act_why why;

	for (size_t i = 0; i < texts->count; i++) {
		int ret = condition_parse(texts->text[i], &ab->condition[i], &why);

		if (ret < 0) {
			msg_error("--condition %s: %s", texts->text[i], why.text);
			return ret == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
		}
		ab->conditions++;
		for (size_t j = 0; j < i; j++) {
			if (strcmp(ab->condition[i].name, ab->condition[j].name) != 0)
				continue;
			msg_error("two conditions are named %s", ab->condition[i].name);
			return STATUS_USAGE;
		}
	}
	return STATUS_OK;
}

/* What conditions give it is as good as what it was given. */
static int extend_workload(struct ab *ab)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < ab->conditions && status == STATUS_OK; i++) {
		size_t count;
		char *const *words = condition_words(&ab->condition[i], &count);

		status = workopts_extend(&ab->under[i], &ab->work, "ab", words, count);
	}
	return status;
}

static int check_options(struct ab *ab)
{
	int status = check_words(ab);

	if (status == STATUS_OK)
		status = check_numbers(ab);
	if (status == STATUS_OK)
		status = parse_conditions(ab);
	if (status == STATUS_OK)
		status = extend_workload(ab);
	ab->seed = ab->opt->seed;
	if (status == STATUS_OK && ab->seed == ACT_UNKNOWN) {
		if (getrandom(&ab->seed, sizeof(ab->seed), 0) != sizeof(ab->seed))
			ab->seed = clock_wall_ns();
		/* Short enough to be typed again. */
		ab->seed &= UINT32_MAX;
	}
	return status;
}

/* ---- The result ---- */

static size_t list_metrics(const struct workload *workload, const char **ret_names)
{
	size_t n = 0;

	for (; n < HARNESS_METRICS; n++)
		ret_names[n] = harness_metrics[n].name;
	for (const struct metric *own = workload->metrics; own && own->name; own++)
		ret_names[n++] = own->name;
	return n;
}

static struct result_plan plan_of(const struct ab *ab)
{
	const struct ab_options *opt = ab->opt;

	return (struct result_plan){
		.pairs = ab->pairs, .rounds = opt->rounds, .warmup = opt->warmup,
		.min_ns = opt->for_ns, .timeout_ns = opt->timeout_ns,
		.max_ns = opt->max_ns ? opt->max_ns : ACT_UNKNOWN,
		.aa = ab->aa, .width = ab->width, .bound = ab->bound,
	};
}

static int open_result(struct ab *ab, const char *path, bool force)
{
	const char *metrics[HARNESS_METRICS + METRICS_MAX], *names[PLAN_CONDITIONS_MAX];
	const char *specs[PLAN_CONDITIONS_MAX];
	const struct words words = words_called();
	const struct workload *workload = ab->work.workload;
	struct result_header header = {
		.version = RESULT_VERSION, .argc = words.count, .argv = words.word,
		.workload = workload->name,
		.option_count = (size_t)ab->work.given_argc,
		.options = (const char *const *)ab->work.given,
		.metrics = metrics, .series = workload->series, .primary = workload->primary,
		.condition_count = ab->conditions, .conditions = names, .specs = specs,
		.plan = plan_of(ab), .seed = ab->seed, .harness_ns = ab->harness_ns,
		.noise = *ab->noise ? ab->noise : NULL,
		.fact_count = ab->around.count, .facts = ab->around.fact,
	};
	struct act_why why;
	int ret;

	header.metric_count = list_metrics(workload, metrics);
	for (size_t i = 0; i < ab->conditions; i++) {
		names[i] = ab->condition[i].name;
		specs[i] = ab->condition[i].spec;
	}
	ret = result_create(path, force, &header, &ab->writer, &why);
	if (ret < 0)
		msg_error("%s", why.text);
	return ret;
}

static int close_result(struct ab *ab, int error)
{
	bool is_complete = !stop && !ab->ran_out &&
			   (ab->done == ab->pairs || !isnan(ab->width));
	const struct result_footer footer = {
		.runs = ab->run, .invalid = ab->invalid, .is_complete = is_complete,
		.interrupted = stop ? signal_name() : ab->ran_out ? "max-time" : NULL,
	};
	int ret = result_finish(ab->writer, error < 0 ? NULL : &footer);

	ab->writer = NULL;
	if (error >= 0 && ret < 0)
		msg_error("cannot write the result: %s", strerror(-ret));
	return ret;
}

/* ---- The course of things ---- */

static void tell_end(const struct ab *ab)
{
	if (ab->failures)
		msg_warning("given up after %u runs in a row that do not count", ab->failures);
	else if (ab->ran_out)
		msg_warning("the time was over after %" PRIu64 " pairs", ab->done);
	else if (!isnan(ab->width) && !ab_is_narrow(ab))
		msg_warning("after %" PRIu64 " pairs the interval is still wider than %.3g %%",
			    ab->done, 100 * ab->width);
}

static bool can_compare(const struct ab *ab)
{
	for (size_t i = 0; i < ab->conditions; i++) {
		if (ab->arm[i].runs)
			continue;
		if (!stop)
			msg_error("there is nothing to compare: no run under %s counts",
				  ab->condition[i].name);
		return false;
	}
	return true;
}

static int report(struct ab *ab, const char *path)
{
	if (!can_compare(ab))
		return STATUS_UNTRUSTED;
	return ab->opt->plan ? ab_report_plan(ab) : ab_report(ab, path);
}

static int end(struct ab *ab, const char *path)
{
	int status;

	tell_end(ab);
	if (stop)
		msg_warning("interrupted by %s after %" PRIu64 " of %" PRIu64 " pairs%s%s",
			    signal_name(), ab->done, ab->pairs,
			    ab->opt->output ? "; what was measured is kept in " : "",
			    ab->opt->output ? ab->opt->output : "");
	status = report(ab, path);
	if (stop)
		return 128 + stop;
	return status == STATUS_OK && ab->invalid ? STATUS_UNTRUSTED : status;
}

static int measure_into(struct ab *ab, const char *path, bool force)
{
	int ret = open_result(ab, path, force), closed;

	if (ret < 0)
		return ret == -EEXIST ? STATUS_USAGE : STATUS_FAILED;
	ret = ab_run_pairs(ab);
	closed = close_result(ab, ret);
	return ret < 0 || closed < 0 ? STATUS_FAILED : end(ab, path);
}

/* Samples that nobody wants to keep are kept until they are compared. */
static int measure_for_now(struct ab *ab)
{
	const char *directory = getenv("TMPDIR");
	char path[512];
	int status, fd;

	snprintf(path, sizeof(path), "%s/actuary-ab-XXXXXX",
		 directory && *directory ? directory : "/var/tmp");
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0) {
		msg_error("cannot keep the samples in %s: %s; name a file by --output", path,
			  strerror(errno));
		return STATUS_FAILED;
	}
	close(fd);
	status = measure_into(ab, path, true);
	unlink(path);
	return status;
}

static int measure(struct ab *ab)
{
	struct act_why why;
	int status;

	if (ab->opt->output && !ab->opt->force && access(ab->opt->output, F_OK) == 0) {
		msg_error("%s is there already; --force replaces it", ab->opt->output);
		return STATUS_USAGE;
	}
	status = ab_check_noise(ab);
	if (status == STATUS_OK)
		status = ab_rehearse(ab);
	if (status)
		return status;
	if (stop)
		return 128 + stop;
	if (run_harness_ns(&ab->harness_ns, &why) < 0) {
		msg_error("%s", why.text);
		return STATUS_FAILED;
	}
	return ab->opt->output ? measure_into(ab, ab->opt->output, ab->opt->force)
			       : measure_for_now(ab);
}

static void release(struct ab *ab)
{
	for (size_t i = 0; i < ab->conditions; i++) {
		workopts_release(&ab->under[i]);
		condition_release(&ab->condition[i]);
		vector_release(&ab->arm[i].difference);
		vector_release(&ab->arm[i].reversed);
	}
	vector_release(&ab->value);
	environment_release(&ab->around);
	free(ab->sysctls);
	workopts_release(&ab->work);
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct ab *ab = calloc(1, sizeof(*ab));
	int status;

	(void)self;
	if (!ab) {
		msg_error("out of memory");
		return STATUS_FAILED;
	}
	ab->opt = arg;
	ab->stop = &stop;
	status = workopts_parse(&ab->work, "ab", argc, argv);
	if (status == STATUS_OK && (ab->work.wants_help || ab->work.wants_manual)) {
		if (ab->work.wants_manual)
			manual_show("actuary-workloads");
		workopts_print_help(&ab->work, "ab", stdout);
	} else if (status == STATUS_OK) {
		status = check_options(ab);
		catch_signals();
		if (status == STATUS_OK)
			status = measure(ab);
	}
	release(ab);
	free(ab);
	return status;
}

const struct command cmd_ab = {
	.name = "ab",
	.synopsis = "[OPTION]... WORKLOAD [OPTION]... | -- COMMAND...",
	.summary = "run a workload under conditions, in random pairs: what do they cost?",
	.options = options,
	.options_size = sizeof(struct ab_options),
	.defaults = set_defaults,
	.run = run,
};

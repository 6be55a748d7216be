/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ab.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "bench/noise.h"
#include "msg.h"

/* Rounds at the beginning of each run that are kept but do not count. */
#define WARMUP_ROUNDS 2

/* After so many that fail, one after the other, the next ones will fail, too. */
#define FAILURES_MOST 4

struct place {
	uint64_t pair; /* ACT_UNKNOWN: none */
	size_t slot, condition;
	bool is_aa, is_warmup;
};

/* ---- One run ---- */

static int take_sample(void *arg, const struct sample *sample)
{
	struct ab *ab = arg;
	int ret = ab_track_sample(ab, sample);

	if (ret == 0 && ab->writer)
		ret = ab->error = result_sample(ab->writer, sample);
	return ret;
}

static int write_begin(struct ab *ab, const struct place *place)
{
	struct result_run run = {
		.run = ab->run, .pair = place->pair, .slot = place->slot,
		.condition = place->condition, .is_aa = place->is_aa,
		.is_warmup = place->is_warmup, .steal = ab->steal,
	};
	struct environment now;
	struct result_fact *fact;
	struct noise noise;
	int ret = ab_look_around(ab, &now);

	if (ret < 0)
		return ret;
	fact = calloc(now.count, sizeof(*fact));
	ret = fact ? 0 : -ENOMEM;
	if (ret == 0) {
		noise_read(&noise, 0);
		run.psi = noise.pressure;
		run.fact_count = environment_diff(&ab->around, &now, fact);
		run.facts = fact;
		ret = result_begin_run(ab->writer, &run);
	}
	free(fact);
	environment_release(&now);
	return ret;
}

static int write_end(struct ab *ab, const struct run_outcome *outcome,
		     const struct condition *condition, const struct condition_costs *costs)
{
	const struct result_end end = {
		.run = ab->run, .is_valid = outcome->is_valid,
		.reason = outcome->is_valid ? NULL : outcome->reason,
		.has_listener = condition_has_listener(condition),
		.listener = { costs->cpu_ns, costs->records, costs->enobufs, costs->lost },
	};

	return ab->writer ? result_end_run(ab->writer, &end) : 0;
}

static void settle(uint64_t ns)
{
	struct timespec pause = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				  .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	/* A signal ends it early, and is looked at then. */
	if (ns)
		nanosleep(&pause, NULL);
}

static int run_workload(struct ab *ab, struct condition *condition, struct run_outcome *outcome)
{
	const struct ab_options *opt = ab->opt;
	const struct workopts *under = &ab->under[condition - ab->condition];
	const struct run_spec spec = {
		.workload = ab->work.workload, .argc = under->given_argc,
		.argv = under->given, .rounds = opt->rounds, .min_ns = opt->for_ns,
		.warmup = WARMUP_ROUNDS, .timeout_ns = opt->timeout_ns, .stop = ab->stop,
		.enter = condition_enter, .enter_arg = condition,
	};
	struct noise_ticks before, after;
	struct act_why why;
	int ret;

	settle(opt->settle_ns);
	noise_read_ticks(&before);
	ret = run_execute(&spec, take_sample, ab, outcome, &why);
	noise_read_ticks(&after);
	ab->steal = noise_steal(&before, &after);
	if (ret < 0 && !ab->error)
		msg_error("%s", why.text);
	return ret;
}

static void add_cost(uint64_t *sum, uint64_t value, bool is_first)
{
	*sum = is_first ? value :
	       *sum == ACT_UNKNOWN || value == ACT_UNKNOWN ? ACT_UNKNOWN : *sum + value;
}

static void account_run(struct ab *ab, const struct place *place, const struct run_outcome *outcome,
			const struct condition_costs *costs)
{
	struct ab_arm *arm = &ab->arm[place->condition];

	if (place->is_warmup)
		return;
	if (!outcome->is_valid) {
		arm->invalid += !outcome->signal;
		return;
	}
	add_cost(&arm->costs.cpu_ns, costs->cpu_ns, !arm->runs);
	add_cost(&arm->costs.records, costs->records, !arm->runs);
	add_cost(&arm->costs.enobufs, costs->enobufs, !arm->runs);
	add_cost(&arm->costs.lost, costs->lost, !arm->runs);
	arm->ops += (uint64_t)ab->ops;
	arm->runs++;
}

static void invalidate(struct run_outcome *outcome, const char *why)
{
	if (outcome->is_valid)
		snprintf(outcome->reason, sizeof(outcome->reason), "%s", why);
	outcome->is_valid = false;
}

static void tell_outcome(struct ab *ab, const struct condition *condition,
			 const struct run_outcome *outcome)
{
	if (outcome->is_valid || outcome->signal) {
		ab->failures = 0;
		return;
	}
	ab->invalid++;
	ab->failures++;
	msg_warning("run %" PRIu64 " under %s does not count: %s", ab->run + 1, condition->name,
		    outcome->reason);
}

/* What becomes of a run whose condition could be switched on. */
static int run_under(struct ab *ab, struct condition *condition, const struct place *place,
		     struct run_outcome *outcome, struct condition_costs *costs)
{
	struct condition_report off;
	int ret = ab->writer ? write_begin(ab, place) : 0, switched;

	if (ret == 0)
		ret = run_workload(ab, condition, outcome);
	switched = condition_off(condition, &off);
	*costs = off.costs;
	if (off.broke)
		invalidate(outcome, off.why.text);
	if (switched < 0) {
		msg_error("cannot switch %s off: %s", condition->name, off.why.text);
		invalidate(outcome, off.why.text);
	}
	return ret < 0 ? ret : switched;
}

/* The value of the run, NAN if it does not count; negative errno: no more runs can be made. */
static int make_run(struct ab *ab, const struct place *place, double *ret_value)
{
	struct condition *condition = &ab->condition[place->condition];
	struct condition_costs costs = { ACT_UNKNOWN, ACT_UNKNOWN, ACT_UNKNOWN, ACT_UNKNOWN };
	struct run_outcome outcome = { .is_valid = false };
	struct condition_report on;
	int ret, written;

	ab->value.n = 0;
	ab->ops = 0;
	if (condition_on(condition, &on) < 0) {
		snprintf(outcome.reason, sizeof(outcome.reason), "%s could not be switched on: %.400s",
			 condition->name, on.why.text);
		ret = ab->writer ? write_begin(ab, place) : 0;
	} else {
		ret = run_under(ab, condition, place, &outcome, &costs);
	}
	tell_outcome(ab, condition, &outcome);
	account_run(ab, place, &outcome, &costs);
	*ret_value = outcome.is_valid ? ab_run_value(ab) : NAN;
	written = ab->error < 0 ? ab->error : write_end(ab, &outcome, condition, &costs);
	if (written < 0)
		ab->error = written;
	ab->run++;
	return ret < 0 ? ret : written;
}

/* ---- Pairs ---- */

static bool is_over(struct ab *ab)
{
	if (!*ab->stop && ab->opt->max_ns &&
	    clock_monotonic_ns() - ab->began_ns >= ab->opt->max_ns)
		ab->ran_out = true;
	return *ab->stop || ab->ran_out || ab->failures >= FAILURES_MOST;
}

static int run_pair(struct ab *ab, const struct plan_pair *pair, bool is_warmup)
{
	double value[PLAN_CONDITIONS_MAX];
	size_t slots[PLAN_CONDITIONS_MAX];
	int ret = 0;

	for (size_t slot = 0; ret == 0 && slot < pair->slots; slot++) {
		const struct place place = {
			.pair = is_warmup ? ACT_UNKNOWN : ab->pair, .slot = slot,
			.condition = pair->condition[slot], .is_aa = pair->is_aa,
			.is_warmup = is_warmup,
		};

		/* What it comes from is told at the end: half a pair is none. */
		if (*ab->stop || ab->failures >= FAILURES_MOST)
			return 0;
		ret = make_run(ab, &place, &value[place.condition]);
		slots[place.condition] = slot;
	}
	if (is_warmup || ret < 0)
		return ret;
	ab->pair++;
	if (pair->is_aa)
		return 0;
	ab->done++;
	return ab_track_pair(ab, value, slots);
}

static int run_batch(struct ab *ab, uint64_t pairs)
{
	size_t count = 0;
	struct plan_pair *batch = plan_batch(&ab->plan, pairs, &count);
	int ret = batch ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < count && !is_over(ab); i++) {
		ab_tell_progress(ab);
		ret = run_pair(ab, &batch[i], false);
	}
	free(batch);
	return ret;
}

static int warm_up(struct ab *ab)
{
	struct plan_pair pair = { .slots = ab->conditions };
	int ret = 0;

	for (size_t i = 0; i < ab->conditions; i++)
		pair.condition[i] = i;
	for (uint64_t i = 0; ret == 0 && i < ab->opt->warmup && !is_over(ab); i++) {
		msg_progress("warming up");
		ret = run_pair(ab, &pair, true);
	}
	return ret;
}

static uint64_t next_batch(const struct ab *ab)
{
	uint64_t left = ab->pairs - ab->plan.ab_pairs;
	uint64_t batch = isnan(ab->width) ? left : ab->done ? AB_BATCH : AB_LEAST;

	return batch < left ? batch : left;
}

int ab_run_pairs(struct ab *ab)
{
	int ret;

	plan_init(&ab->plan, ab->seed, ab->conditions, ab->aa);
	ab->steal = NAN;
	ab->began_ns = clock_monotonic_ns();
	ret = warm_up(ab);
	if (!ab->opt->max_ns)
		ab->began_ns = clock_monotonic_ns();
	while (ret == 0 && !is_over(ab) && next_batch(ab) > 0 &&
	       (isnan(ab->width) || !ab_is_narrow(ab)))
		ret = run_batch(ab, next_batch(ab));
	ab->ended_ns = clock_monotonic_ns();
	msg_progress_end();
	if (ab->error < 0)
		msg_error("cannot write the result: %s", strerror(-ab->error));
	else if (ret == -ENOMEM)
		msg_error("out of memory");
	return ret;
}

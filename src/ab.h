/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_AB_H
#define ACTUARY_AB_H

/*
 * Measuring under conditions: what `actuary ab` does.
 *
 *	cmd-ab.c     options, and the course of things
 *	ab-around.c  noise, a rehearsal of each condition, the environment
 *	ab-run.c     pairs, and the runs of each: condition on, workload, condition off
 *	ab-track.c   the interval while it runs, which can end it
 *	ab-report.c  what is printed at the end
 */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/condition.h"
#include "bench/environment.h"
#include "bench/plan.h"
#include "bench/result.h"
#include "bench/run.h"
#include "bench/vector.h"
#include "cmd.h"
#include "workopts.h"

struct ab_options {
	struct option_texts conditions;
	const char *width, *aa, *bound; /* percentages, as typed */
	const char *output;
	uint64_t pairs, rounds, warmup, seed;
	uint64_t for_ns, max_ns, timeout_ns, settle_ns;
	bool plan, force, gate, json;
};

/* Pairs when none are asked for: fixed, at most with --width, and of a pilot. */
#define AB_PAIRS 30
#define AB_PAIRS_MOST 1000
#define AB_PAIRS_PILOT 10

/* With --width: so many before the first look, and between two. */
#define AB_LEAST 20
#define AB_BATCH 10

/* What the runs of a condition have come to. */
struct ab_arm {
	struct vector difference; /* logarithms of its value over the baseline's, a pair each */
	struct vector reversed;   /* of each: 1 if it ran before the baseline, else 0 */
	uint64_t runs, invalid;
	struct condition_costs costs; /* of its listeners, summed */
	uint64_t ops;                 /* made meanwhile, warm-up rounds too */
};

struct ab {
	const struct ab_options *opt;
	double width, aa, bound; /* parts of one; width NAN: not asked for */
	uint64_t pairs;          /* wanted, or at most */
	uint64_t seed;
	struct workopts work;
	size_t conditions;
	struct condition condition[PLAN_CONDITIONS_MAX];
	struct workopts under[PLAN_CONDITIONS_MAX]; /* @work with each one's own options */
	struct ab_arm arm[PLAN_CONDITIONS_MAX];
	struct environment around; /* under the baseline */
	const char **sysctls;      /* that conditions set; ends with NULL */
	char noise[256];           /* what was objected to, and overruled; "" */
	double harness_ns;
	struct plan plan;
	struct result_writer *writer;
	uint64_t began_ns;       /* of the first pair that counts */
	uint64_t ended_ns;
	uint64_t run, pair;      /* numbers given so far */
	uint64_t done;           /* pairs of the conditions that were made */
	uint64_t invalid;        /* runs */
	unsigned int failures;   /* invalid runs, one after the other */
	bool ran_out;            /* of --max-time */
	double steal;            /* during the run before */
	const volatile sig_atomic_t *stop;
	/* The run at hand. */
	struct vector value;     /* of its samples, of the primary metric */
	double ops;
	int error;               /* writing the result failed */
};

/* Each says what is wrong, and returns the status to end with. */
int ab_check_noise(struct ab *ab);
int ab_rehearse(struct ab *ab);
int ab_run_pairs(struct ab *ab);
int ab_report(struct ab *ab, const char *path);
int ab_report_plan(struct ab *ab);

/* Everything of now that can be known; 0 or -ENOMEM. */
int ab_look_around(const struct ab *ab, struct environment *ret);

/* The value of the run at hand, NAN if it has none. */
double ab_run_value(struct ab *ab);
/* A sample of the run at hand: 0 or -ENOMEM. */
int ab_track_sample(struct ab *ab, const struct sample *sample);
/* The values of a pair, by condition, and the slots in which they were taken. */
int ab_track_pair(struct ab *ab, const double *value, const size_t *slot);
/* Whether all intervals are as narrow as was asked for. */
bool ab_is_narrow(const struct ab *ab);
/* The progress line: "pair 12 of 30: on +1.72 % [+0.90, +2.60]". */
void ab_tell_progress(const struct ab *ab);

#endif

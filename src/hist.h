/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_HIST_H
#define ACTUARY_HIST_H

/* The rooms of `actuary hist`. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/stats.h>

#include "bench/samples.h"
#include "out.h"

#define HIST_PERCENTS_MAX 32
#define HIST_FREQUENT 5
#define HIST_LEVEL 0.95

/* Where the bins lie; NaN: to be chosen. */
struct hist_axis {
	double min, max, width;
	bool is_log;
	bool is_whole;        /* all values are integers: so are the edges, if they can */
	unsigned int decimals; /* that tell edges apart */
	size_t count;
};

/* How stars are counted; 0: to be chosen.  One of both. */
struct hist_stars {
	uint64_t longest;     /* of the longest row */
	uint64_t scale;       /* samples that a star stands for */
};

/* One set of samples, described. */
struct hist_set {
	const struct samples *samples;
	double *sorted;
	struct act_description description;
	struct act_bins bins;
	uint64_t scale;
};

/* Both: 0 or a negative errno. */
int hist_set_init(struct hist_set *set, const struct samples *samples);
void hist_set_release(struct hist_set *set);

/*
 * Chooses what was left open, one axis for all sets, so that they can be
 * compared.  Returns NULL, or what is wrong with what was given.
 */
const char *hist_axis_choose(struct hist_axis *axis, const struct hist_set *sets, size_t count);
int hist_fill(struct hist_set *sets, size_t count, const struct hist_axis *axis,
	      const struct hist_stars *stars);
double hist_edge(const struct act_bins *bins, size_t i);
/* An edge as it is shown: 299.65, not 299.65000000000003. */
double hist_round(double edge, const struct hist_axis *axis);

struct hist_percents {
	size_t count;
	double percent[HIST_PERCENTS_MAX];
};

/* ---- Printing one set ---- */

/* The file, and which part of it. */
void hist_print_name(struct out *out, const struct hist_set *set);
void hist_print_plain(struct out *out, const struct hist_set *set, const struct hist_axis *axis);
void hist_print_histo(struct out *out, const struct hist_set *set, const struct hist_axis *axis);
void hist_print_percents(struct out *out, const struct hist_set *set,
			 const struct hist_percents *percents);
void hist_print_summary(struct out *out, const struct hist_set *set);
void hist_print_json(struct out *out, const struct hist_set *set, const struct hist_axis *axis,
		     const struct hist_percents *percents);

#endif

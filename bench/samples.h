/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

/*
 * Any file of measurements, as named sets of numbers: a result file, plain
 * numbers, hyperfine's JSON, what GNU time prints, or "mean sd n".
 *
 * All values are finite.  What a file tells only in part (a run without this
 * metric, "?%CPU") is left out and counted, never taken for zero.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/source.h>
#include <actuary/stats.h>

/* What one value of a result file is. */
enum samples_per {
	SAMPLES_PER_RUN,  /* the median of the run's samples: independent of each other */
	SAMPLES_EACH,     /* every sample, and every value of a series */
};

enum samples_format {
	SAMPLES_DETECT,
	SAMPLES_NUMBERS,   /* one a line */
	SAMPLES_SUMMARY,   /* "mean sd n"; detected by a first line of these words */
	SAMPLES_RESULT,
	SAMPLES_HYPERFINE,
	SAMPLES_GNU_TIME,
};

struct samples_options {
	enum samples_format format;
	enum samples_per per;
	const char *condition; /* NULL: every one */
	const char *metric;    /* NULL: every one; "primary": what the file names so */
	const char *unit;      /* plain numbers: what they are in, "ms"; others are converted */
	uint64_t column;       /* plain numbers: which one, from 1; 0: there is only one */
	bool with_warmup;
};

struct samples {
	char *file;            /* as given */
	enum samples_format format;
	char *condition;       /* hyperfine: the command; NULL: the file has none */
	char *metric;          /* "wall_ns", "user"; "" for plain numbers */
	const char *unit;      /* "ns", "s", "bytes", "%"; "": a count, or not known */
	bool is_primary;
	bool is_time;          /* larger is slower; plain numbers are taken for times */
	bool is_aa;            /* A/A pairs: both runs of a pair are in here, told apart by slot */
	bool only_summary;     /* n is 0, value NULL, summary all that is known */
	struct act_summary summary; /* always set where n is not 0 */
	size_t n;
	double *value;         /* in the order in which they were taken */
	uint64_t *pair;        /* of each value; NULL: unpaired */
	uint8_t *slot;         /* its place in the pair; NULL with pair */
	uint64_t invalid;      /* runs left out because they failed or broke off */
	uint64_t warmups;      /* samples left out as warm-up */
	uint64_t unknown;      /* values left out that nobody knows */
};

/*
 * The sets of a file: metrics in the file's order, the primary one first; of
 * each the conditions in the file's order, then the A/A pairs if there are any.
 * A set may be empty: of a condition none of whose runs was valid.
 *
 * -ENODATA: no samples; -EUCLEAN: not what it should be (@ret_why names the
 * line); -EINVAL: no such condition, metric or unit; others as by open(2).
 * @ret_why always has a whole sentence.  "-" is stdin, once.
 */
int samples_load(const char *path, const struct samples_options *options,
		 struct samples **ret_sets, size_t *ret_count, struct act_why *ret_why);
void samples_free(struct samples *sets, size_t count); /* NULL is allowed */

#endif

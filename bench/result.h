/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

/*
 * The result file, actuary-result(5): JSON Lines, written as the samples are
 * made, readable wherever it was broken off.
 *
 * A header; then for each run its begin, its samples (each followed by its
 * series, if it has one) and its end; then a footer.  Integers are below 2^63,
 * numbers finite: NaN is written as null and read as NaN, ACT_UNKNOWN likewise.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/source.h>

#define RESULT_VERSION 1
/* No file has more; readers refuse it. */
#define RESULT_METRICS_MAX 256
#define RESULT_CONDITIONS_MAX 64

struct sample; /* run.h */

/* One fact of the environment; @text NULL: it could not be read. */
struct result_fact {
	const char *key;
	const char *text;
};

struct result_plan {
	uint64_t pairs, rounds, warmup; /* ACT_UNKNOWN: not told */
	uint64_t min_ns, timeout_ns, max_ns;
	double aa;    /* share of pairs that are A/A, 0.25 */
	double width; /* stop when the interval is as narrow, 0.01; NaN: fixed pairs */
	double bound; /* of the verdict, 0.01 */
};

struct result_header {
	unsigned int version;  /* the writer's own: RESULT_VERSION */
	const char *created;   /* "2026-12-01T10:00:00Z"; writing: NULL is now */
	size_t argc;
	const char *const *argv;
	const char *workload;
	size_t option_count;   /* the workload's, as given */
	const char *const *options;
	size_t metric_count;   /* in the order of each sample's values */
	const char *const *metrics;
	const char *series;    /* the metric that is kept one by one, "latency_ns"; NULL: none */
	const char *primary;   /* the one that is compared, of either kind; NULL: none */
	size_t condition_count; /* the first is the baseline; 0: none was set */
	const char *const *conditions;
	const char *const *specs; /* what each stands for, "record"; NULL: not told */
	struct result_plan plan;
	uint64_t seed;         /* ACT_UNKNOWN: nothing was drawn */
	double harness_ns;     /* what an empty round costs; NaN: not measured */
	const char *noise;     /* what the noise gate objected to, and was overruled; else NULL */
	size_t fact_count;     /* the environment, before the first run */
	const struct result_fact *facts;
};

struct result_run {
	uint64_t run;          /* number, rising */
	uint64_t pair;         /* ACT_UNKNOWN: none */
	uint64_t slot;         /* place in the pair, from 0; ACT_UNKNOWN: none */
	size_t condition;      /* index; SIZE_MAX: none */
	bool is_aa;            /* both of the pair have the same condition */
	bool is_warmup;        /* with all of its samples */
	double psi;            /* /proc/pressure/cpu, some avg10, before it */
	double steal;          /* share of CPU time stolen during the run before, 0.01 */
	size_t fact_count;     /* only what differs from the header's */
	const struct result_fact *facts;
};

/* What the condition's listener did meanwhile; ACT_UNKNOWN: not known. */
struct result_listener {
	uint64_t cpu_ns, records, enobufs, lost;
};

struct result_end {
	uint64_t run;
	bool is_valid;
	bool is_unfinished;    /* reading: the file breaks off within the run */
	const char *reason;    /* why not valid; else NULL */
	bool has_listener;
	struct result_listener listener;
};

struct result_footer {
	uint64_t runs, invalid;
	bool is_complete;      /* all that was planned was done */
	const char *interrupted; /* "SIGINT", "max-time"; NULL: not */
};

/* ---- Writing ---- */

struct result_writer;

/*
 * "-" is stdout.  A regular file that exists is only replaced with @force:
 * -EEXIST.  Lines reach the file at each end of a run, and within it at least
 * once a second.  After an error every call returns the same one.
 */
int result_create(const char *path, bool force, const struct result_header *header,
		  struct result_writer **ret, struct act_why *ret_why);
int result_begin_run(struct result_writer *writer, const struct result_run *run);
int result_sample(struct result_writer *writer, const struct sample *sample);
int result_end_run(struct result_writer *writer, const struct result_end *end);
/* Writes the footer (NULL: none, as if killed), makes it durable, and frees; NULL is allowed. */
int result_finish(struct result_writer *writer, const struct result_footer *footer);

/* ---- Reading ---- */

struct result;

/* NULL members are skipped.  What they return, unless 0, ends the reading. */
struct result_visitor {
	int (*run)(void *arg, const struct result_run *run);
	/* Without its series, which comes after it, in pieces. */
	int (*sample)(void *arg, const struct sample *sample);
	int (*series)(void *arg, const double *values, size_t count);
	/* For every run that began, if need be with is_unfinished. */
	int (*end)(void *arg, const struct result_end *end);
};

/*
 * -ENOENT and such; -ENODATA: empty; -EUCLEAN: no result file, or damaged;
 * -EPROTONOSUPPORT: of a newer version.  Errors that name a line say it in
 * @ret_why, which always has a whole sentence.
 */
int result_open(const char *path, struct result **ret, struct act_why *ret_why);
/* The same of an open file, which is closed with it; @path is for messages. */
int result_open_fd(int fd, const char *path, struct result **ret, struct act_why *ret_why);
const struct result_header *result_header(const struct result *result);
/* Once, from the first run to the end of the file. */
int result_read(struct result *result, const struct result_visitor *visitor, void *arg,
		struct act_why *ret_why);
/* After result_read(): NULL if the file breaks off. */
const struct result_footer *result_footer(const struct result *result);
/* After result_read(): the last line was torn, and left out. */
bool result_is_torn(const struct result *result);
void result_close(struct result *result); /* NULL is allowed */

#endif

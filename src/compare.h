/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_COMPARE_H
#define ACTUARY_COMPARE_H

/*
 * Comparing arms: what `actuary compare` and the end of `actuary ab` print.
 *
 *	compare-load.c     files, of whatever form, into arms
 *	compare-around.c   how their environments differ
 *	compare-pair.c     which values belong together
 *	compare-analyse.c  one metric of two arms: figures and verdict
 *	compare-note.c     what is doubtful about them
 *	compare-format.c   numbers as people read them
 *	compare-report.c   two arms or many, in any style
 *	compare-table.c    the default table, and the words below it
 *	compare-series.c   many arms: against the first, against the one before
 *	compare-classic.c  tables of old: --overhead, --kernbench, --ttest
 *	compare-picture.c  two distributions on one axis
 *	compare-json.c     the same for programs, JSON Lines and CSV
 *
 * The first of two arms is the base, the second is the new one; a ratio is new / base.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/stats.h>

struct out;

/* ---- What is compared ---- */

/* One metric of one arm. */
struct set {
	size_t n;              /* 0: the arm does not have this metric */
	const double *value;   /* in the order taken; NULL: only the summary is known */
	double *sorted;
	const uint64_t *pair;  /* NULL: belongs to no pair */
	const uint8_t *slot;   /* 0: ran first in its pair, 1: second; NULL: not known */
	struct act_summary summary;
	struct act_description description; /* NaN what a summary does not tell */
};

struct arm {
	char *name;
	size_t file;            /* index of the one it is from */
	uint64_t invalid, warmups, unknown; /* runs, samples and values that were left out */
	struct set *set;        /* one for each metric */
};

struct quantity {
	const char *name; /* "": plain numbers have none */
	const char *unit; /* "ns", "s", "bytes", "%"; "": none, or not known */
	bool is_time;     /* larger is slower */
	bool is_primary;
	/* Half the interval of A/A pairs as a ratio, NaN: there were none, or too few. */
	double noise;
	size_t noise_pairs;
};

/* What is otherwise around one arm than around the first. */
struct difference {
	size_t arm;
	char *key, *base, *other; /* NULL: could not be read */
};

struct loaded;

struct comparable {
	size_t arms, metrics;
	struct arm *arm;
	struct quantity *metric; /* the primary one first */
	size_t differences;
	struct difference *difference;
	struct loaded *file;   /* what the sets point into */
	size_t files;
};

struct samples_options;

/*
 * Two arms or more of @paths: of one file its conditions, of several files one of each.
 * Says why it cannot; returns the status to end with.
 */
int comparable_load(const struct samples_options *options, double level, size_t count,
		    char *const *paths, struct comparable *ret);
void comparable_free(struct comparable *all);

/* ---- How ---- */

enum pairing { PAIRING_AUTO, PAIRING_PAIRED, PAIRING_UNPAIRED };
enum scale { SCALE_AUTO, SCALE_RATIO, SCALE_DIFFERENCE };

struct method {
	enum pairing pairing;
	enum scale scale;
	double level; /* 0.95 */
	double bound; /* 0.01 */
	bool explores; /* many p by Benjamini and Hochberg, else by Holm */
	bool has_deciles; /* told too, of the primary metric of two arms */
};

/* ---- What came out ---- */

enum note_kind {
	NOTE_TOO_FEW,    /* no interval, or no p that could be small */
	NOTE_EXCLUDED,   /* invalid runs, warm-up, values without partner */
	NOTE_UNPAIRED,   /* or paired by numbers of different files */
	NOTE_SCALE,      /* why not ratios */
	NOTE_NO_SPREAD,
	NOTE_RESOLUTION, /* the values move in steps as large as the effect */
	NOTE_ORDER,      /* first or second in its pair matters */
	NOTE_DRIFT,
	NOTE_CORRELATED,
	NOTE_TAIL,       /* the mean moved otherwise than the middle */
	NOTE_OUTLIERS,
	NOTE_TICKS,      /* user or system time alone */
	NOTE_NOISE,      /* same against same differs as much */
};
const char *note_word(enum note_kind kind);

struct note {
	enum note_kind kind;
	bool is_warning; /* else it is only told */
	char *text;
};

/* Values that belong together, in the order of the base. */
struct pairs {
	size_t n;
	double *base, *other;
	bool *is_base_first; /* NULL: not known */
	size_t missing;      /* pair numbers that only one arm has */
	size_t units;        /* blocks that they make, or pairs: what the interval is of */
};

struct comparison {
	const struct quantity *metric;
	const struct arm *base_arm, *other_arm;
	const struct set *base, *other;
	double bound;
	struct pairs pairs;
	bool is_paired;
	bool is_ratio;    /* effect is other / base, else other - base */
	bool is_by_means; /* only summaries are known */

	double effect;
	struct act_interval interval;
	struct act_test test; /* signed rank, Mann-Whitney, or Welch's where only means are known */
	double p_adjusted;    /* Holm's, or as below; NaN: it is one of one */
	bool is_explored;     /* by Benjamini and Hochberg */
	enum act_verdict verdict;

	double shift; /* other - base, per operation */
	struct act_interval shift_interval;
	double mean_ratio;
	struct act_interval mean_ratio_interval;
	double mean_shift;
	struct act_interval mean_shift_interval;
	struct act_interval welch_interval; /* of the means, as if there were no pairs */
	struct act_test welch, student, mann_whitney, paired_t;
	double a12;
	double cohen_d;
	double detectable;    /* smallest relative effect that so many pairs find */
	double pairs_needed;  /* so that the bound is found */

	struct note *note;
	size_t notes;
};

/* -ENOMEM, or -EINVAL with @ret_why: the sets cannot be compared so. */
int comparison_make(const struct comparable *all, size_t metric, size_t base, size_t other,
		    const struct method *method, struct comparison *ret, const char **ret_why);
/* To be called once the other p of its family are known, if it has one. */
void comparison_adjust(struct comparison *comparison, double p_adjusted, double level);
void comparison_release(struct comparison *comparison);

/* slower, faster; of what is no time: larger, smaller; equivalent, inconclusive. */
const char *comparison_word(const struct comparison *comparison);

/* compare-pair.c */
int pairs_make(const struct set *base, const struct set *other, bool by_order,
	       struct pairs *ret, const char **ret_why);
void pairs_release(struct pairs *pairs);
/* other - base, or the logarithm of other / base; @pairs->n of them. */
void pairs_differences(const struct pairs *pairs, bool is_log, double *ret);
bool sets_share_pairs(const struct set *base, const struct set *other);

/* compare-note.c */
int comparison_judge(struct comparison *comparison, const struct method *method);

/* compare-around.c: of arms that come from result files; 0 or -ENOMEM. */
struct origin {
	const char *path;
	const char *condition; /* NULL: the file has none */
	bool is_result;
};
int comparable_look_around(struct comparable *all, const struct origin *origins);

/* Sorts and describes the set; @value, or @summary alone, are given. */
int set_prepare(struct set *set);

/* ---- What is printed ---- */

enum style { STYLE_TEXT, STYLE_JSON, STYLE_CSV };

/*
 * Compares the two arms, or each of many with the first and with the one before, and prints
 * that.  Says why it cannot; returns the status to end with, never STATUS_DIFFERENT: whether
 * the primary metric differs, for --gate, is told in @ret_differs.
 */
int comparable_print(const struct comparable *all, const struct method *method, enum style style,
		     bool with_picture, struct out *out, bool *ret_differs);

/* "1%", "0.5%", or the same without the sign; says what is wrong; STATUS_OK or STATUS_USAGE. */
int parse_percent(const char *name, const char *text, double *ret);

/* What of the metrics of two arms could be compared, the primary one first. */
struct comparisons {
	size_t n;
	struct comparison *item;
};

/* Says why it cannot; returns the status to end with. */
int comparisons_make(const struct comparable *all, size_t base, size_t other,
		     const struct method *method, struct comparisons *ret);
void comparisons_release(struct comparisons *list);

/* Each returns 0 or -ENOMEM. */
void print_around(const struct comparable *all, struct out *out);
int print_comparisons(const struct comparable *all, const struct comparisons *list,
		      const struct method *method, struct out *out);
/* Each note once, with the metrics, or the arms, that have it. */
void print_notes(const struct comparisons *list, bool by_arm, struct out *out);
/* What becomes of each decile. */
int print_deciles(const struct comparison *c, const struct method *method, struct out *out);
int print_picture(const struct comparable *all, size_t metric, double level, struct out *out);
void print_comparison_json(const struct comparison *c, const char *against, struct out *out);
void print_arms_json(const struct comparable *all, struct out *out);
void print_csv_heading(struct out *out);
void print_comparison_csv(const struct comparison *c, const char *against, struct out *out);

/* Tables of old; @digits of percentages. */
int print_overhead(const struct comparable *all, const struct method *method,
		   unsigned int digits, struct out *out);
int print_kernbench(const struct comparable *all, unsigned int digits, struct out *out);
int print_ttest(const struct comparable *all, const struct method *method, struct out *out);

/* One metric of many arms. */
struct series {
	size_t n;                  /* comparisons each */
	struct comparison *first;  /* against the first arm */
	struct comparison *before; /* against the one before; its first is that of @first again */
};

/* Says why it cannot; returns the status to end with. */
int series_make(const struct comparable *all, size_t metric, const struct method *method,
		struct series *ret);
void series_release(struct series *series);
int print_series(const struct comparable *all, size_t metric, const struct series *series,
		 const struct method *method, struct out *out);

/* A name of an arm or a metric as it is shown, never wider than @width. */
enum { NAME_ROOM = 128 };
const char *name_text(const char *name, size_t width, char text[NAME_ROOM]);

/* ---- Numbers as people read them ---- */

/* One unit and number of decimals for all that is printed of a metric. */
struct form {
	double factor;      /* times the value */
	const char *suffix; /* "ms" */
	int decimals;
};

/* So that values which differ look different; the unit is that of @a. */
struct form form_for(const struct quantity *metric, const struct set *a, const struct set *b);

/* Decimals that all values have at most; 6: so many or more, or nobody knows. */
int set_decimals(const struct set *set);

/* Each fills @text, of as many bytes, and returns it.  NaN is "-". */
enum { NUMBER_ROOM = 40, INTERVAL_ROOM = 96 };
const char *number_text(double value, const struct form *form, char text[NUMBER_ROOM]);
const char *shift_text(double value, const struct form *form, char text[NUMBER_ROOM]);
const char *ratio_text(double ratio, char text[NUMBER_ROOM]);     /* "1.0172" */
const char *percent_text(double part, char text[NUMBER_ROOM]);    /* 0.0172: "+1.72 %" */
const char *plain_percent_text(double part, char text[NUMBER_ROOM]); /* "1.72 %" */
const char *p_text(double p, char text[NUMBER_ROOM]);
const char *test_p_text(const struct act_test *test, char text[NUMBER_ROOM]); /* "<=0.002" */
/* The unit and decimals for a comparison. */
struct form form_of(const struct comparison *c);
/* The heading of adjusted p. */
const char *adjusted_title(const struct comparison *c);
const char *ratio_interval_text(const struct act_interval *interval, char text[INTERVAL_ROOM]);
const char *shift_interval_text(const struct act_interval *interval, const struct form *form,
				char text[INTERVAL_ROOM]);

#endif

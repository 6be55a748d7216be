/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_DELAYS_H
#define ACTUARY_DELAYS_H

/*
 * What tasks waited for, added up over records and shown as one table.
 *
 * What a record does not know adds nothing and counts nowhere: a mean is over
 * those waits that were counted, a share is of the wall time of those records
 * that knew.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/record.h>

#include "out.h"

enum { DELAY_KINDS = 8 };

struct delay_kind {
	const char *key;   /* in JSON and CSV: "blkio" */
	const char *title; /* for people: "block I/O" */
	enum act_field count, total_ns, max_ns, min_ns;
};

extern const struct delay_kind delay_kinds[DELAY_KINDS];

/* Figures beside the waits, each added up by itself. */
extern const enum act_field delays_figures[];
extern const size_t delays_figures_count;
enum { DELAYS_FIGURES_MAX = 16 };

struct delay_sum {
	uint64_t count, total_ns; /* ACT_UNKNOWN until a record knows */
	uint64_t max_ns, min_ns;  /* ACT_UNKNOWN: no wait, or not told for all of them */
	uint64_t wall_ns;         /* of the records that know */
	bool lacks_extremes;      /* some record with waits did not tell its longest */
};

struct delays {
	uint64_t records;
	uint64_t uncounted; /* records that only know the waits for a CPU */
	struct delay_sum sum[DELAY_KINDS];
	uint64_t figure[DELAYS_FIGURES_MAX];
};

void delays_init(struct delays *delays);
void delays_add(struct delays *delays, const struct act_record *record);
/* Adds the fields that delays_add() looks at. */
void delays_fields(struct act_field_set *fields);

/* Adds @value to @sum, where unknown ones add nothing. */
void add_known(uint64_t *sum, uint64_t value);

uint64_t delays_figure(const struct delays *delays, enum act_field field);
/* Of one kind, or ACT_UNKNOWN. */
uint64_t delay_mean_ns(const struct delay_sum *sum);
double delay_share(const struct delay_sum *sum); /* NaN: unknown */
/* All kinds together, for sorting. */
uint64_t delays_total_ns(const struct delays *delays);

/* The figures as lines for people. */
void delays_print_figures(const struct delays *delays, struct out *out);

/*
 * The columns of the table and the rows of one delays.  With @name the rows
 * begin with it, and kinds that nobody waited for are left out.
 */
void delays_columns(struct table *table, bool has_name);
void delays_rows(const struct delays *delays, struct table *table, const char *name,
		 bool is_csv);

/* Members of the open object: the figures, then "delays". */
void delays_json(const struct delays *delays, struct out *out);

#endif

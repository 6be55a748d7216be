/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SAMPLES_LOAD_H
#define BENCH_SAMPLES_LOAD_H

/* What the readers of the several kinds of files share. */
#include "bench/reader.h"
#include "bench/samples.h"
#include "bench/vector.h"

/* A set in the making. */
struct growing {
	struct samples set;
	struct vector value;
	uint64_t *pair;
	uint8_t *slot;
	size_t room;      /* of pair and slot */
	bool is_unpaired; /* a value had none */
	bool is_selected; /* asked for; of others nothing is kept */
};

struct loader {
	const char *path;
	const struct samples_options *options;
	struct reader reader;
	struct act_why *why;
	const struct time_unit *unit; /* that of the options; NULL: none */
	struct growing *sets;
	size_t count;
};

/* Both: 0 or a negative errno, explained. */
int loader_reserve(struct loader *loader, size_t count); /* sets, before the first is added */
int loader_add(struct loader *loader, const char *condition, const char *metric,
	       const char *unit, bool is_primary, struct growing **ret_set);

int loader_push(struct loader *loader, struct growing *set, double value);
int loader_push_pair(struct loader *loader, struct growing *set, double value, uint64_t pair,
		     uint8_t slot);

/* "PATH, line N: ..."; returns -EUCLEAN. */
int loader_complain(struct loader *loader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int loader_no_memory(struct loader *loader);

/* Of a line, in an error: not all of it. */
#define QUOTED_MAX 40

/* ---- The kinds ---- */

int load_numbers(struct loader *loader);  /* and summaries, and GNU time */
int load_hyperfine(struct loader *loader);
int load_result(struct loader *loader);

/* samples-time.c: what GNU time printed. */
bool gnu_time_is_line(const char *line);
/* As load_numbers(), from the line that was recognized on. */
int load_gnu_time(struct loader *loader, char *line);

/* "ns" of "wall_ns"; "" if the name tells none. */
const char *unit_of_metric(const char *metric);
struct time_unit {
	const char *name;
	double seconds;
};
/* NULL: no unit of time. */
const struct time_unit *time_unit_find(const char *name, size_t length);

#endif

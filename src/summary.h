/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SUMMARY_H
#define ACTUARY_SUMMARY_H

/* The samples of one condition, and what `actuary bench` says of them. */
#include <stdint.h>

#include "bench/run.h"
#include "bench/vector.h"

struct out;

struct summary_mark {
	size_t total, per_op;
};

struct summary {
	const struct workload *workload;
	size_t metrics;       /* the harness's, the workload's, the series */
	struct vector *total; /* of each metric, a value a sample */
	struct vector *per_op; /* the same by operations; none for a series */
	struct summary_mark *marks;
	uint64_t runs, invalid; /* set by the caller */
	bool has_ops;
	double ops;           /* of a round; NaN: not always the same */
	double harness_ns;    /* of a round of nothing; NaN: not measured */
};

int summary_init(struct summary *summary, const struct workload *workload); /* 0 or -ENOMEM */
int summary_add(struct summary *summary, const struct sample *sample); /* 0 or -ENOMEM */
/* Of an invalid run nothing counts: what came since summary_mark() is taken back. */
void summary_mark(struct summary *summary);
void summary_take_back(struct summary *summary);
void summary_release(struct summary *summary);

/* Name of metric @index. */
const char *summary_metric(const struct summary *summary, size_t index);

/* Sort in place, so at the end: 0 or negative errno. */
int summary_print(struct summary *summary, struct out *out, size_t width);
int summary_print_json(struct summary *summary, struct out *out);

#endif

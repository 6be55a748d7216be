/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

/*
 * What a source is made of.  To add one: embed struct act_source first in its
 * own struct, fill in these functions, and declare its open function in
 * <actuary/source.h>.
 */
#include <actuary/source.h>

struct source_ops {
	int (*wait)(struct act_source *source, uint64_t timeout_ns);
	int (*drain)(struct act_source *source, const struct act_sink *sink);
	/* act_source_sync(), or with @is_end act_source_finish() */
	int (*finish)(struct act_source *source, bool is_end, const struct act_sink *sink);
	bool (*is_behind)(struct act_source *source);
	void (*free)(struct act_source *source);
};

struct act_source {
	const struct source_ops *ops;
	struct act_source_stats stats;
};

/* Fills @ret_why. */
void source_explain(struct act_why *ret_why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif

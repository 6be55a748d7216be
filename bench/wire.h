/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

/*
 * What goes over the pipe from a run to the program that started it: frames,
 * in the machine's own form, since both ends are the same file.  All lengths
 * are multiples of eight, so that doubles lie as they must.
 */
#include <stdint.h>

/* Where the run finds the pipe, and the name by which it knows what it is. */
#define WIRE_FD 3
#define RUN_NAME "actuary-run"

enum wire_type {
	WIRE_SAMPLE = 1, /* struct wire_sample, its values, its series */
	WIRE_WHY,        /* text: why the run failed */
	WIRE_END,        /* nothing: all rounds were made */
};

struct wire_frame {
	uint32_t type;
	uint32_t unused;
	uint64_t length; /* of what follows */
};

/* No series is longer: 100 million values. */
#define WIRE_LENGTH_MAX (UINT64_C(800) << 20)

struct wire_sample {
	uint64_t round;
	uint64_t is_warmup;
	double ops;
	uint64_t values;
	uint64_t series_count;
};

#endif

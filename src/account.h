/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_ACCOUNT_H
#define ACTUARY_ACCOUNT_H

/* The account: what a recording saw, lost, wrote and cost. */
#include <stdbool.h>
#include <stdint.h>

#include <actuary/log.h>
#include <actuary/source.h>

#include "out.h"
#include "recorder.h"

struct account {
	uint64_t recorded;     /* exits in the log */
	uint64_t lost;         /* exits known to be lost, for whatever reason */
	uint64_t lost_storage; /* of these, because the log had no room */
	uint64_t processes, failed, killed, partial;
	uint64_t forks;        /* ACT_UNKNOWN in a replay */
	uint64_t wall_ns;      /* how long it took */
	uint64_t cpu_ns;       /* own CPU */
	uint64_t memory_bytes; /* own peak resident memory; ACT_UNKNOWN if not told */
	const char *log;       /* the log's directory */
	struct act_source_stats source;
	struct act_log_writer_stats written;
};

/* The account so far.  Pointers into @recorder live as long as it does. */
void account_take(struct account *account, const struct recorder *recorder, const char *log);

void account_print(const struct account *account, struct out *out);
void account_print_json(const struct account *account, struct out *out);

#endif

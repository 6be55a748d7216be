/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SA_H
#define ACTUARY_SA_H

/*
 * The table of GNU sa, from the accounting utilities:
 *
 *	      65       0.03re       0.02cp       189avio      1004k
 *	      26       0.00re       0.00cp         5avio      1099k   bash*
 *
 * processes, minutes of real time, minutes of CPU time, blocks transferred a
 * process, memory over CPU time, command; * marks those that forked and did
 * not exec.  actuary-report(1) says where each number comes from.
 */
#include <stdbool.h>
#include <stddef.h>

#include <actuary/query.h>

#include "out.h"

enum sa_order {
	SA_BY_CPU, /* as sa has it by default */
	SA_BY_COUNT,
	SA_BY_REAL,
	SA_BY_IO,
	SA_BY_MEMORY,
};

struct sa_options {
	enum sa_order order;
	bool is_ascending;
	bool by_user;
	bool all;         /* no ***other */
	bool percentages;
	bool separate;    /* user and system time */
	bool seconds;     /* a call, not minutes in all */
	bool ratio;       /* of real to CPU time */
};

/* What the table is made from; by_user tells which keys. */
size_t sa_keys(bool by_user, const struct act_key **ret_keys);
size_t sa_metrics(const struct act_metric **ret_metrics);

/* 0 or -ENOMEM. */
int sa_print(const struct sa_options *options, const struct act_groups *groups, struct out *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_LOSS_H
#define ACTUARY_LOSS_H

/*
 * Whether what is shown is all: the exits recorded in the time looked at, and
 * those that gaps and damage tell to be missing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/query.h>

#include "out.h"

struct loss {
	uint64_t since_ns, until_ns; /* the time looked at */
	uint64_t recorded;           /* exits */
	uint64_t lost;               /* exits, so many are known of */
	uint64_t unknown_gaps;       /* that nobody knows the exits of */
	uint64_t damages;            /* parts that cannot be read */
	bool unknown_damage;         /* with nobody knows how many exits */
	char first_damage[64];       /* the segment of the first one */
	const char *first_reason;
};

void loss_init(struct loss *loss, const struct act_filter *filter);

/* Adds the fields that loss_add() looks at. */
void loss_fields(const struct loss *loss, struct act_field_set *fields);

/*
 * Takes any item; @input tells whether it is being written.  Returns true if
 * the item says that something is missing in the time looked at.
 */
bool loss_add(struct loss *loss, const struct act_item *item, const struct act_input *input);

bool loss_is_any(const struct loss *loss);

/* "recorded 997 of 997 exits", and a newline. */
void loss_print(const struct loss *loss, struct out *out);

/* "recorded 990 of 997 exits: 7 were lost...", one message; nothing if nothing is. */
void loss_warn(const struct loss *loss);

#endif

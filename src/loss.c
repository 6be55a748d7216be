/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/wide.h"
#include "msg.h"

void loss_init(struct loss *loss, const struct act_filter *filter)
{
	*loss = (struct loss){ .since_ns = filter->since_ns, .until_ns = filter->until_ns };
}

static bool is_everything(const struct loss *loss)
{
	return !loss->since_ns && loss->until_ns == UINT64_MAX;
}

void loss_fields(const struct loss *loss, struct act_field_set *fields)
{
	act_field_set_add(fields, ACT_F_exits);
	if (!is_everything(loss))
		act_field_set_add(fields, ACT_F_end_ns);
}

WIDE static void add_batch(struct loss *loss, const struct act_batch *batch)
{
	const uint64_t *exits = batch->column[ACT_F_exits];
	const uint64_t *end_ns = batch->column[ACT_F_end_ns];
	bool is_all = is_everything(loss);
	uint64_t sum = 0;

	for (size_t i = 0; i < batch->rows; i++) {
		bool is_in = is_all || (end_ns[i] >= loss->since_ns && end_ns[i] < loss->until_ns);

		sum += is_in && exits[i] != ACT_UNKNOWN ? exits[i] : 0;
	}
	loss->recorded += sum;
}

static bool add_gap(struct loss *loss, const struct act_gap *gap)
{
	if (gap->to_ns < loss->since_ns || gap->from_ns >= loss->until_ns || !gap->count)
		return false;
	if (gap->count == ACT_UNKNOWN)
		loss->unknown_gaps++;
	else
		loss->lost += gap->count;
	return true;
}

/* Damage does not tell its time, so it counts in any. */
static bool add_damage(struct loss *loss, const struct act_damage *damage)
{
	if (!loss->damages++) {
		snprintf(loss->first_damage, sizeof(loss->first_damage), "%s", damage->segment);
		loss->first_reason = damage->reason;
	}
	if (damage->exits == ACT_UNKNOWN)
		loss->unknown_damage = true;
	else
		loss->lost += damage->exits;
	return true;
}

bool loss_add(struct loss *loss, const struct act_item *item, const struct act_input *input)
{
	switch (item->type) {
	case ACT_ITEM_BATCH:
		add_batch(loss, &item->batch);
		return false;
	case ACT_ITEM_GAP:
		return add_gap(loss, &item->gap);
	case ACT_ITEM_DAMAGE:
		/* The unfinished end of a log that is being written is none. */
		if (item->damage.is_torn_tail && act_input_is_live(input))
			return false;
		return add_damage(loss, &item->damage);
	default:
		return false;
	}
}

static bool is_unknown(const struct loss *loss)
{
	return loss->unknown_gaps || loss->unknown_damage;
}

bool loss_is_any(const struct loss *loss)
{
	return loss->lost || loss->damages || is_unknown(loss);
}

void loss_print(const struct loss *loss, struct out *out)
{
	out_printf(out, "recorded %" PRIu64 " of %" PRIu64 " exits%s\n", loss->recorded,
		   loss->recorded + loss->lost,
		   is_unknown(loss) ? ", and nobody knows how many more" : "");
}

void loss_warn(const struct loss *loss)
{
	char damages[192] = "", gaps[96] = "", lost[64] = "";

	if (!loss_is_any(loss))
		return;
	if (loss->lost)
		snprintf(lost, sizeof(lost), ": %" PRIu64 " were lost", loss->lost);
	if (loss->unknown_gaps)
		snprintf(gaps, sizeof(gaps), "%s%" PRIu64 " %s of unknown size",
			 loss->lost ? ", " : ": ", loss->unknown_gaps,
			 loss->unknown_gaps == 1 ? "gap" : "gaps");
	if (loss->damages)
		snprintf(damages, sizeof(damages), "%s%" PRIu64 " damaged %s (first in %s: %s)",
			 loss->lost || loss->unknown_gaps ? ", " : ": ", loss->damages,
			 loss->damages == 1 ? "part" : "parts", loss->first_damage,
			 loss->first_reason);
	msg_warning("recorded %" PRIu64 " of %" PRIu64 " exits%s%s%s; "
		    "'actuary verify' tells where", loss->recorded, loss->recorded + loss->lost,
		    lost, gaps, damages);
}

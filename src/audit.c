/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit.h"

void audit_init(struct audit *audit, const struct audit_sink *sink, uint64_t since_ns,
		uint64_t until_ns, uint64_t now_ns, enum stretch_end end)
{
	*audit = (struct audit){
		.sink = *sink, .since_ns = since_ns, .until_ns = until_ns, .now_ns = now_ns,
		.end = end, .covered_to_ns = since_ns,
	};
}

static bool is_in_span(const struct audit *audit, uint64_t from_ns, uint64_t to_ns)
{
	return to_ns >= audit->since_ns && from_ns < audit->until_ns;
}

/* ---- Damage: its time is between what was told before it and after it ---- */

static void settle_damage(struct audit *audit, uint64_t to_ns)
{
	if (audit->pending_damages && is_in_span(audit, audit->pending_from_ns, to_ns)) {
		audit->damages += audit->pending_damages;
		audit->lost += audit->pending_exits;
		audit->unknown += audit->pending_unknown;
	}
	audit->pending_damages = audit->pending_exits = audit->pending_unknown = 0;
}

static void take_damage(struct audit *audit, const struct act_damage *damage)
{
	if (!audit_is_damage(audit, damage))
		return;
	if (!audit->pending_damages++)
		audit->pending_from_ns = audit->last_ns;
	if (damage->exits == ACT_UNKNOWN)
		audit->pending_unknown++;
	else
		audit->pending_exits += damage->exits;
	audit->stretch.is_damaged = true;
}

static void see_time(struct audit *audit, uint64_t first_ns, uint64_t last_ns)
{
	settle_damage(audit, first_ns);
	if (last_ns > audit->last_ns)
		audit->last_ns = last_ns;
}

/* ---- Stretches of recording ---- */

static void leave_uncovered(struct audit *audit, uint64_t to_ns)
{
	if (to_ns > audit->until_ns)
		to_ns = audit->until_ns;
	if (audit->covered_to_ns >= to_ns)
		return;
	audit->uncovered++;
	audit->sink.uncovered(audit->sink.arg, audit->covered_to_ns, to_ns);
}

/*
 * Marks [from, to) as recorded; stretches come in order.  Only who asks for a
 * span of time wants to know when nobody recorded.
 */
static void cover(struct audit *audit, uint64_t from_ns, uint64_t to_ns)
{
	if (!audit->since_ns && audit->until_ns == UINT64_MAX)
		return;
	/* Without --since the time begins with the log. */
	if (audit->covered_to_ns)
		leave_uncovered(audit, from_ns);
	if (to_ns > audit->covered_to_ns)
		audit->covered_to_ns = to_ns;
}

bool stretch_is_mismatch(const struct stretch *stretch)
{
	return stretch->counted != ACT_UNKNOWN && !stretch->is_damaged &&
	       stretch->counted != stretch->recorded;
}

static void end_stretch(struct audit *audit, enum stretch_end end, uint64_t to_ns)
{
	struct stretch *stretch = &audit->stretch;

	if (!audit->in_stretch)
		return;
	audit->in_stretch = false;
	stretch->end = end;
	stretch->to_ns = to_ns > stretch->from_ns ? to_ns : stretch->from_ns;
	cover(audit, stretch->from_ns, end == STRETCH_LIVE ? audit->now_ns : stretch->to_ns);
	/* What it had not made durable is gone; a restart tells so by a gap. */
	if (end == STRETCH_DIED && !audit->has_down_gap &&
	    is_in_span(audit, stretch->to_ns, stretch->to_ns))
		audit->unknown++;
	audit->has_down_gap = false;
	if (stretch_is_mismatch(stretch))
		audit->mismatches++;
	audit->sink.stretch(audit->sink.arg, stretch);
}

static void begin_stretch(struct audit *audit, uint64_t from_ns, const struct act_state *state)
{
	audit->stretch = (struct stretch){
		.from_ns = from_ns, .has_start = state != NULL,
		.forks = ACT_UNKNOWN, .counted = ACT_UNKNOWN,
		.forks_at_start = state ? state->forks : ACT_UNKNOWN,
		.counted_at_start = state ? state->recorded : ACT_UNKNOWN,
	};
	audit->in_stretch = true;
}

/* Something was recorded, so somebody recorded. */
static void need_stretch(struct audit *audit, uint64_t from_ns)
{
	if (!audit->in_stretch)
		begin_stretch(audit, from_ns, NULL);
	else if (!audit->stretch.has_start && from_ns < audit->stretch.from_ns)
		audit->stretch.from_ns = from_ns;
}

static uint64_t difference(uint64_t from, uint64_t to)
{
	return from == ACT_UNKNOWN || to == ACT_UNKNOWN || to < from ? ACT_UNKNOWN : to - from;
}

static void take_state(struct audit *audit, const struct act_state *state)
{
	switch (state->type) {
	case ACT_STATE_START:
	case ACT_STATE_RESTART:
		end_stretch(audit, STRETCH_DIED, audit->last_ns);
		see_time(audit, state->time_ns, state->time_ns);
		begin_stretch(audit, state->time_ns, state);
		break;
	case ACT_STATE_STOP:
		see_time(audit, state->time_ns, state->time_ns);
		need_stretch(audit, state->time_ns);
		audit->stretch.forks = difference(audit->stretch.forks_at_start, state->forks);
		audit->stretch.counted = difference(audit->stretch.counted_at_start,
						    state->recorded);
		end_stretch(audit, STRETCH_STOPPED, state->time_ns);
		break;
	default:
		see_time(audit, state->time_ns, state->time_ns);
		need_stretch(audit, state->time_ns);
		break;
	}
}

/* ---- Records and gaps ---- */

bool batch_span(const struct act_batch *batch, uint64_t *ret_first_ns, uint64_t *ret_last_ns)
{
	const uint64_t *end_ns = batch->column[ACT_F_end_ns];
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t row = 0; row < batch->rows; row++) {
		if (end_ns[row] == ACT_UNKNOWN)
			continue;
		first = end_ns[row] < first ? end_ns[row] : first;
		last = end_ns[row] > last ? end_ns[row] : last;
	}
	if (first > last)
		return false;
	*ret_first_ns = first;
	*ret_last_ns = last;
	return true;
}

uint64_t batch_exits(const struct act_batch *batch, uint64_t since_ns, uint64_t until_ns)
{
	const uint64_t *end_ns = batch->column[ACT_F_end_ns];
	const uint64_t *exits = batch->column[ACT_F_exits];
	bool is_all = !since_ns && until_ns == UINT64_MAX;
	uint64_t sum = 0;

	for (size_t row = 0; row < batch->rows; row++)
		if (exits[row] != ACT_UNKNOWN &&
		    (is_all || (end_ns[row] >= since_ns && end_ns[row] < until_ns)))
			sum += exits[row];
	return sum;
}

static void take_batch(struct audit *audit, const struct act_batch *batch)
{
	uint64_t first_ns, last_ns;

	audit->blocks++;
	audit->records += batch->rows;
	audit->recorded += batch_exits(batch, audit->since_ns, audit->until_ns);
	if (batch_span(batch, &first_ns, &last_ns)) {
		see_time(audit, first_ns, last_ns);
		need_stretch(audit, first_ns);
	}
	audit->stretch.recorded += batch_exits(batch, 0, UINT64_MAX);
}

static void take_gap(struct audit *audit, const struct act_gap *gap)
{
	if (gap->cause == ACT_CAUSE_DOWN) {
		audit->has_down_gap = true;
		end_stretch(audit, STRETCH_DIED, gap->from_ns);
	} else {
		need_stretch(audit, gap->from_ns);
		if (gap->count == ACT_UNKNOWN)
			audit->stretch.has_unknown = true;
		else
			audit->stretch.lost += gap->count;
	}
	if (gap->count && is_in_span(audit, gap->from_ns, gap->to_ns)) {
		audit->gaps++;
		if (gap->count == ACT_UNKNOWN)
			audit->unknown++;
		else
			audit->lost += gap->count;
	}
	see_time(audit, gap->from_ns, gap->to_ns);
}

void audit_take(struct audit *audit, const struct act_item *item)
{
	switch (item->type) {
	case ACT_ITEM_SEGMENT:
		audit->segments++;
		break;
	case ACT_ITEM_BATCH:
		take_batch(audit, &item->batch);
		break;
	case ACT_ITEM_GAP:
		take_gap(audit, &item->gap);
		break;
	case ACT_ITEM_STATE:
		take_state(audit, &item->state);
		break;
	case ACT_ITEM_DAMAGE:
		take_damage(audit, &item->damage);
		break;
	}
}

void audit_finish(struct audit *audit)
{
	settle_damage(audit, UINT64_MAX);
	end_stretch(audit, audit->end, audit->last_ns);
	/* Nobody has recorded the future yet; it is not missing. */
	if (audit->until_ns != UINT64_MAX)
		leave_uncovered(audit, audit->now_ns);
}

bool audit_is_complete(const struct audit *audit)
{
	return !audit->lost && !audit->unknown && !audit->damages && !audit->mismatches &&
	       !audit->uncovered;
}

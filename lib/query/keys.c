/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "keys.h"

#include <time.h>

#include "base/clock.h"

#define CORE_BIT UINT64_C(0x80)
#define FORKED_BIT 0x01 /* include/uapi/linux/acct.h: AFORK */

static enum act_field field_of(const struct act_key *key)
{
	switch (key->type) {
	case ACT_KEY_EXIT:
		return ACT_F_status;
	case ACT_KEY_FORKED:
		return ACT_F_flags;
	case ACT_KEY_MINUTE:
	case ACT_KEY_HOUR:
	case ACT_KEY_DAY:
		return ACT_F_end_ns;
	default:
		return key->field;
	}
}

void keys_fields(const struct act_key *key, struct act_field_set *fields)
{
	act_field_set_add(fields, field_of(key));
}

bool keys_is_text(const struct act_key *key)
{
	return act_field_table[field_of(key)].type == ACT_TYPE_TEXT;
}

/* ---- Local time ---- */

static void to_start(struct tm *tm, enum act_key_type type)
{
	tm->tm_sec = 0;
	if (type != ACT_KEY_MINUTE)
		tm->tm_min = 0;
	if (type == ACT_KEY_DAY) {
		tm->tm_hour = 0;
		/* The clocks may have been changed since midnight. */
		tm->tm_isdst = -1;
	}
}

static void to_next(struct tm *tm, enum act_key_type type)
{
	if (type == ACT_KEY_MINUTE)
		tm->tm_min++;
	else if (type == ACT_KEY_HOUR)
		tm->tm_hour++;
	else
		tm->tm_mday++;
}

/* The span of local time that @ns lies in; of no length if it cannot be told. */
static void find_span(enum act_key_type type, uint64_t ns, struct keys_span *ret_span)
{
	time_t seconds = (time_t)(ns / NSEC_PER_SEC), start, next;
	struct tm tm, later;

	*ret_span = (struct keys_span){ ns, ns };
	if (!localtime_r(&seconds, &tm))
		return;
	to_start(&tm, type);
	later = tm;
	to_next(&later, type);
	start = mktime(&tm);
	next = mktime(&later);
	if (start < 0 || start > seconds)
		return;
	ret_span->start_ns = (uint64_t)start * NSEC_PER_SEC;
	/* An hour that the clocks are put back in is told anew each time. */
	if (next > seconds && next - start <= 25 * 60 * 60)
		ret_span->end_ns = (uint64_t)next * NSEC_PER_SEC;
}

static uint64_t start_of(enum act_key_type type, uint64_t ns, struct keys_span *span)
{
	if (ns == ACT_UNKNOWN)
		return ACT_UNKNOWN;
	if (ns < span->start_ns || ns >= span->end_ns)
		find_span(type, ns, span);
	return span->start_ns;
}

/* ---- Values ---- */

static uint64_t value_of(const struct act_key *key, struct keys_span *span, uint64_t value)
{
	switch (key->type) {
	case ACT_KEY_EXIT:
		return value == ACT_UNKNOWN ? value : value & ~CORE_BIT;
	case ACT_KEY_FORKED:
		return value == ACT_UNKNOWN ? value : value & FORKED_BIT;
	case ACT_KEY_MINUTE:
	case ACT_KEY_HOUR:
	case ACT_KEY_DAY:
		return start_of(key->type, value, span);
	default:
		return value;
	}
}

void keys_values(const struct act_key *key, struct keys_span *span,
		 const struct act_batch *batch, const uint32_t *rows, size_t count,
		 uint64_t *ret_values)
{
	const uint64_t *column = batch->column[field_of(key)];

	for (size_t i = 0; i < count; i++)
		ret_values[i] = value_of(key, span, column[rows[i]]);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <actuary/record.h>

#include <string.h>

#include "base/wide.h"

/* Words of the table, so that its lines stay short. */
enum {
	TASKSTATS = ACT_FROM_TASKSTATS,
	GROUP = ACT_FROM_GROUP,
	SWITCH = ACT_FROM_SWITCH,
	RECORDER = ACT_FROM_RECORDER,
	DERIVED = ACT_FROM_DERIVED,
};

const struct act_field_info act_field_table[ACT_FIELDS] = {
#define FIELD_INFO(n, t, v, s, f, h) \
	[ACT_F_##n] = { .name = #n, .type = ACT_TYPE_##t, .since = v, \
			.sources = s, .fold = ACT_FOLD_##f, .help = h },
	ACT_FIELD_TABLE(FIELD_INFO)
#undef FIELD_INFO
};

/* Copied as a whole: each record that is received begins so. */
static const struct act_record nothing_known = {
	.value = { [0 ... ACT_FIELDS - 1] = ACT_UNKNOWN },
};

void act_record_clear(struct act_record *record)
{
	*record = nothing_known;
}

static const struct act_derivation derivations[ACT_FIELDS] = {
	[ACT_F_start_ns] = { { ACT_F_end_ns, ACT_F_wall_ns } },
	[ACT_F_cpu_ns] = { { ACT_F_user_ns, ACT_F_system_ns } },
	[ACT_F_code] = { { ACT_F_status, -1 } },
	[ACT_F_signal] = { { ACT_F_status, -1 } },
	[ACT_F_core] = { { ACT_F_status, -1 } },
};

const struct act_derivation *act_field_derivation(enum act_field field)
{
	return &derivations[field];
}

/* The wait status as wait(2) lays it out: code << 8, or signal, 0x80 a core. */
static inline uint64_t signal_of(uint64_t status)
{
	return status & 0x7f;
}

static inline uint64_t derive(enum act_field field, uint64_t a, uint64_t b)
{
	if (a == ACT_UNKNOWN || b == ACT_UNKNOWN)
		return ACT_UNKNOWN;
	switch (field) {
	case ACT_F_start_ns:
		return a > b ? a - b : 0;
	case ACT_F_cpu_ns:
		return a + b;
	case ACT_F_code:
		return signal_of(a) ? ACT_UNKNOWN : a >> 8 & 0xff;
	case ACT_F_signal:
		return signal_of(a);
	case ACT_F_core:
		return signal_of(a) && a & 0x80;
	default:
		return ACT_UNKNOWN;
	}
}

/* To be called with a constant field, so that each gets a loop of its own. */
static inline void derive_rows(enum act_field field, const uint64_t *a, const uint64_t *b,
			       uint64_t *ret_values, size_t rows)
{
	for (size_t i = 0; i < rows; i++)
		ret_values[i] = derive(field, a[i], b ? b[i] : 0);
}

WIDE void act_field_derive(enum act_field field, const uint64_t *a, const uint64_t *b,
			   uint64_t *ret_values, size_t rows)
{
	switch (field) {
	case ACT_F_start_ns:
		derive_rows(ACT_F_start_ns, a, b, ret_values, rows);
		break;
	case ACT_F_cpu_ns:
		derive_rows(ACT_F_cpu_ns, a, b, ret_values, rows);
		break;
	case ACT_F_code:
		derive_rows(ACT_F_code, a, NULL, ret_values, rows);
		break;
	case ACT_F_signal:
		derive_rows(ACT_F_signal, a, NULL, ret_values, rows);
		break;
	case ACT_F_core:
		derive_rows(ACT_F_core, a, NULL, ret_values, rows);
		break;
	default:
		derive_rows(ACT_FIELDS, a, NULL, ret_values, rows);
		break;
	}
}

void act_record_derive(struct act_record *record)
{
	record->start_ns = derive(ACT_F_start_ns, record->end_ns, record->wall_ns);
	record->cpu_ns = derive(ACT_F_cpu_ns, record->user_ns, record->system_ns);
	record->code = derive(ACT_F_code, record->status, 0);
	record->signal = derive(ACT_F_signal, record->status, 0);
	record->core = derive(ACT_F_core, record->status, 0);
}

int act_field_find(const char *name, size_t length)
{
	for (int field = 0; field < ACT_FIELDS; field++) {
		const char *known = act_field_table[field].name;

		if (strlen(known) == length && memcmp(known, name, length) == 0)
			return field;
	}
	return -1;
}

bool act_field_is_additive(enum act_field field)
{
	switch (act_field_table[field].type) {
	case ACT_TYPE_NUMBER:
	case ACT_TYPE_DURATION:
	case ACT_TYPE_SIZE:
	case ACT_TYPE_INTEGRAL:
		return act_field_table[field].fold != ACT_FOLD_MAX &&
		       act_field_table[field].fold != ACT_FOLD_MIN;
	default:
		return false;
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_DECODE_H
#define SOURCE_DECODE_H

/*
 * One message of the taskstats family, as the kernel sends it at exit or in
 * answer to a question, to records.  Pure: no clock, no system call.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/record.h>

enum decoded_as {
	DECODED_EXIT,      /* all of @ret is filled */
	DECODED_ALIEN,     /* some other message: not of the family, not NEW */
	DECODED_MALFORMED, /* of the family, but cut short or out of shape */
};

struct decoded {
	struct act_record task;  /* cpu and end_ns are left unknown */
	struct act_record group; /* if has_group: fields of ACT_FROM_GROUP, pid, wall_ns */
	bool has_task;           /* false in answers about a process */
	bool has_group;
	/*
	 * Whether any count behind the switch is other than zero.  If none is,
	 * either it never waited or nobody counted.
	 */
	bool task_waited;
	bool group_waited;
};

/* The sequence number; 0 and false when @length does not even hold it. */
bool decode_number(const void *message, size_t length, uint32_t *ret_number);

enum decoded_as decode_message(const void *message, size_t length, uint16_t family,
			       struct decoded *ret);

/* Makes the fields behind the switch unknown. */
void decode_hide_switched(struct act_record *record);

#endif

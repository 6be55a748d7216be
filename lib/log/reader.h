/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOG_READER_H
#define LOG_READER_H

/* What the writer needs to know of a log beyond act_log_*(): to go on with it. */
#include <actuary/log.h>

#include "log/format.h"

enum reader_part {
	READER_ALL,
	READER_SEGMENT_ONLY, /* without the tail */
};

/* One segment of an open directory (which stays the caller's). */
int reader_open_segment(int dirfd, const char *name, enum reader_part part,
			struct act_log_reader **ret_reader);

/* Segments @from to @to of an open directory (which stays the caller's). */
int reader_open_range(int dirfd, uint64_t from, uint64_t to,
		      struct act_log_reader **ret_reader);

/* Where the counts stood before the block that the last batch came from. */
struct position reader_block_before(const struct act_log_reader *reader);
/* The number of the event that was delivered last. */
uint64_t reader_event_number(const struct act_log_reader *reader);
/* Where the counts stand behind the last block that was read. */
struct position reader_position(const struct act_log_reader *reader);
/* The end of the last good block of the segment, in bytes. */
uint64_t reader_good_end(const struct act_log_reader *reader);
/* Whether any of it could be read: without, nothing is known of the counts. */
bool reader_has_position(const struct act_log_reader *reader);
/* The latest end of any record seen, ACT_UNKNOWN if there was none. */
uint64_t reader_last_ns(const struct act_log_reader *reader);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_AUDIT_H
#define ACTUARY_AUDIT_H

/*
 * Whether a log holds every exit of a span of time.
 *
 * Three witnesses are heard: gaps (what the recorder knew to be lost), damage
 * (what the log's reader could not read), and the states, which tell when there
 * was a recorder at all and how many exits it had counted by itself.
 */
#include <stdbool.h>
#include <stdint.h>

#include <actuary/log.h>

/* How a stretch of recording came to its end. */
enum stretch_end {
	STRETCH_STOPPED, /* as it should */
	STRETCH_DIED,    /* no stop was written: killed, or the power failed */
	STRETCH_LIVE,    /* it goes on */
	STRETCH_CUT,     /* it goes on in a segment that was not read */
};

/* From a start to a stop. */
struct stretch {
	uint64_t from_ns, to_ns;
	enum stretch_end end;
	bool has_start;    /* false: its beginning is not in the log (any more) */
	bool is_damaged;   /* some of it cannot be read */
	uint64_t recorded; /* exits that the log holds */
	uint64_t lost;     /* exits in gaps; so many are known of */
	bool has_unknown;  /* and there are gaps that nobody knows the size of */
	uint64_t forks;    /* by the kernel's count meanwhile, or ACT_UNKNOWN */
	uint64_t counted;  /* exits by the recorder's own count, or ACT_UNKNOWN */
	uint64_t forks_at_start, counted_at_start;
};

/* Whether it holds another number of exits than the recorder had counted. */
bool stretch_is_mismatch(const struct stretch *stretch);

struct audit_sink {
	void (*stretch)(void *arg, const struct stretch *stretch);
	/* Nobody recorded in this part of the time looked at. */
	void (*uncovered)(void *arg, uint64_t from_ns, uint64_t to_ns);
	void *arg;
};

struct audit {
	struct audit_sink sink;
	uint64_t since_ns, until_ns; /* the time looked at: 0, UINT64_MAX: the whole log */
	uint64_t now_ns;
	enum stretch_end end; /* of a stretch that the log does not end */
	/* Found so far, of the time looked at. */
	uint64_t segments, blocks, records;
	uint64_t recorded;     /* exits */
	uint64_t lost;         /* exits, so many are known of */
	uint64_t gaps;         /* with something missing */
	uint64_t damages;
	uint64_t unknown;      /* gaps and damages of which nobody knows the exits */
	uint64_t mismatches;   /* stretches that hold another number than was counted */
	uint64_t uncovered;    /* parts without a recorder */
	/* Work space. */
	struct stretch stretch;
	bool in_stretch;
	bool has_down_gap;      /* the gap of a recorder that died was seen */
	uint64_t last_ns;       /* the latest time that the log has told */
	uint64_t covered_to_ns; /* the time looked at is covered up to here */
	/* Damage whose time is bounded once something follows. */
	uint64_t pending_damages, pending_exits, pending_unknown, pending_from_ns;
};

void audit_init(struct audit *audit, const struct audit_sink *sink, uint64_t since_ns,
		uint64_t until_ns, uint64_t now_ns, enum stretch_end end);

/* The time of a batch: its first and last end; false if no row knows. */
bool batch_span(const struct act_batch *batch, uint64_t *ret_first_ns, uint64_t *ret_last_ns);

/* Exits that a batch stands for, of those that ended in [since, until). */
uint64_t batch_exits(const struct act_batch *batch, uint64_t since_ns, uint64_t until_ns);

/* Items in the order of the log, with fields exits and end_ns. */
void audit_take(struct audit *audit, const struct act_item *item);

/* After the last one. */
void audit_finish(struct audit *audit);

bool audit_is_complete(const struct audit *audit);

/* The unfinished end of a log that is being written is no damage. */
static inline bool audit_is_damage(const struct audit *audit, const struct act_damage *damage)
{
	return !damage->is_torn_tail || audit->end != STRETCH_LIVE;
}

#endif

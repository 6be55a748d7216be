/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SOURCE_H
#define ACTUARY_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <actuary/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A source: where exits come from.
 *
 * A program opens one, then alternates act_source_wait() and
 * act_source_drain(), and at the end calls act_source_finish() so that losses
 * behind the last message are known too:
 *
 *	act_source_open_taskstats(&options, &source, &why);
 *	while (!stop) {
 *		act_source_wait(source, timeout_ns);
 *		act_source_drain(source, &sink);
 *	}
 *	act_source_finish(source, &sink);
 *	act_source_free(source);
 *
 * Nothing is lost in silence: what a source could not deliver reaches the sink
 * as a gap.  recorded + lost = exits, from open to finish.
 */
struct act_source;

enum act_cause {
	ACT_CAUSE_OVERFLOW = 1, /* the receive buffer was full */
	ACT_CAUSE_KERNEL = 2,   /* the kernel could not deliver, buffer not full */
	ACT_CAUSE_DOWN = 3,     /* the recorder had died and came back */
	ACT_CAUSE_STORAGE = 4,  /* the log could not be written, memory was full */
	ACT_CAUSE_TRUNCATED = 5, /* messages arrived cut short */
	ACT_CAUSE_DAMAGE = 6,   /* the log's reader found it damaged */
};

/* One word for the cause, "overflow"; "unknown" for one not listed. */
const char *act_cause_name(enum act_cause cause);

/* A stretch of exits known to be lost. */
struct act_gap {
	uint64_t from_ns; /* wall clock: the last exit received before it */
	uint64_t to_ns;   /* wall clock: the first one received after it */
	uint64_t count;   /* exits lost; ACT_UNKNOWN when nobody can know */
	int32_t cpu;      /* on which CPU; -1: not of one CPU */
	enum act_cause cause;
};

/*
 * What a source hands its finds to.  0 goes on; a negative errno stops the
 * drain, which returns it.  Pointers are valid during the call only.
 */
struct act_sink {
	/* A task has ended; @group as act_fold_task() takes it. */
	int (*task)(void *arg, const struct act_record *task,
		    const struct act_record *group);
	int (*gap)(void *arg, const struct act_gap *gap);
	/*
	 * A record that is folded already (replay of a log), of any kind.
	 * May be NULL: then such records are given to no one.
	 */
	int (*record)(void *arg, const struct act_record *record);
	void *arg;
};

/* Counters, from open on. */
struct act_source_cpu {
	int cpu;
	uint64_t received; /* exits delivered to the sink */
	uint64_t lost;     /* exits reported as gaps, foreign numbers netted */
	uint64_t foreign;  /* numbers of another CPU's sequence, seen here */
};

struct act_source_stats {
	uint64_t received;
	uint64_t lost;
	uint64_t enobufs;   /* overflow episodes, as the old listeners counted */
	uint64_t drops;     /* the sockets' own drop counters, summed */
	uint64_t truncated; /* messages that did not fit or did not parse */
	uint64_t alien;     /* messages that tell of no exit, ignored */
	uint64_t drains;    /* times the buffers were emptied */
	uint64_t interval_ns; /* present drain interval */
	uint64_t rcvbuf_bytes; /* receive buffer per CPU as the kernel counts it */
	uint64_t delayacct;   /* kernel.task_delayacct now: 0, 1 or ACT_UNKNOWN */
	unsigned int version; /* newest struct taskstats version seen; 0: none */
	size_t cpus;          /* entries in @cpu */
	const struct act_source_cpu *cpu; /* valid until the source is freed */
};

/*
 * Why a source could not be opened, for the message: @text says what is wrong
 * and what to do, in one line without a full stop.
 */
struct act_why {
	char text[512];
};

struct act_taskstats_options {
	size_t size;        /* sizeof(struct act_taskstats_options) */
	const char *cpus;   /* kernel list syntax, "0-3,8"; NULL: every possible CPU */
	uint64_t rcvbuf_bytes; /* as passed to setsockopt(2); 0: the default, 8 MiB, which
	                          the kernel doubles */
	uint64_t interval_ns;  /* drain interval to start from; 0: the default, 20 ms */
	/*
	 * File to keep the raw messages in, see actuary-capture(5); NULL: none.
	 * If it can't be written to its end, recording goes on without it, and
	 * act_source_finish() returns the reason.
	 */
	const char *capture;
	bool skip_self_test;   /* do not require a forked child to be seen */
};

/*
 * Opens the kernel's taskstats exit messages: one socket for each CPU, so that
 * losses can be counted by the sequence numbers, which are per CPU.  Needs
 * CAP_NET_ADMIN in the initial user, pid and network namespace, for this call
 * only.  Returns 0 or: -EPERM (capability, or another user or pid namespace),
 * -EINVAL (bad options), -ENOENT (not built into the kernel), -ENONET (other
 * network namespace), -ENODATA (self-test failed), -EEXIST (capture exists),
 * other errno.  @ret_why is filled on every failure.
 */
int act_source_open_taskstats(const struct act_taskstats_options *options,
			      struct act_source **ret_source, struct act_why *ret_why);

/*
 * Opens what was kept: a log (directory or segment) or a capture made by
 * `record --capture`.  Drains deliver at most a few thousand records each.
 * Returns 0, -ENOENT, -EUCLEAN (neither of the two), or other errno.
 */
int act_source_open_replay(const char *path, struct act_source **ret_source,
			   struct act_why *ret_why);

/*
 * Waits until it is worth draining, at most @timeout_ns: for the first exit on
 * a quiet machine, for the drain interval on a busy one.  Returns 0, also when
 * interrupted by a signal.
 */
int act_source_wait(struct act_source *source, uint64_t timeout_ns);

/*
 * Delivers all that waits.  Returns 0, 1 if the source is at its end (replay),
 * or a negative errno: the sink's, or -ENODATA when the capture is damaged.
 */
int act_source_drain(struct act_source *source, const struct act_sink *sink);

/*
 * Makes the account complete up to now: one pinned child on each CPU exits, so
 * that a gap behind the last message shows; then drains.  Same returns.
 */
int act_source_sync(struct act_source *source, const struct act_sink *sink);

/*
 * The same at the end: also waits up to a second for exits that are on their way,
 * and those that do not come then are lost.
 */
int act_source_finish(struct act_source *source, const struct act_sink *sink);

/* True when the sockets dropped something that no gap has explained yet. */
bool act_source_is_behind(struct act_source *source);

void act_source_stats(const struct act_source *source, struct act_source_stats *ret_stats);
void act_source_free(struct act_source *source); /* NULL is allowed */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_TASKSTATS_H
#define SOURCE_TASKSTATS_H

/* The inside of the taskstats source, shared by taskstats*.c and selftest.c. */
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <linux/netlink.h>

#include "source/capture.h"
#include "source/genl.h"
#include "source/intake.h"
#include "source/source.h"

#define BATCH 64
/*
 * A message's room in the batch.  Were it a multiple of 4096, all messages would
 * contend for the same few lines of a CPU's first cache.
 */
#define ROOM_BYTES (GENL_MESSAGE_BYTES + 11 * 64)
#define CPUS_MAX 8192 /* CONFIG_NR_CPUS at its largest on x86 and arm64 */

struct listener {
	struct genl genl;
	int cpu;
	uint32_t drops_seen; /* the socket's counter, as last read; it wraps */
	pid_t closer;        /* the child whose message is awaited; 0: none */
	pid_t stuck;         /* a child that did not get to run there; 0: none */
};

/* What one recvmmsg(2) brought, and how far it was handed on. */
struct batch {
	size_t listener;
	size_t at;
	size_t count;
	uint64_t time_ns;
	struct mmsghdr header[BATCH];
	struct iovec iov[BATCH];
	uint8_t bytes[BATCH][ROOM_BYTES] __attribute__((aligned(64)));
};

struct exits {
	struct act_source source;
	struct intake intake;
	struct listener *listener;
	struct pollfd *pollfd; /* of each listener */
	size_t listeners;
	bool is_busy; /* the last drain brought something */
	uint64_t interval_max_ns;
	uint64_t rcvbuf_bytes;
	struct capture *capture; /* NULL: none */
	int capture_error;
	struct batch batch;
};

extern const struct source_ops taskstats_ops;

/*
 * Lets a child exit on the listener's CPU.  Returns 1 and its pid, 0 if none
 * can run there now, or a negative errno.
 */
int taskstats_close(struct listener *listener, uint64_t deadline_ns, pid_t *ret_pid);

/*
 * Receives at most @limit messages of a listener into the batch.  Returns how
 * many, 0 if none waits, -ENOBUFS at the first call after an overflow, or
 * other errno.
 */
int taskstats_receive(struct exits *exits, size_t listener, size_t limit);

/* Keeps the state of kernel.task_delayacct in the capture, if there is one. */
void taskstats_capture_switch(struct exits *exits, uint64_t now_ns);

/*
 * While it is needed, the message of a child of ours finds room beside those of
 * others, however small the buffers are that were asked for.
 */
void taskstats_make_room(struct exits *exits, bool is_needed);

/*
 * Requires that a child's exit is seen on each CPU where one can run; the
 * counting of each CPU starts behind it.  Returns 0, -ENODATA or other errno.
 */
int taskstats_self_test(struct exits *exits, struct act_why *ret_why);

/* Returns -ENONET, with the reason, if exits are sent to another namespace. */
int taskstats_check_net(struct act_why *ret_why);

/* Explains why the kernel refused to register with @error. */
void taskstats_explain_refusal(int error, struct act_why *ret_why);

#endif

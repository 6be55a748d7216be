/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_CAPTURE_H
#define SOURCE_CAPTURE_H

/*
 * A file of raw messages, specified in actuary-capture(5): a header, then
 * frames.  Numbers are in the byte order of the machine that wrote it, as the
 * messages themselves are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAPTURE_MAGIC "ACTCAPT\n"
#define CAPTURE_VERSION 1
#define CAPTURE_ORDER UINT32_C(0x01020304)
#define CAPTURE_PAYLOAD_MAX 65536

struct capture_header {
	char magic[8];
	uint32_t order;   /* CAPTURE_ORDER */
	uint16_t version; /* CAPTURE_VERSION */
	uint16_t family;  /* the messages' nlmsg_type */
	uint64_t created_ns;
};

enum capture_frame_type {
	CAPTURE_CPUS = 1,    /* the first frame; payload: u16 each, rising */
	CAPTURE_MESSAGE = 2, /* payload: the message as received */
	CAPTURE_START = 3,   /* of a CPU's stream; payload: u32, its first number */
	CAPTURE_DROPS = 4,   /* payload: u64, the CPU's drops from open on */
	CAPTURE_SWITCH = 5,  /* payload: u64 state, u64 on since; of no CPU */
};

struct capture_frame {
	uint32_t length; /* of the payload that follows */
	uint16_t type;
	uint16_t cpu;
	uint64_t time_ns; /* wall clock */
};

struct capture_switch {
	uint64_t state;    /* 0, 1 or ACT_UNKNOWN */
	uint64_t since_ns; /* see delayacct.h */
};

struct capture;

/* Whether a file that begins so is a capture; @length may be anything. */
bool capture_is_magic(const void *data, size_t length);

/* Makes the file, 0640.  Returns 0, -EEXIST or other errno. */
int capture_create(const char *path, uint16_t family, uint64_t now_ns,
		   struct capture **ret_capture);

/* Adds a frame; what could not be written is told by capture_flush(). */
void capture_append(struct capture *capture, enum capture_frame_type type, int cpu,
		    uint64_t time_ns, const void *payload, size_t length);

/* Writes what waits.  0 or the first error, negative errno. */
int capture_flush(struct capture *capture);

/* Flushes and frees; same returns.  NULL is allowed. */
int capture_close(struct capture *capture);

#endif

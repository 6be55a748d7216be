/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_GENL_H
#define SOURCE_GENL_H

/* A generic netlink socket: requests with an acknowledgement and a time limit. */
#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

#include <actuary/source.h>

#define GENL_MESSAGE_BYTES 8192 /* a message's room, sent or received */

struct genl {
	struct mnl_socket *socket;
	uint32_t port;
	uint32_t seq;
	uint16_t family; /* TASKSTATS */
};

/*
 * Opens a socket and, if @family is 0, looks up the taskstats family's id.
 * Returns 0, -ENOENT if the kernel has no such family, or other errno.
 */
int genl_open(struct genl *genl, uint16_t family);
/* Says why genl_open() failed with @error. */
void genl_explain(int error, struct act_why *ret_why);
void genl_close(struct genl *genl);
int genl_fd(const struct genl *genl);

/* Begins a request of the taskstats family in @buffer (GENL_MESSAGE_BYTES). */
struct nlmsghdr *genl_request(struct genl *genl, void *buffer, uint8_t command);

/*
 * Sends @request and waits for the acknowledgement.  A reply that comes with
 * it is left at @ret_reply (GENL_MESSAGE_BYTES) and its length returned, 0 if
 * there was none.  Negative errno: the kernel's answer, -ETIMEDOUT, ...
 */
int genl_ask(struct genl *genl, struct nlmsghdr *request, void *ret_reply, int timeout_ms);

#endif

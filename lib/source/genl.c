/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/genl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/genetlink.h>
#include <linux/taskstats.h>

#include "base/clock.h"

#define LOOKUP_TIMEOUT_MS 1000

static struct nlmsghdr *begin(struct genl *genl, void *buffer, uint16_t family,
			      uint8_t command, uint8_t version)
{
	struct nlmsghdr *header = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *genl_header;

	header->nlmsg_type = family;
	header->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	header->nlmsg_seq = ++genl->seq;
	genl_header = mnl_nlmsg_put_extra_header(header, sizeof(*genl_header));
	genl_header->cmd = command;
	genl_header->version = version;
	return header;
}

struct nlmsghdr *genl_request(struct genl *genl, void *buffer, uint8_t command)
{
	return begin(genl, buffer, genl->family, command, TASKSTATS_GENL_VERSION);
}

/* Returns 0 when something can be read, -ETIMEDOUT, or other errno. */
static int wait_readable(int fd, uint64_t deadline_ns)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now_ns = clock_monotonic_ns();
		int ret;

		if (now_ns >= deadline_ns)
			return -ETIMEDOUT;
		ret = poll(&pollfd, 1, (int)((deadline_ns - now_ns) / NSEC_PER_MSEC) + 1);
		if (ret > 0)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
	}
}

/* Returns the length of one message from the kernel, 0 for a stranger's. */
static ssize_t receive(const struct genl *genl, void *buffer)
{
	struct sockaddr_nl sender = { 0 };
	struct iovec iov = { buffer, GENL_MESSAGE_BYTES };
	struct msghdr message = {
		.msg_name = &sender, .msg_namelen = sizeof(sender),
		.msg_iov = &iov, .msg_iovlen = 1,
	};
	ssize_t length = recvmsg(genl_fd(genl), &message, MSG_DONTWAIT);

	/* On a busy machine exits can overflow the buffer before the answer comes. */
	if (length < 0)
		return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -errno;
	if (message.msg_flags & MSG_TRUNC)
		return -EMSGSIZE;
	return sender.nl_pid == 0 ? length : 0;
}

/*
 * Looks through what was received for our acknowledgement.  Returns 1 if it
 * is there and good, a negative errno if it is a refusal, 0 if it is missing.
 */
static int find_ack(const struct nlmsghdr *header, int length, uint32_t seq,
		    void *ret_reply, int *reply_length)
{
	for (; mnl_nlmsg_ok(header, length); header = mnl_nlmsg_next(header, &length)) {
		if (header->nlmsg_seq != seq)
			continue;
		if (header->nlmsg_type == NLMSG_ERROR) {
			const struct nlmsgerr *error = mnl_nlmsg_get_payload(header);

			if (mnl_nlmsg_get_payload_len(header) < sizeof(*error))
				return -EBADMSG;
			return error->error ? error->error : 1;
		}
		if (ret_reply && header->nlmsg_type >= NLMSG_MIN_TYPE) {
			memcpy(ret_reply, header, header->nlmsg_len);
			*reply_length = (int)header->nlmsg_len;
		}
	}
	return 0;
}

int genl_ask(struct genl *genl, struct nlmsghdr *request, void *ret_reply, int timeout_ms)
{
	uint64_t deadline_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	char buffer[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
	int reply_length = 0;
	int ret = 0;

	if (mnl_socket_sendto(genl->socket, request, request->nlmsg_len) < 0)
		return -errno;
	while (ret == 0) {
		ssize_t length;

		ret = wait_readable(genl_fd(genl), deadline_ns);
		if (ret < 0)
			break;
		length = receive(genl, buffer);
		if (length < 0)
			return (int)length;
		ret = find_ack((struct nlmsghdr *)buffer, (int)length, request->nlmsg_seq,
			       ret_reply, &reply_length);
	}
	return ret < 0 ? ret : reply_length;
}

static int lookup_family(struct genl *genl)
{
	char buffer[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
	struct nlmsghdr *header = begin(genl, buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1);
	const struct nlattr *attr;
	int ret;

	mnl_attr_put_strz(header, CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	ret = genl_ask(genl, header, buffer, LOOKUP_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	if ((size_t)ret < MNL_NLMSG_HDRLEN + sizeof(struct genlmsghdr))
		return -EBADMSG;
	mnl_attr_for_each(attr, header, sizeof(struct genlmsghdr)) {
		if (mnl_attr_get_type(attr) != CTRL_ATTR_FAMILY_ID)
			continue;
		if (mnl_attr_get_payload_len(attr) < sizeof(uint16_t))
			return -EBADMSG;
		genl->family = mnl_attr_get_u16(attr);
		return 0;
	}
	return -ENOENT;
}

int genl_open(struct genl *genl, uint16_t family)
{
	int ret;

	memset(genl, 0, sizeof(*genl));
	genl->socket = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!genl->socket)
		return -errno;
	ret = mnl_socket_bind(genl->socket, 0, MNL_SOCKET_AUTOPID) < 0 ? -errno : 0;
	genl->port = mnl_socket_get_portid(genl->socket);
	genl->family = family;
	if (ret == 0 && family == 0)
		ret = lookup_family(genl);
	if (ret < 0)
		genl_close(genl);
	return ret;
}

void genl_explain(int error, struct act_why *ret_why)
{
	if (error == -ENOENT)
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "this kernel was built without taskstats (CONFIG_TASKSTATS)");
	else
		snprintf(ret_why->text, sizeof(ret_why->text),
			 "cannot ask the kernel for taskstats by netlink: %s", strerror(-error));
}

void genl_close(struct genl *genl)
{
	if (genl->socket)
		mnl_socket_close(genl->socket);
	genl->socket = NULL;
}

int genl_fd(const struct genl *genl)
{
	return mnl_socket_get_fd(genl->socket);
}

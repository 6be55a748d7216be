/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listeners that only read: what reaches them is counted and thrown away. */
#include "bench/condition-toggle.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/taskstats.h>

#include "base/clock.h"
#include "base/parse.h"
#include "bench/why.h"
#include "source/genl.h"

#define ASK_TIMEOUT_MS 2000
#define ROOM_TO_ANSWER_BYTES (128 * 1024)

struct raw_listener {
	struct genl genl; /* of the taskstats one */
	const char *cpus; /* NULL: all */
	int first_cpu;    /* of them */
	uint64_t rcvbuf_bytes; /* 0: the system's default */
	uint64_t began_cpu_ns;
};

/* ---- Options ---- */

static int parse_mask(struct raw_listener *listener, const char *text, struct act_why *why)
{
	unsigned char set[CPU_SETSIZE];

	if (parse_cpulist(text, set, CPU_SETSIZE) < 0)
		return because(why, -EINVAL, "\"%s\" is no list of CPUs, as 0-3,8", text);
	listener->cpus = text;
	while (!set[listener->first_cpu])
		listener->first_cpu++;
	return 0;
}

static int parse_option(struct raw_listener *listener, const char *piece, bool has_cpus,
			struct act_why *why)
{
	if (has_cpus && strncmp(piece, "cpus=", 5) == 0)
		return parse_mask(listener, piece + 5, why);
	if (strncmp(piece, "rcvbuf=", 7) == 0) {
		if (parse_size(piece + 7, &listener->rcvbuf_bytes) < 0 ||
		    listener->rcvbuf_bytes == 0 || listener->rcvbuf_bytes > INT_MAX / 2)
			return because(why, -EINVAL, "\"%s\" is no size of a receive buffer, as "
				       "512 or 1M", piece + 7);
		return 0;
	}
	return because(why, -EINVAL, "a listener has no option \"%s\"; it has %srcvbuf=SIZE", piece,
		       has_cpus ? "cpus=LIST and " : "");
}

static int parse_listener(struct toggle *toggle, bool has_cpus, struct act_why *why)
{
	struct raw_listener *listener = calloc(1, sizeof(*listener));
	char *at = toggle->text;
	int ret = 0;

	if (!listener)
		return because(why, -ENOMEM, "out of memory");
	toggle->data = listener;
	for (char *piece; ret == 0 && (piece = toggle_piece(&at));)
		ret = parse_option(listener, piece, has_cpus, why);
	return ret;
}

/* ---- Reading ---- */

/*
 * As passed: the kernel doubles it, and has a minimum.  FORCE goes beyond
 * net.core.rmem_max, with CAP_NET_ADMIN.
 */
static int set_rcvbuf(int fd, uint64_t bytes, struct act_why *why)
{
	int value = (int)bytes;

	if (bytes && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof(value)) < 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value)) < 0)
		return because(why, -errno, "cannot set the receive buffer: %s", strerror(errno));
	return 0;
}

/* An overflow is told once, by ENOBUFS, whatever it cost; the socket counts each message. */
static void read_all(struct toggle *toggle)
{
	char buffer[GENL_MESSAGE_BYTES];

	for (;;) {
		ssize_t length = recv(toggle->fd, buffer, sizeof(buffer), MSG_DONTWAIT);

		if (length > 0)
			toggle->costs.records++;
		else if (length < 0 && errno == ENOBUFS)
			toggle->costs.enobufs++;
		else if (length == 0 || errno != EINTR)
			return;
	}
}

static void take_drops(struct toggle *toggle)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t length = sizeof(info);

	toggle->costs.lost = ACT_UNKNOWN;
	if (getsockopt(toggle->fd, SOL_SOCKET, SO_MEMINFO, info, &length) == 0 &&
	    length >= (SK_MEMINFO_DROPS + 1) * sizeof(info[0]))
		toggle->costs.lost = info[SK_MEMINFO_DROPS];
}

/*
 * Whether a task is seen now, be it received or dropped for want of room.  The
 * kernel sends before the parent's wait or fork returns.
 */
static int see_one(struct toggle *toggle, int cpu)
{
	uint64_t records, enobufs;

	read_all(toggle);
	records = toggle->costs.records;
	enobufs = toggle->costs.enobufs;
	toggle_birth(cpu);
	read_all(toggle);
	return toggle->costs.records > records || toggle->costs.enobufs > enobufs ? 0 : -ENODATA;
}

static void begin(struct toggle *toggle)
{
	struct raw_listener *listener = toggle->data;

	toggle->costs = (struct condition_costs){ 0, 0, 0, 0 };
	listener->began_cpu_ns = clock_own_cpu_ns();
}

static void finish(struct toggle *toggle)
{
	const struct raw_listener *listener = toggle->data;

	if (toggle->fd < 0)
		return;
	read_all(toggle);
	take_drops(toggle);
	toggle->costs.cpu_ns = clock_own_cpu_ns() - listener->began_cpu_ns;
}

/* ---- raw-listener ---- */

static int parse_raw(struct toggle *toggle, struct act_why *why)
{
	return parse_listener(toggle, true, why);
}

/* The kernel takes no CPU that there is not, and knows no word for all. */
static int all_cpus(char text[32])
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (cpus < 1)
		return -ENOENT;
	snprintf(text, 32, "0-%ld", cpus - 1);
	return 0;
}

static int ask_cpus(struct raw_listener *listener, uint16_t attribute)
{
	char buffer[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
	struct nlmsghdr *request = genl_request(&listener->genl, buffer, TASKSTATS_CMD_GET);
	char all[32];
	const char *cpus = listener->cpus;

	if (!cpus && all_cpus(all) == 0)
		cpus = all;
	if (!cpus || strlen(cpus) > 1000)
		return -E2BIG;
	mnl_attr_put_strz(request, attribute, cpus);
	return genl_ask(&listener->genl, request, NULL, ASK_TIMEOUT_MS);
}

static int raw_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	struct raw_listener *listener = toggle->data;
	int ret = genl_open(&listener->genl, 0);

	*ret_was_so = false;
	if (ret < 0) {
		genl_explain(ret, why);
		return ret;
	}
	toggle->fd = genl_fd(&listener->genl);
	begin(toggle);
	ret = ask_cpus(listener, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK);
	if (ret < 0)
		return because(why, ret, "the kernel refused to register a listener on the CPUs %s: "
			       "%s%s", listener->cpus ? listener->cpus : "all", strerror(-ret),
			       ret == -EPERM ? "; CAP_NET_ADMIN is needed" : "");
	/* Only now: the answer must not be dropped for a tiny buffer. */
	ret = set_rcvbuf(toggle->fd, listener->rcvbuf_bytes, why);
	if (ret < 0)
		return ret;
	if (see_one(toggle, listener->first_cpu) < 0)
		return because(why, -ENODATA, "the listener is registered, but does not see that a "
			       "task ended on CPU %d", listener->first_cpu);
	return 0;
}

static int raw_check(struct toggle *toggle, struct act_why *why)
{
	const struct raw_listener *listener = toggle->data;

	finish(toggle); /* before our own tasks are counted */
	if (see_one(toggle, listener->first_cpu) < 0)
		return because(why, -ENODATA, "the listener does not see exits any more");
	return 0;
}

static int raw_off(struct toggle *toggle, struct act_why *why)
{
	struct raw_listener *listener = toggle->data;
	struct condition_costs costs = toggle->costs;
	int ret;

	if (toggle->fd < 0)
		return 0;
	/* Nor must the answer to this be dropped. */
	ret = set_rcvbuf(toggle->fd, ROOM_TO_ANSWER_BYTES, why);
	read_all(toggle);
	if (ret == 0)
		ret = ask_cpus(listener, TASKSTATS_CMD_ATTR_DEREGISTER_CPUMASK);
	if (ret == 0 && see_one(toggle, listener->first_cpu) == 0)
		ret = -EBUSY;
	/* What was read since the count was taken is of our own doing. */
	toggle->costs = costs;
	genl_close(&listener->genl);
	toggle->fd = -1;
	return ret < 0 ? because(why, ret, "cannot end the listener: %s", strerror(-ret)) : 0;
}

const struct toggle_kind toggle_raw_listener = {
	.name = "raw-listener", .form = "raw-listener[:cpus=LIST,rcvbuf=SIZE]",
	.facts = "netlink_generic", .is_listener = true,
	.parse = parse_raw, .on = raw_on, .serve = read_all, .check = raw_check, .off = raw_off,
};

/* ---- connector: the process events ---- */

static int parse_connector(struct toggle *toggle, struct act_why *why)
{
	return parse_listener(toggle, false, why);
}

/* PROC_CN_MCAST_LISTEN or PROC_CN_MCAST_IGNORE, Documentation/driver-api/connector.rst. */
static int tell_connector(int fd, enum proc_cn_mcast_op op)
{
	char buffer[NLMSG_SPACE(sizeof(struct cn_msg) + sizeof(op))] = { 0 };
	struct nlmsghdr header = {
		.nlmsg_len = NLMSG_LENGTH(sizeof(struct cn_msg) + sizeof(op)),
		.nlmsg_type = NLMSG_DONE, .nlmsg_pid = (uint32_t)getpid(),
	};
	struct cn_msg message = {
		.id = { .idx = CN_IDX_PROC, .val = CN_VAL_PROC }, .len = sizeof(op),
	};

	memcpy(buffer, &header, sizeof(header));
	memcpy(buffer + NLMSG_HDRLEN, &message, sizeof(message));
	memcpy(buffer + NLMSG_HDRLEN + sizeof(message), &op, sizeof(op));
	return send(fd, buffer, header.nlmsg_len, 0) < 0 ? -errno : 0;
}

static int connector_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC };
	const struct raw_listener *listener = toggle->data;
	int ret;

	*ret_was_so = false;
	toggle->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR);
	if (toggle->fd < 0)
		return because(why, -errno, "this kernel has no process events by connector "
			       "(CONFIG_PROC_EVENTS): %s", strerror(errno));
	begin(toggle);
	if (bind(toggle->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return because(why, -errno, "cannot listen to the process events: %s%s",
			       strerror(errno),
			       errno == EPERM ? "; CAP_NET_ADMIN is needed" : "");
	ret = set_rcvbuf(toggle->fd, listener->rcvbuf_bytes, why);
	if (ret < 0)
		return ret;
	ret = tell_connector(toggle->fd, PROC_CN_MCAST_LISTEN);
	if (ret < 0)
		return because(why, ret, "cannot ask for the process events: %s", strerror(-ret));
	/* The kernel's answer, with a buffer that is small, too. */
	read_all(toggle);
	if (see_one(toggle, -1) < 0)
		return because(why, -ENODATA, "the kernel sends no process events; was it built "
			       "with CONFIG_PROC_EVENTS, and are we in the initial namespaces?");
	return 0;
}

static int connector_check(struct toggle *toggle, struct act_why *why)
{
	finish(toggle);
	if (see_one(toggle, -1) < 0)
		return because(why, -ENODATA, "the process events have stopped meanwhile");
	return 0;
}

/* Others may listen, too: that events go on does not tell that we still do. */
static int connector_off(struct toggle *toggle, struct act_why *why)
{
	int ret;

	if (toggle->fd < 0)
		return 0;
	ret = tell_connector(toggle->fd, PROC_CN_MCAST_IGNORE);
	close(toggle->fd);
	toggle->fd = -1;
	return ret < 0 ? because(why, ret, "cannot end the process events: %s", strerror(-ret)) : 0;
}

const struct toggle_kind toggle_connector = {
	.name = "connector", .form = "connector[:rcvbuf=SIZE]",
	.facts = "netlink_connector", .is_listener = true,
	.parse = parse_connector, .on = connector_on, .serve = read_all,
	.check = connector_check, .off = connector_off,
};

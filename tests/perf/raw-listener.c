/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The yardstick: what it costs to keep exits in the plainest way, as the
 * kernel's own example `getdelays -w` does.  One taskstats socket for all
 * CPUs with the default buffer, one message at a time, the raw structs written
 * to a file as they come; nothing is decoded and no loss is counted.
 *
 *	raw-listener FILE
 *
 * Says "listening" on stderr, and on SIGTERM or SIGINT prints, as JSON, the
 * structs, bytes, ENOBUFS and own CPU time.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#define HEADERS (NLMSG_HDRLEN + GENL_HDRLEN)

static volatile sig_atomic_t is_over;

static void on_signal(int number)
{
	(void)number;
	is_over = 1;
}

static void send_request(int fd, uint16_t family, uint8_t command, uint16_t type,
			 const void *data, size_t length)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	_Alignas(struct nlmsghdr) uint8_t message[1024] = { 0 };
	struct nlmsghdr *header = (void *)message;
	struct genlmsghdr *genl = NLMSG_DATA(header);
	struct nlattr *attr = (void *)(message + HEADERS);

	if (length > sizeof(message) - HEADERS - NLA_HDRLEN)
		errx(1, "request too long");
	genl->cmd = command;
	genl->version = 1;
	attr->nla_type = type;
	attr->nla_len = (uint16_t)(NLA_HDRLEN + length);
	memcpy((uint8_t *)attr + NLA_HDRLEN, data, length);
	header->nlmsg_len = (uint32_t)(HEADERS + NLA_ALIGN(attr->nla_len));
	header->nlmsg_type = family;
	header->nlmsg_flags = NLM_F_REQUEST;
	if (sendto(fd, message, header->nlmsg_len, 0, (struct sockaddr *)&kernel,
		   sizeof(kernel)) < 0)
		err(1, "cannot send");
}

/* The attribute at @at, or NULL if what is left does not hold one. */
static const struct nlattr *attribute(const uint8_t *at, const uint8_t *end)
{
	const struct nlattr *attr = (const void *)at;

	if (end - at < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN || attr->nla_len > end - at)
		return NULL;
	return attr;
}

static uint16_t find_family(int fd)
{
	_Alignas(struct nlmsghdr) uint8_t message[4096];
	const struct nlattr *attr;
	const uint8_t *at = message + HEADERS, *end;
	uint16_t family;
	ssize_t got;

	send_request(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		     TASKSTATS_GENL_NAME, sizeof(TASKSTATS_GENL_NAME));
	got = recv(fd, message, sizeof(message), 0);
	if (got < (ssize_t)HEADERS)
		errx(1, "no taskstats here");
	for (end = message + got; (attr = attribute(at, end)); at += NLA_ALIGN(attr->nla_len)) {
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID) {
			memcpy(&family, (const uint8_t *)attr + NLA_HDRLEN, sizeof(family));
			return family;
		}
	}
	errx(1, "no taskstats here");
}

static void register_all(int fd, uint16_t family)
{
	char cpus[256] = "";
	FILE *file = fopen("/sys/devices/system/cpu/possible", "r");

	if (!file || !fgets(cpus, sizeof(cpus), file))
		err(1, "cannot read the possible CPUs");
	fclose(file);
	cpus[strcspn(cpus, "\n")] = '\0';
	send_request(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus,
		     strlen(cpus) + 1);
}

struct totals {
	uint64_t structs, bytes, enobufs;
};

static void keep_structs(int file, const uint8_t *at, const uint8_t *end, struct totals *totals)
{
	const struct nlattr *attr;

	for (; (attr = attribute(at, end)); at += NLA_ALIGN(attr->nla_len)) {
		const uint8_t *data = (const uint8_t *)attr + NLA_HDRLEN;
		size_t length = attr->nla_len - NLA_HDRLEN;

		if (attr->nla_type == TASKSTATS_TYPE_AGGR_PID ||
		    attr->nla_type == TASKSTATS_TYPE_AGGR_TGID) {
			keep_structs(file, data, data + length, totals);
		} else if (attr->nla_type == TASKSTATS_TYPE_STATS) {
			if (write(file, data, length) != (ssize_t)length)
				err(1, "cannot write");
			totals->structs++;
			totals->bytes += length;
		}
	}
}

static void listen_until_over(int fd, int file, struct totals *totals)
{
	_Alignas(struct nlmsghdr) uint8_t message[8192];

	while (!is_over) {
		ssize_t got = recv(fd, message, sizeof(message), 0);

		if (got < 0 && errno == ENOBUFS)
			totals->enobufs++;
		else if (got < 0 && errno != EINTR)
			err(1, "cannot receive");
		else if (got > (ssize_t)HEADERS)
			keep_structs(file, message + HEADERS, message + got, totals);
	}
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sockaddr_nl self = { .nl_family = AF_NETLINK };
	struct totals totals = { 0 };
	struct rusage usage;
	int fd, file;

	if (argc != 2)
		errx(2, "usage: raw-listener FILE");
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0 || bind(fd, (struct sockaddr *)&self, sizeof(self)) < 0)
		err(1, "cannot open a netlink socket");
	file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file < 0)
		err(1, "%s", argv[1]);
	register_all(fd, find_family(fd));
	fputs("listening\n", stderr);
	listen_until_over(fd, file, &totals);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"structs\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"enobufs\":%" PRIu64
	       ",\"cpu_s\":%.6f}\n", totals.structs, totals.bytes, totals.enobufs,
	       seconds(usage.ru_utime) + seconds(usage.ru_stime));
	return 0;
}

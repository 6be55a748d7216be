/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A message to another program's generic netlink socket.
 *
 *	stranger PORT
 *
 * Prints "sent", or "refused" if the kernel would not deliver it.
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

int main(int argc, char **argv)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct {
		struct nlmsghdr header;
		struct genlmsghdr genl;
	} message = { .header = { .nlmsg_len = sizeof(message), .nlmsg_type = 0x20 } };
	char *end;
	int fd;

	if (argc != 2)
		errx(2, "usage: stranger PORT");
	to.nl_pid = (uint32_t)strtoul(argv[1], &end, 10);
	if (*end || to.nl_pid == 0)
		errx(2, "not a port: %s", argv[1]);
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (fd < 0)
		err(1, "cannot open a netlink socket");
	if (sendto(fd, &message, sizeof(message), 0, (struct sockaddr *)&to, sizeof(to)) >= 0)
		puts("sent");
	else if (errno == ECONNREFUSED)
		puts("refused");
	else
		err(1, "cannot send");
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/environment.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/netlink.h>

#define PROGRAMS_MAX 65536

static int add_number(struct environment *environment, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return environment_add(environment, key, text);
}

static int add_limit(struct environment *environment, const char *key, int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return environment_add(environment, key, NULL);
	return limit.rlim_cur == RLIM_INFINITY ? environment_add(environment, key, "unlimited")
					       : add_number(environment, key, limit.rlim_cur);
}

static int add_scheduling(struct environment *environment)
{
	static const char *const names[] = {
		[SCHED_OTHER] = "other", [SCHED_FIFO] = "fifo", [SCHED_RR] = "rr",
		[SCHED_BATCH] = "batch", [SCHED_IDLE] = "idle",
	};
	int policy = sched_getscheduler(0);
	bool is_named = policy >= 0 && (size_t)policy < sizeof(names) / sizeof(*names) &&
			names[policy];
	char text[16];
	int nice_value, ret;

	ret = environment_add(environment, "policy", is_named ? names[policy] : NULL);
	errno = 0;
	nice_value = getpriority(PRIO_PROCESS, 0);
	snprintf(text, sizeof(text), "%d", nice_value);
	return ret < 0 ? ret : environment_add(environment, "nice", errno ? NULL : text);
}

/* How many BPF programs are loaded; needs CAP_SYS_ADMIN. */
static int add_bpf(struct environment *environment)
{
	union bpf_attr attr = { 0 };
	uint64_t n = 0;

	while (n < PROGRAMS_MAX &&
	       syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr)) == 0) {
		attr.start_id = attr.next_id;
		n++;
	}
	return errno == ENOENT || n == PROGRAMS_MAX
		       ? add_number(environment, "bpf_programs", n)
		       : environment_add(environment, "bpf_programs", NULL);
}

/* ---- Audit, over netlink: linux/audit.h ---- */

static int audit_ask(int fd, uint16_t type)
{
	struct nlmsghdr request = {
		.nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST,
		.nlmsg_seq = 1,
	};
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return sendto(fd, &request, request.nlmsg_len, 0, (struct sockaddr *)&kernel,
		      sizeof(kernel)) < 0 ? -errno : 0;
}

/* The length of an answer of that type; 0: it is of another, or none comes. */
static size_t audit_receive(int fd, uint16_t type, char *buffer, size_t room)
{
	struct timeval patience = { .tv_sec = 1 };
	struct nlmsghdr header;
	ssize_t length;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	length = recv(fd, buffer, room, 0);
	if (length < (ssize_t)sizeof(header))
		return 0;
	memcpy(&header, buffer, sizeof(header));
	return header.nlmsg_type == type ? (size_t)length : 0;
}

static int add_audit(struct environment *environment)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	char buffer[16384];
	size_t needed = NLMSG_HDRLEN + offsetof(struct audit_status, failure), rules = 0;
	struct audit_status status;
	bool is_known = false;
	int ret;

	if (fd >= 0 && audit_ask(fd, AUDIT_GET) == 0 &&
	    audit_receive(fd, AUDIT_GET, buffer, sizeof(buffer)) >= needed) {
		memcpy(&status, buffer + NLMSG_HDRLEN, offsetof(struct audit_status, failure));
		is_known = true;
	}
	ret = is_known ? add_number(environment, "audit", status.enabled)
		       : environment_add(environment, "audit", NULL);
	is_known = is_known && audit_ask(fd, AUDIT_LIST_RULES) == 0;
	while (is_known && rules < PROGRAMS_MAX &&
	       audit_receive(fd, AUDIT_LIST_RULES, buffer, sizeof(buffer)))
		rules++;
	if (fd >= 0)
		close(fd);
	if (ret < 0)
		return ret;
	return is_known ? add_number(environment, "audit_rules", rules)
			: environment_add(environment, "audit_rules", NULL);
}

/* ---- */

/* It lies above the stack and moves it: Mytkowicz et al., ASPLOS 2009. */
static uint64_t environ_bytes(void)
{
	uint64_t bytes = 0;

	for (char **entry = environ; *entry; entry++)
		bytes += strlen(*entry) + 1;
	return bytes;
}

static const char compiler[] =
#ifdef __VERSION__
	__VERSION__
#endif
#ifdef __OPTIMIZE__
	", optimized"
#else
	", not optimized"
#endif
#if defined(__SANITIZE_ADDRESS__)
	", with address sanitizer"
#endif
	;

int environment_capture_process(struct environment *environment)
{
	int ret = environment_add(environment, "libc", gnu_get_libc_version());

	if (ret == 0)
		ret = environment_add(environment, "compiler", compiler);
	if (ret == 0)
		ret = add_scheduling(environment);
	if (ret == 0)
		ret = add_limit(environment, "limit_processes", RLIMIT_NPROC);
	if (ret == 0)
		ret = add_limit(environment, "limit_stack", RLIMIT_STACK);
	if (ret == 0)
		ret = add_limit(environment, "limit_files", RLIMIT_NOFILE);
	if (ret == 0)
		ret = add_number(environment, "environ_bytes", environ_bytes());
	if (ret == 0)
		ret = add_bpf(environment);
	return ret < 0 ? ret : add_audit(environment);
}

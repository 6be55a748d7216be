/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs to listen to, and all that needs CAP_NET_ADMIN. */
#include "source/taskstats.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/taskstats.h>

#include "base/clock.h"
#include "base/parse.h"

/* The kernel doubles what it is passed, so this shows as 16 MiB. */
#define RCVBUF_BYTES (8 * 1024 * 1024)
#define INTERVAL_NS (20 * NSEC_PER_MSEC)
#define REGISTER_TIMEOUT_MS 2000

/* Below the usual net.core.rmem_max, so that it is had without privileges, too. */
#define ROOM_FOR_CHILDREN_BYTES (128 * 1024)

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define CPULIST_BYTES 4096

static size_t highest(const unsigned char *set)
{
	size_t cpu = CPUS_MAX;

	while (cpu > 0 && !set[cpu - 1])
		cpu--;
	return cpu;
}

static int read_possible(unsigned char *ret_set, struct act_why *ret_why)
{
	char text[CPULIST_BYTES];
	FILE *file = fopen(POSSIBLE, "re");
	int ret = -ENOENT;

	if (file) {
		ret = fgets(text, sizeof(text), file) ? parse_cpulist(text, ret_set, CPUS_MAX)
						      : -EIO;
		fclose(file);
	}
	if (ret < 0)
		source_explain(ret_why, "cannot tell which CPUs there are from " POSSIBLE ": %s",
			       strerror(-ret));
	return ret;
}

/* Which CPUs to listen to: all that may ever come, or those of @list. */
static int choose_cpus(const char *list, unsigned char *ret_set, struct act_why *ret_why)
{
	unsigned char possible[CPUS_MAX] = { 0 };
	size_t limit;
	int ret = read_possible(possible, ret_why);

	if (ret < 0)
		return ret;
	limit = highest(possible);
	if (!list) {
		memcpy(ret_set, possible, CPUS_MAX);
		return 0;
	}
	ret = parse_cpulist(list, ret_set, limit);
	for (size_t cpu = 0; ret == 0 && cpu < limit; cpu++)
		if (ret_set[cpu] && !possible[cpu])
			ret = -ERANGE;
	if (ret == -ERANGE)
		source_explain(ret_why, "CPU list '%.100s': this machine has no CPU beyond %zu",
			       list, limit - 1);
	else if (ret < 0)
		source_explain(ret_why, "'%.100s' is not a CPU list; write it as '0-3,8' or 'all'",
			       list);
	return ret < 0 ? -EINVAL : 0;
}

static int register_cpu(struct listener *listener)
{
	char buffer[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
	struct nlmsghdr *request = genl_request(&listener->genl, buffer, TASKSTATS_CMD_GET);
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%d", listener->cpu);
	/* Without the NUL Linux 6.18 cuts the last digit, and says nothing. */
	mnl_attr_put_strz(request, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpu);
	return genl_ask(&listener->genl, request, NULL, REGISTER_TIMEOUT_MS);
}

/*
 * From a socket that is connected to it the kernel alone is heard: it refuses
 * what other programs send there (netlink_getsockbyportid()).
 */
static int connect_to_kernel(int fd)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };

	return connect(fd, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0 ? -errno : 0;
}

/* FORCE goes beyond net.core.rmem_max, with CAP_NET_ADMIN. */
static int ask_rcvbuf(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) < 0)
		return -errno;
	return 0;
}

void taskstats_make_room(struct exits *exits, bool is_needed)
{
	if (exits->rcvbuf_bytes >= ROOM_FOR_CHILDREN_BYTES)
		return;
	for (size_t i = 0; i < exits->listeners; i++)
		ask_rcvbuf(genl_fd(&exits->listener[i].genl),
			   is_needed ? ROOM_FOR_CHILDREN_BYTES : (int)exits->rcvbuf_bytes);
}

static int set_rcvbuf(struct exits *exits, int fd)
{
	int bytes, ret = ask_rcvbuf(fd, (int)exits->rcvbuf_bytes);
	socklen_t length = sizeof(bytes);

	if (ret < 0)
		return ret;
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) < 0)
		return -errno;
	exits->source.stats.rcvbuf_bytes = (uint64_t)bytes;
	return 0;
}

/* Errors other than a refusal to register are left to the caller to explain. */
static int open_listener(struct exits *exits, int cpu, uint16_t family,
			 struct act_why *ret_why)
{
	size_t index = exits->listeners;
	struct listener *listener = &exits->listener[index];
	int ret;

	listener->cpu = cpu;
	ret = genl_open(&listener->genl, family);
	if (ret < 0) {
		genl_explain(ret, ret_why);
		return ret;
	}
	exits->pollfd[index] = (struct pollfd){ .fd = genl_fd(&listener->genl), .events = POLLIN };
	exits->listeners++;
	ret = register_cpu(listener);
	if (ret < 0) {
		taskstats_explain_refusal(ret, ret_why);
		/* That's how it refuses another pid namespace; the options are fine. */
		return ret == -EINVAL ? -EPERM : ret;
	}
	/* Only now: the answer must not be dropped for a tiny buffer. */
	ret = set_rcvbuf(exits, genl_fd(&listener->genl));
	if (ret == 0)
		ret = connect_to_kernel(genl_fd(&listener->genl));
	if (ret < 0)
		source_explain(ret_why, "cannot prepare the socket of CPU %d: %s", cpu,
			       strerror(-ret));
	return ret;
}

static int open_listeners(struct exits *exits, const unsigned char *set,
			  struct act_why *ret_why)
{
	uint16_t family = 0;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		int ret;

		if (!set[cpu])
			continue;
		ret = open_listener(exits, cpu, family, ret_why);
		if (ret < 0)
			return ret;
		family = exits->listener[0].genl.family;
	}
	exits->intake.family = family;
	return 0;
}

static void batch_init(struct batch *batch)
{
	for (size_t i = 0; i < BATCH; i++) {
		struct msghdr *header = &batch->header[i].msg_hdr;

		batch->iov[i] = (struct iovec){ batch->bytes[i], sizeof(batch->bytes[i]) };
		header->msg_iov = &batch->iov[i];
		header->msg_iovlen = 1;
	}
}

static int allocate(struct exits *exits, const unsigned char *set)
{
	int numbers[CPUS_MAX];
	size_t count = 0;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (set[cpu])
			numbers[count++] = cpu;
	exits->listener = calloc(count, sizeof(*exits->listener));
	exits->pollfd = calloc(count, sizeof(*exits->pollfd));
	if (!exits->listener || !exits->pollfd)
		return -ENOMEM;
	batch_init(&exits->batch);
	return intake_init(&exits->intake, &exits->source.stats, numbers, count);
}

static int begin_capture(struct exits *exits, const char *path,
			 struct act_why *ret_why)
{
	uint64_t now_ns = clock_wall_ns();
	int ret = capture_create(path, exits->intake.family, now_ns, &exits->capture);
	uint16_t cpus[CPUS_MAX];

	if (ret < 0) {
		source_explain(ret_why, "cannot keep messages in %s: %s", path, strerror(-ret));
		return ret;
	}
	for (size_t i = 0; i < exits->listeners; i++)
		cpus[i] = (uint16_t)exits->listener[i].cpu;
	capture_append(exits->capture, CAPTURE_CPUS, 0, now_ns, cpus,
		       exits->listeners * sizeof(cpus[0]));
	return 0;
}

/* The counting begins here: what was dropped before is nobody's loss. */
static void begin_counting(struct exits *exits)
{
	uint64_t now_ns = clock_wall_ns();

	delayacct_open(&exits->intake.delayacct, now_ns);
	exits->source.stats.delayacct = exits->intake.delayacct.state;
	taskstats_capture_switch(exits, now_ns);
	for (size_t i = 0; i < exits->listeners; i++) {
		const struct sequence_cpu *stream = &exits->intake.sequence.cpu[i];

		if (exits->capture && stream->is_started)
			capture_append(exits->capture, CAPTURE_START,
				       exits->listener[i].cpu, now_ns, &stream->next,
				       sizeof(stream->next));
	}
}

static int open_taskstats(struct exits *exits,
			  const struct act_taskstats_options *options, struct act_why *ret_why)
{
	unsigned char set[CPUS_MAX] = { 0 };
	int ret = choose_cpus(options->cpus, set, ret_why);

	if (ret < 0)
		return ret;
	ret = allocate(exits, set);
	if (ret < 0) {
		source_explain(ret_why, "cannot set up: %s", strerror(-ret));
		return ret;
	}
	ret = open_listeners(exits, set, ret_why);
	if (ret == 0)
		ret = taskstats_check_net(ret_why);
	/* Before the test, so that a name that is taken costs no time. */
	if (ret == 0 && options->capture)
		ret = begin_capture(exits, options->capture, ret_why);
	if (ret == 0 && !options->skip_self_test) {
		taskstats_make_room(exits, true);
		ret = taskstats_self_test(exits, ret_why);
		taskstats_make_room(exits, false);
	}
	if (ret == 0)
		begin_counting(exits);
	return ret;
}

int act_source_open_taskstats(const struct act_taskstats_options *options,
			      struct act_source **ret_source, struct act_why *ret_why)
{
	struct exits *exits;
	int ret;

	if (options->size != sizeof(*options) || options->rcvbuf_bytes > INT_MAX / 2) {
		source_explain(ret_why, "a receive buffer of %llu bytes is beyond what the "
			       "kernel takes, %d", (unsigned long long)options->rcvbuf_bytes,
			       INT_MAX / 2);
		return -EINVAL;
	}
	exits = calloc(1, sizeof(*exits));
	if (!exits) {
		source_explain(ret_why, "cannot set up: %s", strerror(ENOMEM));
		return -ENOMEM;
	}
	exits->source.ops = &taskstats_ops;
	exits->intake.delayacct.fd = -1;
	exits->rcvbuf_bytes = options->rcvbuf_bytes ? options->rcvbuf_bytes : RCVBUF_BYTES;
	exits->interval_max_ns = options->interval_ns ? options->interval_ns : INTERVAL_NS;
	exits->source.stats.interval_ns = exits->interval_max_ns;
	ret = open_taskstats(exits, options, ret_why);
	if (ret < 0) {
		act_source_free(&exits->source);
		return ret;
	}
	*ret_source = &exits->source;
	return 0;
}

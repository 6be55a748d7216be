/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's exit messages: one socket for each CPU.
 *
 * A socket for each CPU, because messages do not tell their CPU and their
 * numbers are per CPU: only so are losses counted exactly.  Messages are not
 * taken one by one as they come but in batches on a short timer: a wake-up for
 * each costs five times the CPU and slows the tasks that exit.
 *
 * After an overflow the kernel drops everything until the queue was emptied
 * (netlink_attachskb(), NETLINK_S_CONGESTED), so a socket is always read until
 * nothing is left.
 */
#include "source/taskstats.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <linux/sock_diag.h>
#include <linux/taskstats.h>

#include "base/clock.h"
#include "base/parse.h"
#include "source/closer.h"

/* The kernel doubles what it is passed, so this shows as 16 MiB. */
#define RCVBUF_BYTES (8 * 1024 * 1024)
#define INTERVAL_NS (10 * NSEC_PER_MSEC)
#define INTERVAL_MIN_NS NSEC_PER_MSEC

/* Of one socket in one drain; beyond it the caller gets a turn. */
#define DRAIN_MESSAGES 65536

#define REGISTER_TIMEOUT_MS 2000
#define CLOSE_TIMEOUT_NS NSEC_PER_SEC

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define CPUS_MAX 8192 /* CONFIG_NR_CPUS at its largest on x86 and arm64 */
#define CPULIST_BYTES 4096

/* ---- Receiving ---- */

static void batch_init(struct batch *batch)
{
	for (size_t i = 0; i < BATCH; i++) {
		struct msghdr *header = &batch->header[i].msg_hdr;

		batch->iov[i] = (struct iovec){ batch->bytes[i], sizeof(batch->bytes[i]) };
		header->msg_iov = &batch->iov[i];
		header->msg_iovlen = 1;
		header->msg_name = &batch->sender[i];
	}
}

int taskstats_receive(struct exits *exits, size_t listener, size_t limit)
{
	struct batch *batch = &exits->batch;
	int fd = genl_fd(&exits->listener[listener].genl);
	int ret;

	for (size_t i = 0; i < limit; i++)
		batch->header[i].msg_hdr.msg_namelen = sizeof(batch->sender[i]);
	do {
		ret = recvmmsg(fd, batch->header, (unsigned int)limit, MSG_DONTWAIT, NULL);
	} while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return errno == EAGAIN ? 0 : -errno;
	batch->listener = listener;
	batch->at = 0;
	batch->count = (size_t)ret;
	batch->time_ns = clock_wall_ns();
	return ret;
}

const void *taskstats_message(const struct exits *exits, size_t index,
			      size_t *ret_length)
{
	const struct batch *batch = &exits->batch;

	if (batch->header[index].msg_hdr.msg_namelen < sizeof(struct sockaddr_nl) ||
	    batch->sender[index].nl_pid != 0)
		return NULL;
	*ret_length = batch->header[index].msg_len;
	return batch->bytes[index];
}

static void read_drops(struct exits *exits, size_t index)
{
	struct listener *listener = &exits->listener[index];
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t length = sizeof(info);
	uint64_t drops;

	/* Since Linux 4.12; without it losses are counted all the same. */
	if (getsockopt(genl_fd(&listener->genl), SOL_SOCKET, SO_MEMINFO, info, &length) < 0 ||
	    length < (SK_MEMINFO_DROPS + 1) * sizeof(info[0]) ||
	    info[SK_MEMINFO_DROPS] == listener->drops_seen)
		return;
	drops = exits->intake.cpu[index].drops +
		(uint32_t)(info[SK_MEMINFO_DROPS] - listener->drops_seen);
	listener->drops_seen = info[SK_MEMINFO_DROPS];
	intake_drops(&exits->intake, index, drops);
	if (exits->capture)
		capture_append(exits->capture, CAPTURE_DROPS, listener->cpu, clock_wall_ns(),
			       &drops, sizeof(drops));
}

/* ---- Delivering ---- */

static int deliver_one(struct exits *exits, size_t index, const struct act_sink *sink)
{
	const struct batch *batch = &exits->batch;
	struct listener *listener = &exits->listener[batch->listener];
	struct intake *intake = &exits->intake;
	const void *message;
	size_t length;
	int ret;

	message = taskstats_message(exits, index, &length);
	if (!message) {
		exits->source.stats.alien++;
		return 0;
	}
	if (exits->capture)
		capture_append(exits->capture, CAPTURE_MESSAGE, listener->cpu,
			       batch->time_ns, message, length);
	ret = intake_message(intake, batch->listener, message, length, batch->time_ns, sink);
	if (listener->closer && intake->decoded.has_task &&
	    intake->decoded.task.tid == (uint64_t)listener->closer)
		listener->closer = 0;
	return ret;
}

/* What a sink refused to go on with is delivered at the next drain. */
static int deliver_batch(struct exits *exits, const struct act_sink *sink)
{
	struct batch *batch = &exits->batch;
	int ret = 0;

	while (ret == 0 && batch->at < batch->count)
		ret = deliver_one(exits, batch->at++, sink);
	return ret;
}

/* About what the kernel charges the receive buffer for the batch. */
static size_t charged_bytes(const struct batch *batch, size_t count)
{
	size_t bytes = 0;

	/* Measured: 1280 for 596 bytes, 2304 for 1172. */
	for (size_t i = 0; i < count; i++)
		bytes += 2 * (size_t)batch->header[i].msg_len + 128;
	return bytes;
}

static int drain_listener(struct exits *exits, size_t index, size_t *bytes,
			  const struct act_sink *sink)
{
	bool is_overflowed = false;
	size_t messages = 0;
	int ret = 0;

	while (ret == 0 && messages < DRAIN_MESSAGES) {
		int count = taskstats_receive(exits, index, BATCH);

		if (count == -ENOBUFS) {
			exits->source.stats.enobufs++;
			is_overflowed = true;
			messages++;
			continue;
		}
		if (count <= 0) {
			ret = count;
			break;
		}
		messages += (size_t)count;
		*bytes += charged_bytes(&exits->batch, (size_t)count);
		ret = deliver_batch(exits, sink);
		if (count < BATCH)
			break;
	}
	if (is_overflowed)
		read_drops(exits, index);
	exits->is_busy |= messages > 0;
	return ret;
}

static void adapt_interval(struct exits *exits, size_t bytes)
{
	uint64_t *interval_ns = &exits->source.stats.interval_ns;
	uint64_t rcvbuf = exits->source.stats.rcvbuf_bytes;

	if (bytes > rcvbuf / 4)
		*interval_ns /= 2;
	else if (bytes < rcvbuf / 16)
		*interval_ns *= 2;
	if (*interval_ns < INTERVAL_MIN_NS)
		*interval_ns = INTERVAL_MIN_NS;
	if (*interval_ns > exits->interval_max_ns)
		*interval_ns = exits->interval_max_ns;
}

static void capture_switch(struct exits *exits, uint64_t now_ns)
{
	const struct delayacct *delayacct = &exits->intake.delayacct;
	struct capture_switch payload = { delayacct->state, delayacct->since_ns };

	if (exits->capture)
		capture_append(exits->capture, CAPTURE_SWITCH, 0, now_ns, &payload,
			       sizeof(payload));
}

static void look_at_switch(struct exits *exits)
{
	uint64_t now_ns = clock_wall_ns();

	if (delayacct_look(&exits->intake.delayacct, now_ns))
		capture_switch(exits, now_ns);
	exits->source.stats.delayacct = exits->intake.delayacct.state;
}

static int drain_ready(struct exits *exits, const struct act_sink *sink)
{
	struct epoll_event ready[BATCH];
	size_t most = 0;
	int count, ret = 0;

	/* Level-triggered and fair: whoever is not among them is the next time. */
	do {
		count = epoll_wait(exits->epoll, ready, BATCH, 0);
		if (count < 0)
			return errno == EINTR ? 0 : -errno;
		for (int i = 0; ret == 0 && i < count; i++) {
			size_t bytes = 0;

			ret = drain_listener(exits, ready[i].data.u64, &bytes, sink);
			most = bytes > most ? bytes : most;
		}
	} while (ret == 0 && count == BATCH);
	adapt_interval(exits, most);
	return ret;
}

static int drain_taskstats(struct act_source *source, const struct act_sink *sink)
{
	struct exits *exits = (struct exits *)source;
	int ret;

	look_at_switch(exits);
	exits->is_busy = exits->batch.at < exits->batch.count;
	ret = deliver_batch(exits, sink);
	if (ret == 0)
		ret = drain_ready(exits, sink);
	if (ret == 0)
		ret = intake_settle(&exits->intake, sink);
	source->stats.drains++;
	return ret;
}

/* ---- Waiting ---- */

static void sleep_ns(uint64_t ns)
{
	struct timespec time = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				 .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	/* Not slept on when interrupted: the caller looks at its signals. */
	nanosleep(&time, NULL);
}

static int wait_taskstats(struct act_source *source, uint64_t timeout_ns)
{
	struct exits *exits = (struct exits *)source;
	uint64_t interval_ns = source->stats.interval_ns;
	uint64_t began_ns = clock_monotonic_ns();

	if (!exits->is_busy) {
		struct pollfd pollfd = { .fd = exits->epoll, .events = POLLIN };
		struct timespec time = { .tv_sec = (time_t)(timeout_ns / NSEC_PER_SEC),
					 .tv_nsec = (long)(timeout_ns % NSEC_PER_SEC) };
		uint64_t waited_ns;
		int ret = ppoll(&pollfd, 1, &time, NULL);

		if (ret < 0 && errno != EINTR)
			return -errno;
		waited_ns = clock_monotonic_ns() - began_ns;
		if (ret <= 0 || waited_ns >= timeout_ns)
			return 0;
		timeout_ns -= waited_ns;
	}
	sleep_ns(interval_ns < timeout_ns ? interval_ns : timeout_ns);
	return 0;
}

/* ---- Finishing ---- */

/* Sends a child to each CPU that is not closed.  True if one was sent. */
static bool send_closers(struct exits *exits, bool *is_closed)
{
	bool is_sent = false;

	for (size_t i = 0; i < exits->listeners; i++) {
		struct listener *listener = &exits->listener[i];

		if (is_closed[i])
			continue;
		if (closer_run(listener->cpu, &listener->closer) < 0)
			listener->closer = 0;
		else
			is_sent = true;
	}
	return is_sent;
}

/* Returns 1 when every CPU that a child can reach is closed, 0, or an error. */
static int close_streams(struct exits *exits, bool *is_closed,
			 const struct act_sink *sink)
{
	bool was_sent[CPUS_MAX];
	int ret;

	if (!send_closers(exits, is_closed))
		return 1;
	for (size_t i = 0; i < exits->listeners; i++)
		was_sent[i] = exits->listener[i].closer != 0;
	ret = drain_taskstats(&exits->source, sink);
	if (ret < 0)
		return ret;
	ret = 1;
	for (size_t i = 0; i < exits->listeners; i++) {
		is_closed[i] |= was_sent[i] && exits->listener[i].closer == 0;
		if (was_sent[i] && !is_closed[i])
			ret = 0;
		exits->listener[i].closer = 0;
	}
	return ret;
}

/* Losses of CPUs that no child reached: by the drop counter at least. */
static int write_off(struct exits *exits, const bool *is_closed,
		     const struct act_sink *sink)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < exits->listeners; i++) {
		read_drops(exits, i);
		if (!is_closed[i])
			ret = intake_write_off(&exits->intake, i, clock_wall_ns(), sink);
	}
	return ret;
}

static int finish_taskstats(struct act_source *source, const struct act_sink *sink)
{
	struct exits *exits = (struct exits *)source;
	uint64_t deadline_ns = clock_monotonic_ns() + CLOSE_TIMEOUT_NS;
	bool *is_closed = calloc(exits->listeners, sizeof(*is_closed));
	int ret;

	if (!is_closed)
		return -ENOMEM;
	do {
		ret = close_streams(exits, is_closed, sink);
	} while (ret == 0 && clock_monotonic_ns() < deadline_ns);
	/* A foreign number may be on its way while its hole shows already. */
	if (ret >= 0 && sequence_pending(&exits->intake.sequence) > 0) {
		sleep_ns(INTERVAL_MIN_NS);
		ret = drain_taskstats(source, sink);
	}
	if (ret >= 0)
		ret = intake_flush(&exits->intake, sink);
	if (ret >= 0)
		ret = write_off(exits, is_closed, sink);
	free(is_closed);
	if (ret >= 0 && exits->capture)
		exits->capture_error = capture_flush(exits->capture);
	return ret < 0 ? ret : exits->capture_error;
}

static bool is_behind_taskstats(struct act_source *source)
{
	struct exits *exits = (struct exits *)source;

	for (size_t i = 0; i < exits->listeners; i++)
		read_drops(exits, i);
	return intake_is_behind(&exits->intake);
}

/* ---- Opening ---- */

static void free_taskstats(struct act_source *source)
{
	struct exits *exits = (struct exits *)source;

	for (size_t i = 0; i < exits->listeners; i++)
		genl_close(&exits->listener[i].genl);
	if (exits->epoll >= 0)
		close(exits->epoll);
	capture_close(exits->capture);
	intake_release(&exits->intake);
	free(exits->listener);
	free(exits);
}

static const struct source_ops taskstats_ops = {
	.wait = wait_taskstats,
	.drain = drain_taskstats,
	.finish = finish_taskstats,
	.is_behind = is_behind_taskstats,
	.free = free_taskstats,
};

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

/* FORCE goes beyond net.core.rmem_max, with CAP_NET_ADMIN. */
static int set_rcvbuf(struct exits *exits, int fd)
{
	int bytes = (int)exits->rcvbuf_bytes;
	socklen_t length = sizeof(bytes);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)) < 0)
		return -errno;
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
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = index };
	int ret;

	listener->cpu = cpu;
	ret = genl_open(&listener->genl, family);
	if (ret < 0) {
		genl_explain(ret, ret_why);
		return ret;
	}
	exits->listeners++;
	ret = register_cpu(listener);
	if (ret < 0) {
		taskstats_explain_refusal(ret, ret_why);
		return ret;
	}
	/* Only now: the answer must not be dropped for a tiny buffer. */
	ret = set_rcvbuf(exits, genl_fd(&listener->genl));
	if (ret == 0 && epoll_ctl(exits->epoll, EPOLL_CTL_ADD, genl_fd(&listener->genl),
				  &event) < 0)
		ret = -errno;
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

static int allocate(struct exits *exits, const unsigned char *set)
{
	int numbers[CPUS_MAX];
	size_t count = 0;

	for (int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (set[cpu])
			numbers[count++] = cpu;
	exits->listener = calloc(count, sizeof(*exits->listener));
	if (!exits->listener)
		return -ENOMEM;
	exits->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (exits->epoll < 0)
		return -errno;
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
	capture_switch(exits, now_ns);
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
	if (ret == 0 && !options->skip_self_test)
		ret = taskstats_self_test(exits, ret_why);
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
	exits->epoll = -1;
	exits->intake.delayacct.fd = -1;
	exits->rcvbuf_bytes = options->rcvbuf_bytes ? options->rcvbuf_bytes : RCVBUF_BYTES;
	exits->interval_max_ns = options->interval_ns ? options->interval_ns : INTERVAL_NS;
	exits->source.stats.interval_ns = exits->interval_max_ns;
	ret = open_taskstats(exits, options, ret_why);
	if (ret < 0) {
		free_taskstats(&exits->source);
		return ret;
	}
	*ret_source = &exits->source;
	return 0;
}

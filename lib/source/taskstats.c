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
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <linux/sock_diag.h>

#include "base/clock.h"
#include "source/closer.h"

#define INTERVAL_MIN_NS NSEC_PER_MSEC

/* Of one socket in one drain; beyond it the caller gets a turn. */
#define DRAIN_MESSAGES 65536

#define CLOSE_TIMEOUT_NS NSEC_PER_SEC
#define LATE_TIMEOUT_NS NSEC_PER_SEC

/* ---- Receiving ---- */

int taskstats_receive(struct exits *exits, size_t listener, size_t limit)
{
	struct batch *batch = &exits->batch;
	int fd = genl_fd(&exits->listener[listener].genl);
	int ret;

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

static void read_all_drops(struct exits *exits)
{
	for (size_t i = 0; i < exits->listeners; i++)
		read_drops(exits, i);
}

/* ---- Delivering ---- */

static int deliver_one(struct exits *exits, size_t index, const struct act_sink *sink)
{
	const struct batch *batch = &exits->batch;
	struct listener *listener = &exits->listener[batch->listener];
	struct intake *intake = &exits->intake;
	const void *message = batch->bytes[index];
	size_t length = batch->header[index].msg_len;
	int ret;

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

void taskstats_capture_switch(struct exits *exits, uint64_t now_ns)
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
		taskstats_capture_switch(exits, now_ns);
	exits->source.stats.delayacct = exits->intake.delayacct.state;
}

static int drain_ready(struct exits *exits, const struct act_sink *sink)
{
	size_t most = 0;
	int ret = 0;

	if (poll(exits->pollfd, exits->listeners, 0) < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; ret == 0 && i < exits->listeners; i++) {
		size_t bytes = 0;

		if (exits->pollfd[i].revents)
			ret = drain_listener(exits, i, &bytes, sink);
		most = bytes > most ? bytes : most;
	}
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
	/* What a hole has lost was counted there before the hole showed. */
	if (exits->intake.sequence.gaps > 0)
		read_all_drops(exits);
	if (ret == 0)
		ret = intake_settle(&exits->intake, clock_wall_ns(), sink);
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

/*
 * Nobody waits on a socket while exits come, or each would wake the waiter: an
 * epoll set, which never leaves its sockets' queues, costs every exit its call.
 */
static int wait_taskstats(struct act_source *source, uint64_t timeout_ns)
{
	struct exits *exits = (struct exits *)source;
	uint64_t interval_ns = source->stats.interval_ns;
	uint64_t began_ns = clock_monotonic_ns();

	if (!exits->is_busy) {
		struct timespec time = { .tv_sec = (time_t)(timeout_ns / NSEC_PER_SEC),
					 .tv_nsec = (long)(timeout_ns % NSEC_PER_SEC) };
		uint64_t waited_ns;
		int ret = ppoll(exits->pollfd, exits->listeners, &time, NULL);

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

int taskstats_close(struct listener *listener, uint64_t deadline_ns, pid_t *ret_pid)
{
	pid_t pid;
	int ret;

	if (listener->stuck && !closer_reap(listener->stuck))
		return 0;
	listener->stuck = 0;
	ret = closer_run(listener->cpu, deadline_ns, &pid);
	if (ret == -ETIMEDOUT)
		listener->stuck = pid;
	if (ret < 0)
		return ret == -EINVAL || ret == -ETIMEDOUT ? 0 : ret;
	*ret_pid = pid;
	return 1;
}

/* Sends a child to each CPU that is not closed.  True if one was sent. */
static bool send_closers(struct exits *exits, const bool *is_closed, uint64_t deadline_ns)
{
	bool is_sent = false;

	for (size_t i = 0; i < exits->listeners; i++)
		if (!is_closed[i] && taskstats_close(&exits->listener[i], deadline_ns,
						     &exits->listener[i].closer) > 0)
			is_sent = true;
	return is_sent;
}

/* Returns 1 when every CPU that a child can reach is closed, 0, or an error. */
static int close_streams(struct exits *exits, bool *is_closed, uint64_t deadline_ns,
			 const struct act_sink *sink)
{
	bool was_sent[CPUS_MAX] = { false };
	int ret;

	if (!send_closers(exits, is_closed, deadline_ns))
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

	for (size_t i = 0; ret == 0 && i < exits->listeners; i++)
		if (!is_closed[i])
			ret = intake_write_off(&exits->intake, i, clock_wall_ns(), sink);
	return ret;
}

/* Numbers may be on their way while their holes show already. */
static int await_late(struct exits *exits, const struct act_sink *sink)
{
	uint64_t deadline_ns = clock_monotonic_ns() + LATE_TIMEOUT_NS;
	int ret = 0;

	while (ret == 0 && intake_awaits_more(&exits->intake) &&
	       clock_monotonic_ns() < deadline_ns) {
		sleep_ns(INTERVAL_MIN_NS);
		ret = drain_taskstats(&exits->source, sink);
		read_all_drops(exits);
	}
	return ret;
}

static int finish_taskstats(struct act_source *source, bool is_end,
			    const struct act_sink *sink)
{
	struct exits *exits = (struct exits *)source;
	uint64_t deadline_ns = clock_monotonic_ns() + CLOSE_TIMEOUT_NS;
	bool *is_closed = calloc(exits->listeners, sizeof(*is_closed));
	int ret;

	if (!is_closed)
		return -ENOMEM;
	taskstats_make_room(exits, true);
	do {
		ret = close_streams(exits, is_closed, deadline_ns, sink);
	} while (ret == 0 && clock_monotonic_ns() < deadline_ns);
	taskstats_make_room(exits, false);
	read_all_drops(exits);
	if (ret >= 0 && is_end)
		ret = await_late(exits, sink);
	if (ret >= 0)
		ret = intake_flush(&exits->intake, is_end, sink);
	if (ret >= 0)
		ret = write_off(exits, is_closed, sink);
	free(is_closed);
	if (ret >= 0 && exits->capture)
		exits->capture_error = capture_flush(exits->capture);
	return ret < 0 || !is_end ? ret : exits->capture_error;
}

static bool is_behind_taskstats(struct act_source *source)
{
	struct exits *exits = (struct exits *)source;

	read_all_drops(exits);
	return intake_is_behind(&exits->intake);
}

static void free_taskstats(struct act_source *source)
{
	struct exits *exits = (struct exits *)source;

	for (size_t i = 0; i < exits->listeners; i++)
		genl_close(&exits->listener[i].genl);
	capture_close(exits->capture);
	intake_release(&exits->intake);
	free(exits->pollfd);
	free(exits->listener);
	free(exits);
}

const struct source_ops taskstats_ops = {
	.wait = wait_taskstats,
	.drain = drain_taskstats,
	.finish = finish_taskstats,
	.is_behind = is_behind_taskstats,
	.free = free_taskstats,
};

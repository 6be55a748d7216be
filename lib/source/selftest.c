/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether exits really reach us, and if they don't, why not. */
#include "source/taskstats.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <linux/sock_diag.h>

#include "base/clock.h"

#define SELF_TEST_NS (2 * NSEC_PER_SEC)
#define SELF_TEST_CPU_NS (50 * NSEC_PER_MSEC) /* each CPU has, however slow others were */
#define SELF_TEST_TRIES 3
#define SELF_TEST_PAUSE_NS (10 * 1000 * 1000)

/* include/linux/proc_ns.h: the initial namespaces' inodes are fixed. */
#define USER_NS_INITIAL 0xeffffffdu
#define PID_NS_INITIAL 0xeffffffcu

static bool is_initial(const char *namespace, ino_t initial)
{
	struct stat status;

	/* Without /proc nothing can be told; then it is not the reason either. */
	return stat(namespace, &status) < 0 || status.st_ino == initial;
}

void taskstats_explain_refusal(int error, struct act_why *ret_why)
{
	if (!is_initial("/proc/self/ns/user", USER_NS_INITIAL))
		source_explain(ret_why, "the kernel tells exits only to the initial user "
			       "namespace, and this is another: run it outside the container");
	else if (!is_initial("/proc/self/ns/pid", PID_NS_INITIAL))
		source_explain(ret_why, "the kernel tells exits only to the initial pid "
			       "namespace, and this is another: run it outside the container");
	else if (error == -EPERM)
		source_explain(ret_why, "not permitted to listen to exits: CAP_NET_ADMIN is "
			       "needed, %s", geteuid() == 0 ? "which was taken from root here"
							    : "so run it as root (sudo)");
	else
		source_explain(ret_why, "the kernel refused to tell exits: %s",
			       strerror(-error));
}

/*
 * Registering from another network namespace succeeds, but exits are sent to
 * the initial one, by port id (send_cpu_listeners(), genlmsg_unicast() to
 * init_net).  As /proc/1 is there: the pid namespace is the initial one.
 */
int taskstats_check_net(struct act_why *ret_why)
{
	struct stat ours, initial;

	/* Process 1's may be closed to us; then the self-test has to tell. */
	if (stat("/proc/self/ns/net", &ours) < 0 || stat("/proc/1/ns/net", &initial) < 0 ||
	    (ours.st_ino == initial.st_ino && ours.st_dev == initial.st_dev))
		return 0;
	source_explain(ret_why, "the kernel tells exits only to the initial network namespace, and "
		       "this is another: run it in that of process 1 (nsenter -t 1 -n)");
	return -ENONET;
}

/* What was dropped up to now came before the counting: it is nobody's loss. */
static void forget_drops(struct listener *listener)
{
	uint32_t info[SK_MEMINFO_VARS] = { 0 };
	socklen_t length = sizeof(info);

	if (getsockopt(genl_fd(&listener->genl), SOL_SOCKET, SO_MEMINFO, info, &length) == 0 &&
	    length >= (SK_MEMINFO_DROPS + 1) * sizeof(info[0]))
		listener->drops_seen = info[SK_MEMINFO_DROPS];
}

/*
 * Reads one by one until the child's message, so that those behind it stay
 * where they are: they count already.
 */
static bool find_exit(struct exits *exits, size_t index, pid_t pid)
{
	struct decoded *decoded = &exits->intake.decoded;
	int count;

	while ((count = taskstats_receive(exits, index, 1)) > 0 || count == -ENOBUFS) {
		const void *message = exits->batch.bytes[0];
		size_t length = exits->batch.header[0].msg_len;
		uint32_t number;

		if (count < 0)
			continue;
		exits->batch.at = exits->batch.count;
		if (decode_message(message, length, exits->intake.family, decoded) != DECODED_EXIT ||
		    !decoded->has_task || decoded->task.tid != (uint64_t)pid ||
		    !decode_number(message, length, &number))
			continue;
		sequence_start(&exits->intake.sequence, index, number + 1,
			       exits->batch.time_ns);
		forget_drops(&exits->listener[index]);
		exits->source.stats.version = (unsigned int)decoded->task.version;
		return true;
	}
	return false;
}

/* What others' exits left: a buffer that is full takes no message of ours. */
static void discard(struct exits *exits, size_t index)
{
	int count;

	do {
		count = taskstats_receive(exits, index, BATCH);
	} while (count == BATCH || count == -ENOBUFS);
	exits->batch.at = exits->batch.count;
}

/* Returns 1 if an exit was seen there, 0 if nothing can run there. */
static int test_cpu(struct exits *exits, size_t index, uint64_t deadline_ns)
{
	const struct timespec pause = { .tv_nsec = SELF_TEST_PAUSE_NS };

	/* With a tiny buffer the child's message can be dropped for others'. */
	for (int i = 0; i < SELF_TEST_TRIES || clock_monotonic_ns() < deadline_ns; i++) {
		pid_t pid;
		int ret;

		if (i > 0)
			nanosleep(&pause, NULL);
		discard(exits, index);
		ret = taskstats_close(&exits->listener[index], deadline_ns, &pid);
		/* One that ran before ran unseen, whatever holds the CPU now. */
		if (ret == 0 && i > 0)
			break;
		if (ret <= 0)
			return ret;
		if (find_exit(exits, index, pid))
			return 1;
	}
	return -ENODATA;
}

int taskstats_self_test(struct exits *exits, struct act_why *ret_why)
{
	uint64_t end_ns = clock_monotonic_ns() + SELF_TEST_NS;
	size_t seen = 0;

	for (size_t i = 0; i < exits->listeners; i++) {
		uint64_t least_ns = clock_monotonic_ns() + SELF_TEST_CPU_NS;
		int cpu = exits->listener[i].cpu;
		int ret = test_cpu(exits, i, end_ns > least_ns ? end_ns : least_ns);

		if (ret == -ENODATA)
			source_explain(ret_why, "the kernel took the registration, but did not "
				       "tell the exit of a child on CPU %d: most likely this is "
				       "not the initial network namespace; run it in that of "
				       "process 1 (nsenter -t 1 -n)", cpu);
		else if (ret < 0)
			source_explain(ret_why, "cannot run a child on CPU %d to test with: %s",
				       cpu, strerror(-ret));
		if (ret < 0)
			return ret;
		seen += (size_t)ret;
	}
	if (seen == 0) {
		source_explain(ret_why, "none of these CPUs is online and open to this process");
		return -ENODATA;
	}
	return 0;
}

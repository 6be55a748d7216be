/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/ask.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <linux/cgroupstats.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>

#include "base/clock.h"
#include "source/decode.h"
#include "source/delayacct.h"
#include "source/genl.h"

struct ask {
	struct genl genl;
	struct delayacct delayacct;
	struct decoded decoded;
	bool is_younger;   /* than ask_open(), see ask_vouch_younger() */
	uint64_t asked_ns; /* wall clock, before the question went out */
	char request[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
	char reply[GENL_MESSAGE_BYTES] __attribute__((aligned(8)));
};

int ask_open(struct ask **ret_ask, struct act_why *ret_why)
{
	struct ask *ask = calloc(1, sizeof(*ask));
	int ret;

	if (!ask)
		return -ENOMEM;
	ret = genl_open(&ask->genl, 0);
	if (ret < 0) {
		genl_explain(ret, ret_why);
		free(ask);
		return ret;
	}
	delayacct_open(&ask->delayacct, clock_wall_ns());
	*ret_ask = ask;
	return 0;
}

void ask_close(struct ask *ask)
{
	if (!ask)
		return;
	genl_close(&ask->genl);
	delayacct_close(&ask->delayacct);
	free(ask);
}

uint64_t ask_delayacct(struct ask *ask)
{
	delayacct_look(&ask->delayacct, clock_wall_ns());
	return ask->delayacct.state;
}

void ask_vouch_younger(struct ask *ask)
{
	ask->is_younger = true;
}

/* Asks about @id and leaves the answer in ask->decoded. */
static int ask_id(struct ask *ask, uint16_t type, uint32_t id)
{
	struct nlmsghdr *request = genl_request(&ask->genl, ask->request, TASKSTATS_CMD_GET);
	int ret;

	mnl_attr_put_u32(request, type, id);
	ask->asked_ns = clock_wall_ns();
	ret = genl_ask(&ask->genl, request, ask->reply, ASK_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	delayacct_look(&ask->delayacct, clock_wall_ns());
	return decode_message(ask->reply, (size_t)ret, ask->genl.family, &ask->decoded) ==
	       DECODED_EXIT ? 0 : -EBADMSG;
}

/*
 * Whether the zeros of something of that age are real.  Its start comes out
 * too early by the time the answer took, never too late.
 */
static bool is_covered(const struct ask *ask, uint64_t age_ns)
{
	const struct delayacct *delayacct = &ask->delayacct;

	if (ask->is_younger)
		return delayacct->state == 1;
	return delayacct->since_ns == 0 ||
	       (delayacct->since_ns != DELAYACCT_NEVER && age_ns != ACT_UNKNOWN &&
		ask->asked_ns > age_ns && ask->asked_ns - age_ns >= delayacct->since_ns);
}

int ask_task(struct ask *ask, uint32_t tid, struct act_record *ret_task)
{
	struct act_record *task = &ask->decoded.task;
	int ret = ask_id(ask, TASKSTATS_CMD_ATTR_PID, tid);

	if (ret < 0)
		return ret;
	if (!ask->decoded.has_task)
		return -EBADMSG;
	task->end_ns = clock_wall_ns();
	/* bacct_add_tsk() tells the status of exiting tasks only, else 0. */
	if (task->status == 0)
		task->status = ACT_UNKNOWN;
	if (!ask->decoded.task_waited && !is_covered(ask, task->wall_ns))
		decode_hide_switched(task);
	act_record_derive(task);
	*ret_task = *task;
	return 0;
}

int ask_process(struct ask *ask, uint32_t pid, struct act_record *ret_group)
{
	struct act_record *group = &ask->decoded.group;
	int ret = ask_id(ask, TASKSTATS_CMD_ATTR_TGID, pid);

	if (ret < 0)
		return ret;
	if (!ask->decoded.has_group)
		return -EBADMSG;
	group->end_ns = clock_wall_ns();
	/* wall_ns is the tasks' sum: at least the process's age. */
	if (!ask->decoded.group_waited && !is_covered(ask, group->wall_ns))
		decode_hide_switched(group);
	act_record_derive(group);
	group->start_ns = ACT_UNKNOWN; /* it came out of the sum of ages */
	*ret_group = *group;
	return 0;
}

static int read_states(const char *reply, size_t length, struct ask_states *ret_states)
{
	const struct nlmsghdr *header = (const struct nlmsghdr *)reply;
	const struct nlattr *attr;

	if (length < MNL_NLMSG_HDRLEN + sizeof(struct genlmsghdr))
		return -ENODATA;
	mnl_attr_for_each(attr, header, sizeof(struct genlmsghdr)) {
		struct cgroupstats stats;

		if (mnl_attr_get_type(attr) != CGROUPSTATS_TYPE_CGROUP_STATS ||
		    mnl_attr_get_payload_len(attr) < sizeof(stats))
			continue;
		memcpy(&stats, mnl_attr_get_payload(attr), sizeof(stats));
		ret_states->sleeping = stats.nr_sleeping;
		ret_states->running = stats.nr_running;
		ret_states->stopped = stats.nr_stopped;
		ret_states->uninterruptible = stats.nr_uninterruptible;
		ret_states->io_wait = stats.nr_io_wait;
		return 0;
	}
	return -EBADMSG;
}

int ask_cgroup(struct ask *ask, int fd, struct ask_states *ret_states)
{
	struct nlmsghdr *request;
	int ret;

	if (fd < 0)
		return -EBADF;
	request = genl_request(&ask->genl, ask->request, CGROUPSTATS_CMD_GET);
	mnl_attr_put_u32(request, CGROUPSTATS_CMD_ATTR_FD, (uint32_t)fd);
	ret = genl_ask(&ask->genl, request, ask->reply, ASK_TIMEOUT_MS);
	if (ret < 0)
		return ret;
	/* Success without a reply is how the kernel takes a bad descriptor. */
	return ret == 0 ? -EBADF : read_states(ask->reply, (size_t)ret, ret_states);
}

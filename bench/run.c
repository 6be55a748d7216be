/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <actuary/stats.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "bench/keeper.h"
#include "bench/why.h"
#include "bench/wire.h"

/* No longer than this does a signal wait that came at the wrong moment. */
#define LONGEST_WAIT_NS (500 * NSEC_PER_MSEC)
/* So long may the kernel take to end what was killed. */
#define END_NS (10 * NSEC_PER_SEC)
#define READ_BYTES (256 << 10)

struct execution {
	const struct run_spec *spec;
	int (*on_sample)(void *arg, const struct sample *sample);
	void *arg;
	struct run_outcome *outcome;
	char *scratch;         /* the run's own directory; NULL: none */
	pid_t keeper;
	int samples_fd, report_fd;
	struct buffer received;
	struct keeper_report report;
	bool has_report;
	bool has_end;          /* the run says that it has made all rounds */
	bool is_samples_closed;
	bool is_killed;
	uint64_t deadline_ns;  /* when to kill; after that: when to give up */
	int error;             /* what on_sample() returned, or ours */
};

/* ---- Samples ---- */

static int take_sample(struct execution *execution, const uint8_t *data, uint64_t length)
{
	struct wire_sample head;
	struct sample sample;
	uint64_t numbers;
	int ret;

	if (length < sizeof(head))
		return -EPROTO;
	memcpy(&head, data, sizeof(head));
	numbers = (length - sizeof(head)) / sizeof(double);
	if (head.values > HARNESS_METRICS + METRICS_MAX || numbers < head.values ||
	    numbers - head.values != head.series_count)
		return -EPROTO;
	sample = (struct sample){
		.round = head.round, .is_warmup = head.is_warmup != 0, .ops = head.ops,
		.values = head.values, .value = (const double *)(const void *)(data + sizeof(head)),
		.series_count = head.series_count,
	};
	sample.series = sample.value + sample.values;
	execution->outcome->samples += !sample.is_warmup;
	ret = execution->on_sample(execution->arg, &sample);
	return ret < 0 ? ret : 0;
}

static int take_frame(struct execution *execution, const struct wire_frame *frame,
		      const uint8_t *data)
{
	struct run_outcome *outcome = execution->outcome;

	switch (frame->type) {
	case WIRE_SAMPLE:
		return take_sample(execution, data, frame->length);
	case WIRE_WHY:
		snprintf(outcome->reason, sizeof(outcome->reason), "%.*s", (int)frame->length,
			 (const char *)data);
		return 0;
	case WIRE_END:
		execution->has_end = true;
		return 0;
	}
	return -EPROTO;
}

/* All whole frames; the rest moves to the front, so that it stays aligned. */
static int take_frames(struct execution *execution)
{
	struct buffer *received = &execution->received;
	size_t at = 0;
	int ret = 0;

	while (ret == 0 && received->length - at >= sizeof(struct wire_frame)) {
		struct wire_frame frame;

		memcpy(&frame, received->data + at, sizeof(frame));
		if (frame.length > WIRE_LENGTH_MAX || frame.length % 8)
			return -EPROTO;
		if (received->length - at - sizeof(frame) < frame.length)
			break;
		ret = take_frame(execution, &frame, received->data + at + sizeof(frame));
		at += sizeof(frame) + frame.length;
	}
	if (at) {
		memmove(received->data, received->data + at, received->length - at);
		received->length -= at;
	}
	return ret;
}

/* Reads once, without waiting: 1 if there was something, 0 or a negative errno. */
static int receive(struct execution *execution)
{
	struct buffer *received = &execution->received;
	ssize_t n;

	if (buffer_reserve(received, READ_BYTES) < 0)
		return -ENOMEM;
	n = read(execution->samples_fd, received->data + received->length, READ_BYTES);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (n == 0) {
		execution->is_samples_closed = true;
		return 0;
	}
	received->length += (size_t)n;
	if (!execution->error)
		execution->error = take_frames(execution);
	/* The run is ended for it; till then it must not be held up by a full pipe. */
	if (execution->error)
		buffer_clear(received);
	return 1;
}

/* ---- The run ---- */

static void kill_run(struct execution *execution)
{
	if (execution->is_killed)
		return;
	execution->is_killed = true;
	execution->deadline_ns = clock_monotonic_ns() + END_NS;
	kill(execution->keeper, SIGTERM);
}

static bool is_stopped(struct execution *execution)
{
	const struct run_spec *spec = execution->spec;

	if (spec->stop && *spec->stop)
		execution->outcome->signal = *spec->stop;
	return execution->outcome->signal != 0;
}

/* Kills it where there is cause to; false when nothing more can be done. */
static bool watch(struct execution *execution)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (execution->is_killed)
		return now_ns < execution->deadline_ns;
	if (execution->error || is_stopped(execution)) {
		kill_run(execution);
	} else if (execution->deadline_ns && now_ns >= execution->deadline_ns) {
		snprintf(execution->outcome->reason, sizeof(execution->outcome->reason),
			 "it took longer than the %.3g s that were given to it",
			 (double)execution->spec->timeout_ns / 1e9);
		kill_run(execution);
	}
	return true;
}

static struct timespec time_to_wait(const struct execution *execution)
{
	uint64_t now_ns = clock_monotonic_ns(), wait_ns = LONGEST_WAIT_NS;

	if (execution->deadline_ns && execution->deadline_ns < now_ns + wait_ns)
		wait_ns = execution->deadline_ns > now_ns ? execution->deadline_ns - now_ns : 0;
	return (struct timespec){ .tv_nsec = (long)wait_ns };
}

/* True when there is nothing more to wait for. */
static bool take_report(struct execution *execution)
{
	ssize_t n = read(execution->report_fd, &execution->report, sizeof(execution->report));

	execution->has_report = n == (ssize_t)sizeof(execution->report);
	return n >= 0;
}

static int attend(struct execution *execution)
{
	bool has_ended = false;
	int ret = 0;

	while (!has_ended && ret >= 0 && watch(execution)) {
		struct pollfd files[] = {
			{ .fd = execution->report_fd, .events = POLLIN },
			{ .fd = execution->is_samples_closed ? -1 : execution->samples_fd,
			  .events = POLLIN },
		};
		struct timespec wait = time_to_wait(execution);

		if (ppoll(files, 2, &wait, NULL) < 0) {
			ret = errno == EINTR ? 0 : -errno;
			continue;
		}
		if (files[0].revents)
			has_ended = take_report(execution);
		if (files[1].revents)
			ret = receive(execution);
	}
	/* What it sent before its end is all there. */
	while (has_ended && ret >= 0 && (ret = receive(execution)) > 0)
		;
	return ret;
}

/* Also when it does not obey: the run, which nobody can end, is left to init. */
static void end_keeper(struct execution *execution)
{
	if (!execution->has_report)
		kill(execution->keeper, SIGKILL);
	while (waitpid(execution->keeper, NULL, 0) < 0 && errno == EINTR)
		;
}

static void judge(struct execution *execution)
{
	struct run_outcome *outcome = execution->outcome;
	int status = execution->report.status;
	char *reason = outcome->reason;

	outcome->leftovers = execution->report.leftovers;
	outcome->is_valid = false;
	/* A reason that was given before says more. */
	if (*reason)
		return;
	if (outcome->signal)
		snprintf(reason, sizeof(outcome->reason), "it was stopped by signal %d (%s)",
			 outcome->signal, strsignal(outcome->signal));
	else if (!execution->has_report)
		snprintf(reason, sizeof(outcome->reason),
			 "nobody knows how it ended: its keeper was killed");
	else if (WIFSIGNALED(status))
		snprintf(reason, sizeof(outcome->reason),
			 "it was killed by signal %d (%s) after %" PRIu64 " samples",
			 WTERMSIG(status), strsignal(WTERMSIG(status)), outcome->samples);
	else if (WEXITSTATUS(status) || !execution->has_end)
		snprintf(reason, sizeof(outcome->reason),
			 "it ended with status %d after %" PRIu64 " samples",
			 WEXITSTATUS(status), outcome->samples);
	else
		outcome->is_valid = true;
}

/* ---- Starting ---- */

/* The worker's command line: RUN_NAME, the workload, three numbers, the workload's words. */
struct command_line {
	char **argv;
	char rounds[24], min_ns[24], warmup[24];
};

static int make_command_line(struct command_line *line, const struct run_spec *spec)
{
	const char *const head[] = { RUN_NAME, spec->workload->name, line->rounds, line->min_ns,
				     line->warmup };
	const size_t words = sizeof(head) / sizeof(*head);

	snprintf(line->rounds, sizeof(line->rounds), "%" PRIu64, spec->rounds);
	snprintf(line->min_ns, sizeof(line->min_ns), "%" PRIu64, spec->min_ns);
	snprintf(line->warmup, sizeof(line->warmup), "%" PRIu64, spec->warmup);
	line->argv = calloc(words + (size_t)spec->argc + 1, sizeof(*line->argv));
	if (!line->argv)
		return -ENOMEM;
	memcpy(line->argv, head, sizeof(head));
	for (int i = 0; i < spec->argc; i++)
		line->argv[words + (size_t)i] = spec->argv[i];
	return 0;
}

/*
 * Where the run may write, as its TMPDIR: what it does not delete because it was killed
 * the keeper does.  Returns 0 and the path, to be freed, NULL if it needs none.
 */
static int make_scratch(const struct workload *workload, char **ret_path, struct act_why *why)
{
	const char *root = getenv("TMPDIR");
	int ret;

	*ret_path = NULL;
	if (!workload->writes_files)
		return 0;
	if (asprintf(ret_path, "%s/actuary-run-XXXXXX", root && *root ? root : "/tmp") < 0)
		return because(why, -ENOMEM, "out of memory");
	if (mkdtemp(*ret_path))
		return 0;
	ret = because(why, -errno, "cannot make %s: %s; set TMPDIR to where files can be written",
		      *ret_path, strerror(errno));
	free(*ret_path);
	*ret_path = NULL;
	return ret;
}

/* Starts the keeper with TMPDIR set to the run's; nothing else of ours runs meanwhile. */
static int start_keeper(struct execution *execution, const struct keeper_spec *spec)
{
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	int ret;

	if ((before && !kept) || (spec->scratch && setenv("TMPDIR", spec->scratch, 1) < 0)) {
		free(kept);
		return -ENOMEM;
	}
	ret = keeper_start(spec, &execution->keeper, &execution->report_fd);
	if (spec->scratch && kept)
		setenv("TMPDIR", kept, 1);
	else if (spec->scratch)
		unsetenv("TMPDIR");
	free(kept);
	return ret;
}

static int start(struct execution *execution, char **argv)
{
	const struct run_spec *spec = execution->spec;
	struct keeper_spec keeper = { .argv = argv, .enter = spec->enter,
				      .enter_arg = spec->enter_arg,
				      .scratch = execution->scratch };
	int pair[2], ret;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	keeper.samples_fd = pair[1];
	execution->samples_fd = pair[0];
	/* The run's own end waits when it is full, this one never. */
	if (fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
		ret = -errno;
	else
		ret = start_keeper(execution, &keeper);
	close(pair[1]);
	if (ret == 0 && spec->timeout_ns)
		execution->deadline_ns = clock_monotonic_ns() + spec->timeout_ns;
	return ret;
}

static void release(struct execution *execution)
{
	if (execution->samples_fd >= 0)
		close(execution->samples_fd);
	if (execution->report_fd >= 0)
		close(execution->report_fd);
	buffer_release(&execution->received);
	free(execution->scratch);
}

int run_execute(const struct run_spec *spec,
		int (*on_sample)(void *arg, const struct sample *sample), void *arg,
		struct run_outcome *ret_outcome, struct act_why *ret_why)
{
	struct execution execution = {
		.spec = spec, .on_sample = on_sample, .arg = arg, .outcome = ret_outcome,
		.samples_fd = -1, .report_fd = -1, .received = BUFFER_INIT,
	};
	struct command_line line = { .argv = NULL };
	int ret;

	*ret_outcome = (struct run_outcome){ 0 };
	ret = make_scratch(spec->workload, &execution.scratch, ret_why);
	if (ret < 0)
		return ret;
	ret = make_command_line(&line, spec);
	if (ret < 0) {
		because(ret_why, ret, "out of memory");
		goto out;
	}
	ret = start(&execution, line.argv);
	if (ret < 0) {
		because(ret_why, ret, "cannot start a run: %s", strerror(-ret));
		if (execution.scratch)
			rmdir(execution.scratch);
		goto out;
	}
	ret = attend(&execution);
	end_keeper(&execution);
	if (ret < 0)
		because(ret_why, ret, "cannot read the samples: %s", strerror(-ret));
	else if (execution.error)
		ret = because(ret_why, execution.error, "the samples could not be taken: %s",
			      strerror(-execution.error));
	judge(&execution);
out:
	release(&execution);
	free(line.argv);
	return ret;
}

/* ---- The harness ---- */

#define HARNESS_ROUNDS 1000
#define HARNESS_WARMUP 100

struct walls {
	double ns[HARNESS_ROUNDS];
	size_t count;
};

static int keep_wall(void *arg, const struct sample *sample)
{
	struct walls *walls = arg;

	if (!sample->is_warmup && walls->count < HARNESS_ROUNDS)
		walls->ns[walls->count++] = sample->value[HARNESS_WALL_NS];
	return 0;
}

int run_harness_ns(double *ret_ns, struct act_why *ret_why)
{
	struct run_spec spec = {
		.workload = workload_find("null"),
		.rounds = HARNESS_ROUNDS, .warmup = HARNESS_WARMUP, .timeout_ns = END_NS,
	};
	struct walls walls = { .count = 0 };
	struct run_outcome outcome;
	int ret = run_execute(&spec, keep_wall, &walls, &outcome, ret_why);

	if (ret < 0)
		return ret;
	if (!outcome.is_valid || !walls.count)
		return because(ret_why, -EIO, "the harness could not be measured: %s",
			       outcome.reason);
	ret = act_sort(walls.ns, walls.count);
	*ret_ns = act_quantile(walls.ns, walls.count, 0.5);
	return ret;
}

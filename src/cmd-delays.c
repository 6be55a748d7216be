/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "child.h"
#include "delaylog.h"
#include "delays.h"
#include "filteropts.h"
#include "live.h"
#include "logarg.h"
#include "msg.h"
#include "out.h"
#include "switch.h"

#define HOW_TO_ENABLE "'sysctl kernel.task_delayacct=1' turns it on for tasks that begin then"
#define DEFAULT_TOP 10

struct delays_options {
	struct filter_options filter; /* its pid is the live task, without a log */
	const char *log;
	const char *cgroup;
	const char *output;
	uint64_t process; /* ACT_UNKNOWN: not given */
	uint64_t interval_ns;
	uint64_t count;
	uint64_t top;
	bool enable, task, json, csv, strict;
};

#define OPTION(member) offsetof(struct delays_options, member)
static const struct option_spec options[] = {
	{ 'p', "pid", OPTION_COUNT, "PID", OPTION(filter.pid),
	  "this live task; with --log only this process" },
	{ 'P', "process", OPTION_COUNT, "PID", OPTION(process),
	  "this live process: its tasks, and those that ended" },
	{ 'g', "cgroup", OPTION_TEXT, "DIR", OPTION(cgroup),
	  "the live processes of this cgroup, not of those below it" },
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log),
	  "log, segment or capture to read, by command" },
	FILTER_OPTIONS_BUT_PID(struct delays_options, filter),
	{ 't', "task", OPTION_FLAG, NULL, OPTION(task),
	  "of a log: add up tasks (threads), not processes" },
	{ 'n', "top", OPTION_COUNT, "N", OPTION(top),
	  "of a log: the N commands that waited longest (10); 0: all" },
	{ 0, "enable", OPTION_FLAG, NULL, OPTION(enable),
	  "turn kernel.task_delayacct on meanwhile" },
	{ 'i', "interval", OPTION_DURATION, "DURATION", OPTION(interval_ns),
	  "ask again this often until interrupted" },
	{ 0, "count", OPTION_COUNT, "N", OPTION(count), "with --interval: ask N times" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 0, "csv", OPTION_FLAG, NULL, OPTION(csv), "comma-separated values" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0, "strict", OPTION_FLAG, NULL, OPTION(strict),
	  "of a log: exit with 4 if records are missing" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct delays_options *opt = arg;

	filter_options_defaults(&opt->filter);
	opt->process = ACT_UNKNOWN;
	opt->top = DEFAULT_TOP;
}

/* Whose delays are told. */
enum target { TARGET_TASK, TARGET_PROCESS, TARGET_CGROUP, TARGET_COMMAND, TARGET_LOG };

static const char *const target_words[] = { "task", "process", "cgroup", "command", "log" };

struct session {
	const struct delays_options *opt;
	enum target target;
	struct out *out;
	struct ask *ask;
	struct live live;
	bool is_told; /* about the switch */
};

/* ---- Options ---- */

static bool has_filter(const struct filter_options *filter)
{
	return filter->comm || filter->user || filter->signal || filter->since_ns ||
	       filter->until_ns != UINT64_MAX || filter->longer_ns || filter->failed;
}

static enum target target_of(const struct delays_options *opt, int argc)
{
	if (argc)
		return TARGET_COMMAND;
	if (opt->cgroup)
		return TARGET_CGROUP;
	if (opt->process != ACT_UNKNOWN)
		return TARGET_PROCESS;
	return opt->filter.pid != ACT_UNKNOWN && !opt->log ? TARGET_TASK : TARGET_LOG;
}

static int check_options(const struct delays_options *opt, enum target target, int argc)
{
	bool has_task = opt->filter.pid != ACT_UNKNOWN && !opt->log;
	bool is_live = target == TARGET_TASK || target == TARGET_PROCESS ||
		       target == TARGET_CGROUP;

	if (has_task + (opt->process != ACT_UNKNOWN) + (opt->cgroup != NULL) +
	    (opt->log != NULL) + (argc > 0) > 1)
		return refuse("--pid, --process, --cgroup, --log and a command exclude each "
			      "other");
	if (target != TARGET_LOG && (has_filter(&opt->filter) || opt->task || opt->strict))
		return refuse("filters, --task and --strict are for the records of a log");
	if (target == TARGET_LOG && opt->enable)
		return refuse("--enable is for what lives; what a log did not count is gone");
	if (!is_live && opt->interval_ns)
		return refuse("--interval goes with --pid, --process and --cgroup");
	if (opt->count && !opt->interval_ns)
		return refuse("--count says how often --interval asks; it goes with it only");
	if (opt->json && opt->csv)
		return refuse("--json and --csv exclude each other");
	if ((has_task && opt->filter.pid > UINT32_MAX) ||
	    (opt->process != ACT_UNKNOWN && opt->process > UINT32_MAX))
		return refuse("no task has so large an id");
	return STATUS_OK;
}

/* ---- Signals ---- */

static volatile sig_atomic_t stops, last_signal, child_pid;

/*
 * The terminal's signals reach the command by themselves, those of kill(1) are
 * passed on.  Whoever asks a second time does not wait for it any more.
 */
static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	last_signal = number;
	if (child_pid > 0 && info->si_code != SI_KERNEL)
		kill(child_pid, number);
	if (++stops < 2)
		return;
	switch_restore();
	signal(number, SIG_DFL);
	raise(number);
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
	/* A reader who left must not keep the switch from being restored. */
	signal(SIGPIPE, SIG_IGN);
}

/* ---- Messages ---- */

static int complain(int error, const char *about)
{
	if (error == -EPERM)
		msg_error("not permitted to ask about tasks: CAP_NET_ADMIN in the initial user "
			  "namespace is needed, so run it as root (sudo)");
	else if (error == -ESRCH)
		msg_error("%s: no such task or process", about);
	else
		msg_error("%s: %s", about, strerror(-error));
	return STATUS_FAILED;
}

/* Says once why waits other than for a CPU are unknown. */
static void tell_switch(struct session *session)
{
	const struct live *live = &session->live;
	uint64_t state = ask_delayacct(session->ask);

	if (session->is_told || (state == 1 && !live->uncounted))
		return;
	session->is_told = true;
	if (state == ACT_UNKNOWN)
		msg_warning("this kernel has no kernel.task_delayacct: waits other than for a CPU "
			    "may be unknown");
	else if (state == 0)
		msg_warning("kernel.task_delayacct is off, so waits other than for a CPU are not "
			    "counted; " HOW_TO_ENABLE);
	else
		msg_warning("of %" PRIu64 " of %" PRIu64 " tasks only waits for a CPU are known: "
			    "nothing shows that they began after kernel.task_delayacct was turned "
			    "on", live->uncounted, live->tasks);
}

static int enable(void)
{
	int ret = switch_enable();

	if (ret == -ENOENT)
		msg_error("--enable: this kernel has no kernel.task_delayacct; boot it with "
			  "'delayacct', or it lacks CONFIG_TASK_DELAY_ACCT");
	else if (ret < 0)
		msg_error("--enable: cannot turn kernel.task_delayacct on: %s; run it as root "
			  "(sudo)", strerror(-ret));
	return ret;
}

/* ---- Printing what lives ---- */

static void print_comm(struct session *session)
{
	out_string(session->out, " (");
	out_text_escaped(session->out, session->live.comm, strlen(session->live.comm));
	out_string(session->out, ")");
}

static void print_title(struct session *session)
{
	const struct delays_options *opt = session->opt;
	const struct live *live = &session->live;
	struct out *out = session->out;

	switch (session->target) {
	case TARGET_TASK:
		out_printf(out, "task %" PRIu64, opt->filter.pid);
		print_comm(session);
		if (live->pid != ACT_UNKNOWN)
			out_printf(out, " of process %" PRIu64, live->pid);
		break;
	case TARGET_CGROUP:
		out_string(out, "cgroup ");
		out_text_escaped(out, opt->cgroup, strlen(opt->cgroup));
		out_printf(out, ", tasks %" PRIu64, live->tasks);
		break;
	default:
		out_printf(out, "process %" PRIu64, live->pid);
		print_comm(session);
		if (session->target == TARGET_PROCESS)
			out_printf(out, ", live tasks %" PRIu64, live->tasks);
	}
	out_string(out, "\n");
	if (live->has_states)
		out_printf(out, "states            sleeping %" PRIu64 ", running %" PRIu64
			   ", stopped %" PRIu64 ", uninterruptible %" PRIu64 ", waiting for I/O %"
			   PRIu64 "\n", live->states.sleeping, live->states.running,
			   live->states.stopped, live->states.uninterruptible,
			   live->states.io_wait);
}

static int print_table(struct session *session)
{
	struct table *table = table_new();
	bool is_csv = session->opt->csv;
	int ret = -ENOMEM;

	if (!table)
		return ret;
	delays_columns(table, false);
	delays_rows(&session->live.delays, table, NULL, is_csv);
	ret = is_csv ? table_print_csv(table, session->out)
		     : table_print(table, session->out, terminal_width());
	table_free(table);
	return ret;
}

static void print_states_json(struct session *session)
{
	const struct ask_states *states = &session->live.states;
	struct out *out = session->out;

	out_json_begin_object(out, "states");
	out_json_u64(out, "sleeping", states->sleeping);
	out_json_u64(out, "running", states->running);
	out_json_u64(out, "stopped", states->stopped);
	out_json_u64(out, "uninterruptible", states->uninterruptible);
	out_json_u64(out, "io_wait", states->io_wait);
	out_json_close(out);
}

/* @wait_status: of a command that has ended, else -1. */
static void print_json(struct session *session, int wait_status)
{
	const struct delays_options *opt = session->opt;
	const struct live *live = &session->live;
	struct out *out = session->out;
	const char *word = target_words[session->target];

	out_json_begin(out);
	out_json_string(out, "what", word, strlen(word));
	if (session->target == TARGET_CGROUP) {
		out_json_string(out, "cgroup", opt->cgroup, strlen(opt->cgroup));
		out_json_u64(out, "processes", live->delays.records);
	} else {
		out_json_u64(out, "pid", live->pid);
		if (session->target == TARGET_TASK)
			out_json_u64(out, "tid", opt->filter.pid);
		out_json_string(out, "comm", live->comm, strlen(live->comm));
	}
	if (session->target != TARGET_COMMAND)
		out_json_u64(out, "tasks", live->tasks);
	out_json_u64(out, "uncounted", live->uncounted);
	out_json_u64(out, "delayacct", ask_delayacct(session->ask));
	if (wait_status >= 0)
		out_json_u64(out, "status", (uint64_t)wait_status);
	if (live->has_states)
		print_states_json(session);
	delays_json(&live->delays, out);
	out_json_end(out);
}

static int print_live(struct session *session, int wait_status)
{
	int ret = 0;

	tell_switch(session);
	if (session->opt->json) {
		print_json(session, wait_status);
		return out_flush(session->out);
	}
	if (!session->opt->csv) {
		print_title(session);
		delays_print_figures(&session->live.delays, session->out);
	}
	ret = print_table(session);
	return ret < 0 ? ret : out_flush(session->out);
}

/* ---- What lives ---- */

static int ask_target(struct session *session)
{
	const struct delays_options *opt = session->opt;
	char about[64];
	int ret;

	if (session->target == TARGET_CGROUP) {
		ret = live_cgroup(session->ask, opt->cgroup, &session->live);
		if (ret == -ENOTDIR) {
			msg_error("%s: not the directory of a cgroup", opt->cgroup);
			return STATUS_FAILED;
		}
		return ret < 0 ? complain(ret, opt->cgroup) : STATUS_OK;
	}
	if (session->target == TARGET_TASK) {
		snprintf(about, sizeof(about), "%" PRIu64, opt->filter.pid);
		ret = live_task(session->ask, (uint32_t)opt->filter.pid, &session->live);
	} else {
		snprintf(about, sizeof(about), "%" PRIu64, opt->process);
		ret = live_process(session->ask, (uint32_t)opt->process, &session->live);
	}
	if (ret == -ENOTUNIQ) {
		msg_error("%s is a task of process %" PRIu64 ": ask --process %" PRIu64
			  " or --pid %s", about, session->live.pid, session->live.pid, about);
		return STATUS_FAILED;
	}
	return ret < 0 ? complain(ret, about) : STATUS_OK;
}

/* Sleeps until @until_ns (monotonic) or a signal. */
static void sleep_until(uint64_t until_ns)
{
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(until_ns % NSEC_PER_SEC),
	};

	while (!stops && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static int watch(struct session *session)
{
	const struct delays_options *opt = session->opt;
	uint64_t next_ns = clock_monotonic_ns();

	for (uint64_t i = 1;; i++) {
		int status = ask_target(session);

		if (status || print_live(session, -1) < 0)
			return status;
		if (!opt->interval_ns || i == opt->count)
			return STATUS_OK;
		next_ns += opt->interval_ns;
		sleep_until(next_ns);
		if (stops)
			return 128 + last_signal;
		if (!opt->json && !opt->csv)
			out_string(session->out, "\n");
	}
}

/* ---- A command ---- */

static int start(struct child *child, char **argv)
{
	int ret = child_hold(child, argv);

	if (ret < 0) {
		msg_error("cannot start %s: %s", argv[0], strerror(-ret));
		return STATUS_FAILED;
	}
	child_pid = child->pid;
	ret = child_go(child);
	if (ret == 0)
		return STATUS_OK;
	msg_error("cannot run %s: %s", argv[0], strerror(-ret));
	return ret == -ENOENT ? 127 : 126;
}

/* Leaves it as a zombie, which still answers. */
static void wait_for_end(pid_t pid)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
}

static int reap(struct child *child)
{
	int wait_status = 0;

	/* From here on its id may be somebody else's. */
	child_pid = 0;
	while (waitpid(child->pid, &wait_status, 0) < 0 && errno == EINTR)
		;
	child->pid = 0;
	return wait_status;
}

static int run_command(struct session *session, char **argv)
{
	struct child child = { .gate = -1, .failed = -1 };
	struct live self;
	int wait_status, status;
	int ret = live_task(session->ask, (uint32_t)getpid(), &self);

	/* Better now than when the command has run. */
	if (ret < 0)
		return complain(ret, argv[0]);
	ask_vouch_younger(session->ask);
	status = start(&child, argv);
	if (status) {
		if (child.pid)
			reap(&child);
		child_release(&child);
		return status;
	}
	wait_for_end(child.pid);
	ret = live_process(session->ask, (uint32_t)child.pid, &session->live);
	wait_status = reap(&child);
	child_release(&child);
	status = child_exit_status(wait_status);
	if (ret == 0)
		ret = print_live(session, wait_status);
	else
		complain(ret, argv[0]);
	return ret < 0 && !status ? STATUS_FAILED : status;
}

static int run_live(struct session *session, char **argv)
{
	struct act_why why = { "" };
	int ret, status;

	catch_signals();
	if (session->opt->enable && enable() < 0)
		return STATUS_FAILED;
	ret = ask_open(&session->ask, &why);
	if (ret < 0) {
		msg_error("%s", why.text[0] ? why.text : strerror(-ret));
		status = STATUS_FAILED;
	} else {
		status = session->target == TARGET_COMMAND ? run_command(session, argv)
							   : watch(session);
	}
	ask_close(session->ask);
	switch_restore();
	return status;
}

/* ---- A log ---- */

static int print_log_table(struct session *session, const struct delaylog *log, size_t count)
{
	struct table *table = table_new();
	bool is_csv = session->opt->csv;
	int ret;

	if (!table)
		return -ENOMEM;
	delays_columns(table, true);
	for (size_t i = 0; i < count; i++)
		delays_rows(&log->commands[i].delays, table, log->commands[i].comm, is_csv);
	ret = is_csv ? table_print_csv(table, session->out)
		     : table_print(table, session->out, terminal_width());
	table_free(table);
	return ret;
}

static void print_log_json(struct session *session, const struct delaylog *log, size_t count)
{
	struct out *out = session->out;

	for (size_t i = 0; i < count; i++) {
		const struct delay_command *command = &log->commands[i];

		out_json_begin(out);
		out_json_string(out, "comm", command->comm, strlen(command->comm));
		out_json_u64(out, "records", command->delays.records);
		out_json_u64(out, "uncounted", command->delays.uncounted);
		delays_json(&command->delays, out);
		out_json_end(out);
	}
}

static void tell_log(const struct delaylog *log)
{
	if (log->uncounted)
		msg_warning("of %" PRIu64 " of %" PRIu64 " records only waits for a CPU are "
			    "known, as kernel.task_delayacct was off or turned on later; "
			    HOW_TO_ENABLE, log->uncounted, log->records);
	if (log->has_overflow)
		msg_warning("more than %d commands: the others are added up as ***other",
			    DELAYLOG_COMMANDS_MAX);
	loss_warn(&log->loss);
}

static int run_log(struct session *session, const struct act_filter *filter)
{
	const struct delays_options *opt = session->opt;
	const char *path = default_log_path(opt->log);
	struct delaylog log;
	struct act_why why;
	int ret = delaylog_read(path, filter, &log, &why);
	int status = STATUS_OK;

	if (ret == 0) {
		size_t count = opt->top && opt->top < log.count ? (size_t)opt->top : log.count;

		tell_log(&log);
		if (opt->json)
			print_log_json(session, &log, count);
		else
			ret = print_log_table(session, &log, count);
		if (opt->strict && loss_is_any(&log.loss))
			status = STATUS_UNTRUSTED;
	} else if (why.text[0]) {
		msg_error("%s", why.text);
	} else {
		msg_error("cannot read %s: %s", path, strerror(-ret));
	}
	delaylog_release(&log);
	return ret < 0 ? status_of(ret) : status;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct session session = { .opt = arg };
	struct act_filter filter;
	int status;

	(void)self;
	session.target = target_of(session.opt, argc);
	status = check_options(session.opt, session.target, argc);
	if (!status)
		status = filter_options_get(&session.opt->filter, &filter);
	if (status)
		return status;
	if (session.opt->task)
		filter.kinds = ACT_KIND_TASK;
	session.out = open_output(session.opt->output);
	if (!session.out)
		return STATUS_FAILED;
	status = session.target == TARGET_LOG ? run_log(&session, &filter)
					      : run_live(&session, argv);
	out_close(session.out); /* main tells of output that could not be written */
	return status;
}

const struct command cmd_delays = {
	.name = "delays",
	.synopsis = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
	.summary = "what live tasks, a command, or those of a log waited for",
	.options = options,
	.options_size = sizeof(struct delays_options),
	.defaults = set_defaults,
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <actuary/actuary.h>

#include "account.h"
#include "base/clock.h"
#include "child.h"
#include "logarg.h"
#include "msg.h"
#include "out.h"
#include "recorder.h"
#include "service.h"

/* No longer than this does a signal wait that came at the wrong moment. */
#define LONGEST_WAIT_NS (500 * NSEC_PER_MSEC)

struct record_options {
	const char *log;
	const char *from;
	const char *capture;
	const char *output;
	const char *cpus;
	uint64_t rcvbuf_bytes;
	uint64_t interval_ns;
	uint64_t for_ns;
	int per; /* index into the words of --per */
	uint64_t sync_ns;
	uint64_t rotate_bytes, rotate_age_ns;
	uint64_t keep_bytes, keep_age_ns;
	uint64_t every;
	bool json, strict;
};

#define OPTION(member) offsetof(struct record_options, member)
static const struct option_spec options[] = {
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log),
	  "log to write, made if it is not there" },
	{ 0, "for", OPTION_DURATION, "DURATION", OPTION(for_ns), "stop after that long" },
	{ 0, "per", OPTION_CHOICE, "both|process|task", OPTION(per),
	  "keep a record for each process, each task (thread), or both" },
	{ 0, "sync", OPTION_DURATION, "DURATION", OPTION(sync_ns),
	  "make records durable this often (1s)" },
	{ 0, "rotate-size", OPTION_SIZE, "SIZE", OPTION(rotate_bytes),
	  "begin a new segment at this size (64M)" },
	{ 0, "rotate-age", OPTION_DURATION, "DURATION", OPTION(rotate_age_ns),
	  "begin a new segment at this age (1d)" },
	{ 0, "max-size", OPTION_SIZE, "SIZE", OPTION(keep_bytes),
	  "delete the oldest segments above this total" },
	{ 0, "max-age", OPTION_DURATION, "DURATION", OPTION(keep_age_ns),
	  "delete segments older than this" },
	{ 0, "cpus", OPTION_TEXT, "LIST", OPTION(cpus),
	  "record exits on these CPUs only, as \"0-3,8\"" },
	{ 0, "rcvbuf", OPTION_SIZE, "SIZE", OPTION(rcvbuf_bytes),
	  "receive buffer of each CPU, as setsockopt takes it (8M)" },
	{ 0, "interval", OPTION_DURATION, "DURATION", OPTION(interval_ns),
	  "empty the buffers this often to begin with (20ms)" },
	{ 0, "every", OPTION_COUNT, "N", OPTION(every),
	  "after each N exits print exits, overflows and losses so far" },
	{ 0, "capture", OPTION_TEXT, "FILE", OPTION(capture),
	  "keep the kernel's messages as they came, too" },
	{ 0, "from", OPTION_TEXT, "FILE", OPTION(from),
	  "record from a capture or a log instead of the kernel" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "print the account as JSON" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "print the account there" },
	{ 0, "strict", OPTION_FLAG, NULL, OPTION(strict),
	  "exit with 4 if any exit was lost" },
	{ 0 },
};

static void set_defaults(void *arg)
{
	struct record_options *opt = arg;

	opt->sync_ns = NSEC_PER_SEC;
}

/* ---- Signals: handlers leave a mark, the loop looks at it ---- */

static volatile sig_atomic_t stops, wants_rotation, wants_account, last_signal;

static void on_signal(int number)
{
	switch (number) {
	case SIGHUP:
		wants_rotation = 1;
		break;
	case SIGUSR1:
		wants_account = 1;
		break;
	case SIGCHLD: /* it only ends the wait */
		break;
	default:
		last_signal = number;
		stops++;
	}
}

static void catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD };
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- Opening ---- */

struct session {
	const struct record_options *opt;
	const char *log;
	struct recorder recorder;
	struct child child;
	struct out *out;
	bool has_command;
	bool has_told_child; /* passed the signal on */
	int child_status; /* exit status to pass on */
};

static enum act_per per_of(const struct record_options *opt)
{
	static const enum act_per words[] = { ACT_PER_BOTH, ACT_PER_PROCESS, ACT_PER_TASK };

	return words[opt->per];
}

static int check_options(const struct record_options *opt, int argc)
{
	if (opt->from && (argc || opt->for_ns || opt->capture || opt->cpus || opt->rcvbuf_bytes ||
			  opt->interval_ns))
		return refuse("--from replays what was kept; it goes without a command, --for, "
			      "--capture, --cpus, --rcvbuf and --interval");
	if (opt->for_ns && argc)
		return refuse("--for and a command exclude each other; "
			      "the recording ends with the command");
	if (!opt->sync_ns)
		return refuse("--sync needs a duration above zero, such as 1s");
	return STATUS_OK;
}

/* Beside a log, the CPU list and the capture's name are the user's, too. */
static int status_of_opening(const struct record_options *opt, int error)
{
	switch (error) {
	case -EINVAL:
	case -ERANGE:
	case -EEXIST:
		return STATUS_USAGE;
	case -ENODATA: /* live: the self-test failed */
		return opt->from ? STATUS_USAGE : STATUS_FAILED;
	default:
		return status_of(error);
	}
}

static int open_source(const struct record_options *opt, struct act_source **ret_source)
{
	struct act_taskstats_options live = {
		.size = sizeof(live), .cpus = opt->cpus, .rcvbuf_bytes = opt->rcvbuf_bytes,
		.interval_ns = opt->interval_ns, .capture = opt->capture,
	};
	struct act_why why = { "" };
	int ret;

	ret = opt->from ? act_source_open_replay(opt->from, ret_source, &why)
			: act_source_open_taskstats(&live, ret_source, &why);
	if (ret < 0)
		msg_error("%s", why.text);
	return ret;
}

static int open_recorder(struct session *session, struct act_gap *ret_gap)
{
	const struct record_options *opt = session->opt;
	struct act_log_writer_options log = {
		.size = sizeof(log),
		.rotate_bytes = opt->rotate_bytes, .rotate_age_ns = opt->rotate_age_ns,
		.keep_bytes = opt->keep_bytes, .keep_age_ns = opt->keep_age_ns,
	};
	struct act_log_writer *writer;
	struct act_source *source;
	struct act_why why = { "" };
	int ret = open_source(opt, &source);

	if (ret < 0)
		return ret;
	ret = act_log_writer_open(session->log, &log, &writer, ret_gap, &why);
	if (ret < 0) {
		msg_error("%s", why.text);
		act_source_free(source);
		return ret;
	}
	ret = recorder_init(&session->recorder, source, writer, per_of(opt), opt->from != NULL);
	if (ret < 0) {
		msg_error("cannot begin: %s", strerror(-ret));
		recorder_release(&session->recorder);
	}
	return ret;
}

/* How the recording is made, for the state that begins it. */
static void describe(const struct session *session, char *ret_text, size_t room)
{
	static const char *const words[] = { "both", "process", "task" };
	const struct record_options *opt = session->opt;
	struct act_source_stats stats;

	act_source_stats(session->recorder.source, &stats);
	if (opt->from)
		snprintf(ret_text, room, "actuary=%s source=replay per=%s", act_version(),
			 words[opt->per]);
	else
		snprintf(ret_text, room, "actuary=%s source=taskstats per=%s cpus=%s rcvbuf=%"
			 PRIu64, act_version(), words[opt->per], opt->cpus ? opt->cpus : "all",
			 stats.rcvbuf_bytes);
}

/* ---- While it runs ---- */

static void print_every(void *arg, const struct recorder *recorder)
{
	struct session *session = arg;
	struct act_source_stats stats;

	act_source_stats(recorder->source, &stats);
	if (session->opt->json) {
		out_json_begin(session->out);
		out_json_u64(session->out, "stats", recorder->exits);
		out_json_u64(session->out, "enobufs", stats.enobufs);
		out_json_u64(session->out, "lost", stats.lost);
		out_json_end(session->out);
	} else {
		out_printf(session->out, "stats %" PRIu64 " enobufs %" PRIu64 " lost %" PRIu64
			   "\n", recorder->exits, stats.enobufs, stats.lost);
	}
	out_flush(session->out);
}

static void print_account(struct session *session, bool *ret_complete)
{
	struct account account;

	account_take(&account, &session->recorder, session->log);
	if (session->opt->json)
		account_print_json(&account, session->out);
	else
		account_print(&account, session->out);
	out_flush(session->out);
	*ret_complete = account.lost == 0;
}

static void handle_requests(struct session *session)
{
	bool complete;

	if (wants_rotation) {
		wants_rotation = 0;
		/* What can't be written now waits for room, as any record does. */
		act_log_writer_rotate(session->recorder.writer);
	}
	if (wants_account) {
		wants_account = 0;
		print_account(session, &complete);
	}
}

/* A command gets the first signal too, and the time to end by it. */
static bool is_over(struct session *session, uint64_t until_ns)
{
	static const int patience = 2;
	int status;

	if (session->has_command) {
		if (child_has_ended(&session->child, &status)) {
			session->child_status = child_exit_status(status);
			return true;
		}
		if (stops && !session->has_told_child) {
			session->has_told_child = true;
			kill(session->child.pid, last_signal);
		}
		return stops >= patience;
	}
	return stops || (until_ns && clock_monotonic_ns() >= until_ns);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t time_left(uint64_t until_ns, uint64_t now_ns)
{
	return until_ns > now_ns ? until_ns - now_ns : 0;
}

static int run_live(struct session *session)
{
	const struct record_options *opt = session->opt;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t until_ns = opt->for_ns ? now_ns + opt->for_ns : 0;
	uint64_t sync_ns = now_ns + opt->sync_ns;
	int ret = 0;

	while (ret >= 0 && !is_over(session, until_ns)) {
		uint64_t wait_ns = smaller(LONGEST_WAIT_NS, time_left(sync_ns, now_ns));

		if (until_ns)
			wait_ns = smaller(wait_ns, time_left(until_ns, now_ns));
		act_source_wait(session->recorder.source, wait_ns);
		ret = recorder_drain(&session->recorder);
		handle_requests(session);
		now_ns = clock_monotonic_ns();
		if (ret >= 0 && now_ns >= sync_ns) {
			ret = recorder_sync(&session->recorder);
			sync_ns = now_ns + opt->sync_ns;
		}
	}
	return ret;
}

static int run_replay(struct session *session)
{
	int ret;

	do
		ret = recorder_drain(&session->recorder);
	while (ret == 0 && !stops);
	return ret;
}

static int begin(struct session *session, const struct act_gap *gap, char **argv)
{
	char text[256];
	int ret = 0;

	describe(session, text, sizeof(text));
	if (session->has_command) {
		ret = child_hold(&session->child, argv);
		if (ret < 0) {
			msg_error("cannot start %s: %s", argv[0], strerror(-ret));
			return ret;
		}
	}
	if (!session->opt->from)
		ret = service_drop_privileges(session->log);
	if (ret >= 0)
		ret = recorder_start(&session->recorder, gap, text);
	if (ret < 0) {
		msg_error("cannot begin: %s", strerror(-ret));
		return ret;
	}
	service_notify("READY=1");
	msg_info("recording to %s", session->log);
	if (!session->has_command)
		return 0;
	ret = child_go(&session->child);
	if (ret < 0) {
		msg_error("cannot run %s: %s", argv[0], strerror(-ret));
		session->child_status = ret == -ENOENT ? 127 : 126;
	}
	return ret;
}

static int end(struct session *session, int ret)
{
	bool complete = true;
	int stopped = recorder_stop(&session->recorder);

	service_notify("STOPPING=1");
	if (ret >= 0)
		ret = stopped;
	/* If it cannot be written, the account and the end of the recorder say so. */
	act_log_writer_flush(session->recorder.writer);
	print_account(session, &complete);
	if (ret < 0) {
		msg_error("the recording broke off: %s; what was recorded is kept in %s",
			  strerror(-ret), session->log);
		return STATUS_FAILED;
	}
	if (!complete && session->opt->strict)
		return STATUS_UNTRUSTED;
	if (session->has_command)
		return session->child_status;
	return STATUS_OK;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	struct session session = { .opt = arg, .child = { .gate = -1, .failed = -1 } };
	struct act_gap gap;
	int status, ret;

	(void)self;
	status = check_options(session.opt, argc);
	if (status)
		return status;
	session.log = default_log_path(session.opt->log);
	session.has_command = argc > 0;
	session.out = open_output(session.opt->output);
	if (!session.out)
		return STATUS_FAILED;
	catch_signals();
	ret = open_recorder(&session, &gap);
	if (ret < 0) {
		out_close(session.out);
		return status_of_opening(session.opt, ret);
	}
	session.recorder.every = session.opt->every;
	session.recorder.on_every = print_every;
	session.recorder.on_every_arg = &session;
	ret = begin(&session, &gap, argv);
	if (ret < 0) {
		status = session.child_status ? session.child_status : STATUS_FAILED;
		recorder_stop(&session.recorder);
	} else {
		ret = session.opt->from ? run_replay(&session) : run_live(&session);
		status = end(&session, ret);
	}
	child_release(&session.child);
	ret = recorder_release(&session.recorder);
	if (ret < 0 && !status) {
		msg_error("%s has no room: %s; what could not be stored at the end is not in it",
			  session.log, strerror(-ret));
		status = STATUS_FAILED;
	}
	if (out_close(session.out) < 0 && !status) {
		msg_error("cannot write the account: %s", strerror(errno));
		status = STATUS_FAILED;
	}
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.synopsis = "[OPTION]... [-- COMMAND [ARGUMENT]...]",
	.summary = "record every exit to a log until stopped, or while a command runs",
	.options = options,
	.options_size = sizeof(struct record_options),
	.defaults = set_defaults,
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <string.h>

#include "check.h"
#include "logarg.h"
#include "msg.h"
#include "out.h"

struct doctor_options {
	const char *log;
	const char *output;
	bool json;
};

#define OPTION(member) offsetof(struct doctor_options, member)
static const struct option_spec options[] = {
	{ 'l', "log", OPTION_TEXT, "DIR", OPTION(log), "log that is to be written" },
	{ 'j', "json", OPTION_FLAG, NULL, OPTION(json), "an object a line" },
	{ 'o', "output", OPTION_TEXT, "FILE", OPTION(output), "write there instead of stdout" },
	{ 0 },
};

/*
 * In this order, for later checks use what earlier ones found.  Needed is what
 * fails whenever recording does; its reasons stand beside it.
 */
static const struct check checks[] = {
	{ "taskstats", true, check_taskstats },
	{ "taskstats-version", false, check_version },
	{ "user-namespace", false, check_user_namespace },
	{ "pid-namespace", false, check_pid_namespace },
	{ "net-namespace", false, check_net_namespace },
	{ "cap-net-admin", false, check_net_admin },
	{ "registration", true, check_registration },
	{ "exits", true, check_exits },
	{ "receive-buffer", false, check_buffer },
	{ "log", true, check_log },
	{ "delay-accounting", false, check_switch },
	{ "irq-time", false, check_irq_time },
	{ "memory-and-calls", false, check_memory },
	{ "storage-io", false, check_storage },
	{ "cpu-time", false, check_ticks },
	{ "bsd-accounting", false, check_bsd },
	{ "proc-connector", false, check_connector },
	{ "bpf", false, check_bpf },
	{ "btf", false, check_btf },
	{ "kprobes", false, check_kprobes },
	{ "lockdown", false, check_lockdown },
	{ "pressure", false, check_pressure },
};

enum { CHECKS = sizeof(checks) / sizeof(*checks) };

static const char *const status_words[] = {
	[CHECK_OK] = "ok",
	[CHECK_OFF] = "off",
	[CHECK_MISSING] = "missing",
	[CHECK_REFUSED] = "refused",
	[CHECK_UNKNOWN] = "unknown",
};

static void print_text(struct out *out, const struct check *check, const struct finding *finding)
{
	out_printf(out, "%-8s %-18s ", status_words[finding->status], check->name);
	out_text_escaped(out, finding->detail, strlen(finding->detail));
	out_string(out, "\n");
	if (!*finding->mend)
		return;
	out_printf(out, "%-8s %-18s -> ", "", "");
	out_text_escaped(out, finding->mend, strlen(finding->mend));
	out_string(out, "\n");
}

static void print_json(struct out *out, const struct check *check, const struct finding *finding)
{
	const char *status = status_words[finding->status];

	out_json_begin(out);
	out_json_string(out, "check", check->name, strlen(check->name));
	out_json_string(out, "status", status, strlen(status));
	out_json_bool(out, "needed", check->is_needed);
	out_json_string(out, "detail", finding->detail, strlen(finding->detail));
	if (*finding->mend)
		out_json_string(out, "mend", finding->mend, strlen(finding->mend));
	else
		out_json_null(out, "mend");
	out_json_end(out);
}

/* Whether recording is possible. */
static bool examine(struct checkup *checkup, struct out *out, bool is_json)
{
	bool is_possible = true;

	for (size_t i = 0; i < CHECKS; i++) {
		struct finding finding = { .status = CHECK_UNKNOWN };

		checks[i].look(checkup, &finding);
		if (checks[i].is_needed && finding.status != CHECK_OK)
			is_possible = false;
		if (is_json)
			print_json(out, &checks[i], &finding);
		else
			print_text(out, &checks[i], &finding);
		/* Before a check forks: the child must not have unwritten lines. */
		out_flush(out);
	}
	return is_possible;
}

static int run(const struct command *self, void *arg, int argc, char **argv)
{
	const struct doctor_options *opt = arg;
	struct checkup checkup = { .log = default_log_path(opt->log) };
	struct act_why why = { "" };
	bool is_possible;
	struct out *out;

	(void)self;
	if (argc) {
		msg_error("takes no argument, such as '%s'; see 'actuary doctor -h'", argv[0]);
		return STATUS_USAGE;
	}
	out = open_output(opt->output);
	if (!out)
		return STATUS_FAILED;
	checkup.ask_error = ask_open(&checkup.ask, &why);
	is_possible = examine(&checkup, out, opt->json);
	ask_close(checkup.ask);
	if (!opt->json)
		out_printf(out, "\nrecording is %s\n", is_possible ? "possible" : "not possible");
	out_close(out); /* main tells of output that could not be written */
	return is_possible ? STATUS_OK : STATUS_FAILED;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.synopsis = "[OPTION]...",
	.summary = "what this kernel and these privileges offer, and what would mend it",
	.options = options,
	.options_size = sizeof(struct doctor_options),
	.run = run,
};

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_FILTEROPTS_H
#define ACTUARY_FILTEROPTS_H

/*
 * The options that say which records are looked at, the same in every command
 * that reads a log.  A command embeds struct filter_options in its own options
 * and puts FILTER_OPTIONS(its type, the member), into its table.
 */
#include <stdbool.h>
#include <stdint.h>

#include <actuary/query.h>

#include "cmd.h"

struct filter_options {
	const char *comm;
	const char *user;   /* name or number */
	const char *signal; /* name, number or "any" */
	uint64_t pid;
	uint64_t since_ns;
	uint64_t until_ns;
	uint64_t longer_ns;
	bool failed;
};

#define FILTER_OPTIONS(type, member) \
	FILTER_OPTIONS_BUT_PID(type, member), \
	{ 'p', "pid", OPTION_COUNT, "PID", offsetof(type, member.pid), \
	  "only this process" }

/* For a command to which --pid means something of its own as well. */
#define FILTER_OPTIONS_BUT_PID(type, member) \
	{ 'C', "comm", OPTION_TEXT, "PATTERN", offsetof(type, member.comm), \
	  "only this command, or those that match a shell pattern" }, \
	{ 'u', "uid", OPTION_TEXT, "USER", offsetof(type, member.user), \
	  "only this user's, by number or name" }, \
	{ 'S', "since", OPTION_TIME, "TIME", offsetof(type, member.since_ns), \
	  "only what ended at TIME or later: 2026-12-01T10:00Z, @SECONDS, \"10m ago\"" }, \
	{ 'U', "until", OPTION_TIME, "TIME", offsetof(type, member.until_ns), \
	  "only what ended before TIME" }, \
	{ 0, "longer", OPTION_DURATION, "DURATION", offsetof(type, member.longer_ns), \
	  "only what took as long or longer: 10ms, 1.5s, 2h" }, \
	{ 0, "failed", OPTION_FLAG, NULL, offsetof(type, member.failed), \
	  "only what ended with a code other than 0, or by a signal" }, \
	{ 0, "signal", OPTION_TEXT, "SIGNAL", offsetof(type, member.signal), \
	  "only what this signal killed: KILL, 9, or \"any\"" }

void filter_options_defaults(struct filter_options *options);

/*
 * Makes the filter, which uses the options' memory and passes processes.
 * Returns STATUS_OK, or STATUS_USAGE after one message.
 */
int filter_options_get(const struct filter_options *options, struct act_filter *ret_filter);

/* "KILL", "SIGKILL", "RTMIN+2", "9": the signal's number, or -1. */
int signal_number(const char *text);

#endif

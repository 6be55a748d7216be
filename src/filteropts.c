/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "filteropts.h"

#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <strings.h>

#include "base/parse.h"
#include "msg.h"

/* As the wait status has room for: seven bits, of which 0 and 127 mean otherwise. */
#define SIGNAL_MAX 126

void filter_options_defaults(struct filter_options *options)
{
	*options = (struct filter_options){ .pid = ACT_UNKNOWN, .until_ns = UINT64_MAX };
}

int signal_number(const char *text)
{
	uint64_t number;

	if (parse_count(text, &number) == 0)
		return number >= 1 && number <= SIGNAL_MAX ? (int)number : -1;
	if (strncasecmp(text, "SIG", 3) == 0)
		text += 3;
	if (strncasecmp(text, "RTMIN+", 6) == 0 && parse_count(text + 6, &number) == 0)
		return number <= (uint64_t)(SIGRTMAX - SIGRTMIN) ? SIGRTMIN + (int)number : -1;
	for (int i = 1; i < NSIG; i++) {
		const char *name = sigabbrev_np(i);

		if (name && strcasecmp(name, text) == 0)
			return i;
	}
	return -1;
}

/* A number need not be in the user database, and wins over a name of digits. */
static int find_user(const char *text, uint64_t *ret_uid)
{
	const struct passwd *entry;

	if (parse_count(text, ret_uid) == 0 && *ret_uid <= UINT32_MAX)
		return 0;
	entry = getpwnam(text);
	if (!entry)
		return -1;
	*ret_uid = entry->pw_uid;
	return 0;
}

static int refuse_value(const char *option, const char *text, const char *what)
{
	msg_error("%s: '%s' %s", option, text, what);
	return STATUS_USAGE;
}

int filter_options_get(const struct filter_options *options, struct act_filter *ret_filter)
{
	act_filter_init(ret_filter);
	ret_filter->comm = options->comm;
	ret_filter->pid = options->pid;
	ret_filter->since_ns = options->since_ns;
	ret_filter->until_ns = options->until_ns;
	ret_filter->longer_ns = options->longer_ns;
	ret_filter->failed = options->failed;
	if (options->user && find_user(options->user, &ret_filter->uid) < 0)
		return refuse_value("--uid", options->user, "is no user here; a number always works");
	if (options->signal) {
		ret_filter->signal = strcasecmp(options->signal, "any") == 0 ? -1 :
				     signal_number(options->signal);
		if (ret_filter->signal < 0 && strcasecmp(options->signal, "any") != 0)
			return refuse_value("--signal", options->signal,
				      "is no signal; say KILL, 9 or any");
	}
	if (ret_filter->since_ns >= ret_filter->until_ns) {
		msg_error("--since is not before --until: nothing can have ended between them");
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

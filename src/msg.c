/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "msg.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "out.h"

static struct {
	const char *prefix;
	bool is_quiet;
	bool has_terminal;
	bool in_progress; /* a progress line stands on the terminal */
} msg = { .prefix = "actuary" };

void msg_init(const char *prefix, bool quiet)
{
	msg.prefix = prefix;
	msg.is_quiet = quiet;
	msg.has_terminal = isatty(STDERR_FILENO) == 1;
}

/*
 * Formats a message and makes it one line that is safe to show: file names and
 * the like are bytes that others chose.  @room counts the NUL.
 */
__attribute__((format(printf, 3, 0)))
static void make_line(char *line, size_t room, const char *format, va_list args)
{
	char text[2048];
	int length = vsnprintf(text, sizeof(text), format, args);

	if (length < 0)
		length = 0;
	if ((size_t)length >= sizeof(text))
		length = sizeof(text) - 1;
	escape_line(text, (size_t)length, line, room);
}

__attribute__((format(printf, 2, 0)))
static void say(const char *severity, const char *format, va_list args)
{
	char line[4096];

	make_line(line, sizeof(line), format, args);
	msg_progress_end();
	fprintf(stderr, "%s: %s%s\n", msg.prefix, severity, line);
}

void msg_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
}

void msg_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning: ", format, args);
	va_end(args);
}

void msg_info(const char *format, ...)
{
	va_list args;

	if (msg.is_quiet)
		return;
	va_start(args, format);
	say("", format, args);
	va_end(args);
}

void msg_progress(const char *format, ...)
{
	char line[512];
	va_list args;

	if (msg.is_quiet || !msg.has_terminal)
		return;
	va_start(args, format);
	make_line(line, sizeof(line), format, args);
	va_end(args);
	/* \033[K: erase what a longer line has left behind. */
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	msg.in_progress = true;
}

void msg_progress_end(void)
{
	if (!msg.in_progress)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	msg.in_progress = false;
}

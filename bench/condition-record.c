/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Our own recorder, as anybody would start it. */
#include "bench/condition-toggle.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/json.h"
#include "bench/why.h"

#define ARGUMENTS 24
#define READY_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define SEEN_TIMEOUT_NS (5 * NSEC_PER_SEC)
#define OUTPUT_BYTES 65536

struct recording {
	char *argument[ARGUMENTS]; /* "--per=task" */
	size_t arguments;
	char log[256];   /* "": not made */
	int account_fd;  /* what it prints */
	int said_fd;     /* what it says */
};

/* ---- Options ---- */

static bool is_allowed(const char *piece)
{
	static const char *const names[] = {
		"per", "cpus", "rcvbuf", "interval", "sync", "rotate-size", "rotate-age",
		"max-size", "max-age",
	};
	size_t length = strcspn(piece, "=");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == length && !memcmp(names[i], piece, length))
			return piece[length] == '=';
	return false;
}

static int parse_record(struct toggle *toggle, struct act_why *why)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	char *at = toggle->text;

	if (!recording)
		return because(why, -ENOMEM, "out of memory");
	toggle->data = recording;
	recording->account_fd = recording->said_fd = -1;
	for (char *piece; (piece = toggle_piece(&at));) {
		if (!is_allowed(piece) || recording->arguments == ARGUMENTS)
			return because(why, -EINVAL, "record has no option \"%s\" here; it has per=, "
				       "cpus=, rcvbuf=, interval=, sync=, rotate-size=, "
				       "rotate-age=, max-size= and max-age=", piece);
		recording->argument[recording->arguments] = malloc(strlen(piece) + 3);
		if (!recording->argument[recording->arguments])
			return because(why, -ENOMEM, "out of memory");
		sprintf(recording->argument[recording->arguments++], "--%s", piece);
	}
	return 0;
}

static void release_record(struct toggle *toggle)
{
	struct recording *recording = toggle->data;

	for (size_t i = 0; recording && i < recording->arguments; i++)
		free(recording->argument[i]);
}

/* ---- Starting ---- */

/* On a disk, as a log would be: /tmp is memory on many machines. */
static int make_log(struct recording *recording, struct act_why *why)
{
	const char *directory = getenv("TMPDIR");

	snprintf(recording->log, sizeof(recording->log), "%s/actuary-ab-XXXXXX",
		 directory && *directory ? directory : "/var/tmp");
	if (!mkdtemp(recording->log)) {
		int error = errno;

		because(why, -error, "cannot make a directory for the log, %s: %s",
			recording->log, strerror(error));
		recording->log[0] = '\0';
		return -error;
	}
	return 0;
}

/* The socket on which the recorder says READY=1, as a service does, sd_notify(3). */
static int open_notify(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t length = sizeof(sa_family_t);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	/* Linux chooses an abstract name by itself, unix(7), autobind. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, length) < 0)
		goto failed;
	length = sizeof(address);
	if (getsockname(fd, (struct sockaddr *)&address, &length) < 0)
		goto failed;
	address.sun_path[0] = '@';
	address.sun_path[length - offsetof(struct sockaddr_un, sun_path)] = '\0';
	if (setenv("NOTIFY_SOCKET", address.sun_path, 1) == 0)
		return fd;
failed:
	if (fd >= 0)
		close(fd);
	return -1;
}

static pid_t start(struct recording *recording)
{
	char *argv[ARGUMENTS + 8] = {
		(char *)"/proc/self/exe", (char *)"record", (char *)"--quiet", (char *)"--json",
		(char *)"--log", recording->log,
	};
	size_t argc = 6;

	for (size_t i = 0; i < recording->arguments; i++)
		argv[argc++] = recording->argument[i];
	recording->account_fd = memfd_create("account", MFD_CLOEXEC);
	recording->said_fd = memfd_create("said", MFD_CLOEXEC);
	if (recording->account_fd < 0 || recording->said_fd < 0)
		return -errno;
	return toggle_spawn(argv, recording->account_fd, recording->said_fd);
}

/* What was written to it so far; to be freed; NULL: nothing. */
static char *written(int fd)
{
	char *text = fd >= 0 ? malloc(OUTPUT_BYTES) : NULL;
	ssize_t length = text ? pread(fd, text, OUTPUT_BYTES - 1, 0) : 0;

	if (length <= 0) {
		free(text);
		return NULL;
	}
	text[length] = '\0';
	return text;
}

static bool has_ended(struct toggle *toggle)
{
	if (toggle->pid > 0 && waitpid(toggle->pid, NULL, WNOHANG) != 0)
		toggle->pid = 0;
	return !toggle->pid;
}

/* Its own message is the best there is. */
static int explain_end(const struct toggle *toggle, struct act_why *why)
{
	const struct recording *recording = toggle->data;
	char *said = written(recording->said_fd);
	int ret;

	ret = because(why, -ECHILD, "the recorder ended: %.*s",
		      said ? (int)strcspn(said, "\n") : 9, said ? said : "no reason");
	free(said);
	return ret;
}

static int wait_ready(struct toggle *toggle, int notify_fd, struct act_why *why)
{
	uint64_t end_ns = clock_monotonic_ns() + READY_TIMEOUT_NS;
	struct pollfd polled = { .fd = notify_fd, .events = POLLIN };
	char text[64];

	while (clock_monotonic_ns() < end_ns) {
		ssize_t length = poll(&polled, 1, 20) > 0 ? recv(notify_fd, text, sizeof(text), 0)
							  : 0;

		if (length >= 7 && !memcmp(text, "READY=1", 7))
			return 0;
		if (has_ended(toggle))
			return explain_end(toggle, why);
	}
	return because(why, -ETIMEDOUT, "the recorder does not begin");
}

/* ---- Its account ---- */

/* The last line of what it printed. */
static json_t *last_account(const struct recording *recording)
{
	char *text = written(recording->account_fd);
	json_t *account = NULL;
	char *line;

	if (!text)
		return NULL;
	line = strrchr(text, '\n');
	if (line) {
		*line = '\0';
		line = strrchr(text, '\n');
		account = json_loads(line ? line + 1 : text, 0, NULL);
	}
	free(text);
	return account;
}

static uint64_t recorded_by(const struct recording *recording)
{
	json_t *account = last_account(recording);
	struct json_pick pick = { .object = account };
	uint64_t recorded = account ? json_pick_u64(&pick, "recorded") : 0;

	json_decref(account);
	return recorded == ACT_UNKNOWN ? 0 : recorded;
}

/* A task ends; then the account, asked for by SIGUSR1, must tell of more than before. */
static int see_exit(struct toggle *toggle, struct act_why *why)
{
	struct recording *recording = toggle->data;
	uint64_t end_ns = clock_monotonic_ns() + SEEN_TIMEOUT_NS;

	toggle_birth(-1);
	while (clock_monotonic_ns() < end_ns) {
		if (has_ended(toggle))
			return explain_end(toggle, why);
		/* Each account replaces the one before: only the last line counts. */
		if (ftruncate(recording->account_fd, 0) < 0 ||
		    lseek(recording->account_fd, 0, SEEK_SET) < 0)
			return because(why, -errno, "cannot read the account: %s", strerror(errno));
		kill(toggle->pid, SIGUSR1);
		poll(NULL, 0, 30);
		if (recorded_by(recording) > 0)
			return 0;
	}
	return because(why, -ENODATA, "the recorder runs, but does not record a task that ended");
}

static int record_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	struct recording *recording = toggle->data;
	int notify_fd, ret;

	*ret_was_so = false;
	ret = make_log(recording, why);
	if (ret < 0)
		return ret;
	notify_fd = open_notify();
	if (notify_fd < 0)
		return because(why, -errno, "cannot wait for the recorder: %s", strerror(errno));
	toggle->pid = start(recording);
	if (toggle->pid < 0) {
		ret = because(why, toggle->pid, "cannot start the recorder: %s",
			      strerror(-toggle->pid));
		toggle->pid = 0;
	} else {
		ret = wait_ready(toggle, notify_fd, why);
	}
	close(notify_fd);
	return ret < 0 ? ret : see_exit(toggle, why);
}

static int record_check(struct toggle *toggle, struct act_why *why)
{
	return has_ended(toggle) ? explain_end(toggle, why) : 0;
}

/* ---- Ending ---- */

static int delete_one(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)type;
	(void)place;
	return remove(path);
}

static void take_costs(struct toggle *toggle)
{
	json_t *account = last_account(toggle->data);
	struct json_pick pick = { .object = account };

	if (account) {
		toggle->costs.cpu_ns = json_pick_u64(&pick, "cpu_ns");
		toggle->costs.records = json_pick_u64(&pick, "recorded");
		toggle->costs.enobufs = json_pick_u64(&pick, "enobufs");
		toggle->costs.lost = json_pick_u64(&pick, "lost");
	}
	json_decref(account);
}

static int record_off(struct toggle *toggle, struct act_why *why)
{
	struct recording *recording = toggle->data;
	int status, ret = 0;

	if (toggle->pid) {
		kill(toggle->pid, SIGTERM);
		ret = toggle_wait(toggle->pid, TOGGLE_LIMIT_NS, &status);
		toggle->pid = 0;
		take_costs(toggle);
		if (ret < 0)
			because(why, ret, "the recorder did not end and was killed");
	}
	if (recording->log[0])
		nftw(recording->log, delete_one, 8, FTW_DEPTH | FTW_PHYS);
	return ret;
}

const struct toggle_kind toggle_record = {
	.name = "record", .form = "record[:OPTIONS]", .facts = "netlink_generic",
	.is_listener = true,
	.parse = parse_record, .on = record_on, .check = record_check, .off = record_off,
	.release = release_record,
};

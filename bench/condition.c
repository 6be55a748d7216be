/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/condition.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/condition-toggle.h"
#include "bench/why.h"

#define NAME_MAX_BYTES 32

static const struct condition_costs no_costs = {
	ACT_UNKNOWN, ACT_UNKNOWN, ACT_UNKNOWN, ACT_UNKNOWN,
};

static int refuse_watchers(struct toggle *toggle, struct act_why *why)
{
	(void)toggle;
	return because(why, -ENOTSUP,
		       "watchers are hooks by BPF, and this version of actuary has no BPF source yet; "
		       "measure one that you load yourself by cmd:ON,OFF,CHECK");
}

static const struct toggle_kind toggle_watchers = {
	.name = "watchers", .form = "watchers:N", .parse = refuse_watchers,
};

static const struct toggle_kind *const kinds[] = {
	&toggle_record, &toggle_raw_listener, &toggle_connector, &toggle_acct, &toggle_sysctl,
	&toggle_watchers, &toggle_nice, &toggle_cpus, &toggle_cgroup, &toggle_with, &toggle_cmd,
	NULL,
};

const char *condition_forms(void)
{
	return "none, record[:OPTIONS], raw-listener[:cpus=LIST,rcvbuf=SIZE], "
	       "connector[:rcvbuf=SIZE], acct:FILE, sysctl:KEY=VALUE, nice:N, cpus:LIST, cgroup:DIR, "
	       "with:OPTION,... or cmd:ON,OFF,CHECK";
}

/* ---- Parsing ---- */

/* The kind whose name begins @text, and ends there: before ':', '+' or the end. */
static const struct toggle_kind *kind_of(const char *text)
{
	size_t length = strcspn(text, ":+");

	for (size_t i = 0; kinds[i]; i++)
		if (strlen(kinds[i]->name) == length && !memcmp(kinds[i]->name, text, length))
			return kinds[i];
	return NULL;
}

/* Where a toggle ends: at a '+' before the name of a kind, else at the end. */
static size_t toggle_length(const struct toggle_kind *kind, const char *text)
{
	const char *plus = kind->takes_all ? NULL : strchr(text, '+');

	while (plus && !kind_of(plus + 1))
		plus = strchr(plus + 1, '+');
	return plus ? (size_t)(plus - text) : strlen(text);
}

static int parse_toggle(const char *text, size_t length, struct toggle *ret, struct act_why *why)
{
	size_t name = strlen(ret->kind->name);

	ret->fd = -1;
	ret->costs = no_costs;
	if (length > name && text[name++] != ':')
		return because(why, -EINVAL, "what follows \"%s\" in \"%s\" is no condition",
			       ret->kind->name, text);
	ret->text = strndup(text + name, length - name);
	if (!ret->text)
		return because(why, -ENOMEM, "out of memory");
	return ret->kind->parse(ret, why);
}

/* Of the options of two, which are the workload's? */
static int check_once(const struct condition *condition, struct act_why *why)
{
	size_t with = 0;

	for (size_t i = 0; i < condition->toggles; i++)
		with += condition->toggle[i].kind == &toggle_with;
	return with < 2 ? 0 : because(why, -EINVAL, "\"with\" takes all options of the workload, "
				      "one after the other: with:--a=1,--b=2");
}

static int parse_spec(const char *spec, struct condition *condition, struct act_why *why)
{
	if (strcmp(spec, "none") == 0)
		return 0;
	for (const char *at = spec;;) {
		const struct toggle_kind *kind = kind_of(at);
		struct toggle *more;
		size_t length;
		int ret;

		if (!kind)
			return because(why, -EINVAL, "\"%s\" is no condition; it is one of: %s", at,
				       condition_forms());
		more = realloc(condition->toggle, (condition->toggles + 1) * sizeof(*more));
		if (!more)
			return because(why, -ENOMEM, "out of memory");
		condition->toggle = more;
		more += condition->toggles++;
		*more = (struct toggle){ .kind = kind };
		length = toggle_length(kind, at);
		ret = parse_toggle(at, length, more, why);
		if (ret < 0)
			return ret;
		if (!at[length])
			return check_once(condition, why);
		at += length + 1;
	}
}

static bool is_name(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr("-_.", text[i]))
			return false;
	return length > 0 && length <= NAME_MAX_BYTES;
}

int condition_parse(const char *text, struct condition *ret, struct act_why *ret_why)
{
	size_t name = strcspn(text, "=");
	int error;

	*ret = (struct condition){ .fd = -1 };
	if (!text[name])
		return because(ret_why, -EINVAL,
			       "the condition \"%s\" is not NAME=SPEC, as on=record or off=none", text);
	if (!is_name(text, name))
		return because(ret_why, -EINVAL,
			       "the name before '=' in \"%s\" is not 1 to %d letters, digits, - . or _",
			       text, NAME_MAX_BYTES);
	ret->name = strndup(text, name);
	if (!ret->name)
		return because(ret_why, -ENOMEM, "out of memory");
	ret->spec = text + name + 1;
	error = parse_spec(ret->spec, ret, ret_why);
	if (error < 0)
		condition_release(ret);
	return error;
}

void condition_release(struct condition *condition)
{
	struct condition_report report;

	condition_off(condition, &report);
	for (size_t i = 0; i < condition->toggles; i++) {
		if (condition->toggle[i].fd >= 0)
			close(condition->toggle[i].fd);
		if (condition->toggle[i].kind->release)
			condition->toggle[i].kind->release(&condition->toggle[i]);
		free(condition->toggle[i].data);
		free(condition->toggle[i].before);
		free(condition->toggle[i].text);
	}
	free(condition->toggle);
	free(condition->name);
	*condition = (struct condition){ .fd = -1 };
}

/* ---- What it is, for others ---- */

bool condition_has_listener(const struct condition *condition)
{
	for (size_t i = 0; i < condition->toggles; i++)
		if (condition->toggle[i].kind->is_listener)
			return true;
	return false;
}

const char *condition_sysctl(const struct condition *condition, size_t index)
{
	for (size_t i = 0; i < condition->toggles; i++)
		if (condition->toggle[i].kind == &toggle_sysctl && index-- == 0)
			return condition->toggle[i].word[0];
	return NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);

	for (; words && *words; words += strcspn(words, " "), words += *words == ' ')
		if (strcspn(words, " ") == length && !memcmp(words, word, length))
			return true;
	return false;
}

bool condition_explains(const struct condition *condition, const char *fact)
{
	for (size_t i = 0; i < condition->toggles; i++) {
		const struct toggle *toggle = &condition->toggle[i];

		if (has_word(toggle->kind->facts, fact))
			return true;
		if (toggle->kind == &toggle_sysctl && !strncmp(fact, "sysctl ", 7) &&
		    strcmp(fact + 7, toggle->word[0]) == 0)
			return true;
	}
	return false;
}

int condition_enter(void *arg)
{
	const struct condition *condition = arg;

	for (size_t i = 0; i < condition->toggles; i++) {
		const struct toggle *toggle = &condition->toggle[i];
		int ret = toggle->kind->enter ? toggle->kind->enter(toggle) : 0;

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* ---- The holder's side ---- */

static int answer(int fd, const struct condition_report *report)
{
	return send(fd, report, sizeof(*report), MSG_NOSIGNAL) == sizeof(*report) ? 0 : -EPIPE;
}

static void switch_on(struct condition *condition, struct condition_report *report)
{
	report->was_so = condition->toggles > 0;
	for (size_t i = 0; i < condition->toggles && !report->error; i++) {
		struct toggle *toggle = &condition->toggle[i];
		bool was_so = false;

		if (toggle->kind->on)
			report->error = toggle->kind->on(toggle, &was_so, &report->why);
		/* What is only entered by the workload is told by its own environment. */
		report->was_so = report->was_so && was_so;
	}
}

/* Unknown stays so; what is known of several listeners adds up. */
static void add(uint64_t *sum, uint64_t value)
{
	if (value != ACT_UNKNOWN)
		*sum = *sum == ACT_UNKNOWN ? value : *sum + value;
}

static void check_all(struct condition *condition, struct condition_report *report)
{
	for (size_t i = 0; i < condition->toggles && !report->broke; i++) {
		struct toggle *toggle = &condition->toggle[i];

		if (toggle->kind->check && toggle->kind->check(toggle, &report->why) < 0)
			report->broke = true;
	}
}

/* In reverse; the first failure is told, the others are tried all the same. */
static void switch_off(struct condition *condition, struct condition_report *report)
{
	struct condition_costs *costs = &report->costs;

	for (size_t i = condition->toggles; i-- > 0;) {
		struct toggle *toggle = &condition->toggle[i];
		struct act_why why = { "" };
		int ret = toggle->kind->off ? toggle->kind->off(toggle, &why) : 0;

		if (ret < 0 && !report->error) {
			report->error = ret;
			report->why = why;
		}
		add(&costs->cpu_ns, toggle->costs.cpu_ns);
		add(&costs->records, toggle->costs.records);
		add(&costs->enobufs, toggle->costs.enobufs);
		add(&costs->lost, toggle->costs.lost);
	}
}

/* What is unread when the holder ends would be told as an error, before its answer. */
static void take_word(int fd)
{
	char word;

	while (recv(fd, &word, 1, MSG_DONTWAIT) < 0 && errno == EINTR)
		;
}

/* Until the program says so, or is gone; listeners are served meanwhile. */
static void hold(struct condition *condition, int fd)
{
	struct pollfd polled[1 + 8] = { { .fd = fd, .events = POLLIN } };
	size_t n = 1;

	for (size_t i = 0; i < condition->toggles && n < 9; i++) {
		bool is_served = condition->toggle[i].kind->serve && condition->toggle[i].fd >= 0;

		polled[n++] = (struct pollfd){
			.fd = is_served ? condition->toggle[i].fd : -1, .events = POLLIN,
		};
	}
	for (;;) {
		if (poll(polled, n, -1) < 0 && errno != EINTR)
			return;
		for (size_t i = 1; i < n; i++) {
			struct toggle *toggle = &condition->toggle[i - 1];

			if (polled[i].revents && toggle->kind->serve)
				toggle->kind->serve(toggle);
		}
		if (polled[0].revents) {
			take_word(fd);
			return;
		}
	}
}

/*
 * Signals of the terminal are the program's, which then has the holder end: a
 * session of its own, and everything else ignored that could end it half-way.
 */
static void shelter(void)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2 };
	sigset_t none;

	setsid();
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_holder(struct condition *condition, int fd)
{
	struct condition_report report = { .costs = no_costs };

	shelter();
	switch_on(condition, &report);
	if (report.error) {
		/* The reason is that of the failure, not of what undoing it met. */
		struct condition_report undone = { .costs = no_costs };

		switch_off(condition, &undone);
		answer(fd, &report);
		_exit(1);
	}
	if (answer(fd, &report) == 0)
		hold(condition, fd);
	report = (struct condition_report){ .costs = no_costs };
	check_all(condition, &report);
	switch_off(condition, &report);
	answer(fd, &report);
	_exit(0);
}

/* ---- The program's side ---- */

/* The holder's answer; it has a limit for all it does, so this ends. */
static int take_answer(struct condition *condition, struct condition_report *ret)
{
	ssize_t length;

	do {
		length = recv(condition->fd, ret, sizeof(*ret), 0);
	} while (length < 0 && errno == EINTR);
	if (length == sizeof(*ret)) {
		ret->why.text[sizeof(ret->why.text) - 1] = '\0';
		return ret->error;
	}
	*ret = (struct condition_report){ .error = -ECHILD, .costs = no_costs };
	return because(&ret->why, -ECHILD,
		       "the process that held the condition \"%s\" was killed; look whether it is off",
		       condition->name);
}

static void let_go(struct condition *condition)
{
	int status;

	close(condition->fd);
	condition->fd = -1;
	while (waitpid(condition->holder, &status, 0) < 0 && errno == EINTR)
		;
	condition->holder = 0;
}

int condition_on(struct condition *condition, struct condition_report *ret)
{
	int pair[2];
	int error;

	*ret = (struct condition_report){ .costs = no_costs };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		goto failed;
	condition->holder = fork();
	if (condition->holder == 0) {
		close(pair[0]);
		be_holder(condition, pair[1]);
	}
	if (condition->holder < 0) {
		error = errno;
		condition->holder = 0;
		close(pair[0]);
		close(pair[1]);
		errno = error;
		goto failed;
	}
	close(pair[1]);
	condition->fd = pair[0];
	error = take_answer(condition, ret);
	if (error < 0)
		let_go(condition);
	return error;
failed:
	ret->error = -errno;
	return because(&ret->why, ret->error, "cannot start a process to hold the condition: %s",
		       strerror(-ret->error));
}

int condition_off(struct condition *condition, struct condition_report *ret)
{
	int error;

	*ret = (struct condition_report){ .costs = no_costs };
	if (!condition->holder)
		return 0;
	/* If the holder is gone, taking its answer tells. */
	send(condition->fd, "", 1, MSG_NOSIGNAL);
	error = take_answer(condition, ret);
	let_go(condition);
	return error;
}

/* ---- For kinds ---- */

static void become(char *const *argv, int output_fd, int error_fd)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* Whatever ends the holder ends what it started. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 ||
	    dup2(output_fd >= 0 ? output_fd : null_fd, STDOUT_FILENO) < 0 ||
	    (error_fd >= 0 && dup2(error_fd, STDERR_FILENO) < 0))
		_exit(126);
	execvp(argv[0], argv);
	_exit(127);
}

pid_t toggle_spawn(char *const *argv, int output_fd, int error_fd)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		setpgid(0, 0);
		become(argv, output_fd, error_fd);
	}
	/* Both do it, so that it is done whoever is first. */
	setpgid(pid, pid);
	return pid;
}

int toggle_wait(pid_t pid, uint64_t limit_ns, int *ret_status)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd polled = { .fd = pidfd, .events = POLLIN };
	uint64_t end_ns = clock_monotonic_ns() + limit_ns;
	int ret = 0;

	while (pidfd >= 0) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns >= end_ns) {
			kill(-pid, SIGKILL);
			ret = -ETIMEDOUT;
			break;
		}
		if (poll(&polled, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1) > 0)
			break;
	}
	if (pidfd >= 0)
		close(pidfd);
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return ret;
}

void toggle_birth(int cpu)
{
	cpu_set_t set;
	pid_t pid = fork();

	if (pid == 0) {
		CPU_ZERO(&set);
		if (cpu >= 0) {
			CPU_SET((size_t)cpu, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

char *toggle_piece(char **at)
{
	char *piece = *at;
	char *comma;

	if (!piece || !*piece)
		return NULL;
	comma = strchr(piece, ',');
	while (comma && isdigit((unsigned char)comma[1]))
		comma = strchr(comma + 1, ',');
	*at = comma ? comma + 1 : NULL;
	if (comma)
		*comma = '\0';
	return piece;
}

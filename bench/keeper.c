/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/wire.h"

/*
 * The program may have threads, and a fork takes only one of them along: up to
 * the exec all is async-signal-safe.
 */

#define REPORT_FD 4

/* ---- The run, up to its exec ---- */

static void fail(const char *what, int error)
{
	/* snprintf() of plain strings takes no lock. */
	struct {
		struct wire_frame frame;
		char text[256];
	} message = { .frame = { .type = WIRE_WHY, .length = sizeof(message.text) } };

	snprintf(message.text, sizeof(message.text), "%s: %s", what, strerrordesc_np(error));
	if (write(WIRE_FD, &message, sizeof(message)) != (ssize_t)sizeof(message))
		_exit(126);
	_exit(127);
}

static void restore_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Nobody reads what workloads print; what they complain of is shown. */
static int redirect(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	return 0;
}

static void become_run(const struct keeper_spec *spec)
{
	int ret;

	restore_signals();
	/* Of its own group: a ^C of the terminal is the program's to handle. */
	if (setpgid(0, 0) < 0)
		fail("setpgid", errno);
	ret = redirect();
	if (ret < 0)
		fail("/dev/null", -ret);
	ret = spec->enter ? spec->enter(spec->enter_arg) : 0;
	if (ret < 0)
		fail("cannot enter the condition", -ret);
	execv("/proc/self/exe", spec->argv);
	fail("cannot execute the program anew, /proc/self/exe", errno);
}

/* ---- Ending what is left ---- */

static void kill_children(void)
{
	char text[4096];
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	pid_t pid = 0;

	/* A number that was cut is not whole before its blank; the next call sees it. */
	for (ssize_t i = 0; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid > 1)
			kill(pid, SIGKILL);
		pid = 0;
	}
	if (fd >= 0)
		close(fd);
}

/* Their children become ours when they are dead, so this comes to an end. */
static uint32_t end_leftovers(pid_t group)
{
	uint32_t count = 0;

	kill(-group, SIGKILL);
	for (;;) {
		kill_children();
		if (waitpid(-1, NULL, 0) > 0)
			count++;
		else if (errno == ECHILD)
			return count;
	}
}

/* By rm(1): what can be called here cannot walk a directory. */
static void delete(const char *directory)
{
	pid_t pid = fork();

	if (pid == 0) {
		execlp("rm", "rm", "-rf", "--", directory, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- The keeper ---- */

/* Until the run has ended; orphans that end meanwhile are reaped along. */
static int wait_for(pid_t run, const sigset_t *signals)
{
	int status;
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == run)
				return status;
		if (sigwaitinfo(signals, NULL) == SIGTERM) {
			kill(-run, SIGKILL);
			kill(run, SIGKILL);
		}
	}
}

/* Just the two pipes stay open, at known numbers. */
static int arrange_files(int samples, int report)
{
	int high_samples = fcntl(samples, F_DUPFD_CLOEXEC, REPORT_FD + 1);
	int high_report = fcntl(report, F_DUPFD_CLOEXEC, REPORT_FD + 1);

	if (high_samples < 0 || high_report < 0 || dup2(high_samples, WIRE_FD) < 0 ||
	    dup3(high_report, REPORT_FD, O_CLOEXEC) < 0 ||
	    close_range(REPORT_FD + 1, ~0U, 0) < 0)
		return -errno;
	return 0;
}

static void keep(const struct keeper_spec *spec, int report_fd, pid_t parent, sigset_t *signals)
{
	struct keeper_report report;
	pid_t run;

	setpgid(0, 0);
	signal(SIGCHLD, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || getppid() != parent ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ||
	    arrange_files(spec->samples_fd, report_fd) < 0)
		_exit(126);
	run = fork();
	if (run < 0)
		fail("cannot fork", errno);
	if (run == 0)
		become_run(spec);
	/* The run's is now the only one: its end is the end of the samples. */
	close(WIRE_FD);
	report.status = wait_for(run, signals);
	report.leftovers = end_leftovers(run);
	if (spec->scratch)
		delete(spec->scratch);
	if (write(REPORT_FD, &report, sizeof(report)) != (ssize_t)sizeof(report))
		_exit(126);
	_exit(0);
}

int keeper_start(const struct keeper_spec *spec, pid_t *ret_pid, int *ret_report_fd)
{
	sigset_t all, old, signals;
	pid_t parent = getpid(), pid;
	int pair[2], ret;

	if (pipe2(pair, O_CLOEXEC) < 0)
		return -errno;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	/* A handler of the program must not run in the keeper, not for a moment. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	ret = -errno;
	if (pid == 0)
		keep(spec, pair[1], parent, &signals);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return ret;
	}
	*ret_pid = pid;
	*ret_report_fd = pair[0];
	return 0;
}

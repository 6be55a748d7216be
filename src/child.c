/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(int gate, int failed, char **argv)
{
	sigset_t none;
	char byte;
	int error;

	sigemptyset(&none);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* End of file: the watcher gave up. */
	if (read(gate, &byte, 1) != 1)
		_exit(127);
	execvp(argv[0], argv);
	error = errno;
	if (write(failed, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

static void close_pair(int pair[2])
{
	close(pair[0]);
	close(pair[1]);
}

int child_hold(struct child *child, char **argv)
{
	int gate[2], failed[2], ret;

	*child = (struct child){ .gate = -1, .failed = -1 };
	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(failed, O_CLOEXEC) < 0) {
		ret = -errno;
		close_pair(gate);
		return ret;
	}
	child->pid = fork();
	if (child->pid < 0) {
		ret = -errno;
		child->pid = 0;
		close_pair(gate);
		close_pair(failed);
		return ret;
	}
	if (child->pid == 0) {
		close(gate[1]);
		close(failed[0]);
		run(gate[0], failed[1], argv);
	}
	close(gate[0]);
	close(failed[1]);
	child->gate = gate[1];
	child->failed = failed[0];
	return 0;
}

int child_go(struct child *child)
{
	int error = 0;

	if (write(child->gate, "", 1) != 1)
		return -errno;
	/* Closed by a successful exec. */
	if (read(child->failed, &error, sizeof(error)) != sizeof(error))
		return 0;
	return -error;
}

bool child_has_ended(struct child *child, int *ret_status)
{
	if (!child->pid || waitpid(child->pid, ret_status, WNOHANG) != child->pid)
		return false;
	child->pid = 0;
	return true;
}

void child_release(struct child *child)
{
	if (child->gate >= 0)
		close(child->gate);
	if (child->failed >= 0)
		close(child->failed);
	child->gate = child->failed = -1;
}

int child_exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

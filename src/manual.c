/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manual.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether man(1) is there and finds @page. */
static bool has_manual(const char *page)
{
	char *argv[] = { (char *)"man", (char *)"-w", (char *)page, NULL };
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return false;
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	if (posix_spawnp(&pid, "man", &actions, NULL, argv, environ) == 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&actions);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void manual_show(const char *page)
{
	if (!has_manual(page))
		return;
	execlp("man", "man", page, (char *)NULL);
}

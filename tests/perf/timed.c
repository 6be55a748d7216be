/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *	timed FILE COMMAND [ARGUMENT]...
 *
 * Runs the command and writes to FILE, as one line: wall seconds, CPU seconds
 * (its children that it waited for included), peak resident KiB.  Exits as the
 * command did.
 */
#include <err.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double began_s;
	int status;
	FILE *file;
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: timed FILE COMMAND [ARGUMENT]...");
	file = fopen(argv[1], "we");
	if (!file)
		err(1, "%s", argv[1]);
	began_s = now_s();
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) < 0)
		err(1, "cannot run %s", argv[2]);
	fprintf(file, "%.6f %.6f %ld\n", now_s() - began_s,
		seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
	if (fclose(file) != 0)
		err(1, "%s", argv[1]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

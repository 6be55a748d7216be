/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small programs that end in every way that a recorder must tell apart.
 *
 *	shapes E1 ... E14	be that program; its name, comm, is E1 ... E14
 *	shapes all		run all of them, one after the other
 *
 * See tests/data/shapes.expected for what a recorder must make of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_NS 90000000

static void fail(const char *what)
{
	fprintf(stderr, "shapes: %s: %s\n", what, strerror(errno));
	exit(99);
}

static void *sleep_on(void *arg)
{
	(void)arg;
	for (;;)
		pause();
	return NULL;
}

static void *run_on(void *arg)
{
	(void)arg;
	usleep(30000);
	return NULL;
}

static void *burn(void *arg)
{
	struct timespec time;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	} while (time.tv_sec == 0 && time.tv_nsec < BURN_NS);
	return arg;
}

static void *execute_sleep(void *arg)
{
	execl("/bin/sleep", "sleep", "0.05", (char *)NULL);
	return arg;
}

static pthread_t start(void *(*run)(void *))
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, NULL);
	if (errno)
		fail("pthread_create");
	/* So that it has come to its sleep. */
	usleep(2000);
	return thread;
}

static void read_zeros(int count)
{
	int fd = open("/dev/zero", O_RDONLY);
	char byte;

	if (fd < 0)
		fail("/dev/zero");
	while (count-- > 0)
		if (read(fd, &byte, 1) != 1)
			fail("read");
	close(fd);
}

/* ---- The shapes ---- */

static int one_thread(void)
{
	return 0;
}

static int exit_over_sleepers(void)
{
	start(sleep_on);
	start(sleep_on);
	exit(3);
}

static int join_workers(void)
{
	pthread_t first = start(burn), second = start(burn);

	pthread_join(first, NULL);
	pthread_join(second, NULL);
	return 4;
}

static int leader_first(void)
{
	start(run_on);
	syscall(SYS_exit, 5);
	return 99;
}

static int few_reads(void)
{
	read_zeros(500);
	return 0;
}

static int many_reads(void)
{
	read_zeros(1500);
	return 0;
}

static int segv(void)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	raise(SIGSEGV);
	return 99;
}

static int sigkill(void)
{
	raise(SIGKILL);
	return 99;
}

static int exec_by_leader(void)
{
	start(sleep_on);
	execl("/bin/true", "true", (char *)NULL);
	return 99;
}

static int exec_by_thread(void)
{
	pthread_join(start(execute_sleep), NULL);
	return 99;
}

static int reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	return status;
}

/* The child is the shape; this program itself stays "shapes". */
static int fork_only(void)
{
	pid_t pid;

	prctl(PR_SET_NAME, "shapes");
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		prctl(PR_SET_NAME, "E11");
		_exit(0);
	}
	return reap(pid) ? 99 : 0;
}

static void copy_self(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY);
	int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	char bytes[65536];
	ssize_t length;

	if (from < 0 || to < 0)
		fail(path);
	while ((length = read(from, bytes, sizeof(bytes))) > 0)
		if (write(to, bytes, (size_t)length) != length)
			fail(path);
	close(from);
	close(to);
}

/* Runs a copy of this program under @name, which removes itself. */
static int run_copy(const char *name)
{
	const char *root = getenv("TMPDIR");
	char directory[128], path[256];

	snprintf(directory, sizeof(directory), "%s/shapes-XXXXXX", root ? root : "/tmp");
	if (!mkdtemp(directory))
		fail(directory);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	copy_self(path);
	execl(path, name, "gone", directory, (char *)NULL);
	return 99;
}

static int long_name(void)
{
	return run_copy("averyveryverylongprogramname");
}

static int hostile_name(void)
{
	prctl(PR_SET_NAME, "\n\"\\\x1b\xff");
	return 0;
}

static int unlinked(void)
{
	return run_copy("E14");
}

static int be_gone(const char *path, const char *directory)
{
	char own[256];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (length < 0)
		fail(path);
	own[length] = '\0';
	if (unlink(own) < 0 || rmdir(directory) < 0)
		fail(own);
	return 0;
}

static const struct shape {
	const char *name;
	int (*run)(void);
	int status; /* as wait(2) gives it; -1: depends on the kernel */
} shapes[] = {
	{ "E1", one_thread, 0 },
	{ "E2", exit_over_sleepers, 0x300 },
	{ "E3", join_workers, 0x400 },
	/* Linux 6.0 took to telling wait(2) the last thread's status, 0. */
	{ "E4", leader_first, -1 },
	{ "E5", few_reads, 0 },
	{ "E6", many_reads, 0 },
	{ "E7", segv, SIGSEGV },
	{ "E8", sigkill, SIGKILL },
	{ "E9", exec_by_leader, 0 },
	{ "E10", exec_by_thread, 0 },
	{ "E11", fork_only, 0 },
	{ "E12", long_name, 0 },
	{ "E13", hostile_name, 0 },
	{ "E14", unlinked, 0 },
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static int run_all(void)
{
	int failed = 0;

	for (size_t i = 0; i < SHAPES; i++) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			fail("fork");
		if (pid == 0) {
			execl("/proc/self/exe", "shapes", shapes[i].name, (char *)NULL);
			_exit(99);
		}
		status = reap(pid);
		if (shapes[i].status < 0 || status == shapes[i].status)
			continue;
		fprintf(stderr, "shapes: %s ended with status 0x%x, not 0x%x\n",
			shapes[i].name, status, shapes[i].status);
		failed = 1;
	}
	return failed;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "gone") == 0)
		return be_gone(argv[0], argv[2]);
	if (argc == 2 && strcmp(argv[1], "all") == 0)
		return run_all();
	for (size_t i = 0; argc == 2 && i < SHAPES; i++) {
		if (strcmp(argv[1], shapes[i].name) != 0)
			continue;
		prctl(PR_SET_NAME, shapes[i].name);
		return shapes[i].run();
	}
	fprintf(stderr, "usage: shapes E1|...|E14|all\n");
	return 2;
}

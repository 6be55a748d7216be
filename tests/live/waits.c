/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that wait for something known:
 *
 *	waits spin MS CPU       runs for MS of wall time, on that CPU only
 *	waits threads N MS      N threads burn MS of CPU time each
 *	waits cold FILE         writes 8 MiB, drops them from memory, reads them
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64
#define CHUNK (64 << 10)
#define CHUNKS 128

static uint64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void spin(clockid_t clock, uint64_t ms)
{
	uint64_t until_ns = now_ns(clock) + ms * 1000000;

	while (now_ns(clock) < until_ns)
		;
}

static uint64_t number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end)
		errx(2, "'%s' is no number", text);
	return value;
}

static void spin_on(uint64_t ms, uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		err(1, "cannot run on CPU %lu", (unsigned long)cpu);
	spin(CLOCK_MONOTONIC, ms);
}

static void *burn(void *ms)
{
	spin(CLOCK_THREAD_CPUTIME_ID, *(uint64_t *)ms);
	return NULL;
}

static void burn_threads(uint64_t count, uint64_t ms)
{
	pthread_t thread[THREADS_MAX];

	if (count > THREADS_MAX)
		errx(2, "at most %d threads", THREADS_MAX);
	for (uint64_t i = 0; i < count; i++)
		if ((errno = pthread_create(&thread[i], NULL, burn, &ms)))
			err(1, "cannot make a thread");
	for (uint64_t i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
}

static void read_cold(const char *path)
{
	static char bytes[CHUNK];
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		err(1, "%s", path);
	for (int i = 0; i < CHUNKS; i++) {
		memset(bytes, i, sizeof(bytes));
		if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
			err(1, "%s", path);
	}
	if (fsync(fd) < 0)
		err(1, "%s", path);
	if ((errno = posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
		err(1, "%s", path);
	/* In an order that no read-ahead foresees. */
	for (int i = 0; i < CHUNKS; i++)
		if (pread(fd, bytes, sizeof(bytes), (off_t)(i * 37 % CHUNKS) * CHUNK) < 0)
			err(1, "%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "spin") == 0)
		spin_on(number(argv[2]), number(argv[3]));
	else if (argc == 4 && strcmp(argv[1], "threads") == 0)
		burn_threads(number(argv[2]), number(argv[3]));
	else if (argc == 3 && strcmp(argv[1], "cold") == 0)
		read_cold(argv[2]);
	else
		errx(2, "usage: waits spin MS CPU | threads N MS | cold FILE");
	return 0;
}

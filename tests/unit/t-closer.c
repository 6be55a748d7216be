/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children that exit on a CPU, within a time. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "source/closer.h"

#define LONG_NS (10 * NSEC_PER_SEC)

static void test_runs(void **state)
{
	pid_t pid = 0;

	(void)state;
	assert_int_equal(closer_run(sched_getcpu(), clock_monotonic_ns() + LONG_NS, &pid), 0);
	assert_true(pid > 1);
	/* It is reaped, and never was a child that others wait for. */
	assert_int_equal(waitpid(pid, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_no_such_cpu(void **state)
{
	pid_t pid;

	(void)state;
	assert_int_equal(closer_run(8191, clock_monotonic_ns() + LONG_NS, &pid), -EINVAL);
}

/* Whether or not it makes it in no time, it can be reaped, once. */
static void test_too_late(void **state)
{
	pid_t pid = 0;
	int ret = closer_run(sched_getcpu(), 0, &pid);

	(void)state;
	assert_true(ret == 0 || ret == -ETIMEDOUT);
	while (ret == -ETIMEDOUT && !closer_reap(pid))
		usleep(1000);
	assert_int_equal(waitpid(pid, NULL, WNOHANG | __WALL), -1);
	assert_int_equal(errno, ECHILD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_no_such_cpu),
		cmocka_unit_test(test_too_late),
	};

	return cmocka_run_group_tests_name("closer", tests, NULL, NULL);
}

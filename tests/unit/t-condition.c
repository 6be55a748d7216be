/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/condition.h"

static void refused(const char *text, int error, const char *word)
{
	struct condition condition;
	struct act_why why = { "" };

	assert_int_equal(condition_parse(text, &condition, &why), error);
	if (!strstr(why.text, word))
		fail_msg("%s: \"%s\" lacks \"%s\"", text, why.text, word);
	assert_null(condition.name);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("", -EINVAL, "NAME=SPEC");
	refused("off", -EINVAL, "NAME=SPEC");
	refused("=none", -EINVAL, "name before");
	refused("a b=none", -EINVAL, "name before");
	refused("a=", -EINVAL, "no condition");
	refused("a=nonesuch", -EINVAL, "no condition");
	refused("a=none+nice:1", -EINVAL, "no condition");
	refused("a=nice:1+", -EINVAL, "niceness");
	refused("a=record+", -EINVAL, "what follows");
	refused("a=nice:20", -EINVAL, "niceness");
	refused("a=nice:-21", -EINVAL, "niceness");
	refused("a=nice:x", -EINVAL, "niceness");
	refused("a=cpus:", -EINVAL, "list of CPUs");
	refused("a=cpus:1023", -EINVAL, "not all");
	refused("a=cgroup:", -EINVAL, "directory");
	refused("a=cgroup:/proc", -EINVAL, "cgroup.procs");
	refused("a=acct:", -EINVAL, "file");
	refused("a=sysctl:kernel.ostype", -EINVAL, "KEY=VALUE");
	refused("a=sysctl:kernel.ostype=", -EINVAL, "KEY=VALUE");
	refused("a=sysctl:../../etc/passwd=1", -EINVAL, "no name");
	refused("a=sysctl:/etc/passwd=1", -EINVAL, "no name");
	refused("a=sysctl:kernel.nosuchthing=1", -EINVAL, "no sysctl");
	refused("a=cmd:on,off", -EINVAL, "three commands");
	refused("a=cmd:on,,check", -EINVAL, "three commands");
	refused("a=cmd:on,off,", -EINVAL, "three commands");
	refused("a=raw-listener:size=1", -EINVAL, "no option");
	refused("a=raw-listener:cpus=x", -EINVAL, "list of CPUs");
	refused("a=raw-listener:rcvbuf=0", -EINVAL, "receive buffer");
	refused("a=raw-listener:rcvbuf=2G", -EINVAL, "receive buffer");
	refused("a=connector:cpus=0", -EINVAL, "no option");
	refused("a=record:log=/tmp/x", -EINVAL, "no option");
	refused("a=record:per", -EINVAL, "no option");
	refused("a=watchers:3", -ENOTSUP, "no BPF source");
}

static void accepted(const char *text, size_t toggles, bool has_listener)
{
	struct condition condition;
	struct act_why why = { "" };

	if (condition_parse(text, &condition, &why) < 0)
		fail_msg("%s: %s", text, why.text);
	assert_int_equal(condition.toggles, toggles);
	assert_int_equal(condition_has_listener(&condition), has_listener);
	assert_string_equal(condition.spec, strchr(text, '=') + 1);
	condition_release(&condition);
}

static void test_forms(void **state)
{
	(void)state;
	accepted("off=none", 0, false);
	accepted("a=record", 1, true);
	accepted("a=record:cpus=0,1,per=task", 1, true);
	accepted("a=raw-listener:cpus=0,rcvbuf=512", 1, true);
	accepted("a=raw-listener+nice:3", 2, true);
	accepted("a=connector:rcvbuf=8K+cpus:0+nice:0", 3, true);
	accepted("a=acct:/tmp/a+b", 1, true);
	accepted("a=sysctl:kernel.ostype=x", 1, false);
	accepted("a=cmd:a+nice:1,b,c,d", 1, false);
}

static void test_explains(void **state)
{
	struct condition condition;
	struct act_why why;

	(void)state;
	assert_int_equal(condition_parse("a=sysctl:kernel.ostype=1+record", &condition, &why), 0);
	assert_true(condition_explains(&condition, "sysctl kernel.ostype"));
	assert_true(condition_explains(&condition, "netlink_generic"));
	assert_false(condition_explains(&condition, "netlink"));
	assert_false(condition_explains(&condition, "sysctl kernel.acct"));
	assert_string_equal(condition_sysctl(&condition, 0), "kernel.ostype");
	assert_null(condition_sysctl(&condition, 1));
	condition_release(&condition);
}

/* ---- Switching, by commands that need no privileges ---- */

static char mark[64], spec[512];

static int set_up(void **state)
{
	(void)state;
	snprintf(mark, sizeof(mark), "/tmp/t-condition-%d", getpid());
	snprintf(spec, sizeof(spec), "on=cmd:touch %s,rm %s,test -e %s", mark, mark, mark);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(mark);
	return 0;
}

static bool is_on(void)
{
	return access(mark, F_OK) == 0;
}

static void parse(struct condition *condition)
{
	struct act_why why;

	assert_int_equal(condition_parse(spec, condition, &why), 0);
}

static void test_switching(void **state)
{
	struct condition_report report;
	struct condition condition;

	(void)state;
	parse(&condition);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(condition_on(&condition, &report), 0);
		assert_false(report.was_so);
		assert_true(is_on());
		assert_int_equal(condition_off(&condition, &report), 0);
		assert_false(report.broke);
		assert_false(is_on());
		assert_int_equal(condition_off(&condition, &report), 0);
	}
	/* Releasing switches off, too. */
	assert_int_equal(condition_on(&condition, &report), 0);
	condition_release(&condition);
	assert_false(is_on());
}

static void test_broken(void **state)
{
	struct condition_report report;
	struct condition condition;

	(void)state;
	parse(&condition);
	assert_int_equal(condition_on(&condition, &report), 0);
	assert_int_equal(unlink(mark), 0);
	/* Found to be off, and OFF fails since there is nothing to remove. */
	assert_true(condition_off(&condition, &report) < 0);
	assert_true(report.broke);
	condition_release(&condition);
}

static void test_failing(void **state)
{
	struct condition_report report;
	struct condition condition;
	struct act_why why;

	(void)state;
	snprintf(spec, sizeof(spec), "on=cmd:touch %s; false,rm %s,true", mark, mark);
	assert_int_equal(condition_parse(spec, &condition, &why), 0);
	assert_int_equal(condition_on(&condition, &report), -EIO);
	assert_non_null(strstr(report.why.text, "failed with status 1"));
	/* What was done by half was undone. */
	assert_false(is_on());
	condition_release(&condition);
}

/* Killed by SIGKILL, a program can do nothing any more; the holder does. */
static void test_killed(void **state)
{
	int pipes[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (pid == 0) {
		struct condition_report report;
		struct condition condition;

		parse(&condition);
		if (condition_on(&condition, &report) == 0 && is_on())
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	/* The holder has the pipe, too: its end comes with the holder's. */
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	assert_false(is_on());
	close(pipes[0]);
}

static void test_holder_killed(void **state)
{
	struct condition_report report;
	struct condition condition;

	(void)state;
	parse(&condition);
	assert_int_equal(condition_on(&condition, &report), 0);
	assert_int_equal(kill(condition.holder, SIGKILL), 0);
	assert_int_equal(condition_off(&condition, &report), -ECHILD);
	assert_non_null(strstr(report.why.text, "was killed"));
	condition_release(&condition);
}

static void test_entering(void **state)
{
	struct condition condition;
	struct act_why why;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(condition_parse("a=nice:7+cpus:0", &condition, &why), 0);
	pid = fork();
	if (pid == 0) {
		cpu_set_t set;
		bool is_in = condition_enter(&condition) == 0 &&
			     getpriority(PRIO_PROCESS, 0) == 7 &&
			     sched_getaffinity(0, sizeof(set), &set) == 0 &&
			     CPU_COUNT(&set) == 1 && CPU_ISSET(0, &set);

		_exit(is_in ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	condition_release(&condition);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_explains),
		cmocka_unit_test_setup_teardown(test_switching, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_broken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_failing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_killed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_holder_killed, set_up, tear_down),
		cmocka_unit_test(test_entering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/environment.h"

static char root[] = "/tmp/t-environment-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = full + sizeof(root); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	put("/proc/sys/kernel/osrelease", "6.1.0-9\n");
	put("/proc/sys/kernel/task_delayacct", "0\n");
	put("/proc/sys/net/ipv4/ip_forward", "1\n");
	put("/proc/cmdline", "quiet  isolcpus=1 \n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU\nflags\t\t: fpu hypervisor\n");
	put("/proc/self/cgroup", "1:name=x:/y\n0::/some/where\n");
	put("/proc/meminfo", "MemTotal:       1000 kB\nSwapTotal:         0 kB\n");
	put("/proc/net/netlink", "sk               Eth Pid        Groups   Rmem\n"
	    "0000000000000001 16  0          00000000 0\n"
	    "0000000000000002 16  123        00000000 0\n"
	    "0000000000000003 11  124        00000001 0\n"
	    "0000000000000004 11  125        00000002 0\n"
	    "broken\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/sys/fs/cgroup/some/where/cpu.max", "max 100000\n");
	put("/sys/devices/system/cpu/vulnerabilities/b", "Mitigation: PTI\n");
	put("/sys/devices/system/cpu/vulnerabilities/a", "Vulnerable\n");
	put("/sys/devices/system/cpu/vulnerabilities/c", "Not affected\n");
	put("/sys/kernel/tracing/set_event", "sched:sched_switch\nsched:sched_waking\n");
	put("/boot/config-6.1.0-9", "CONFIG_A=y\nCONFIG_HZ=250\n# CONFIG_B is not set\n");
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static void is(const struct environment *environment, const char *key, const char *wanted)
{
	bool has;
	const char *text = environment_get(environment, key, &has);

	if (!has)
		fail_msg("there is no fact %s", key);
	if (wanted && text)
		assert_string_equal(text, wanted);
	else if (wanted || text)
		fail_msg("%s is %s", key, text ? text : "unknown");
}

static void test_files(void **state)
{
	static const char *const sysctls[] = { "net.ipv4.ip_forward", "kernel.task_delayacct",
					       "kernel.nosuch", NULL };
	struct environment environment = { 0 };
	size_t n = 0;

	(void)state;
	assert_int_equal(environment_capture_files(&environment, root, sysctls), 0);
	is(&environment, "kernel", "6.1.0-9");
	is(&environment, "cmdline", "quiet  isolcpus=1");
	is(&environment, "cpu", "Some CPU");
	is(&environment, "microcode", NULL);
	is(&environment, "hypervisor", "yes");
	is(&environment, "cgroup", "/some/where");
	is(&environment, "cpu.max", "max 100000");
	is(&environment, "pids.max", NULL);
	is(&environment, "memory", "1000 kB");
	is(&environment, "swap", "0 kB");
	is(&environment, "netlink_generic", "1");
	is(&environment, "netlink_connector", "1");
	is(&environment, "thp", "madvise");
	is(&environment, "mitigations", "a: Vulnerable; b: Mitigation: PTI");
	is(&environment, "trace_events", "2");
	is(&environment, "kprobes", NULL);
	is(&environment, "governor", NULL);
	is(&environment, "config_hz", "250");
	is(&environment, "config_cputime", NULL);
	is(&environment, "sysctl net.ipv4.ip_forward", "1");
	is(&environment, "sysctl kernel.task_delayacct", "0");
	is(&environment, "sysctl kernel.nosuch", NULL);
	/* Each once. */
	for (size_t i = 0; i < environment.count; i++)
		n += strcmp(environment.fact[i].key, "sysctl kernel.task_delayacct") == 0;
	assert_int_equal(n, 1);
	environment_release(&environment);
}

static void test_nothing(void **state)
{
	struct environment environment = { 0 };
	bool has;

	(void)state;
	/* A machine without any of it: all is unknown, nothing is zero. */
	assert_int_equal(environment_capture_files(&environment, "/nonexistent", NULL), 0);
	assert_true(environment.count > 30);
	for (size_t i = 0; i < environment.count; i++)
		assert_null(environment.fact[i].text);
	assert_null(environment_get(&environment, "nosuch", &has));
	assert_false(has);
	environment_release(&environment);
}

static void test_diff(void **state)
{
	struct environment base = { 0 }, now = { 0 };
	struct result_fact fact[3];

	(void)state;
	assert_int_equal(environment_add(&base, "a", "1"), 0);
	assert_int_equal(environment_add(&base, "b", NULL), 0);
	assert_int_equal(environment_add(&now, "a", "1"), 0);
	assert_int_equal(environment_add(&now, "b", NULL), 0);
	assert_int_equal(environment_diff(&base, &now, fact), 0);
	assert_int_equal(environment_add(&now, "c", "new"), 0);
	assert_int_equal(environment_add(&base, "c", NULL), 0);
	assert_int_equal(environment_diff(&base, &now, fact), 1);
	assert_string_equal(fact[0].key, "c");
	assert_string_equal(fact[0].text, "new");
	assert_int_equal(environment_diff(&now, &base, fact), 1);
	assert_null(fact[0].text);
	environment_release(&base);
	environment_release(&now);
}

/* This machine and process, twice: the same. */
static void test_here(void **state)
{
	struct environment first = { 0 }, second = { 0 };
	bool has;

	(void)state;
	assert_int_equal(environment_capture_process(&first), 0);
	assert_int_equal(environment_capture_process(&second), 0);
	assert_int_equal(first.count, second.count);
	assert_non_null(environment_get(&first, "libc", &has));
	assert_non_null(environment_get(&first, "policy", &has));
	for (size_t i = 0; i < first.count; i++)
		assert_string_equal(first.fact[i].key, second.fact[i].key);
	environment_release(&first);
	environment_release(&second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_diff),  cmocka_unit_test(test_here),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

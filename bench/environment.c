/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/environment.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define TEXT_BYTES 65536
#define PATH_BYTES 1024
#define CONFIG_BYTES (1 << 20)

/* ---- Facts ---- */

/* @text NULL: not known. */
int environment_add(struct environment *environment, const char *key, const char *text)
{
	struct result_fact *fact = environment->fact;

	if (environment->count == environment->room) {
		size_t room = environment->room ? 2 * environment->room : 64;

		fact = realloc(fact, room * sizeof(*fact));
		if (!fact)
			return -ENOMEM;
		environment->fact = fact;
		environment->room = room;
	}
	fact += environment->count;
	fact->key = strdup(key);
	fact->text = text ? strdup(text) : NULL;
	if (!fact->key || (text && !fact->text)) {
		free((char *)fact->key);
		free((char *)fact->text);
		return -ENOMEM;
	}
	environment->count++;
	return 0;
}

void environment_release(struct environment *environment)
{
	for (size_t i = 0; i < environment->count; i++) {
		free((char *)environment->fact[i].key);
		free((char *)environment->fact[i].text);
	}
	free(environment->fact);
	*environment = (struct environment){ 0 };
}

const char *environment_get(const struct environment *environment, const char *key,
			    bool *ret_has)
{
	for (size_t i = 0; i < environment->count; i++) {
		if (strcmp(environment->fact[i].key, key) == 0) {
			*ret_has = true;
			return environment->fact[i].text;
		}
	}
	*ret_has = false;
	return NULL;
}

static bool is_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

size_t environment_diff(const struct environment *base, const struct environment *now,
			struct result_fact *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < now->count; i++) {
		const struct result_fact *fact = &now->fact[i];
		bool has;
		const char *was = environment_get(base, fact->key, &has);

		if (!has || !is_equal(was, fact->text))
			ret[n++] = *fact;
	}
	return n;
}

/* ---- Files ---- */

/* The beginning of a file, NUL-terminated; -errno. */
static int read_text(const char *root, const char *path, char text[TEXT_BYTES])
{
	char full[PATH_BYTES];
	FILE *file;
	size_t length;
	int ret;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	file = fopen(full, "re");
	if (!file)
		return -errno;
	errno = 0;
	length = fread(text, 1, TEXT_BYTES - 1, file);
	/* Some files of sysfs can be opened, but not read. */
	ret = ferror(file) ? -(errno ? errno : EIO) : 0;
	fclose(file);
	text[length] = '\0';
	return ret;
}

enum how {
	HOW_LINE,    /* the first line */
	HOW_CHOICE,  /* the word in brackets: "always [madvise] never" */
	HOW_AFTER,   /* what follows the colon of the first line that begins with @what */
	HOW_PRESENT, /* whether @what is a word anywhere: "yes", "no" */
	HOW_LINES,   /* how many lines */
};

struct place {
	const char *key, *path;
	enum how how;
	const char *what;
};

#define SYSCTL "/proc/sys/kernel/"
#define CPU "/sys/devices/system/cpu/"
#define TRACING "/sys/kernel/tracing/"
static const struct place places[] = {
	{ "boot_id", SYSCTL "random/boot_id", HOW_LINE, NULL },
	{ "cmdline", "/proc/cmdline", HOW_LINE, NULL },
	{ "cpu", "/proc/cpuinfo", HOW_AFTER, "model name" },
	{ "microcode", "/proc/cpuinfo", HOW_AFTER, "microcode" },
	{ "hypervisor", "/proc/cpuinfo", HOW_PRESENT, "hypervisor" },
	{ "cpus_online", CPU "online", HOW_LINE, NULL },
	{ "cpus_isolated", CPU "isolated", HOW_LINE, NULL },
	{ "nohz_full", CPU "nohz_full", HOW_LINE, NULL },
	{ "smt", CPU "smt/active", HOW_LINE, NULL },
	{ "governor", CPU "cpu0/cpufreq/scaling_governor", HOW_LINE, NULL },
	{ "cpufreq_driver", CPU "cpu0/cpufreq/scaling_driver", HOW_LINE, NULL },
	{ "cpufreq_min", CPU "cpu0/cpufreq/scaling_min_freq", HOW_LINE, NULL },
	{ "cpufreq_max", CPU "cpu0/cpufreq/scaling_max_freq", HOW_LINE, NULL },
	{ "no_turbo", CPU "intel_pstate/no_turbo", HOW_LINE, NULL },
	{ "boost", CPU "cpufreq/boost", HOW_LINE, NULL },
	{ "clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	  HOW_LINE, NULL },
	{ "memory", "/proc/meminfo", HOW_AFTER, "MemTotal" },
	{ "swap", "/proc/meminfo", HOW_AFTER, "SwapTotal" },
	{ "thp", "/sys/kernel/mm/transparent_hugepage/enabled", HOW_CHOICE, NULL },
	{ "preempt", "/sys/kernel/debug/sched/preempt", HOW_CHOICE, NULL },
	{ "sysctl kernel.randomize_va_space", SYSCTL "randomize_va_space", HOW_LINE, NULL },
	{ "sysctl kernel.numa_balancing", SYSCTL "numa_balancing", HOW_LINE, NULL },
	{ "sysctl kernel.sched_autogroup_enabled", SYSCTL "sched_autogroup_enabled", HOW_LINE, NULL },
	{ "sysctl kernel.sched_schedstats", SYSCTL "sched_schedstats", HOW_LINE, NULL },
	{ "sysctl kernel.task_delayacct", SYSCTL "task_delayacct", HOW_LINE, NULL },
	{ "sysctl kernel.bpf_stats_enabled", SYSCTL "bpf_stats_enabled", HOW_LINE, NULL },
	{ "sysctl kernel.perf_event_paranoid", SYSCTL "perf_event_paranoid", HOW_LINE, NULL },
	{ "tainted", SYSCTL "tainted", HOW_LINE, NULL },
	{ "lsm", "/sys/kernel/security/lsm", HOW_LINE, NULL },
	{ "tracer", TRACING "current_tracer", HOW_LINE, NULL },
	{ "trace_events", TRACING "set_event", HOW_LINES, NULL },
	{ "kprobes", TRACING "kprobe_events", HOW_LINES, NULL },
	{ "affinity", "/proc/self/status", HOW_AFTER, "Cpus_allowed_list" },
	{ "seccomp", "/proc/self/status", HOW_AFTER, "Seccomp" },
	{ "cgroup", "/proc/self/cgroup", HOW_AFTER, "0:" },
};

/* Blanks at both ends are no part of a fact. */
static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\n:");
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return text;
}

static char *line_after(char *text, const char *what)
{
	size_t length = strlen(what);

	for (char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, what, length) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		return trim(line + length);
	}
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += length)
		if ((at == text || isspace((unsigned char)at[-1])) &&
		    (!at[length] || isspace((unsigned char)at[length])))
			return true;
	return false;
}

static char *bracketed(char *text)
{
	char *begin = strchr(text, '[');
	char *end = begin ? strchr(begin, ']') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return begin + 1;
}

/* NULL: the file does not tell. */
static const char *extract(const struct place *place, char *text)
{
	size_t lines = 0;

	switch (place->how) {
	case HOW_LINE:
		text[strcspn(text, "\n")] = '\0';
		return trim(text);
	case HOW_CHOICE:
		return bracketed(text);
	case HOW_AFTER:
		return line_after(text, place->what);
	case HOW_PRESENT:
		return has_word(text, place->what) ? "yes" : "no";
	case HOW_LINES:
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			lines++;
		snprintf(text, TEXT_BYTES, "%zu", lines);
		return text;
	}
	return NULL;
}

static int add_place(struct environment *environment, const char *root, char *text,
		     const struct place *place)
{
	const char *fact = NULL;

	if (read_text(root, place->path, text) == 0)
		fact = extract(place, text);
	return environment_add(environment, place->key, fact);
}

/* ---- What takes more than a line ---- */

/* Each file below vulnerabilities, in order of names. */
static int add_mitigations(struct environment *environment, const char *root, char *text)
{
	char path[PATH_BYTES], all[TEXT_BYTES] = "";
	struct dirent **entries = NULL;
	size_t length = 0;
	int n;

	snprintf(path, sizeof(path), "%s" CPU "vulnerabilities", root);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), CPU "vulnerabilities/%.255s", entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && read_text(root, path, text) == 0 &&
		    strncmp(text, "Not affected", 12) != 0) {
			text[strcspn(text, "\n")] = '\0';
			length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s: %.200s",
						   length ? "; " : "", entries[i]->d_name, text);
			length = length < sizeof(all) ? length : sizeof(all) - 1;
		}
		free(entries[i]);
	}
	free(entries);
	return environment_add(environment, "mitigations", n < 0 ? NULL : length ? all : "none needed");
}

/* Sockets of a protocol in net/netlink, which have one of @groups, 0: any. */
static size_t count_sockets(const char *text, unsigned int protocol, unsigned int groups)
{
	size_t n = 0;

	/* "sk Eth Pid Groups Rmem ...": net/netlink/af_netlink.c, netlink_native_seq_show(). */
	for (const char *at = text; (at = strchr(at, '\n')); at++) {
		unsigned int eth, pid, mask;

		if (sscanf(at + 1, "%*s %u %u %x", &eth, &pid, &mask) == 3 && eth == protocol &&
		    pid != 0 && (!groups || (mask & groups)))
			n++;
	}
	return n;
}

static int add_sockets(struct environment *environment, const char *root, char *text)
{
	static const struct {
		const char *key;
		unsigned int protocol, groups;
	} kinds[] = {
		{ "netlink_generic", 16, 0 },   /* NETLINK_GENERIC: taskstats is one of them */
		{ "netlink_connector", 11, 1 }, /* NETLINK_CONNECTOR, CN_IDX_PROC */
	};
	bool is_known = read_text(root, "/proc/net/netlink", text) == 0;
	char number[24];
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(number, sizeof(number), "%zu",
			 count_sockets(text, kinds[i].protocol, kinds[i].groups));
		ret = environment_add(environment, kinds[i].key, is_known ? number : NULL);
	}
	return ret;
}

/* Limits of the cgroup we are in, version 2; the root has none. */
static int add_cgroup(struct environment *environment, const char *root, char *text)
{
	static const char *const files[] = { "cpu.max", "pids.max" };
	char path[PATH_BYTES], line[256];
	bool has;
	const char *place = environment_get(environment, "cgroup", &has);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%.700s/%s", place ? place : "", files[i]);
		if (!place || read_text(root, path, text) < 0) {
			ret = environment_add(environment, files[i], NULL);
			continue;
		}
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
		ret = environment_add(environment, files[i], line);
	}
	return ret;
}

/* What the kernel was built with, if it or /boot tells: its hash, and what matters here. */
static size_t read_config(const char *path, char *text)
{
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, CONFIG_BYTES - 1, file) : 0;

	if (file)
		fclose(file);
	return length;
}

static int add_config(struct environment *environment, const char *root, const char *release)
{
	static const struct {
		const char *key, *option;
	} options[] = {
		{ "config_hz", "CONFIG_HZ=" },
		{ "config_cputime", "CONFIG_VIRT_CPU_ACCOUNTING_GEN=" },
		{ "config_preempt", "CONFIG_PREEMPT_DYNAMIC=" },
	};
	char path[PATH_BYTES], hash[24];
	char *text = calloc(1, CONFIG_BYTES);
	size_t length;
	bool is_text;
	int ret;

	if (!text)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/boot/config-%.200s", root, release);
	length = read_config(path, text);
	is_text = length > 0;
	if (!is_text) {
		/* Packed: of no use but for telling whether it is the same. */
		snprintf(path, sizeof(path), "%s/proc/config.gz", root);
		length = read_config(path, text);
	}
	snprintf(hash, sizeof(hash), "%016" PRIx64, (uint64_t)XXH3_64bits(text, length));
	ret = environment_add(environment, "config", length ? hash : NULL);
	for (size_t i = 0; ret == 0 && i < sizeof(options) / sizeof(*options); i++) {
		char *copy = is_text ? strdup(text) : NULL;

		ret = environment_add(environment, options[i].key,
			  copy ? line_after(copy, options[i].option) : NULL);
		free(copy);
	}
	free(text);
	return ret;
}

static int add_sysctl(struct environment *environment, const char *root, char *text,
		      const char *key)
{
	char path[PATH_BYTES], name[PATH_BYTES];
	struct place place = { name, path, HOW_LINE, NULL };
	bool has;

	snprintf(name, sizeof(name), "sysctl %.500s", key);
	environment_get(environment, name, &has);
	if (has)
		return 0;
	snprintf(path, sizeof(path), "/proc/sys/%.500s", key);
	if (!strchr(key, '/'))
		for (char *at = path + strlen("/proc/sys/"); (at = strchr(at, '.')); at++)
			*at = '/';
	return add_place(environment, root, text, &place);
}

int environment_capture_files(struct environment *environment, const char *root,
			      const char *const *sysctls)
{
	char *text = malloc(TEXT_BYTES);
	char release[256] = "";
	int ret = text ? 0 : -ENOMEM;

	if (ret == 0 && read_text(root, SYSCTL "osrelease", text) == 0)
		snprintf(release, sizeof(release), "%.*s", (int)strcspn(text, "\n"), text);
	if (ret == 0)
		ret = environment_add(environment, "kernel", *release ? release : NULL);
	if (ret == 0)
		ret = add_place(environment, root, text,
				&(struct place){ "kernel_build", SYSCTL "version", HOW_LINE, NULL });
	for (size_t i = 0; ret == 0 && i < sizeof(places) / sizeof(*places); i++)
		ret = add_place(environment, root, text, &places[i]);
	if (ret == 0)
		ret = add_cgroup(environment, root, text);
	if (ret == 0)
		ret = add_mitigations(environment, root, text);
	if (ret == 0)
		ret = add_sockets(environment, root, text);
	if (ret == 0)
		ret = add_config(environment, root, release);
	for (; ret == 0 && sysctls && *sysctls; sysctls++)
		ret = add_sysctl(environment, root, text, *sysctls);
	free(text);
	return ret;
}

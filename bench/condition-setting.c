/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/condition-toggle.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/why.h"

#define VALUE_BYTES 4096

/* ---- sysctl:KEY=VALUE ---- */

/* Names as sysctl(8) takes them: dots part, but where slashes do dots are plain. */
static int sysctl_path(const char *key, char path[512])
{
	int length = snprintf(path, 512, "/proc/sys/%s", key);

	if (length >= 512 || !*key || *key == '/' || *key == '.' || strstr(key, ".."))
		return -EINVAL;
	if (!strchr(key, '/'))
		for (char *at = path + strlen("/proc/sys/"); (at = strchr(at, '.')); at++)
			*at = '/';
	return 0;
}

static int parse_sysctl(struct toggle *toggle, struct act_why *why)
{
	char *equals = strchr(toggle->text, '=');
	char path[512];

	if (!equals || !equals[1])
		return because(why, -EINVAL, "sysctl needs KEY=VALUE, as "
			       "sysctl:kernel.task_delayacct=1");
	*equals = '\0';
	toggle->word[0] = toggle->text;
	toggle->word[1] = equals + 1;
	if (sysctl_path(toggle->word[0], path) < 0)
		return because(why, -EINVAL, "\"%s\" is no name of a sysctl", toggle->word[0]);
	if (access(path, F_OK) < 0)
		return because(why, -EINVAL, "this kernel has no sysctl %s (%s)", toggle->word[0],
			       path);
	return 0;
}

static int read_sysctl(const char *path, char value[VALUE_BYTES])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;
	int ret;

	if (fd < 0)
		return -errno;
	length = read(fd, value, VALUE_BYTES - 1);
	ret = length < 0 ? -errno : 0;
	close(fd);
	if (ret == 0)
		value[length] = '\0';
	return ret;
}

static int write_sysctl(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t length = strlen(value);
	int ret = 0;

	if (fd < 0)
		return -errno;
	/* In one write: the kernel takes a value only whole. */
	if (write(fd, value, length) != (ssize_t)length)
		ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

/* Equal but for how much blank there is: "4\t2\t30\n" is "4 2 30". */
static bool is_same(const char *a, const char *b)
{
	for (;;) {
		bool blank_a = isspace((unsigned char)*a), blank_b = isspace((unsigned char)*b);

		while (isspace((unsigned char)*a))
			a++;
		while (isspace((unsigned char)*b))
			b++;
		if (*a != *b || (*a && blank_a != blank_b))
			return false;
		if (!*a)
			return true;
		a++;
		b++;
	}
}

static int expect_sysctl(const struct toggle *toggle, const char *path, const char *wanted,
			 struct act_why *why)
{
	char value[VALUE_BYTES] = "";
	int ret = read_sysctl(path, value);

	if (ret < 0)
		return because(why, ret, "cannot read %s back: %s", path, strerror(-ret));
	if (!is_same(value, wanted))
		return because(why, -EBUSY, "sysctl %s is %.*s, not %.*s as it was set",
			       toggle->word[0], (int)strcspn(value, "\n"), value,
			       (int)strcspn(wanted, "\n"), wanted);
	return 0;
}

static int put_sysctl(const struct toggle *toggle, const char *value, struct act_why *why)
{
	char path[512];
	int ret;

	sysctl_path(toggle->word[0], path);
	ret = write_sysctl(path, value);
	if (ret < 0)
		return because(why, ret, "cannot set sysctl %s to %.*s: %s%s", toggle->word[0],
			       (int)strcspn(value, "\n"), value, strerror(-ret),
			       (ret == -EACCES || ret == -EPERM) && geteuid() ? "; root is needed" : "");
	return expect_sysctl(toggle, path, value, why);
}

static int sysctl_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	char path[512], value[VALUE_BYTES] = "";
	int ret;

	sysctl_path(toggle->word[0], path);
	ret = read_sysctl(path, value);
	if (ret < 0)
		return because(why, ret, "cannot read %s: %s", path, strerror(-ret));
	*ret_was_so = is_same(value, toggle->word[1]);
	toggle->before = strdup(value);
	if (!toggle->before)
		return because(why, -ENOMEM, "out of memory");
	return put_sysctl(toggle, toggle->word[1], why);
}

static int sysctl_check(struct toggle *toggle, struct act_why *why)
{
	char path[512];

	sysctl_path(toggle->word[0], path);
	return expect_sysctl(toggle, path, toggle->word[1], why);
}

static int sysctl_off(struct toggle *toggle, struct act_why *why)
{
	return toggle->before ? put_sysctl(toggle, toggle->before, why) : 0;
}

const struct toggle_kind toggle_sysctl = {
	.name = "sysctl", .form = "sysctl:KEY=VALUE",
	.parse = parse_sysctl, .on = sysctl_on, .check = sysctl_check, .off = sysctl_off,
};

/* ---- acct:FILE, by acct(2) ---- */

/* sizeof(struct acct_v3): what the kernel writes for a process. */
#define ACCT_RECORD_BYTES 64

static int parse_acct(struct toggle *toggle, struct act_why *why)
{
	toggle->word[0] = toggle->text;
	return *toggle->text ? 0 : because(why, -EINVAL,
					   "acct needs a file to account to, as acct:/tmp/pacct");
}

/* How many bytes @path becomes longer when a process ends; 0 if it is not there. */
static off_t growth(const char *path)
{
	struct stat before, after;

	if (stat(path, &before) < 0)
		return 0;
	toggle_birth(-1);
	return stat(path, &after) < 0 ? 0 : after.st_size - before.st_size;
}

/* acct(2) tells nobody whether it is on: where distributions account to is looked at. */
static const char *acct_elsewhere(void)
{
	static const char *const paths[] = {
		"/var/log/account/pacct", "/var/account/pacct", "/var/log/pacct",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		if (growth(paths[i]) > 0)
			return paths[i];
	return NULL;
}

static int acct_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	const char *elsewhere = acct_elsewhere();
	struct stat st;

	*ret_was_so = false;
	if (elsewhere)
		return because(why, -EBUSY, "process accounting is on already, to %s, and only one "
			       "file can be had; end it first, by accton off", elsewhere);
	toggle->fd = open(toggle->word[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (toggle->fd < 0)
		return because(why, -errno, "cannot open %s: %s", toggle->word[0], strerror(errno));
	if (acct(toggle->word[0]) < 0)
		return because(why, -errno, "cannot account to %s: %s%s", toggle->word[0],
			       strerror(errno), errno == EPERM ? "; CAP_SYS_PACCT is needed" : "");
	toggle->number = 1; /* on, hence to be switched off */
	if (growth(toggle->word[0]) <= 0)
		return because(why, -ENODATA, "nothing is accounted to %s; is there less room than "
			       "kernel.acct wants?", toggle->word[0]);
	if (fstat(toggle->fd, &st) == 0)
		toggle->number = 1 + (uint64_t)st.st_size;
	return 0;
}

static int acct_check(struct toggle *toggle, struct act_why *why)
{
	struct stat st;

	if (fstat(toggle->fd, &st) == 0 && (uint64_t)st.st_size + 1 >= toggle->number)
		toggle->costs.records =
			((uint64_t)st.st_size + 1 - toggle->number) / ACCT_RECORD_BYTES;
	if (growth(toggle->word[0]) > 0)
		return 0;
	return because(why, -EBUSY, "process accounting to %s has stopped meanwhile",
		       toggle->word[0]);
}

static int acct_off(struct toggle *toggle, struct act_why *why)
{
	if (!toggle->number)
		return 0;
	if (acct(NULL) < 0)
		return because(why, -errno, "cannot end process accounting: %s", strerror(errno));
	if (growth(toggle->word[0]) > 0)
		return because(why, -EBUSY, "process accounting to %s goes on", toggle->word[0]);
	return 0;
}

const struct toggle_kind toggle_acct = {
	.name = "acct", .form = "acct:FILE", .facts = "acct", .is_listener = true,
	.parse = parse_acct, .on = acct_on, .check = acct_check, .off = acct_off,
};

/* ---- cmd:ON,OFF,CHECK ---- */

static int parse_cmd(struct toggle *toggle, struct act_why *why)
{
	char *at = toggle->text;

	for (size_t i = 0; i < 3; i++) {
		char *comma = i < 2 ? strchr(at, ',') : NULL;

		toggle->word[i] = at;
		if (!*at || *at == ',' || (i < 2 && !comma))
			return because(why, -EINVAL, "cmd needs three commands for the shell, "
				       "cmd:ON,OFF,CHECK; CHECK succeeds exactly while it is on");
		if (comma) {
			*comma = '\0';
			at = comma + 1;
		}
	}
	return 0;
}

/* The exit status of a shell's command, 128 + n for a signal; negative errno. */
static int shell(char *command)
{
	char *argv[] = { (char *)"sh", (char *)"-c", command, NULL };
	pid_t pid = toggle_spawn(argv, -1, -1);
	int status, ret;

	if (pid < 0)
		return pid;
	ret = toggle_wait(pid, TOGGLE_LIMIT_NS, &status);
	if (ret < 0)
		return ret;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run_command(char *command, struct act_why *why)
{
	int ret = shell(command);

	if (ret > 0)
		return because(why, -EIO, "\"%s\" failed with status %d", command, ret);
	if (ret < 0)
		return because(why, ret, "\"%s\" did not end well: %s", command, strerror(-ret));
	return 0;
}

static int cmd_on(struct toggle *toggle, bool *ret_was_so, struct act_why *why)
{
	int ret = shell(toggle->word[2]);

	*ret_was_so = ret == 0;
	toggle->number = 1; /* what fails half-way is switched off, too */
	ret = run_command(toggle->word[0], why);
	if (ret < 0)
		return ret;
	ret = run_command(toggle->word[2], why);
	if (ret < 0)
		return because(why, ret, "\"%s\" was run, but its CHECK \"%s\" does not succeed",
			       toggle->word[0], toggle->word[2]);
	return 0;
}

static int cmd_check(struct toggle *toggle, struct act_why *why)
{
	return run_command(toggle->word[2], why);
}

static int cmd_off(struct toggle *toggle, struct act_why *why)
{
	int ret;

	if (!toggle->number)
		return 0;
	ret = run_command(toggle->word[1], why);
	if (ret < 0)
		return ret;
	ret = shell(toggle->word[2]);
	if (ret < 0)
		return because(why, ret, "\"%s\" did not end well: %s", toggle->word[2],
			       strerror(-ret));
	if (ret == 0)
		return because(why, -EBUSY, "\"%s\" was run, but its CHECK \"%s\" still succeeds",
			       toggle->word[1], toggle->word[2]);
	return 0;
}

const struct toggle_kind toggle_cmd = {
	.name = "cmd", .form = "cmd:ON,OFF,CHECK", .takes_all = true,
	.parse = parse_cmd, .on = cmd_on, .check = cmd_check, .off = cmd_off,
};

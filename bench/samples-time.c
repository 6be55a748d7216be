/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of what GNU time prints by default, two lines a command:
 *
 *	815.80user 113.69system 2:04.36elapsed 747%CPU (0avgtext+0avgdata 0maxresident)k
 *	0inputs+0outputs (0major+15123456minor)pagefaults 0swaps
 *
 * and before them, if the command failed, "Command exited with non-zero status 2".
 * Other lines are what the command itself said.
 */
#include <math.h>
#include <string.h>

#include "bench/number.h"
#include "bench/samples-load.h"

enum { USER, SYSTEM, ELAPSED, CPU, VALUES };

/* In the order of the sets. */
static const struct {
	int value;
	const char *name, *unit;
} metrics[VALUES] = {
	{ ELAPSED, "elapsed", "s" }, { USER, "user", "s" }, { SYSTEM, "system", "s" },
	{ CPU, "cpu", "%" },
};

static bool is_failure(const char *line)
{
	static const char *const begins[] = {
		"Command exited with non-zero status ", "Command terminated by signal ",
		"Command stopped by signal ",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(line, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_times(const char *line)
{
	const char *user = strstr(line, "user ");
	const char *system = user ? strstr(user, "system ") : NULL;

	return system && strstr(system, "elapsed");
}

bool gnu_time_is_line(const char *line)
{
	return is_times(line) || is_failure(line);
}

/* "815.80user "; returns what follows, NULL if it is not that. */
static const char *read_named(const char *at, const char *name, double *ret_value)
{
	at = at ? number_read(at, false, ret_value) : NULL;
	if (!at || strncmp(at, name, strlen(name)) != 0 || !(*ret_value >= 0) ||
	    !isfinite(*ret_value))
		return NULL;
	return at + strlen(name);
}

/* "2:04.36", "1:02:03": seconds. */
static const char *read_clock(const char *at, double *ret_seconds)
{
	double total = 0;

	for (;;) {
		double part;

		at = number_read(at, false, &part);
		if (!at || !(part >= 0) || !isfinite(part))
			return NULL;
		total = total * 60 + part;
		if (*at != ':')
			break;
		at++;
	}
	*ret_seconds = total;
	return isfinite(total) ? at : NULL;
}

static bool read_times(const char *line, double value[VALUES])
{
	const char *at = read_named(line, "user ", &value[USER]);

	at = read_named(at, "system ", &value[SYSTEM]);
	at = at ? read_clock(at, &value[ELAPSED]) : NULL;
	if (!at || strncmp(at, "elapsed ", 8) != 0)
		return false;
	at += 8;
	/* No time passed that a share of could be told. */
	value[CPU] = NAN;
	return strncmp(at, "?%CPU", 5) == 0 || read_named(at, "%CPU", &value[CPU]);
}

static int add_times(struct loader *loader, const double value[VALUES])
{
	int ret = 0;

	for (size_t i = 0; i < VALUES && ret == 0; i++) {
		struct growing *set = &loader->sets[i];

		if (isnan(value[metrics[i].value]))
			set->set.unknown++;
		else if (set->is_selected)
			ret = loader_push(loader, set, value[metrics[i].value]);
	}
	return ret;
}

static int take_line(struct loader *loader, const char *line, bool *has_failed)
{
	double value[VALUES];

	if (is_failure(line)) {
		*has_failed = true;
		return 0;
	}
	if (!is_times(line))
		return 0;
	if (!read_times(line, value))
		return loader_complain(loader, "\"%.*s\" is not as GNU time prints it", QUOTED_MAX,
				       line);
	if (!*has_failed)
		return add_times(loader, value);
	*has_failed = false;
	for (size_t i = 0; i < VALUES; i++)
		loader->sets[i].set.invalid++;
	return 0;
}

static int add_sets(struct loader *loader)
{
	int ret = loader_reserve(loader, VALUES);

	for (size_t i = 0; i < VALUES && ret == 0; i++) {
		struct growing *set;

		ret = loader_add(loader, NULL, metrics[i].name, metrics[i].unit,
				 metrics[i].value == ELAPSED, &set);
		set->set.format = SAMPLES_GNU_TIME;
	}
	return ret;
}

int load_gnu_time(struct loader *loader, char *line)
{
	bool has_failed = false;
	size_t length;
	int ret = add_sets(loader);

	while (!ret) {
		ret = take_line(loader, line, &has_failed);
		if (ret < 0)
			return ret;
		ret = reader_next(&loader->reader, &line, &length);
		if (ret < 0)
			return reader_failed(&loader->reader, loader->path, ret, loader->why);
	}
	return ret < 0 ? ret : 0;
}

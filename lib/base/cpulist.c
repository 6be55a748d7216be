/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's CPU list, lib/bitmap-str.c: bitmap_parselist(). */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/parse.h"

/* "start-end:used/group"; a lone number has end = start, used = group = 1. */
struct range {
	size_t start, end;
	size_t used, group;
};

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_blanks(const char **at)
{
	while (is_blank(**at))
		(*at)++;
}

/* "N" is the last CPU.  A number that does not fit becomes one that is out of any range. */
static int take_cpu(const char **at, size_t limit, size_t *ret_cpu)
{
	size_t value = 0;

	if (**at == 'N' || **at == 'n') {
		(*at)++;
		*ret_cpu = limit - 1;
		return 0;
	}
	if (**at < '0' || **at > '9')
		return -EINVAL;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		if (value > SIZE_MAX / 10 - 1)
			value = SIZE_MAX / 10; /* stays too large, whatever follows */
		else
			value = value * 10 + (size_t)(**at - '0');
	}
	*ret_cpu = value;
	return 0;
}

/* ":used/group", after a range. */
static int take_pattern(const char **at, struct range *range)
{
	(*at)++;
	if (**at < '0' || **at > '9' || take_cpu(at, 1, &range->used) < 0)
		return -EINVAL;
	if (*(*at)++ != '/' || **at < '0' || **at > '9')
		return -EINVAL;
	take_cpu(at, 1, &range->group);
	return range->used == 0 || range->used > range->group ? -EINVAL : 0;
}

static int take_range(const char **at, size_t limit, struct range *range)
{
	bool is_range = strncmp(*at, "all", 3) == 0;

	range->used = range->group = 1;
	if (is_range) {
		*at += 3;
		range->start = 0;
		range->end = limit - 1;
	} else {
		if (take_cpu(at, limit, &range->start) < 0)
			return -EINVAL;
		range->end = range->start;
		if (**at == '-') {
			(*at)++;
			is_range = true;
			if (take_cpu(at, limit, &range->end) < 0)
				return -EINVAL;
		}
	}
	if (is_range && **at == ':' && take_pattern(at, range) < 0)
		return -EINVAL;
	return range->start > range->end ? -EINVAL : 0;
}

/* Sets nothing where @set is NULL. */
static int walk(const char *at, size_t limit, unsigned char *set)
{
	int ret = 0;

	skip_blanks(&at);
	for (;;) {
		struct range range;
		const char *end;

		if (take_range(&at, limit, &range) < 0)
			return -EINVAL;
		if (range.end >= limit)
			ret = -ERANGE;
		for (size_t cpu = range.start; set && cpu <= range.end; cpu++)
			set[cpu] |= (cpu - range.start) % range.group < range.used;
		end = at;
		skip_blanks(&at);
		if (!*at)
			return ret;
		if (*at == ',') {
			at++;
			skip_blanks(&at);
		} else if (at == end) {
			return -EINVAL;
		}
	}
}

int parse_cpulist(const char *text, unsigned char *ret_set, size_t limit)
{
	int ret;

	if (!limit)
		return -ERANGE;
	ret = walk(text, limit, NULL);
	if (ret < 0)
		return ret;
	memset(ret_set, 0, limit);
	return walk(text, limit, ret_set);
}

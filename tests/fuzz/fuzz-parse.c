/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * parse_count(), parse_size(), parse_duration(), parse_time(): any text.  What
 * they accept is below 2^63, what they refuse is left alone.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"

#define NOW UINT64_C(1796119200000000000)
#define UNTOUCHED UINT64_C(0xffffffffffffffff)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int parse_time_now(const char *text, uint64_t *ret_ns)
{
	return parse_time(text, NOW, ret_ns);
}

static void check(int (*parse)(const char *text, uint64_t *ret_value), const char *text)
{
	uint64_t value = UNTOUCHED;
	int ret = parse(text, &value);

	if (ret != 0 && ret != -EINVAL && ret != -ERANGE)
		abort();
	if (ret == 0 ? value >> 63 : value != UNTOUCHED)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	check(parse_count, text);
	check(parse_size, text);
	check(parse_duration, text);
	check(parse_time_now, text);
	free(text);
	return 0;
}

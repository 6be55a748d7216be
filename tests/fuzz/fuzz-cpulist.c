/* SPDX-License-Identifier: GPL-2.0-or-later */
/* parse_cpulist(): any text, any limit; what it accepts names a CPU and only below the limit. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, unsigned char *set, size_t limit)
{
	size_t named = 0;
	int ret;

	memset(set, 7, limit);
	ret = parse_cpulist(text, set, limit);
	for (size_t cpu = 0; cpu < limit; cpu++) {
		if (set[cpu] > 1 && (ret == 0 || set[cpu] != 7))
			abort();
		named += set[cpu] == 1;
	}
	if ((ret == 0) != (named > 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t limit = size ? data[0] : 0;
	/* As large as they need to be, so that a sanitizer sees an overrun. */
	unsigned char *set = malloc(limit + 1);
	char *text = malloc(size + 1);

	if (set && text) {
		if (size)
			memcpy(text, data + 1, size - 1);
		text[size ? size - 1 : 0] = '\0';
		check(text, set, limit);
	}
	free(set);
	free(text);
	return 0;
}

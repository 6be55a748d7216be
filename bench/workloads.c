/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/workload.h"

#include <string.h>

/* Every workload, in the order in which they are listed. */
#define WORKLOADS(X) \
	X(mkthreads) \
	X(forky) \
	X(spawn) \
	X(threads) \
	X(zombies) \
	X(rate) \
	X(clocks) \
	X(pingpong) \
	X(build) \
	X(command) \
	X(null)

#define DECLARE(name) extern const struct workload workload_##name;
WORKLOADS(DECLARE)

#define REFER(name) &workload_##name,
const struct workload *const workloads[] = { WORKLOADS(REFER) NULL };

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; workloads[i]; i++)
		if (strcmp(workloads[i]->name, name) == 0)
			return workloads[i];
	return NULL;
}

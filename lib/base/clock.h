/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)
#define NSEC_PER_USEC UINT64_C(1000)

uint64_t clock_wall_ns(void);      /* CLOCK_REALTIME */
uint64_t clock_monotonic_ns(void); /* CLOCK_MONOTONIC */
uint64_t clock_own_cpu_ns(void);   /* CPU time of this process, all threads */

#endif

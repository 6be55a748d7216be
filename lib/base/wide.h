/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_WIDE_H
#define BASE_WIDE_H

/*
 * For functions that are loops over columns: vectorized, which GCC 12 does by
 * halves below -O3, and compiled a second time, for processors with registers
 * of 256 bits.  Which one is called is settled when the program is loaded, by
 * its loader, before sanitizers are up; they get one.
 */
#include <stdlib.h> /* to know the C library by */

#if !defined(__GNUC__) || defined(__clang__) || defined(__SANITIZE_ADDRESS__) || \
	defined(__SANITIZE_THREAD__)
#define WIDE
#elif defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((optimize("O3"), target_clones("default", "avx2")))
#else
#define WIDE __attribute__((optimize("O3")))
#endif

#endif

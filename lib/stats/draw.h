/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_DRAW_H
#define STATS_DRAW_H

/* Random numbers for resampling; the seed is told, so each result can be had again. */
#include <stddef.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea and Flood 2014): the whole state is one number. */
static inline uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* Below @limit, without favour (Lemire 2019; what is left over is below 2^-32). */
static inline size_t draw_below(uint64_t *state, size_t limit)
{
	return (size_t)((unsigned __int128)draw(state) * limit >> 64);
}

#endif

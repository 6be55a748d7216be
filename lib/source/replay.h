/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SOURCE_REPLAY_H
#define SOURCE_REPLAY_H

/* The two things that can be replayed; act_source_open_replay() chooses. */
#include <stdio.h>

#include <actuary/source.h>

/* Takes over @file, which stands behind the magic, also on failure. */
int replay_open_capture(FILE *file, const char *path, struct act_source **ret_source,
			struct act_why *ret_why);

int replay_open_log(const char *path, struct act_source **ret_source,
		    struct act_why *ret_why);

#endif

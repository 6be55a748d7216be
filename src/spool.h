/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SPOOL_H
#define ACTUARY_SPOOL_H

/*
 * Output that comes in pieces and goes out with the last piece first.  A log
 * is read forwards; its newest lines wait in an unlinked file in $TMPDIR, not
 * in memory, so that its size does not matter.
 *
 *	spool_open(&spool);
 *	... write a piece to spool->out ... spool_cut(spool); ...
 *	spool_copy_back(spool, out);
 *	spool_close(spool);
 */
#include "out.h"

struct spool;

int spool_open(struct spool **ret_spool); /* 0 or negative errno */
struct out *spool_out(struct spool *spool);
/* Ends the piece that was written since the last cut; 0 or negative errno. */
int spool_cut(struct spool *spool);
/* Copies all pieces, the last one first; 0 or negative errno. */
int spool_copy_back(struct spool *spool, struct out *out);
void spool_close(struct spool *spool); /* NULL is allowed */

#endif

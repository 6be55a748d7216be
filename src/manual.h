/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_MANUAL_H
#define ACTUARY_MANUAL_H

/* Becomes man(1) of that page; returns if there is no manual to show. */
void manual_show(const char *page);

#endif

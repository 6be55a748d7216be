/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The smallest program there can be, twice: with STATIC_CHILD without any
 * library and without what runs before main(), else as programs are.
 */
#include <unistd.h>

#ifdef STATIC_CHILD
void _start(void);

void _start(void)
{
	_exit(0);
}
#else
int main(void)
{
	return 0;
}
#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <actuary/actuary.h>

const char *act_version(void)
{
	return ACTUARY_VERSION;
}

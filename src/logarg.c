/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "logarg.h"

#include <stdlib.h>

#define LOG_PATH "/var/log/actuary"

const char *default_log_path(const char *given)
{
	const char *path = given ? given : getenv("ACTUARY_LOG");

	return path && *path ? path : LOG_PATH;
}

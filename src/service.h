/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ACTUARY_SERVICE_H
#define ACTUARY_SERVICE_H

/* What a program does that runs for months as root. */

/*
 * Tells systemd "READY=1", "STOPPING=1", ... as sd_notify(3) does; nothing
 * without $NOTIFY_SOCKET.
 */
void service_notify(const char *state);

/*
 * Gives up every capability, for good, but what is needed to go on writing in
 * @directory (none, if it is ours).  0 or negative errno.
 */
int service_drop_privileges(const char *directory);

#endif

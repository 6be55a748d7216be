#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder hears the kernel alone: what another program, even root's, sends
# to its sockets is refused.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# The ports of a process's generic netlink sockets (protocol 16).
ports()
{
	for fd in "/proc/$1/fd/"*; do
		inode=$(readlink "$fd" | sed -n 's/^socket:\[\([0-9]*\)\]$/\1/p')
		[ -z "$inode" ] ||
			awk -v inode="$inode" '$2 == 16 && $NF == inode { print $3 }' \
				/proc/net/netlink
	done
}

start_recorder log
ports "$recorder" >"$tmp/ports"
at_least "sockets" 1 "$(wc -l <"$tmp/ports")"
while read -r port; do
	same "a message to port $port" refused "$("$BUILD/tests/live/stranger" "$port")"
done <"$tmp/ports"
"$(as strange$$)" forks 101
stop_recorder "$recorder"
same "alien" 0 "$(account "$tmp/log.json" .alien)"
same "lost" 0 "$(account "$tmp/log.json" .lost)"
same "forks" 101 "$(count '.flags % 2 == 1' --comm strange$$ "$tmp/log")"

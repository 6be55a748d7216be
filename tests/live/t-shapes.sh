#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that end in every way, and what they fold to; see shapes.c.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# What is between single quotes is expanded by the inner shell.
# shellcheck disable=SC2016
"$ACTUARY" record --log "$tmp/log" --json -- \
	sh -c 'echo $$ >"$1"; exec "$2" all' sh "$tmp/pid" "$shapes" >"$tmp/account"
same "lost" 0 "$(account "$tmp/account" .lost)"
root=$(cat "$tmp/pid")

# shape COMM CONDITION: one process of that name, and it is so.
shape()
{
	mine=".comm == $1 and .ppid == $root"
	same "$1: one process" 1 "$(count "$mine" "$tmp/log")"
	same "$1: $2" 1 "$(count "$mine and ($2)" "$tmp/log")"
}

shape '"E1"' '.code == 0 and .signal == 0 and .threads == 1 and .flags == 32'
shape '"E2"' '.code == 3 and .signal == 0 and .threads == 3'
shape '"E3"' '.code == 4 and .threads == 3 and .cpu_ns > 140000000'
# From the leader's start to the last end, and not the threads' times added up.
shape '"E3"' '.wall_ns < 2.5 * .tgetime_ns'
shape '"E4"' '.code == 5 and .threads == 2 and .wall_ns > 25000000'
shape '"E5"' '.syscr == null'
shape '"E6"' '.syscr == 1024'
shape '"E7"' '.signal == 11 and .code == null and .core == false'
shape '"E8"' '.signal == 9 and .code == null'
shape '"true"' '.code == 0 and .signal == 0 and .threads == 2'
shape '"sleep"' '.code == 0 and .signal == 0 and .threads == 2 and .wall_ns > 50000000'
shape '"averyveryverylo"' '.code == 0'
shape '"\n\"\\\u001b\ufffd"' '.code == 0'
shape '"E14"' '.exe_inode != null'
same "E11: forked only" 1 "$(count '.comm == "E11" and .flags == 33 and .code == 0' "$tmp/log")"
same "none is partial" 0 "$(count ".ppid == $root and .partial" "$tmp/log")"

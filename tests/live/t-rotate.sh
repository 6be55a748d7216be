#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 20 rotations under load: no exit is lost, none is there twice.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

segments()
{
	find "$tmp/log" -name '*.act' | wc -l
}

has_segments()
{
	[ "$(segments)" -ge "$1" ]
}

start_recorder log --per task
"$(as rotate$$)" forks 29989 &
load=$!
children="$children $load"
for i in $(seq 20); do
	kill -HUP "$recorder"
	wait_for 20 has_segments $((i + 1))
done
wait $load
forget $load
stop_recorder "$recorder"
same "lost" 0 "$(account "$tmp/log.json" .lost)"
same "segments" 21 "$(account "$tmp/log.json" .segments)"
same "files" 21 "$(segments)"
same "forks" 29989 "$(count '.flags % 2 == 1' --task --comm rotate$$ "$tmp/log")"
same "different ones" 29989 "$("$ACTUARY" list --task --comm rotate$$ --csv --columns tid,start_ns,flags "$tmp/log" |
	awk -F, 'NR > 1 && $3 % 2' | sort -u | wc -l)"
"$ACTUARY" verify "$tmp/log" >"$tmp/out" || fail "verify: $(cat "$tmp/out")"

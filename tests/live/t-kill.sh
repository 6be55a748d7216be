#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder is killed and begins again: what it had made durable is there,
# and the time between is a gap.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

has_all()
{
	[ "$(count '.flags % 2 == 1' --comm before$$ "$tmp/log")" = 101 ]
}

snapshot()
{
	"$ACTUARY" list --task --csv --columns end_ns,tid,ppid,comm,wall_ns,status,exits "$tmp/log" \
		2>/dev/null
}

start_recorder log --per both --sync 100ms
"$(as before$$)" forks 101
wait_for 20 has_all
"$(as during$$)" forks 30000 &
load=$!
children="$children $load"
sleep 0.5
snapshot >"$tmp/synced"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || :
forget "$recorder"
wait $load
forget $load
"$(as between$$)" forks 53
snapshot >"$tmp/dead"
"$ACTUARY" record --log "$tmp/log" --json -- "$(as after$$)" forks 31 >"$tmp/account"
snapshot >"$tmp/again"

# A reader sees what the writer has handed on; all of it must survive.
for file in synced dead; do
	cmp -n "$(stat -c %s "$tmp/$file")" "$tmp/$file" "$tmp/again" ||
		fail "records that were there are gone"
done
same "records twice" 0 "$(sort "$tmp/again" | uniq -d | wc -l)"
same "before" 101 "$(count '.flags % 2 == 1' --comm before$$ "$tmp/log")"
same "between" 0 "$(count true --comm between$$ "$tmp/log")"
same "after" 31 "$(count '.flags % 2 == 1' --comm after$$ "$tmp/log")"
at_least "during, in part" 1 "$(count true --comm during$$ "$tmp/log")"

"$ACTUARY" verify "$tmp/log" >"$tmp/out" && fail "verify is content" || code=$?
same "status of verify" 4 "$code"
"$ACTUARY" list --strict "$tmp/log" >/dev/null 2>&1 && fail "list --strict is content" || code=$?
same "status of list --strict" 4 "$code"
grep -q down "$tmp/out" || fail "no gap: $(cat "$tmp/out")"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# list: what it prints of a log in which every value is known.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
mklog=$BUILD/tests/cli/mklog

# prints NAME OPTION...
prints()
{
	name=$1
	shift
	run_golden "$name" "$ACTUARY" list "$@"
}

# refuses WORD OPTION...
refuses()
{
	word=$1
	shift
	expect_error 2 "$word" "$ACTUARY" list "$@"
}

"$mklog" "$tmp/log" <"$golden/input.txt"
# Small blocks, several segments: the same lines.
sed 's/^# ends.*/rotate/' "$golden/input.txt" | "$mklog" -b 3 "$tmp/blocks"

prints text "$tmp/log"
prints text "$tmp/blocks"
prints text --log "$tmp/log"
ACTUARY_LOG=$tmp/log prints text
prints strict --strict "$tmp/log"
prints json --json "$tmp/log"
prints csv --csv "$tmp/log"
prints task --task --columns tid,pid,kind,comm,threads,flags,exit "$tmp/log"
prints columns --columns comm,nice,sched,user,uid,code,signal,core,btime_ns,start_ns "$tmp/log"
prints columns.json --json --columns comm,nice,user,exit,signal,core "$tmp/log"
prints columns.csv --csv --columns comm,nice,user,exit,signal,core "$tmp/log"
prints lastcomm --lastcomm "$tmp/log"
prints lastcomm --lastcomm "$tmp/blocks"
prints lastcomm.forwards --lastcomm --reverse "$tmp/log"
prints reverse --reverse "$tmp/blocks"
prints tail --tail 3 "$tmp/blocks"
prints tail.reverse --tail 3 --reverse "$tmp/blocks"
prints tail.lastcomm --tail 3 --lastcomm "$tmp/blocks"
prints none --tail 0 "$tmp/log"
prints quiet --quiet --comm true "$tmp/log"
prints failed --failed --columns comm,exit "$tmp/log"
prints signal --signal any --columns comm,exit "$tmp/log"
prints segv --signal SEGV --columns comm,exit "$tmp/log"
prints pattern --comm 'y2*' --columns comm,end_ns "$tmp/log"
prints uid --uid 4294967294 --columns comm,uid "$tmp/log"
prints longer --longer 2s --columns comm,wall_ns "$tmp/log"
# Before the gap: nothing is missing, so nothing is said.
prints before --strict --until @1796119204.5 --columns comm "$tmp/log"

# Every object is one, and valid UTF-8.
"$ACTUARY" list --json -q "$tmp/log" | iconv -f UTF-8 -t UTF-8 >/dev/null || fail "not UTF-8"
if command -v jq >/dev/null; then
	[ "$("$ACTUARY" list --json -q "$tmp/log" | jq -c 'select(.pid == 101) | .comm')" = \
		'"ev\nil\"\\\u001b[31m"' ] || fail "a hostile name came back changed"
fi
"$ACTUARY" list -q "$tmp/log" | tr -d '\n' | LC_ALL=C grep -q '[[:cntrl:]]' &&
	fail "control bytes reach the terminal"

# Ten seconds at most for a line to come.
await()
{
	tries=100
	until grep -q "$1" "$tmp/followed" || [ $tries = 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
}

# A follower sees what comes, in whatever segment.
"$ACTUARY" list --follow --tail 1 --columns comm "$tmp/blocks" >"$tmp/followed" 2>/dev/null &
follower=$!
await unknown # or the first line would be one of those that come
echo 'rotate' | "$mklog" "$tmp/blocks"
printf 'comm=later pid=1 end_ns=@1796119208\n' | "$mklog" "$tmp/blocks"
await later
kill $follower
code=0
wait $follower || code=$?
same "status of a follower that is told to end" 143 "$code"
printf 'COMM\nunknown\nlater\n' | cmp - "$tmp/followed" || fail "followed: $(cat "$tmp/followed")"
echo "ok: follows"

refuses wal --columns pid,wal "$tmp/log"
refuses pid --columns pid,pid "$tmp/log"
refuses "'' is no column" --columns '' "$tmp/log"
refuses exclude --json --csv "$tmp/log"
refuses lastcomm --lastcomm --columns pid "$tmp/log"
refuses follow --follow --reverse "$tmp/log"
refuses 'one log' "$tmp/log" "$tmp/log"
refuses "$tmp/absent" "$tmp/absent"
refuses signal --signal NONE "$tmp/log"
echo 'not a log' >"$tmp/file"
refuses "$tmp/file" "$tmp/file"
mkdir "$tmp/empty"
refuses "$tmp/empty" "$tmp/empty"

# What can't be written is told once.
if [ -w /dev/full ]; then
	code=0
	"$ACTUARY" list -q "$tmp/log" >/dev/full 2>"$tmp/err" || code=$?
	same "status of a full disk" 1 "$code"
	same "lines about a full disk" 1 "$(wc -l <"$tmp/err")"
fi

# Sixteen bytes of a block are gone: the rest is listed, and nobody is told all is well.
segment=$(find "$tmp/blocks" -name '*.act' | sort | head -n 1)
offset=$(($(stat -c %s "$segment") - 16))
dd if=/dev/zero of="$segment" bs=1 seek=$offset count=16 conv=notrunc 2>/dev/null
expect_status 4 "$ACTUARY" list --strict --columns comm "$tmp/blocks"
grep -q 'damaged part' "$tmp/stderr" || fail "damage is not told: $(cat "$tmp/stderr")"
grep -q later "$tmp/stdout" || fail "what is whole is not listed"

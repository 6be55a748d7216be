#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# list: what it prints of a log in which every value is known.  BLESS=1 writes
# the golden files anew.
set -eu
export LC_ALL=C TZ=UTC
unset ACTUARY_LOG
golden=$SRC/tests/cli/list
mklog=$BUILD/tests/cli/mklog
tmp=$(mktemp -d "${TMPDIR:-/tmp}/actuary-list-XXXXXX")
trap 'rm -rf "$tmp"' EXIT

fail()
{
	echo "failed: $*" >&2
	exit 1
}

# prints FILE STATUS OPTION...: stdout is as in FILE, stderr as in FILE.err.
prints()
{
	name=$1
	status=$2
	shift 2
	code=0
	"$ACTUARY" list "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	if [ -n "${BLESS:-}" ]; then
		cp "$tmp/out" "$golden/$name"
		rm -f "$golden/$name.err"
		[ ! -s "$tmp/err" ] || cp "$tmp/err" "$golden/$name.err"
	fi
	[ "$code" = "$status" ] || fail "$name: status $code, not $status: $(cat "$tmp/err")"
	diff -a "$golden/$name" "$tmp/out" || fail "$name differs"
	if [ -e "$golden/$name.err" ]; then
		diff "$golden/$name.err" "$tmp/err" || fail "$name.err differs"
	else
		[ ! -s "$tmp/err" ] || fail "$name: unexpected: $(cat "$tmp/err")"
	fi
	echo "ok: $name"
}

# refuses WORD OPTION...: one line that has the word, status 2.
refuses()
{
	word=$1
	shift
	code=0
	"$ACTUARY" list "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
	[ "$code" = 2 ] || fail "list $*: status $code, not 2"
	[ ! -s "$tmp/out" ] || fail "list $*: printed something"
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "list $*: $(cat "$tmp/err")"
	grep -q -e "$word" "$tmp/err" || fail "list $*: $(cat "$tmp/err")"
	echo "ok: refuses $*"
}

"$mklog" "$tmp/log" <"$golden/input.txt"
# Small blocks, several segments: the same lines.
sed 's/^# ends.*/rotate/' "$golden/input.txt" | "$mklog" -b 3 "$tmp/blocks"

prints text 0 "$tmp/log"
prints text 0 "$tmp/blocks"
prints text 0 --log "$tmp/log"
ACTUARY_LOG=$tmp/log prints text 0
prints text 4 --strict "$tmp/log"
prints json 0 --json "$tmp/log"
prints csv 0 --csv "$tmp/log"
prints task 0 --task --columns tid,pid,kind,comm,threads,flags,exit "$tmp/log"
prints columns 0 --columns comm,nice,sched,user,uid,code,signal,core,btime_ns,start_ns "$tmp/log"
prints columns.json 0 --json --columns comm,nice,user,exit,signal,core "$tmp/log"
prints columns.csv 0 --csv --columns comm,nice,user,exit,signal,core "$tmp/log"
prints lastcomm 0 --lastcomm "$tmp/log"
prints lastcomm 0 --lastcomm "$tmp/blocks"
prints lastcomm.forwards 0 --lastcomm --reverse "$tmp/log"
prints reverse 0 --reverse "$tmp/blocks"
prints tail 0 --tail 3 "$tmp/blocks"
prints tail.reverse 0 --tail 3 --reverse "$tmp/blocks"
prints tail.lastcomm 0 --tail 3 --lastcomm "$tmp/blocks"
prints none 0 --tail 0 "$tmp/log"
prints quiet 0 --quiet --comm true "$tmp/log"
prints failed 0 --failed --columns comm,exit "$tmp/log"
prints signal 0 --signal any --columns comm,exit "$tmp/log"
prints segv 0 --signal SEGV --columns comm,exit "$tmp/log"
prints pattern 0 --comm 'y2*' --columns comm,end_ns "$tmp/log"
prints uid 0 --uid 4294967294 --columns comm,uid "$tmp/log"
prints longer 0 --longer 2s --columns comm,wall_ns "$tmp/log"
# Before the gap: nothing is missing, so nothing is said.
prints before 0 --strict --until @1796119204.5 --columns comm "$tmp/log"

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
wait $follower || code=$?
[ "$code" = 143 ] || fail "the follower ended with $code"
printf 'COMM\nunknown\nlater\n' | cmp - "$tmp/followed" || fail "followed: $(cat "$tmp/followed")"
echo "ok: follows"

refuses wal --columns pid,wal "$tmp/log"
refuses pid --columns pid,pid "$tmp/log"
refuses "''" --columns '' "$tmp/log"
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
	"$ACTUARY" list -q "$tmp/log" >/dev/full 2>"$tmp/err" && fail "/dev/full took it" || code=$?
	[ "$code" = 1 ] || fail "/dev/full: status $code"
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "/dev/full: $(cat "$tmp/err")"
fi
echo "ok: all"

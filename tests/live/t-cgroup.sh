#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Delays of a cgroup: of a version 1 hierarchy with the states of its tasks, of
# one without tasks, and of what is no cgroup.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# In a mount namespace of its own, so that nothing stays behind.
if [ -z "${ACTUARY_TEST_INSIDE:-}" ]; then
	ACTUARY_TEST_INSIDE=1 unshare -m "$0"
	exit
fi

expect_error()
{
	code=0
	"$ACTUARY" delays --cgroup "$1" >"$tmp/out" 2>"$tmp/err" || code=$?
	same "$1: status" 1 $code
	grep -q -F "$2" "$tmp/err" || fail "$1: $(cat "$tmp/err")"
	same "$1: lines" 1 "$(grep -c '^actuary delays: ' "$tmp/err")"
}

expect_error "$tmp" "not the directory of a cgroup"
: >"$tmp/file"
expect_error "$tmp/file" "not the directory of a cgroup"
expect_error "$tmp/none" "No such file"

# A hierarchy without controllers is enough.
mkdir "$tmp/mount"
mount -t cgroup -o "none,name=actuary$$" none "$tmp/mount" ||
	skip "this kernel has no version 1 cgroups"
group=$tmp/mount/group
mkdir "$group"

# holds JQ-CONDITION
holds()
{
	"$ACTUARY" delays --quiet --json --cgroup "$group" >"$tmp/group" 2>"$tmp/err"
	[ "$(jq "$1" "$tmp/group")" = true ] || fail "not $1: $(cat "$tmp/group" "$tmp/err")"
	echo "ok: $1"
}

holds '.processes == 0 and .tasks == 0 and .cpu_ns == null and .delays.cpu.count == null'
holds '.states == { sleeping: 0, running: 0, stopped: 0, uninterruptible: 0, io_wait: 0 }'

mkfifo "$tmp/pipe"
add()
{
	children="$children $1"
	echo "$1" >"$group/cgroup.procs"
}

# state PID: as proc(5) has it
state()
{
	sed 's/.*) //; s/ .*//' "/proc/$1/stat"
}

is_in()
{
	[ "$(state "$1")" = "$2" ]
}

cat "$tmp/pipe" >/dev/null &
reader=$!
exec 3>"$tmp/pipe" # it has come to its read
add $reader
"$BUILD/tests/live/waits" spin 600000 "$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')" &
runner=$!
add $runner
for _ in 1 2; do
	sleep 600 &
	kill -STOP $!
	wait_for 20 is_in $! T
	add $!
done
wait_for 20 is_in $reader S
wait_for 20 is_in $runner R
holds '.processes == 4 and .tasks == 4'
holds '.states == { sleeping: 1, running: 1, stopped: 2, uninterruptible: 0, io_wait: 0 }'
"$ACTUARY" delays --quiet --cgroup "$group" 2>/dev/null |
	grep -q '^states  *sleeping 1, running 1, stopped 2, uninterruptible 0, waiting for I/O 0$' ||
	fail "the states are not in the text"
"$ACTUARY" delays --quiet --json --cgroup "$group" --interval 1ms --count 3 2>/dev/null >"$tmp/thrice"
same "repeated" 3 "$(wc -l <"$tmp/thrice")"
exec 3>&-
for pid in $children; do
	kill -9 "$pid" 2>/dev/null || :
	wait "$pid" 2>/dev/null || :
done
children=
rmdir "$group"
# The kernel keeps a hierarchy that is left while a group of it is still on its way out.
sleep 0.5
umount "$tmp/mount"

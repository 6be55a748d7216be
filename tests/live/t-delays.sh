#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Delays of a command: unknown without the switch, counted with it, and the
# switch is put back on every way out.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

switch=/proc/sys/kernel/task_delayacct
[ -w "$switch" ] || { echo "no $switch on this kernel"; exit 77; }
before=$(cat "$switch")
put_back()
{
	echo "$before" >"$switch"
	cleanup
}
trap put_back EXIT

delays()
{
	code=0
	"$ACTUARY" delays --quiet --json "$@" >"$tmp/delays" 2>"$tmp/delays.err" || code=$?
}

echo 0 >"$switch"
delays -- sh -c 'exit 7'
same "the command's status" 7 "$code"
same "wait status" 1792 "$(jq .status "$tmp/delays")"
same "block I/O without the switch" null "$(jq .delays.blkio.count "$tmp/delays")"
at_least "waits for a CPU without the switch" 1 "$(jq .delays.cpu.count "$tmp/delays")"

delays --enable -- true
same "status with --enable" 0 "$code"
same "block I/O is counted" number "$(jq -r '.delays.blkio.count | type' "$tmp/delays")"
same "the switch after a command" 0 "$(cat "$switch")"

# shellcheck disable=SC2016 # the inner shell's
delays --enable -- sh -c 'kill -KILL $$'
same "status of one that was killed" 137 "$code"
same "the switch after it" 0 "$(cat "$switch")"

# A command that does not heed the first signal is not waited for at the second.
is_on()
{
	[ "$(cat "$switch")" = 1 ]
}
for signals in TERM HUP "TERM TERM"; do
	"$ACTUARY" delays --quiet --enable -- sh -c 'trap "" TERM; sleep 3' >"$tmp/delays" &
	delays=$!
	children="$children $delays"
	wait_for 5 is_on
	sleep 0.2
	for signal in $signals; do
		kill -s "$signal" "$delays"
		sleep 0.1
	done
	wait "$delays" || :
	forget "$delays"
	same "the switch after $signals" 0 "$(cat "$switch")"
done
# A reader who leaves.
"$ACTUARY" delays --quiet --enable --interval 10ms --pid $$ 2>/dev/null | head -n 1 >/dev/null || :
same "the switch after a reader left" 0 "$(cat "$switch")"

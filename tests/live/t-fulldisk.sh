#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk: recording goes on, what found no room is counted, and the log
# resumes by itself.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# The recorder is open and its load has not begun.
mark()
{
	sleep 0.1
	"$(as "mark$$")" forks 0
	sleep 0.1
}

# The exits on each CPU that a recorder must know of, told by a witness: a
# lossless log of tasks, begun before it and ended after it.  The recorder's own
# children, one pinned to each CPU, begin its account at open and close it at
# the end.  While it waits for the last CPU to be closed it still takes what
# comes on the others, so the account of a CPU ends with its last child or the
# last exit in the log, whichever is later.  What tries the CPUs out at open lies
# before the mark.
# truth WITNESS-LOG RECORDER-PID LOG: lines "CPU EXITS"
truth()
{
	marked=$("$ACTUARY" list --task --json --comm "mark$$" --columns end_ns "$1" | jq .end_ns)
	# One message went to both, so what the kernel wrote into it is the same.
	"$ACTUARY" list --task --columns cpu,tid,wall_ns --csv "$3" 2>/dev/null >"$tmp/truth.log"
	# Nanoseconds since the epoch are too long for awk's numbers, not for its strings.
	"$ACTUARY" list --task --columns cpu,tid,wall_ns,ppid,flags,end_ns --csv "$1" 2>/dev/null |
		awk -F, -v recorder="$2" -v marked="x$marked" '
		FNR == 1 { next }
		NR == FNR { last[$1] = $2 "," $3; next }
		{ since[$1]++ }
		$4 == recorder && $5 % 2 && "x" $6 < marked { exits[$1] = since[$1] = 0 }
		"x" $6 >= marked && ($4 == recorder && $5 % 2 || $2 "," $3 == last[$1]) {
			exits[$1] += since[$1]
			since[$1] = 0
		}
		END { for (cpu in exits) print cpu, exits[cpu] }' "$tmp/truth.log" - | sort
}

# In a mount namespace of its own, so that nothing stays behind.
if [ -z "${ACTUARY_TEST_INSIDE:-}" ]; then
	ACTUARY_TEST_INSIDE=1 unshare -m "$0"
	exit
fi
mkdir "$tmp/mount"
mount -t tmpfs -o size=1m tmpfs "$tmp/mount" || skip "cannot mount a tmpfs"

# A log that misses something is still read.
is_readable()
{
	"$ACTUARY" verify "$tmp/mount" >"$tmp/verify" 2>&1 && return 0
	[ $? = 4 ] || fail "the log cannot be read: $(cat "$tmp/verify")"
}

keep_leak_checker_out
# A witness must not lose anything, whatever else keeps the machine busy.
start_recorder witness --per task --rcvbuf 128M
witness=$recorder
start_recorder mount --per task --sync 100ms
small=$recorder
mark
# About 10 MB: twice what the disk and the recorder's 4 MiB of memory hold.
"$(as full$$)" threads 1000 900 &
load=$!
children="$children $load"
while kill -0 $load 2>/dev/null; do
	is_readable
	sleep 0.5
done
wait $load
forget $load
kill -0 "$small" || fail "the recorder ended: $(cat "$tmp/mount.err")"
is_readable
before=$(count true --task --comm full$$ "$tmp/mount")
mount -o remount,size=64m "$tmp/mount"
"$(as room$$)" forks 211

has_resumed()
{
	[ "$(count '.flags % 2 == 1' --task --comm room$$ "$tmp/mount")" = 211 ]
}

wait_for 30 has_resumed
echo "ok: the log has resumed"
stop_recorder "$small"
stop_recorder "$witness"

same "the witness lost" 0 "$(account "$tmp/witness.json" .lost)"
same "the witness saw" 900001 "$(count true --task --comm full$$ "$tmp/witness")"
at_least "lost for want of room" 1 "$(account "$tmp/mount.json" .lost_storage)"
after=$(count true --task --comm full$$ "$tmp/mount")
[ "$after" -gt "$before" ] || fail "what waited in memory was not written"
recorded=$(count true --task "$tmp/mount")
same "recorded as the account has it" "$(account "$tmp/mount.json" .recorded)" "$recorded"
exits=$(truth "$tmp/witness" "$small" "$tmp/mount" | awk '{ sum += $2 } END { print sum }')
same "recorded + lost" "$exits" $((recorded + $(account "$tmp/mount.json" .lost)))
"$ACTUARY" verify "$tmp/mount" >"$tmp/verify" && fail "verify is content" || code=$?
same "status of verify" 4 "$code"
grep -q storage "$tmp/verify" || fail "no gap: $(cat "$tmp/verify")"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A full disk: recording goes on, what found no room is counted, and the log
# resumes by itself.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

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

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Conditions of ab that need root: each is seen to be on by the workload, and off
# afterwards, however it ended.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
switch=/proc/sys/kernel/task_delayacct
before=$(cat $switch)
other=$((1 - before))
# A test that fails must not leave it, either.
trap 'echo "$before" >$switch; cleanup' EXIT

seen=$tmp/seen
# ab SPEC OPTION...: under that condition, and none; the status in $status
ab()
{
	spec=$1
	shift
	status=0
	"$ACTUARY" ab -q --force --settle 0 --warmup 0 --rounds 1 --aa 0% --pairs 2 -c off=none \
		-c "on=$spec" -o "$tmp/result" "$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null ||
		status=$?
}

# What the workload saw: looks NAME SPEC COMMAND ON, each time it ran under it
looks()
{
	: >"$seen"
	ab "$2" -- sh -c "$3 >>$seen"
	same "$1: status ($(cat "$tmp/stderr"))" 0 "$status"
	# Two pairs, and in each run a round that warms up, twice.
	same "$1: seen on" 6 "$(grep -c -x -F -e "$4" "$seen")"
	same "$1: seen off" 6 "$(grep -c -v -x -F -e "$4" "$seen")"
}

looks sysctl "sysctl:kernel.task_delayacct=$other" "cat $switch" "$other"
same "sysctl afterwards" "$before" "$(cat $switch)"
looks nice nice:-7 nice "-7"
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | sed 's/.*[-,]//')
[ "$(nproc)" = 1 ] || looks cpus "cpus:$cpu" \
	"sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status" "$cpu"
same "nice afterwards" 0 "$(nice)"

# A hierarchy without controllers, in a mount namespace of its own.
if unshare -m true 2>/dev/null; then
	mkdir "$tmp/mount"
	cat >"$tmp/inside" <<-END
	mount -t cgroup -o none,name=actuary$$ none "$tmp/mount" || exit 77
	mkdir "$tmp/mount/bench"
	"$ACTUARY" ab -q --force --settle 0 --warmup 0 --rounds 1 --aa 0% --pairs 2 -c off=none \
		-c "on=cgroup:$tmp/mount/bench" -o "$tmp/cgroup" -- \
		sh -c 'sed -n "s/.*name=actuary$$://p" /proc/self/cgroup >>$seen' >/dev/null 2>&1 || exit
	sleep 0.1
	rmdir "$tmp/mount/bench" || exit
	# The kernel keeps a hierarchy that is left while a group is still on its way out.
	sleep 0.5
	umount "$tmp/mount"
	END
	: >"$seen"
	status=0
	unshare -m sh "$tmp/inside" || status=$?
	if [ $status != 77 ]; then
		same "cgroup: status, and it can be removed" 0 "$status"
		same "cgroup: seen on" 6 "$(grep -c -x /bench "$seen")"
		same "cgroup: seen off" 6 "$(grep -c -x / "$seen")"
	fi
fi

# Accounting: 6 workloads of a child each are in the file, and none of the others.
ab "acct:$tmp/pacct" -- sh -c 'true; exec sleep 0'
if [ "$status" = 0 ]; then
	size=$(wc -c <"$tmp/pacct")
	at_least "acct: records" 6 $((size / 64))
	/bin/true
	same "acct afterwards" "$size" "$(wc -c <"$tmp/pacct")"
else
	grep -q "built without\|is on already" "$tmp/stderr" || fail "acct: $(cat "$tmp/stderr")"
fi

# Listeners: all forks of the two runs, three rounds each, are among what they counted.
for kind in record record:per=task raw-listener connector; do
	ab "$kind" forky --burst 50
	same "$kind: status ($(cat "$tmp/stderr"))" 0 "$status"
	same "$kind: runs with its costs" 2 \
		"$(jq -c 'select(.listener) | select(.listener.records >= 150 and .listener.cpu_ns > 0)' \
		"$tmp/result" | wc -l)"
	rm -f "$tmp/result"
done
ab "raw-listener:rcvbuf=512" mkthreads --threads 1000
same "raw-listener:rcvbuf=512: what it lost is told" 2 \
	"$(jq -c 'select(.listener) | select(.listener.lost > 0 and .listener.enobufs > 0)' \
	"$tmp/result" | wc -l)"
rm -f "$tmp/result"

# ---- However it ends ----

# ended SIGNAL STATUS: while the first is on
ended()
{
	"$ACTUARY" ab -q --force --settle 0 --warmup 0 --rounds 1 --aa 0% --pairs 1000 \
		-c "on=sysctl:kernel.task_delayacct=$other+acct:$tmp/pacct2+record" -c off=none \
		-o "$tmp/cut" -- sleep 1 >"$tmp/stdout" 2>"$tmp/stderr" </dev/null &
	pid=$!
	children="$children $pid"
	wait_for 30 is_on
	kill "-$1" $pid
	status=0
	wait $pid || status=$?
	same "ended by $1: status" "$2" "$status"
	wait_for 30 is_off
	size=$(wc -c <"$tmp/pacct2")
	/bin/true
	same "ended by $1: accounting is off" "$size" "$(wc -c <"$tmp/pacct2")"
	wait_for 30 has_no_recorder
	rm -f "$tmp/cut" "$tmp/pacct2"
}

is_on()
{
	[ "$(cat $switch)" = "$other" ] && [ -s "$tmp/cut" ]
}

is_off()
{
	[ "$(cat $switch)" = "$before" ]
}

# Its log is a directory of ab's, in TMPDIR, which is gone with it.
has_no_recorder()
{
	[ -z "$(ls "$tmp/scratch")" ]
}

mkdir "$tmp/scratch"
export TMPDIR="$tmp/scratch"
ended INT 130
ended TERM 143
ended HUP 129
ended KILL 137

ab "sysctl:kernel.task_delayacct=$other" -- sh -c 'kill -SEGV $$'
same "a workload that crashes: status" 4 "$status"
same "a workload that crashes: the setting" "$before" "$(cat $switch)"
rm -f "$tmp/result"
ab "sysctl:kernel.task_delayacct=$other" -- sh -c "echo $before >$switch"
same "a setting that is changed back meanwhile: status" 4 "$status"
grep -q '"valid":false' "$tmp/result" || fail "$(cat "$tmp/stderr")"
same "a setting that is changed back meanwhile" "$before" "$(cat $switch)"

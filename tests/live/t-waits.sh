#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Delays of programs whose waits are known: for a CPU beside a hog, for a cold
# file; the CPU time of threads that have ended; live, as a zombie and at exit.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

waits=$BUILD/tests/live/waits

delays()
{
	"$ACTUARY" delays --quiet --json "$@"
}

# holds NAME JQ-CONDITION FILE
holds()
{
	[ "$(jq "$2" "$3")" = true ] || fail "$1: not $2: $(cat "$3")"
	echo "ok: $1"
}

# Others may want that CPU too, so it gets three chances.
starve()
{
	"$waits" spin 10000 "$cpu" &
	hog=$!
	children="$children $hog"
	delays -- "$waits" spin 2000 "$cpu" >"$tmp/starved"
	kill "$hog"
	wait "$hog" 2>/dev/null || :
	forget "$hog"
	jq -c .delays.cpu "$tmp/starved"
	[ "$(jq '.delays.cpu.share > 0.3 and .delays.cpu.share < 0.7' "$tmp/starved")" = true ]
}
cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
starve || starve || starve || fail "beside a hog: about half the time waiting for a CPU"
echo "ok: beside a hog: about half the time waiting for a CPU"
holds "its CPU time and its wait are its wall time" \
	'(.cpu_ns + .delays.cpu.total_ns) / .wall_ns | . > 0.9 and . < 1.1' "$tmp/starved"
holds "its longest wait" \
	'.delays.cpu.max_ns == null or
	 (.delays.cpu.max_ns <= .delays.cpu.total_ns and .delays.cpu.max_ns >= .delays.cpu.mean_ns)' \
	"$tmp/starved"

# /tmp may be memory.
file=$(mktemp "${SRC}/waits-XXXXXX")
delays --enable -- "$waits" cold "$file" >"$tmp/cold" || :
rm -f "$file"
holds "a cold file: block I/O" '.delays.blkio.count > 0 and .delays.blkio.total_ns > 0' "$tmp/cold"
holds "a cold file: bytes from storage" '.read_bytes > 0' "$tmp/cold"

"$ACTUARY" record --quiet --log "$tmp/log" --json -- \
	"$ACTUARY" delays --quiet --json --output "$tmp/zombie" -- "$waits" threads 2 1000 \
	>"$tmp/account"
holds "two threads of a second each" '.cpu_ns > 1.9e9 and .cpu_ns < 2.3e9' "$tmp/zombie"
pid=$(jq .pid "$tmp/zombie")
"$ACTUARY" list --quiet --json --pid "$pid" --comm waits "$tmp/log" >"$tmp/exit"
jq -s '{ zombie: .[0], exit: .[1] }' "$tmp/zombie" "$tmp/exit" >"$tmp/both"
holds "at exit it had the same CPU time" \
	'(.zombie.cpu_ns - .exit.cpu_ns | fabs) < 20e6 and .exit.threads == 3' "$tmp/both"
holds "at exit it had waited as long" \
	'(.zombie.delays.cpu.total_ns - .exit.cpu_delay_ns | fabs) < 20e6' "$tmp/both"

# Live: the same process is a process and its leader a task.
"$waits" threads 1 60000 &
live=$!
children="$children $live"
sleep 0.3
delays --process "$live" >"$tmp/process"
delays --pid "$live" >"$tmp/task"
delays --pid "$live" --interval 1ms --count 3 >"$tmp/thrice"
same "repeated" 3 "$(wc -l <"$tmp/thrice")"
holds "a live process" ".pid == $live and .tasks == 2 and .comm == \"waits\" and .cpu_ns > 0" \
	"$tmp/process"
holds "its leader only waits" ".pid == $live and .tasks == 1" "$tmp/task"
tid=$(find "/proc/$live/task" -mindepth 1 -maxdepth 1 ! -name "$live" | sed 's|.*/||')
"$ACTUARY" delays --process "$tid" 2>"$tmp/err" && fail "took a task for a process"
grep -q "task of process $live" "$tmp/err" || fail "does not name the process: $(cat "$tmp/err")"
"$ACTUARY" delays --pid 4294967295 2>/dev/null && fail "found a task that cannot be"

for root in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	group=$root/actuary-waits-$$
	[ -e "$root/cgroup.procs" ] || continue
	mkdir "$group" 2>/dev/null || continue
	echo "$live" >"$group/cgroup.procs"
	"$ACTUARY" delays --quiet --json --cgroup "$group" >"$tmp/group" || :
	echo "$live" >"$root/cgroup.procs"
	rmdir "$group"
	holds "a cgroup of one process" '.processes == 1 and .tasks == 2' "$tmp/group"
done
echo "ok: live"

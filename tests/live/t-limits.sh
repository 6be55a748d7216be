#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Workloads that meet a cgroup's limit of tasks: they say how far they got and which
# limit it was, and everything that they made is gone.  (RLIMIT_NPROC needs no root:
# tests/cli/t-bench.sh.)
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if [ -d /sys/fs/cgroup/pids ]; then
	group=/sys/fs/cgroup/pids/actuary$$
elif grep -q -w pids /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
	group=/sys/fs/cgroup/actuary$$
	grep -q -w pids /sys/fs/cgroup/cgroup.subtree_control ||
		echo +pids >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null ||
		skip "cannot limit tasks by cgroup"
else
	skip "needs the pids controller"
fi
mkdir "$group"
trap 'cleanup; rmdir "$group" 2>/dev/null' EXIT
[ -e "$group/pids.max" ] || skip "needs the pids controller"
echo 40 >"$group/pids.max"

# limited WORKLOAD OPTION...
limited()
{
	status=0
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
		"$ACTUARY" bench --quiet --runs 1 --rounds 1 --warmup 0 "$@" \
		>"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	same "$*: status" 4 "$status"
	grep -q -E "(fork|thread|vfork|process) [0-9]+ of [0-9]+ failed, a limit was met: .*pids.max is 40" \
		"$tmp/err" || fail "$*: $(cat "$tmp/err")"
	same "$*: what is left" 0 "$(wc -l <"$group/cgroup.procs")"
}

limited forky --burst 100
limited mkthreads --threads 100 --step 5ms
limited threads --threads 100 --end exit_group
limited zombies --pile 100
limited zombies --pile 100 --double
limited clocks --threads 100

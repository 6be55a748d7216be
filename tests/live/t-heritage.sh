#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The scripts that repeat old measurements, in their short form: each one's tables
# are there, and it leaves no setting changed and no file.
. "$(dirname "$0")/lib.sh"
for tool in make cc; do
	command -v $tool >/dev/null || skip "needs $tool"
done
scripts=$SRC/examples/heritage
switch=$(cat /proc/sys/kernel/task_delayacct)
mkdir "$tmp/scratch"

# repeats SCRIPT PATTERN...: lines that its output must have
repeats()
{
	script=$1
	shift
	status=0
	ACTUARY=$ACTUARY TMPDIR=$tmp/scratch "$scripts/$script" --short >"$tmp/out" 2>"$tmp/err" \
		</dev/null || status=$?
	same "$script: status ($(cat "$tmp/err"))" 0 "$status"
	for pattern; do
		grep -q -E -e "$pattern" "$tmp/out" ||
			fail "$script: no line like \"$pattern\" in: $(cat "$tmp/out")"
	done
}

repeats 1-exit-statistics '^ +Yes +No +Ovhd ' '^system_ns .*%' '^wall_ns: Yes ' \
	'(equivalent|inconclusive|slower|faster) +process$'
repeats 2-losses '^default, CPUs [-0-9]+: [0-9]+ messages, 0 ENOBUFS, 0 records lost$' \
	'^\| 512 \| 0[-0-9]* \| [0-9]+ \|$' '^\| default \| [-0-9]+ \| [0-9]+ \| 0 \| 0 \|$'
repeats 3-clocks '^\| 2500 \| 0\.[0-9]{6} \| 0\.[0-9]{6} \| 0\.[0-9]{6} \|$' '^prof_ns: against' \
	' 2500$'
repeats 4-fork-bursts '^number of samples: [0-9]+$' '^[0-9.]+ - [0-9.]+ \[ +[0-9]+\]: \*+$' \
	"Welch's +t " '^wall_ns: on '
repeats 4-kernbench '^elapsed +mean .*%\)$' '^cpu +mean' '^wall_ns: on '
repeats 4-completions 'Row count: 20000' '5 most frequent values' '^ *p50 '
repeats 5-rates '^ *[0-9.]+ forks/s +[0-9.]+ exits/s$' '^latency_ns '
repeats 5-watchers 'faster +02-benchmark$' ' (connector|acct|listener|record)$'

same "kernel.task_delayacct" "$switch" "$(cat /proc/sys/kernel/task_delayacct)"
same "what stays in TMPDIR" "" "$(ls "$tmp/scratch")"
for script in "$scripts"/[0-9]-*; do
	"$script" -h | grep -q -- --short || fail "$script -h"
	status=0
	"$script" --nonsense >"$tmp/out" 2>&1 || status=$?
	same "$(basename "$script") --nonsense" 2 "$status"
	grep -q "\`$(basename "$script")\`" "$scripts/README.md" || fail "README.md lacks $script"
done

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# bench: counts of runs, rounds and samples, results, failures and limits; never
# times.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "needs jq"

# bench OPTION...: without what it says of progress
bench()
{
	run "$ACTUARY" bench "$@"
}

# count FILTER: how many lines of the result are so
count()
{
	jq -c "select($1)" "$tmp/result" | wc -l
}

run_golden list "$ACTUARY" bench --list
run_golden help "$ACTUARY" bench forky -h

# Every workload that is listed runs, and knows the metrics that it promises.
small()
{
	case $1 in
	mkthreads) echo "--threads 5" ;;
	forky) echo "--burst 5" ;;
	spawn) echo "--count 3" ;;
	threads) echo "--threads 5" ;;
	zombies) echo "--pile 5 --double" ;;
	build) echo "--files 2" ;;
	rate) echo "--rate 100000 --count 5" ;;
	pingpong) echo "--count 5" ;;
	clocks) echo "--threads 5 --calls 100" ;;
	null) echo ;;
	command) echo "-- true" ;;
	*) return 1 ;;
	esac
}
"$ACTUARY" bench --list | while read -r name _; do
	small "$name" >"$tmp/options" || fail "which options make a small run of $name?"
	# shellcheck disable=SC2046 # words
	run "$ACTUARY" bench -q -r 2 -n 3 -w 1 --json -o "$tmp/result" -f "$name" $(cat "$tmp/options")
	same "$name: status ($(cat "$tmp/stderr"))" 0 "$status"
	same "$name: what it says" "" "$(cat "$tmp/stderr")"
	same "$name: the summary" "\"$name\" 2 0" "$(jq -r '"\(.workload|tojson) \(.runs) \(.invalid)"' \
		"$tmp/stdout")"
	same "$name: samples of each metric" 6 \
		"$(jq '[.metrics[] | select(.metric == "wall_ns") | .n] | add' "$tmp/stdout")"
	same "$name: metrics that nobody knows" "" \
		"$(jq -r '.metrics[] | select(.median == null) | .metric' "$tmp/stdout")"
	same "$name: kept samples" 6 "$(count '.v and (.warmup | not)')"
	same "$name: kept warm-up" 2 "$(count '.v and .warmup')"
	same "$name: runs" 2 "$(count 'has("end") and .valid')"
	same "$name: the footer" 1 "$(count '.footer and .complete and .runs == 2 and .invalid == 0')"
	same "$name: a value for each metric" "" \
		"$(jq -r --slurp '(.[0].metrics | length) as $n | .[] | select(.v) |
			select((.v | length) != $n)' "$tmp/result")"
done

# Each wake-up is kept: two of an exchange, one of a child that ends.
for by in futex eventfd pipe condvar vfork; do
	for place in free same other; do
		[ $place != other ] || [ "$(nproc)" -gt 1 ] || continue
		bench -q -r 1 -n 1 -w 0 -o "$tmp/result" -f pingpong --count 7 --by $by --place $place
		same "pingpong by $by, $place: status ($(cat "$tmp/stderr"))" 0 "$status"
		[ $by = vfork ] && wakes=7 || wakes=14
		same "pingpong by $by, $place: latencies" "$wakes true" "$(jq -c 'select(.series | arrays) |
			"\(.series | length) \(.series | all(. > 0))"' -r "$tmp/result")"
	done
done
expect_error 2 "needs two CPUs" taskset -c "$(taskset -c -p $$ | sed 's/.*[:,-] *//')" \
	"$ACTUARY" bench pingpong --place other

# The text.
bench -r 2 -n 2 forky --burst 7
same "status" 0 "$status"
same "the head" "forky: 2 runs, 7 operations a round" "$(head -n 1 "$tmp/stdout")"
same "a row" "wall_ns 4" "$(awk '$1 == "wall_ns" { print $1, $2 }' "$tmp/stdout")"
grep -q "are the harness's own" "$tmp/stdout" || fail "no word of the harness"
grep -q each_fork_ns "$tmp/stdout" && fail "a series that nobody asked for"
bench -r 2 -n 2 forky --burst 7 --each
same "values of the series" "each_fork_ns 28" \
	"$(awk '$1 == "each_fork_ns" { print $1, $2 }' "$tmp/stdout")"

# By every way.
for by in fork vfork posix_spawn clone3; do
	for program in static dynamic script; do
		expect_status 0 "$ACTUARY" bench -r 1 -n 1 -w 0 spawn -c 2 --by $by --program $program
	done
done
for end in join detached exit_group; do
	expect_status 0 "$ACTUARY" bench -r 1 -n 1 -w 0 threads -t 20 --end $end
done
expect_status 0 "$ACTUARY" bench -r 1 -n 1 -w 0 forky -b 3 --resident 1M --mappings 50 --threads 9
expect_status 0 "$ACTUARY" bench -r 1 -n 1 -w 0 mkthreads -t 3 --bursts 4 --step 0 --stack 256K

# A known cost is counted to a child: 5 children of 3 ms each.
bench -r 1 -n 1 --json forky -b 5 --child-cpu 3ms
jq -e '.metrics[] | select(.metric == "cpu_ns") | .median >= 5 * 2900000' "$tmp/stdout" >/dev/null ||
	fail "what the children burned is not there: $(cat "$tmp/stdout")"

# The result.
expect_error 2 "--force" "$ACTUARY" bench -o "$tmp/result" null
bench -r 1 -n 1 -o - null
same "the result alone" 1 "$(grep -c '"footer":true' "$tmp/stdout")"
grep -q METRIC "$tmp/stdout" && fail "a summary among the samples"
expect_error 1 "nodir" "$ACTUARY" bench -o "$tmp/nodir/result" null

# Commands: not by a shell; with all that they start; failing ones do not count.
bench -r 1 -n 1 -w 0 --json -- printf '%s' '$HOME; exit 3'
same "no shell" 0 "$status"
bench -r 1 -n 1 -w 0 --json -- sh -c '(sleep 0.05; touch "$1") & exit 0' sh "$tmp/late"
same "status" 0 "$status"
[ -e "$tmp/late" ] || fail "a grandchild was not waited for"
same "orphans" 1 "$(jq '.metrics[] | select(.metric == "orphans") | .median' "$tmp/stdout")"
expect_error 4 "false ended with status 1" "$ACTUARY" bench -- false
expect_error 4 "cannot execute $tmp/none" "$ACTUARY" bench -- "$tmp/none"
# shellcheck disable=SC2016 # the command's own
expect_error 4 "sh was killed by signal 9" "$ACTUARY" bench -- sh -c 'kill -9 $$'
# The run's own process dies: its command is its child.
# shellcheck disable=SC2016
expect_error 4 "killed by signal 6" "$ACTUARY" bench -- sh -c 'kill -6 $PPID; sleep 60'
expect_error 4 "longer than the 0.1 s" "$ACTUARY" bench --timeout 100ms -- sleep 60
same "output of commands" "" "$(cat "$tmp/stdout")"

# Later failures: the others count.
rm -f "$tmp/once"
# shellcheck disable=SC2016
bench -r 3 -n 1 -w 0 -o "$tmp/result" -f -- \
	sh -c 'echo >>"$1"; [ "$(wc -l <"$1")" != 2 ]' sh "$tmp/once"
same "status" 4 "$status"
grep -q "^actuary bench: warning: run 2 of command does not count: sh ended with status 1" "$tmp/stderr" ||
	fail "$(cat "$tmp/stderr")"
same "the head" "command: 2 runs and 1 that failed and do not count, 1 operation a round" \
	"$(head -n 1 "$tmp/stdout")"
same "the footer" 1 "$(count '.footer and .runs == 3 and .invalid == 1 and .complete')"
same "the reason" 1 "$(count '.valid == false and .reason == "sh ended with status 1"')"

# Interrupted: the run is ended, the file is whole, what there is is told.
mkfifo "$tmp/begun"
# shellcheck disable=SC2016
"$ACTUARY" bench -r 2 -n 1 -w 0 -o "$tmp/result" -f -- \
	sh -c 'echo $$ >"$1"; exec sleep 600' sh "$tmp/begun" >"$tmp/stdout" 2>"$tmp/stderr" &
bench_pid=$!
read -r sleep_pid <"$tmp/begun"
kill -TERM $bench_pid
status=0
wait $bench_pid || status=$?
same "status of an interrupted one" 143 "$status"
kill -0 "$sleep_pid" 2>/dev/null && fail "the command goes on"
same "the footer" 1 "$(count '.footer and .interrupted == "SIGTERM" and (.complete | not)')"

# Limits: how far it got, which ones hold, and nothing stays.  Root is above them.
limited()
{
	if [ "$(id -u)" = 0 ]; then
		prlimit --nproc=30 setpriv --reuid 65534 --clear-groups --inh-caps=-all "$@"
	else
		prlimit --nproc=30 "$@"
	fi
}
if limited "$ACTUARY" bench --list >/dev/null 2>&1; then
	for workload in forky mkthreads; do
		run limited "$ACTUARY" bench -r 1 $workload
		same "status of $workload beyond the limit" 4 "$status"
		grep -q -E ' [0-9]+ of 1000 failed, a limit was met: RLIMIT_NPROC \(ulimit -u\) is 30' \
			"$tmp/stderr" || fail "$(cat "$tmp/stderr")"
	done
fi

# What a run writes is gone, also when it was killed.
mkdir "$tmp/scratch"
for options in "spawn --count 3" "build --files 2"; do
	# shellcheck disable=SC2086 # words
	TMPDIR=$tmp/scratch bench -q -r 1 -n 1 -w 0 $options
	same "$options: status ($(cat "$tmp/stderr"))" 0 "$status"
	# shellcheck disable=SC2086
	TMPDIR=$tmp/scratch bench -q -r 1 -n 1000000 --timeout 300ms $options
	same "$options, too long: status" 4 "$status"
done
same "what runs leave in TMPDIR" "" "$(ls "$tmp/scratch")"
TMPDIR=$tmp/none bench -q -r 1 spawn
same "TMPDIR that is not there: status" 1 "$status"
grep -q "set TMPDIR to where files can be written" "$tmp/stderr" || fail "$(cat "$tmp/stderr")"

# Another build, another way to clean, and its jobs.
printf 'a: ; echo $(MAKEFLAGS) >a\n' >"$tmp/Makefile"
bench -q -r 1 -n 2 -w 0 build --jobs 7 --prepare "rm -f $tmp/a" -- make -s -C "$tmp"
same "build of another: status ($(cat "$tmp/stderr"))" 0 "$status"
grep -q -e '-j7' "$tmp/a" || fail "make was told $(cat "$tmp/a")"

# Wrong usage.
expect_error 2 "both tell" "$ACTUARY" bench build --jobs 3 --load half
expect_error 2 "command of your own" "$ACTUARY" bench build --prepare true
expect_error 2 "which workload" "$ACTUARY" bench
expect_error 2 'no workload "fork"' "$ACTUARY" bench fork
expect_error 2 "unknown option --burts; actuary bench forky -h" "$ACTUARY" bench forky --burts 5
expect_error 2 "takes no argument" "$ACTUARY" bench forky 5
expect_error 2 "from 1 to" "$ACTUARY" bench forky --burst 0
expect_error 2 "from 1 to" "$ACTUARY" bench threads --threads 99999999
expect_error 2 "more than an hour" "$ACTUARY" bench mkthreads --step 1h
expect_error 2 "1 at least" "$ACTUARY" bench spawn -c 0
expect_error 2 "none of fork|vfork" "$ACTUARY" bench spawn --by magic
expect_error 2 "--stack" "$ACTUARY" bench mkthreads --stack 1
expect_error 2 "which command" "$ACTUARY" bench command
expect_error 2 "--runs" "$ACTUARY" bench -r 0 null
expect_error 2 "--for" "$ACTUARY" bench -n 0 null
expect_error 2 "--force" "$ACTUARY" bench -f null
expect_error 2 "without a workload" "$ACTUARY" bench --list null

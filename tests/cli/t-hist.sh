#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# hist: its two styles, its summary and percentiles, and what it says of files
# that are no numbers.  BLESS=1 writes the golden files anew.
. "$(dirname "$0")/lib.sh"
data=$SRC/tests/data

settle()
{
	sed -e "s|$tmp|TMP|g" -e "s|$data|DATA|g" "$1" >"$1.settled"
	mv "$1.settled" "$1"
}

# ---- The old histo: what was published in 2016, of made sets ----

histo()
{
	"$ACTUARY" hist --style histo --min 0.12 --max 0.21 --bin 0.01 --scale 10 "$@"
}

run_golden histo-base histo "$data/forky-base.txt"
run_golden histo-new histo "$data/forky-new.txt"
histo "$data/forky-base.txt" >"$tmp/base"
grep -q -x -F '0.1200 - 0.1300 [ 113]: ************' "$tmp/base" || fail "the published row"
same "mean" 0.146406 "$(sed -n 's/^mean: *//p' "$tmp/base")"
# What was published, 0.000275351163999956, was off in its last digits.
same "variance" 0.000275351164 "$(sed -n 's/^variance: *//p' "$tmp/base")"
same "sd" 0.0165937085668 "$(sed -n 's/^sd: *\(.\{15\}\).*/\1/p' "$tmp/base")"
histo "$data/forky-new.txt" >"$tmp/new"
same "mean" 0.152056 "$(sed -n 's/^mean: *//p' "$tmp/new")"
same "variance" 0.000295474864 "$(sed -n 's/^variance: *//p' "$tmp/new")"
same "sd" 0.0171893823042 "$(sed -n 's/^sd: *\(.\{15\}\).*/\1/p' "$tmp/new")"
# Rows outside are there, rows without a sample are not.
printf '0.5\n0.1\n0.1001\n0.95\n2\n0.05\n' >"$tmp/outside"
run_golden histo-outside "$ACTUARY" hist --style histo --min 0.1 --max 1 --bin 0.1 "$tmp/outside"

# ---- Ours: counts of the reference data ----

# counts_of OPTION... FILE: the bins of JSON
counts_of()
{
	"$ACTUARY" hist --json "$@" | jq -c '[.bins[].count]'
}

same "michelso" '[1,1,6,12,27,28,10,11,3,1]' \
	"$(counts_of --min 299.6 --max 300.1 --bin .05 "$data/nist/michelso.txt")"
same "lottery" '[21,19,19,20,25,18,25,25,22,24]' \
	"$(counts_of --min 0 --max 1000 --bin 100 "$data/nist/lottery.txt")"
run_golden michelso "$ACTUARY" hist "$data/nist/michelso.txt"
run_golden lottery "$ACTUARY" hist --min 0 --max 1000 --bin 100 "$data/nist/lottery.txt"
run_golden lew "$ACTUARY" hist "$data/nist/lew.txt"
run_golden numacc4 "$ACTUARY" hist "$data/nist/numacc4.txt"
run_golden michelso.json "$ACTUARY" hist --json -P 50,90 "$data/nist/michelso.txt"
run_golden middle "$ACTUARY" hist --min 100 --max 300 --bin 50 --stars 7 -P 50 "$data/nist/lottery.txt"
run_golden log "$ACTUARY" hist --log -P 0,100 "$data/nist/lottery.txt"

# Whatever the options: all rows together are the number of samples.
for options in '' '--min 500' '--max 500' '--bin 7' '--log' '--min 100 --max 101 --bin 3' \
	'--min 5000' '--log --min 100' '--log --max 100'; do
	# shellcheck disable=SC2086 # a list of words
	same "sum of rows, $options" 218 "$("$ACTUARY" hist --json $options "$data/nist/lottery.txt" |
		jq '.below + .above + ([.bins[].count] | add)')"
done

# A long tail is left to its row, an empty row in the middle stays.
{ seq 640 1 739; echo 351709; } >"$tmp/tail"
run_golden tail "$ACTUARY" hist -P 50,99.9 "$tmp/tail"
printf '1\n1\n5\n' >"$tmp/hole"
run_golden hole "$ACTUARY" hist --bin 1 "$tmp/hole"
printf '0\n-3\n1\n2\n4\n' >"$tmp/zero"
run_golden zero "$ACTUARY" hist --log "$tmp/zero"

# ---- The summary ----

for name in michelso mavro lew; do
	run_golden "summary-$name" "$ACTUARY" hist --summary "$data/nist/$name.txt"
done
"$ACTUARY" hist -s "$data/nist/numacc4.txt" >"$tmp/out"
same "sum" '	Sum: 10010000200.2' "$(grep Sum: "$tmp/out")"
grep -q -x '	Unique values: 3' "$tmp/out" || fail "unique values of numacc4"

# ---- Inputs at the edge ----

echo 5 >"$tmp/one"
run_golden one "$ACTUARY" hist "$tmp/one"
run_golden one-summary "$ACTUARY" hist --summary "$tmp/one"
same "sd of one" null "$("$ACTUARY" hist --json "$tmp/one" | jq -c .sd)"
same "interval of one" '[null,null]' \
	"$("$ACTUARY" hist --json -P 50 "$tmp/one" | jq -c '.percentiles[0] | [.low, .high]')"
printf '5\n5\n5\n5\n' >"$tmp/same"
run_golden same "$ACTUARY" hist -P 50 "$tmp/same"
printf '1e300\n-1e300\n1e-300\n' >"$tmp/wide"
expect_status 0 "$ACTUARY" hist "$tmp/wide"
{ echo 1000000000.4; for _ in $(seq 500); do printf '1000000000.3\n1000000000.5\n'; done; } >"$tmp/far"
run_golden far "$ACTUARY" hist -P 50 "$tmp/far"
same "standard input" 3 "$(printf '1\n2\n3' | "$ACTUARY" hist --json - | jq .n)"

: >"$tmp/empty"
expect_error 2 'no samples' "$ACTUARY" hist "$tmp/empty"
expect_error 2 'no samples' "$ACTUARY" hist /dev/null
expect_error 2 'no samples' "$ACTUARY" hist -
printf '1\nnan\n3\n' >"$tmp/nan"
expect_error 2 'line 2: "nan"' "$ACTUARY" hist "$tmp/nan"
printf '1,5\n' >"$tmp/comma"
expect_error 2 'line 1: "1,5" has a comma' "$ACTUARY" hist "$tmp/comma"
printf '1 234\n' >"$tmp/two"
expect_error 2 'choose one with --column' "$ACTUARY" hist "$tmp/two"
same "column" 234 "$("$ACTUARY" hist --json -C 2 "$tmp/two" | jq .max)"
printf '3ms\n4us\n' >"$tmp/unit"
expect_error 2 'has a unit' "$ACTUARY" hist "$tmp/unit"
same "unit" '[0.004,3,"ms"]' "$("$ACTUARY" hist --json -u ms "$tmp/unit" | jq -c '[.min, .max, .unit]')"
expect_error 2 'is no unit' "$ACTUARY" hist -u stone "$tmp/unit"
expect_error 2 'directory' "$ACTUARY" hist "$tmp"
expect_error 2 'absent: No such file' "$ACTUARY" hist "$tmp/absent"
printf 'mean sd n\n5 1 7\n' >"$tmp/only"
expect_error 2 'single values' "$ACTUARY" hist "$tmp/only"
printf 'a\033[31m\n1\n' >"$tmp/escape"
expect_status 0 "$ACTUARY" hist "$tmp/escape"

# ---- A result: two conditions on one axis, warm-up and invalid runs left out ----

cat >"$tmp/result" <<'END'
{"actuary":"result","version":1,"metrics":["wall_ns","rss_bytes"],"series":"latency_ns","primary":"wall_ns","conditions":["off","on"]}
{"run":0,"pair":0,"slot":0,"condition":"off"}
{"round":0,"ops":10,"warmup":true,"v":[99999,4096]}
{"round":1,"ops":10,"v":[1000,4096]}
{"series":[643,651,650]}
{"round":2,"ops":10,"v":[1200,4096]}
{"end":0,"valid":true}
{"run":1,"pair":0,"slot":1,"condition":"on"}
{"round":0,"ops":10,"v":[1500,8192]}
{"series":[700]}
{"round":1,"ops":10,"v":[null,8192]}
{"end":1,"valid":true}
{"run":2,"pair":1,"slot":0,"condition":"on"}
{"round":0,"ops":10,"v":[77777,8192]}
{"end":2,"valid":false,"reason":"killed"}
{"run":3,"pair":1,"slot":1,"condition":"off"}
{"round":0,"ops":10,"v":[1100,4096]}
{"round":1,"ops":10,"v":[13
END
run_golden result "$ACTUARY" hist -P 50 "$tmp/result"
run_golden result-summary "$ACTUARY" hist -s "$tmp/result"
same "one condition" '["on",150]' \
	"$("$ACTUARY" hist --json -c on "$tmp/result" | jq -c '[.condition, .max]')"
same "a size is not divided" '[4096,8192]' \
	"$("$ACTUARY" hist --json -m rss_bytes "$tmp/result" | jq -s -c 'map(.max)')"
same "a series" '[[3,651],[1,700]]' \
	"$("$ACTUARY" hist --json -m latency_ns "$tmp/result" | jq -s -c 'map([.n, .max])')"
same "warm-up" 9999.9 "$("$ACTUARY" hist --json --warmup -c off "$tmp/result" | jq .max)"
same "medians of runs" '[1,110]' \
	"$("$ACTUARY" hist --json --runs -c off "$tmp/result" | jq -c '[.n, .max]')"
expect_error 2 'it has: wall_ns, rss_bytes, latency_ns' "$ACTUARY" hist -m wall "$tmp/result"
expect_error 2 'it has: off, on' "$ACTUARY" hist -c none "$tmp/result"
sed 's/"version":1/"version":2/' "$tmp/result" >"$tmp/newer"
expect_error 2 'version 2' "$ACTUARY" hist "$tmp/newer"
sed '5s/643/64x/' "$tmp/result" >"$tmp/damaged"
expect_error 2 'line 5: cannot be read' "$ACTUARY" hist "$tmp/damaged"

# ---- GNU time ----

series=$data/kernbench-series/01-task-watchers.time
same "metrics of GNU time" '["elapsed",10]' \
	"$("$ACTUARY" hist --json "$series" | jq -c '[.metric, .n]')"
same "mean of user" 815 "$("$ACTUARY" hist --json -m user "$series" | jq '.mean | floor')"

# ---- Usage ----

expect_error 2 'which file' "$ACTUARY" hist
expect_error 2 'which file' "$ACTUARY" hist "$tmp/one" "$tmp/one"
expect_error 2 '--max must be above --min' "$ACTUARY" hist --min 2 --max 1 "$tmp/one"
expect_error 2 '--max must be above --min' "$ACTUARY" hist --max 1 "$tmp/same"
expect_error 2 '--bin must be above 0' "$ACTUARY" hist --bin 0 "$tmp/one"
expect_error 2 '--bin takes a number' "$ACTUARY" hist --bin 1e999 "$tmp/one"
expect_error 2 '--min takes a number' "$ACTUARY" hist --min 1x "$tmp/one"
expect_error 2 'no --bin' "$ACTUARY" hist --log --bin 2 "$tmp/one"
expect_error 2 'above 0' "$ACTUARY" hist --log --min -1 "$tmp/one"
expect_error 2 'more than 100000 rows' "$ACTUARY" hist --bin 1e-9 --min 0 "$tmp/one"
expect_error 2 'exclude each other' "$ACTUARY" hist --stars 5 --scale 5 "$tmp/one"
expect_error 2 '1000 at most' "$ACTUARY" hist --stars 1001 "$tmp/one"
expect_error 2 '--summary' "$ACTUARY" hist --summary --json "$tmp/one"
for list in '' ',' '5,,' 101 -1 5x '50,'; do
	expect_error 2 '--percentiles takes numbers' "$ACTUARY" hist -P "$list" "$tmp/one"
done
"$ACTUARY" hist -o "$tmp/out" "$tmp/one"
settle "$tmp/out"
compare output "$tmp/out" "$golden/one"
if [ -w /dev/full ]; then
	status=0
	"$ACTUARY" hist "$tmp/one" >/dev/full 2>"$tmp/stderr" || status=$?
	same "status of a full disk" 1 "$status"
	same "messages of a full disk" 1 "$(wc -l <"$tmp/stderr")"
fi

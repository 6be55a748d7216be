#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# compare: figures against reference vectors, tables against golden files, and
# what it says of input that cannot be compared.  BLESS=1 writes the golden
# files anew.
. "$(dirname "$0")/lib.sh"
series=$SRC/tests/data/kernbench-series
cd "$tmp" || exit

# Of figures in full precision (JSON, and CSV of user) no more digits than all compilers make.
settle()
{
	sed -E -e "s|$tmp|TMP|g" -e '/^(\{|user,)/ {
		s/(\.[0-9]{8})[0-9]+/\1/g
		s/(\.[0-9]*[1-9])0+([^0-9])/\1\2/g
	}' "$1" >"$1.settled"
	mv "$1.settled" "$1"
}

# numbers FILE NUMBER...
numbers()
{
	file=$1
	shift
	printf '%s\n' "$@" >"$file"
}

# near WANTED PATH COMMAND...: the figure at PATH of the first comparison, as the
# reference has it, in its digits (1e-9) or as many as it has.
near()
{
	wanted=$1
	path=$2
	shift 2
	run "$@" --json
	got=$(jq -s "map(select(.type == \"comparison\"))[0] | $path" "$tmp/stdout")
	awk -v a="$wanted" -v b="$got" 'BEGIN {
		d = a - b; if (d < 0) d = -d
		m = a < 0 ? -a : a
		exit !(b != "null" && b != "" && d <= 1e-9 * (m > 1e-3 ? m : 1e-3)) }' ||
		fail "$path is $got, not $wanted: $*"
	echo "ok: $path $wanted"
}

# vectors FILE FILE OPTIONS -- PATH WANTED...
vectors()
{
	a=$1
	b=$2
	options=$3
	shift 3
	while [ $# -gt 0 ]; do
		# shellcheck disable=SC2086
		near "$2" "$1" compare_json "$a" "$b" $options
		shift 2
	done
}

# The options come before the files.
compare_json()
{
	a=$1
	b=$2
	shift 2
	"$ACTUARY" compare "$@" "$a" "$b"
}

# ---- Reference vectors ----

# Student 1908: extra sleep under two drugs.
numbers sleep-1 0.7 -1.6 -0.2 -1.2 -0.1 3.4 3.7 0.8 0 2
numbers sleep-2 1.9 0.8 1.1 0.1 -0.1 4.4 5.5 1.6 4.6 3.4
# The manuals of ministat and benchstat.
numbers iguana 50 200 150 400 750 400 150
numbers chameleon 150 400 720 500 930
numbers json-old 1726 1723 1707 1707 1713 1729 1736 1707 1705 1774
numbers json-new 1423 1416 1411 1413 1412 1426 1422 1424 1447 1425
numbers gob-old 3069 3075 3069 3067 3207 3064 3064 3058 3059 3062
numbers gob-new 3075 3065 3059 3065 3060 3081 3186 3135 3087 3062
# Hollander and Wolfe: depression before and after, as R has it.
numbers before 1.83 0.50 1.62 2.48 1.68 1.88 1.55 3.06 1.30
numbers after 0.878 0.647 0.598 2.05 1.06 1.29 1.06 3.14 1.29
numbers small-1 10.1 10.3 9.9 10.0 10.2
numbers small-2 11.0 11.2 10.9 11.1 11.3

if command -v jq >/dev/null; then
	vectors sleep-1 sleep-2 '' \
		.welch.statistic 1.86081346748685 .welch.df 17.7764735161785 \
		.welch.p 0.0793941401873582 \
		.mean_difference_interval.low -0.20548323071171 \
		.mean_difference_interval.high 3.36548323071171 \
		.student.p 0.0791867142159382 .mann_whitney.statistic 25.5 \
		.mann_whitney.p 0.0658165364048 .a12 0.745 .effect 1.35 \
		.interval.low -0.1 .interval.high 3.6 .interval.level 0.9567429475
	vectors sleep-1 sleep-2 --paired \
		.paired_t.statistic 4.06212768338204 .paired_t.df 9 \
		.paired_t.p 0.00283289019738427 .test.p 0.00390625 .effect 1.3 \
		.interval.low 0.9 .interval.high 2.7 .interval.level 0.951171875 \
		.pairs 10
	vectors iguana chameleon '' \
		.student.statistic 1.55163353856675 .student.p 0.151796815211075 \
		.welch.statistic 1.48883953099072 .welch.p 0.177721841543405 \
		.mean_difference_interval.low -136.793175816864 \
		.mann_whitney.p 0.188131313131 .difference 250 \
		.difference_interval.low -50 .difference_interval.high 570 \
		.difference_interval.level 0.952020202 .a12 0.7428571429 \
		.cohen_d 0.908543570086 .mean_ratio 1.8 \
		.mean_ratio_interval.low 0.5073538332 .mean_ratio_interval.high 7.294093983
	vectors json-old json-new '' \
		.base.median 1718 .other.median 1422.5 .test.p 1.08250882245e-05 \
		.difference -296.5 .difference_interval.low -312 \
		.difference_interval.high -284 .effect 0.8266081664 \
		.interval.low 0.8195008706 .interval.high 0.8336262449 \
		.welch.statistic -40.36059112 .welch.df 13.20306037
	vectors gob-old gob-new '' \
		.base.median 3065.5 .other.median 3070 .mann_whitney.statistic 39.5 \
		.test.p 0.44610188573 .difference 3 .difference_interval.low -5 \
		.difference_interval.high 23 .effect 1.000980232 \
		.interval.low 0.9983681462 .interval.high 1.007506527
	# The difference excludes zero, the ratio includes 1.
	vectors after before '--paired --scale difference' \
		.test.p 0.0390625 .effect 0.46
	vectors after before --paired \
		.difference 0.46 .difference_interval.low 0.01 \
		.difference_interval.high 0.786 .effect 1.384683822 \
		.interval.low 0.9909978453 .interval.high 1.986968512 \
		.interval.level 0.9609375
	vectors small-1 small-2 '' \
		.welch.statistic 10 .welch.df 8 .welch.p 8.48818152763e-06 \
		.mean_difference_interval.low 0.76939958648 \
		.mean_difference_interval.high 1.23060041352 .mean_ratio 1.099009901 \
		.mean_ratio_interval.low 1.070534358 .mean_ratio_interval.high 1.128316253 \
		.test.p 0.00793650793651
fi

run_golden sleep "$ACTUARY" compare sleep-1 sleep-2
run_golden sleep-paired "$ACTUARY" compare --paired sleep-1 sleep-2
run_golden json "$ACTUARY" compare --picture json-old json-new
run_golden gob "$ACTUARY" compare --bound 0.5% gob-old gob-new
run_golden depression "$ACTUARY" compare --paired after before
run_golden depression-difference "$ACTUARY" compare --paired --scale difference after before
run_golden ministat "$ACTUARY" compare --ttest --level 80% iguana chameleon
run_golden few "$ACTUARY" compare --paired small-1 small-2
"$ACTUARY" compare -o out sleep-1 sleep-2
compare output out "$golden/sleep"

# ---- Gate ----

expect_status 3 "$ACTUARY" compare --gate json-old json-new
expect_status 0 "$ACTUARY" compare --gate gob-old gob-new
expect_status 0 "$ACTUARY" compare --gate --bound 50% json-old json-new
expect_status 3 "$ACTUARY" compare --gate --json --paired sleep-1 sleep-2

# ---- The series of ten kernels ----

run_golden series "$ACTUARY" compare "$series"/*.time
run_golden series.csv "$ACTUARY" compare --csv --metric user "$series"/*.time
# Means of the ten files, by another program, to the printed digit.
for file in "$series"/*.time; do
	name=$(basename "$file" .time)
	mean=$(awk '{ sum += $1 } END { printf "%.2f", sum / NR }' "$file")
	"$ACTUARY" compare --metric user "$series"/*.time |
		awk -v name="$name" -v mean="${mean}s" \
			'$1 == 10 && $NF == name && $3 == mean { found = 1 } END { exit !found }' ||
		fail "user time of $name has not the mean $mean"
done
same "arms that do not have a metric in common" 2 \
	"$("$ACTUARY" compare "$series/01-task-watchers.time" small-1 2>&1 >/dev/null |
		grep -c . | sed 's/1/2/')"

# ---- Tables of old ----

# Figures of 2006; of the first table no rounding of two decimals gives all three
# percentages, so they were computed from more digits than were printed.
numbers user-no 0.1502
numbers user-yes 0.1412
printf '0.44user 0.06system 5:16.40elapsed 0%%CPU (0avgtext+0avgdata 0maxresident)k\n' >no.time
printf '1.77user 0.06system 13:14.60elapsed 0%%CPU (0avgtext+0avgdata 0maxresident)k\n' >yes.time
run_golden overhead "$ACTUARY" compare --overhead no.time yes.time
printf '0.15user 1.54system 0:01.94elapsed 87%%CPU (0avgtext+0avgdata 0maxresident)k\n' >no-1.time
printf '0.14user 1.61system 0:02.01elapsed 87%%CPU (0avgtext+0avgdata 0maxresident)k\n' >yes-1.time
run_golden overhead-1 "$ACTUARY" compare --overhead --digits 0 no-1.time yes-1.time
run_golden overhead-user "$ACTUARY" compare --overhead --digits 0 user-no user-yes
run_golden overhead-interval "$ACTUARY" compare --overhead iguana chameleon
run_golden kernbench "$ACTUARY" compare --kernbench "$series/01-task-watchers.time" \
	"$series/02-benchmark.time"
numbers base 166.2 166.9 166.4 166.7 166.5
numbers new 167.9 168.2 167.5 168.0 167.7
run_golden kernbench-made "$ACTUARY" compare --kernbench base new
# Of results in seconds, and CPU as percent of elapsed: 2, 1 and 2 s, and 2, 2 and 1 s.
for times in "3e9,2e9,1e9,2e9" "4e9,2e9,2e9,1e9"; do
	"$ACTUARY" bench -q -r 3 -n 1 -w 0 -o "$tmp/made" -f null >/dev/null
	jq -c "[$times] as [\$cpu, \$user, \$system, \$wall] | if .v then
		.v[:4] = [\$wall, \$cpu, \$user, \$system] else . end" "$tmp/made" >"$tmp/of-$times"
done
same "kernbench of results" "user mean 2 2 (0.00%)
system mean 1 2 (-100.00%)
elapsed mean 2 1 (50.00%)
cpu mean 150 400 (-166.67%)" "$("$ACTUARY" compare --kernbench "$tmp/of-"* | grep ' mean ' |
	tr -s ' ' | sed 's/ $//')"
run_golden deciles "$ACTUARY" compare --deciles "$SRC/tests/data/forky-base.txt" \
	"$SRC/tests/data/forky-new.txt"
run_golden deciles-few "$ACTUARY" compare --deciles base new
run_golden explore "$ACTUARY" compare --explore --metric user "$series"/0*.time
run_golden ttest "$ACTUARY" compare --ttest base new

# Three arms, and figures that only their authors saw: mean, sd, n.
cp small-1 small-3
run_golden three "$ACTUARY" compare --picture small-1 small-2 small-3
printf '1448.65 5.72312 5\n' >sum-1
printf '1455.84 4.84951 5\n' >sum-2
run_golden summary "$ACTUARY" compare --format summary sum-1 sum-2

# ---- Result files ----

# result FILE FACT: thirty pairs of off and on, every third one in the other order, eight
# A/A pairs, one run that failed, one whose partner is missing.
result()
{
	awk -v fact="$2" 'BEGIN {
		print "{\"actuary\":\"result\",\"version\":1,\"created\":\"2026-12-01T10:00:00Z\"," \
			"\"argv\":[\"actuary\",\"ab\"],\"workload\":\"forky\",\"options\":[]," \
			"\"metrics\":[\"wall_ns\",\"cpu_ns\"],\"primary\":\"wall_ns\"," \
			"\"conditions\":[\"off\",\"on\"],\"plan\":{\"pairs\":30,\"rounds\":2}," \
			"\"seed\":1,\"harness_ns\":350," \
			"\"environment\":{\"kernel\":\"6.1\",\"kernel.task_delayacct\":\"0\"," \
			"\"thp\":\"" fact "\"}}"
		for (pair = 0; pair < 30; pair++)
			for (slot = 0; slot < 2; slot++)
				run(pair, slot, (slot == (pair % 3 == 0) ? "off" : "on"), 0)
		for (pair = 30; pair < 38; pair++)
			for (slot = 0; slot < 2; slot++)
				run(pair, slot, "off", 1)
		run(38, 0, "on", 0)
		begin(39, 0, "off", 0)
		print "{\"end\":" runs++ ",\"valid\":false,\"reason\":\"killed\"}"
		print "{\"footer\":true,\"runs\":" runs ",\"invalid\":1,\"complete\":true}"
	}
	# The minimal standard generator: the same figures everywhere.
	function noise() {
		seed = (seed ? seed : 7) * 16807 % 2147483647
		return seed / 2147483647 - 0.5
	}
	function begin(pair, slot, condition, aa) {
		printf "{\"run\":%d,\"pair\":%d,\"slot\":%d,\"condition\":\"%s\",\"aa\":%s", runs,
			pair, slot, condition, (aa ? "true" : "false")
		printf ",\"environment\":{%s}}\n",
			(condition == "on" ? "\"kernel.task_delayacct\":\"1\"" : "")
	}
	function run(pair, slot, condition, aa,   i, wall) {
		begin(pair, slot, condition, aa)
		for (i = 0; i < 2; i++) {
			wall = (condition == "on" ? 104e6 : 100e6) * (1 + noise() / 50)
			wall *= 1 + pair % 7 / 20
			printf "{\"round\":%d,\"ops\":1000,\"v\":[%d,%d]}\n", i, wall, wall * 0.9
		}
		print "{\"end\":" runs++ ",\"valid\":true}"
	}' >"$1"
}
result r.jsonl always
result other.jsonl never
run_golden result "$ACTUARY" compare r.jsonl
run_golden result.json "$ACTUARY" compare --json --metric wall_ns r.jsonl
run_golden result-unpaired "$ACTUARY" compare --unpaired --metric primary r.jsonl
run_golden result-overhead "$ACTUARY" compare --overhead r.jsonl
run_golden result-each "$ACTUARY" compare --each --metric primary r.jsonl
# One condition of two files: pair numbers are theirs, and how the machines differ is told.
run_golden result-two "$ACTUARY" compare --condition on r.jsonl other.jsonl
expect_error 2 --condition "$ACTUARY" compare r.jsonl other.jsonl
expect_error 2 metric "$ACTUARY" compare --metric nosuch r.jsonl
if command -v jq >/dev/null; then
	same "the effect of 4 % is found" true "$("$ACTUARY" compare --json r.jsonl |
		jq -s 'map(select(.metric == "wall_ns"))[0] |
			.interval.low < 1.04 and 1.04 < .interval.high and .interval.low > 1')"
	same "pairs, and one without partner" '[30,1]' "$("$ACTUARY" compare --json r.jsonl |
		jq -sc 'map(select(.metric == "wall_ns"))[0] |
			[.pairs, (.notes | map(select(.kind == "excluded")) | length)]')"
	"$ACTUARY" compare --json "$series"/*.time | jq -e . >/dev/null || fail "JSON"
fi
# Twice the same pair: which one is meant?
{
	sed '$d' r.jsonl
	printf '%s\n' '{"run":90,"pair":3,"slot":0,"condition":"off","aa":false}' \
		'{"round":0,"ops":1000,"v":[1e8,1e8]}' '{"end":90,"valid":true}'
} >twice.jsonl
expect_error 2 twice "$ACTUARY" compare twice.jsonl
# What was broken off is compared as far as it goes.
head -n 100 r.jsonl >torn.jsonl
printf '{"round":0,"op' >>torn.jsonl
expect_status 0 "$ACTUARY" compare torn.jsonl

# The second of each pair is slower, whichever it is; or everything becomes slower.
order()
{
	awk -v slower="$1" -v drift="$2" 'BEGIN {
		print "{\"actuary\":\"result\",\"version\":1,\"metrics\":[\"wall_ns\"]," \
			"\"primary\":\"wall_ns\",\"conditions\":[\"a\",\"b\"]}"
		for (pair = 0; pair < 20; pair++)
			for (slot = 0; slot < 2; slot++) {
				condition = (slot == pair % 2) ? "a" : "b"
				printf "{\"run\":%d,\"pair\":%d,\"slot\":%d,\"condition\":\"%s\"}\n",
					runs, pair, slot, condition
				wall = 1000000 + pair * 37 % 11 * 1000 + slower * slot
				wall += drift * pair * (condition == "b")
				printf "{\"round\":0,\"ops\":1,\"v\":[%d]}\n", wall
				print "{\"end\":" runs++ ",\"valid\":true}"
			}
	}'
}
order 50000 0 >order.jsonl
run_golden order "$ACTUARY" compare order.jsonl
order 0 5000 >drift.jsonl
run_golden drift "$ACTUARY" compare drift.jsonl

# ---- Input at the edge ----

numbers one 5
numbers fives 5 5 5 5
numbers sixes 6 6 6 6
numbers negative -1 -2 -3 -4
numbers zeros-1 0 0 0 1
numbers zeros-2 0 0 0 2
run_golden no-spread "$ACTUARY" compare fives sixes
run_golden negative "$ACTUARY" compare negative fives
run_golden zeros "$ACTUARY" compare zeros-1 zeros-2
awk 'BEGIN { print 1000000000.4; for (i = 0; i < 500; i++) print "1000000000.3\n1000000000.5" }' \
	OFMT=%.1f CONVFMT=%.1f >near-1
sed 's/\.4$/.6/; s/\.5$/.7/' near-1 >near-2
run_golden near "$ACTUARY" compare near-1 near-2
printf '\357\273\277# a comment\r\n\t5\r\n\r\n  5\r\n5\r\n5' >odd
"$ACTUARY" compare fives sixes | sed 's/fives/odd  /g' >wanted
"$ACTUARY" compare odd sixes | sed 's/odd/odd  /g' >got
diff -b wanted got >/dev/null || fail "the odd file is not the same as the clean one"

: >empty
printf '# only\n# comments\n' >comments
numbers nan 1 nan 3
numbers inf 1 inf 3
numbers huge 1e400 1
numbers comma 1,5 2,5
numbers two '1 234' '2 345'
numbers unit 3ms 4ms
numbers hexadecimal 0x10 0x11
numbers underscore 1_000 2
printf '1\0002\n3\n' >nul
expect_error 2 'one value' "$ACTUARY" compare one fives
for file in empty comments /dev/null; do
	expect_error 2 'no samples' "$ACTUARY" compare "$file" fives
done
for file in nan inf comma two unit hexadecimal underscore nul; do
	expect_error 2 'line' "$ACTUARY" compare "$file" fives
done
expect_error 2 'line 1' "$ACTUARY" compare huge fives
expect_error 1 directory "$ACTUARY" compare "$tmp" fives
expect_error 2 nosuch "$ACTUARY" compare nosuch fives
expect_error 2 once "$ACTUARY" compare - -
expect_error 2 'one set' "$ACTUARY" compare fives
expect_error 2 'which files' "$ACTUARY" compare
expect_error 2 'as many' "$ACTUARY" compare --paired fives iguana
expect_error 2 'no ratio' "$ACTUARY" compare --scale ratio negative fives
expect_error 2 --bound "$ACTUARY" compare --bound x fives sixes
expect_error 2 --level "$ACTUARY" compare --level 100% fives sixes
expect_error 2 --level "$ACTUARY" compare --level 20% fives sixes
expect_error 2 'only one' "$ACTUARY" compare --json --csv fives sixes
expect_error 2 exclude "$ACTUARY" compare --paired --unpaired fives sixes
expect_error 2 --gate "$ACTUARY" compare --gate --ttest fives sixes
expect_error 2 two "$ACTUARY" compare --overhead fives sixes fives
expect_error 2 --digits "$ACTUARY" compare --overhead --digits 10 fives sixes
printf '5\n5\n5\n5\n' | "$ACTUARY" compare - sixes >got
grep -q 'sixes is slower than - by 20.00 %' got || fail "standard input"
echo "ok: standard input"

# Names are hostile bytes.
cp fives "$(printf 'a\033[31m\nb')"
run_golden hostile "$ACTUARY" compare sixes "$(printf 'a\033[31m\nb')"

if [ -w /dev/full ]; then
	status=0
	"$ACTUARY" compare fives sixes >/dev/full 2>"$tmp/stderr" || status=$?
	same "status of a full disk" 1 "$status"
	same "messages of a full disk" 1 "$(wc -l <"$tmp/stderr")"
fi

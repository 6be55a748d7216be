#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# report: what it makes of a log in which every value is known.
. "$(dirname "$0")/lib.sh"
mklog=$BUILD/tests/cli/mklog
report()
{
	name=$1
	shift
	run_golden "$name" "$ACTUARY" report "$@"
}

"$mklog" "$tmp/log" <"$golden/input.txt"
# The same in small blocks and two segments.
sed 's/^# sh: .*/rotate/' "$golden/input.txt" | "$mklog" -b 3 "$tmp/blocks"
# The same with exits missing, some of them uncounted, at the end of the first hour.
{ cat "$golden/input.txt"
  echo "gap from=@1796119205 to=@1796119206 count=7 cpu=1 cause=overflow"
  echo "gap from=@1796119205 to=@1796119206 cause=down"
} | "$mklog" "$tmp/gaps"
# Its tasks only.
sed -e '/kind=2/d' -e 's/^default/default kind=1/' "$golden/input.txt" | "$mklog" "$tmp/tasks"

report text "$tmp/log"
report text "$tmp/blocks"
report text --log "$tmp/log"
report json --json "$tmp/log"
report csv --csv "$tmp/blocks"
report task --task --columns count,cpu,exits "$tmp/log"
report tasks --columns count,cpu,failed "$tmp/tasks"
report top --top 2 "$tmp/log"
report sort --sort wall.max --columns count,cpu "$tmp/log"
report sort.up --sort +comm --columns count "$tmp/log"
report user --by user,exit "$tmp/log"
report user.json --by user,exit --json --columns count "$tmp/log"
report hour --by hour --columns count,cpu "$tmp/log"
report minute --by minute,comm --columns count --csv "$tmp/log"
report day --by day,forked --columns count,wall.min,end.max --sort count "$tmp/log"
report kinds --by kind,nice,pid --columns count --sort pid "$tmp/log"
report columns --columns minflt,minflt.mean,nice,partial,cpu.mean,cpu.p25,rss_mean,vm_mean_bytes "$tmp/log"
report columns.json --json --columns minflt.mean,nice.min,cpu.mean,cpu_ns.p99.9,rss_mean,end.min "$tmp/log"
report csa --csa "$tmp/log"
report sa --sa "$tmp/log"
report sa --sa "$tmp/blocks"
report sa.all --sa -a "$tmp/log"
report sa.user --sa -m "$tmp/log"
report sa.extra --sa -a --percentages --separate-times --print-seconds --print-ratio "$tmp/log"
report sa.count --sa -a --sort +count "$tmp/log"

# Filters leave out processes, not the account.
report failed --failed --columns count,failed "$tmp/log"
report comm --comm 'm*' --columns count,cpu.max "$tmp/log"
report longer --longer 5s --uid 0 --columns count "$tmp/log"
report signal --signal KILL --columns count "$tmp/log"
report none --comm absent "$tmp/log"
report since --since @1796122800 --columns count "$tmp/log"
report until --until @1796122800 --columns count --by day "$tmp/log"

# What is missing is told, in the time looked at.
report gaps --columns count --by day "$tmp/gaps"
report gaps.json --columns count --by day --json "$tmp/gaps"
report gaps.since --columns count --by day --since @1796122800 "$tmp/gaps"
expect_status 4 "$ACTUARY" report --strict "$tmp/gaps"
expect_status 0 "$ACTUARY" report --strict --since @1796122800 "$tmp/gaps"
expect_status 0 "$ACTUARY" report --strict "$tmp/log"

# A segment with a byte changed in its middle.
cp -r "$tmp/blocks" "$tmp/damaged"
segment=$(find "$tmp/damaged" -type f -size +0 -name '*[0-9]*' | sort | head -1)
size=$(stat -c %s "$segment")
byte=$(od -A n -t u1 -j $((size * 3 / 5)) -N 1 "$segment")
# shellcheck disable=SC2059
printf "\\$(printf %o $((byte ^ 255)))" |
	dd of="$segment" bs=1 seek=$((size * 3 / 5)) conv=notrunc status=none
expect_status 4 "$ACTUARY" report --strict "$tmp/damaged"
grep -q damaged "$tmp/stderr" || fail "damage is not named: $(cat "$tmp/stderr")"
[ "$(wc -l <"$tmp/stderr")" = 1 ] || fail "not one warning: $(cat "$tmp/stderr")"

# A capture is a log as well.
run "$ACTUARY" report "$SRC/tests/data/shapes.capture"
same "account of a capture" "recorded 23 of 23 exits" "$(tail -1 "$tmp/stdout")"
head -c 6000 "$SRC/tests/data/shapes.capture" >"$tmp/cut"
expect_status 4 "$ACTUARY" report --strict "$tmp/cut"

# Too many groups: nothing is left out of the sums.
awk 'BEGIN { print "default user_ns=1ms system_ns=0"
	for (i = 0; i < 5000; i++) printf "pid=%d comm=c%d end_ns=@%d\n", i, i % 7, 1796119200 + i }' |
	"$mklog" "$tmp/many"
run "$ACTUARY" report --by pid --csv --columns count,cpu --memory 256K "$tmp/many"
grep -q '^\*\*\*other,' "$tmp/stdout" || fail "no ***other"
[ "$(wc -l <"$tmp/stderr")" = 1 ] || fail "not one warning: $(cat "$tmp/stderr")"
same "records in all groups" "5000 5000000000" \
	"$(awk -F, 'NR > 1 { n += $2; cpu += $3 } END { printf "%d %.0f", n, cpu }' "$tmp/stdout")"

# On a narrow terminal lines fit, and it says what it left out.
if command -v script >/dev/null; then
	COLUMNS=60 script -qec "stty cols 60; '$ACTUARY' report '$tmp/log'" /dev/null \
		</dev/null >"$tmp/stdout"
	awk 'length($0) > 61 && !/no room/ { print "too long: " $0; exit 1 }' "$tmp/stdout" ||
		fail "a line does not fit"
	grep -q 'no room' "$tmp/stdout" || fail "columns left out in silence"
	echo "ok: fits the terminal"
fi

if command -v jq >/dev/null; then
	"$ACTUARY" report --json -q "$tmp/log" | jq -e '.comm' >/dev/null || fail "JSON"
	same "hostile name" '"a\n\u001b[31m,\"b"' \
		"$("$ACTUARY" report --json --comm 'a*' "$tmp/log" | jq -c .comm)"
fi
"$ACTUARY" report "$tmp/log" | tr -d '\n' | grep -q '[[:cntrl:]]' &&
	fail "control bytes reach the terminal"

"$ACTUARY" report -o "$tmp/file" "$tmp/log"
cmp "$tmp/file" "$golden/text" || fail "-o"

for bad in "--by wal" "--by comm,comm" "--columns wal" "--columns cpu,cpu_ns" "--columns uid.sum" \
	"--columns cpu.p101" "--columns cpu.p" "--columns rss_max.sum" "--columns cpu.p5x" \
	"--sort wal" "--json --csv" "--csa --columns cpu" "--sa --json" "--sa --by uid" "-a" \
	"--sa --sort wall" "--sa --top 1" "--uid nobody-by-this-name" "--signal NONE" \
	"--since @2 --until @1"; do
	# shellcheck disable=SC2086
	expect_error 2 "$(echo "$bad" | cut -d' ' -f1 | sed 's/^-a$/--list/')" "$ACTUARY" report $bad "$tmp/log"
done
expect_error 2 "one log" "$ACTUARY" report "$tmp/log" "$tmp/log"
expect_error 2 "$tmp/absent" "$ACTUARY" report "$tmp/absent"
echo 'not a log' >"$tmp/plain"
expect_error 2 "$tmp/plain" "$ACTUARY" report "$tmp/plain"
expect_error 1 "/nowhere/file" "$ACTUARY" report -o /nowhere/file "$tmp/log"

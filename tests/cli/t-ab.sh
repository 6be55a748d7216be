#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# ab: what is refused, what a result holds, invalid runs, toggles, signals.  Nothing
# here needs root: conditions are switched by commands.  tests/live/t-ab.sh has the rest.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "needs jq"

mark=$tmp/mark
toggle="cmd:touch $mark,rm $mark,test -e $mark"

# ab OPTION... WORKLOAD: small, and whatever else the machine does
ab()
{
	run "$ACTUARY" ab --force --settle 0 --warmup 0 --rounds 2 --timeout 1m "$@"
}

refuses()
{
	word=$1
	shift
	expect_error 2 "$word" "$ACTUARY" ab "$@"
}

# ---- Wrong from the start: one line ----

refuses "which workload" -c a=none -c b=none
refuses "no workload" -c a=none -c b=none nosuch
refuses "at least two conditions" null
refuses "at least two conditions" -c a=none null
refuses "two conditions are named a" -c a=none -c a=nice:1 null
refuses "is no condition" -c a=none -c b=nosuch null
refuses "NAME=SPEC" -c a=none -c b null
refuses "no BPF source" -c a=none -c b=watchers:5 null
refuses "no sysctl" -c a=none -c b=sysctl:kernel.nosuch=1 null
refuses "no more than 8" -c a=none -c b=none -c c=none -c d=none -c e=none -c f=none -c g=none \
	-c h=none -c i=none null
refuses "is no option of a workload" -c a=none -c b=with:5 forky
refuses "needs options" -c a=none -c b=with: forky
refuses "unknown option --nosuch" -c a=none -c b=with:--nosuch=1 forky
refuses "takes all options" -c a=none -c b=with:--burst=1+with:-e forky
refuses "--burst must be" -c a=none -c b=with:--burst=0 forky
refuses "cannot ask for help" -c a=none -c b=with:-h forky
refuses "--width" -c a=none -c b=none --width 0 null
refuses "--width" -c a=none -c b=none --width x null
refuses "--aa" -c a=none -c b=none --aa 95% null
refuses "--bound" -c a=none -c b=none --bound 0% null
refuses "--pairs" -c a=none -c b=none --pairs 0 null
refuses "--rounds" -c a=none -c b=none --rounds 0 null
refuses "--plan" -c a=none -c b=none --plan --gate null
refuses "--plan" -c a=none -c b=none --plan --width 1% null
refuses "--output" -c a=none -c b=none -o - null
echo mine >"$tmp/there"
refuses "--force" -c a=none -c b=none -o "$tmp/there" null
same "the file that was there" mine "$(cat "$tmp/there")"

# ---- What cannot be switched on is told before anything is measured ----

ab -c a=none -c "b=cmd:false,true,true" -o "$tmp/none" null
same "status when ON fails" 1 "$status"
grep -q 'cannot switch b on: "false" failed with status 1' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
ab -c a=none -c "b=cmd:true,true,false" -o "$tmp/none" null
same "status when CHECK fails" 1 "$status"
ab -c a=none -c "b=cmd:true,true,true" -o "$tmp/none" null
same "status when it stays on" 1 "$status"
grep -q 'still succeeds' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
[ ! -e "$tmp/none" ] || fail "a result of nothing"

# ---- A result ----

ab -c a=none -c "b=nice:3+$toggle" --pairs 8 --aa 50% --seed 42 -o "$tmp/first" null
same "status" 0 "$status"
[ ! -e "$mark" ] || fail "left on"
same "header" '["null",["a","b"],42,8,0.5,2]' "$(jq -c 'select(.actuary) |
	[.workload, .conditions, .seed, .plan.pairs, .plan.aa, .plan.rounds]' "$tmp/first")"
same "runs by condition and kind" "16 a true
8 a false
8 b false" "$(jq -r 'select(.condition) | "\(.condition) \(.aa)"' "$tmp/first" | sort |
	uniq -c | sed 's/^ *//' | LC_ALL=C sort)"
same "first in their pairs" "4 a
4 b" "$(jq -r 'select(.condition and (.aa | not) and .slot == 0) | .condition' "$tmp/first" |
	sort | uniq -c | sed 's/^ *//')"
same "rounds that count" 64 "$(jq -c 'select(.v and (.warmup | not))' "$tmp/first" | wc -l)"
same "footer" '{"footer":true,"runs":32,"invalid":0,"complete":true,"interrupted":null}' \
	"$(tail -n 1 "$tmp/first")"
grep -q '^seed 42, ' "$tmp/stdout" || fail "$(cat "$tmp/stdout")"
"$ACTUARY" compare "$tmp/first" >"$tmp/compared"
[ "$(head -n "$(wc -l <"$tmp/compared")" "$tmp/stdout")" = "$(cat "$tmp/compared")" ] ||
	fail "what is printed is not what compare prints"

# The same seed draws the same order, another one another.
order()
{
	jq -r 'select(.condition) | "\(.pair) \(.condition) \(.aa)"' "$1"
}
ab -c a=none -c b=nice:3 --pairs 8 --aa 50% --seed 42 -o "$tmp/again" null
same "order by the same seed" "$(order "$tmp/first" | cksum)" "$(order "$tmp/again" | cksum)"
ab -c a=none -c b=nice:3 --pairs 8 --aa 50% --seed 43 -o "$tmp/other" null
[ "$(order "$tmp/first")" != "$(order "$tmp/other")" ] || fail "another seed, the same order"

# Warm-up pairs are kept and do not count.
run "$ACTUARY" ab --force --settle 0 --warmup 1 --rounds 1 --pairs 6 --aa 0% \
	-c a=none -c b=none -c c=none -o "$tmp/three" null
same "three conditions: status" 0 "$status"
same "three conditions: runs, warm-up" "18 3" "$(jq -s -r '[.[] | select(.condition)] |
	"\(map(select(.warmup | not)) | length) \(map(select(.warmup)) | length)"' "$tmp/three")"

# Options of the workload as a condition: before its arguments, and the others stay.
ab -c a=none -c b=with:--burst=7,-e+nice:1 --pairs 2 --aa 0% -o "$tmp/with" forky --burst 5
same "with: status" 0 "$status"
same "with: operations by condition" "a 5
b 7" "$(jq -n -r 'foreach inputs as $line (null; $line.condition // .;
	select($line.v) | "\(.) \($line.ops)")' "$tmp/with" | sort -u)"

# JSON; files that nobody asked for do not stay.
mkdir "$tmp/tmp"
TMPDIR=$tmp/tmp ab -c a=none -c "b=$toggle" --pairs 6 --aa 0% --json null
same "json: status" 0 "$status"
jq -e . "$tmp/stdout" >/dev/null || fail "$(cat "$tmp/stdout")"
same "what stays in TMPDIR" 0 "$(find "$tmp/tmp" -type f | wc -l)"

# A workload that sleeps ten times as long: status 3, with --gate.
slow="test -e $mark && exec sleep 0.1; exec sleep 0.01"
ab -c a=none -c "b=$toggle" --pairs 8 --aa 0% --gate -o "$tmp/slow" -- sh -c "$slow"
same "status with --gate and a difference" 3 "$status"
ab -c a=none -c b=none --pairs 2 --aa 0% --gate null
same "status with --gate where nothing can be told" 0 "$status"

# ---- Planning, width, time ----

ab -c a=none -c "b=$toggle" --plan --pairs 6 null
same "--plan: status" 0 "$status"
same "--plan: lines" 3 "$(grep -c -E 'scatter by|find a difference of 1 %' "$tmp/stdout")"
ab -c a=none -c b=none --plan --pairs 6 --json null
same "--plan --json" "6 true" \
	"$(jq -r '"\(.pilot_pairs) \(.pairs_power_90 >= .pairs_power_80)"' "$tmp/stdout")"
ab -c a=none -c b=none --aa 0% --width 90% -o "$tmp/wide" -- sleep 0.02
same "--width that is soon reached: pairs" 20 "$(jq -c 'select(.condition == "b")' "$tmp/wide" | wc -l)"
ab -c a=none -c b=none --aa 0% --width 0.0001% --pairs 25 -o "$tmp/narrow" null
same "--width that is never reached: pairs" 25 \
	"$(jq -c 'select(.condition == "b")' "$tmp/narrow" | wc -l)"
grep -q 'still wider' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
ab -c a=none -c b=none --aa 0% --pairs 100000 --max-time 2s -o "$tmp/timed" null
same "--max-time: status" 0 "$status"
same "--max-time: footer" '"max-time"' "$(tail -n 1 "$tmp/timed" | jq .interrupted)"

# ---- Runs that do not count ----

ab -c a=none -c "b=$toggle" --pairs 20 --aa 0% -o "$tmp/crash" -- sh -c 'kill -SEGV $$'
same "a crashing workload: status" 4 "$status"
[ ! -e "$mark" ] || fail "left on after a crash"
same "a crashing workload: it gives up" '{"footer":true,"runs":4,"invalid":4,"complete":false,"interrupted":null}' \
	"$(tail -n 1 "$tmp/crash")"
grep -q 'nothing to compare' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
# Only under b, and only once.
once="test -e $mark && test ! -e $tmp/was && { touch $tmp/was; kill -SEGV \$\$; }; :"
ab -c a=none -c "b=$toggle" --pairs 8 --aa 0% -o "$tmp/once" -- sh -c "$once"
same "one invalid run: status" 4 "$status"
same "one invalid run: in the file" '["b",false]' "$(jq -s -c '. as $all | .[] |
	select(.valid == false) | .end as $run | [($all[] | select(.run == $run and .condition) |
	.condition), .valid]' "$tmp/once")"
# A condition that is switched off meanwhile makes its run invalid.
ab -c a=none -c "b=cmd:touch $mark,rm -f $mark,test -e $mark" --pairs 2 --aa 0% -o "$tmp/broken" \
	-- rm -f "$mark"
same "a condition that is found off: status" 4 "$status"
same "a condition that is found off: invalid" 2 "$(grep -c '"valid":false' "$tmp/broken")"

# ---- Ended from outside: what was switched on is off, the result is whole ----

# ended SIGNAL STATUS PATTERN
ended()
{
	rm -f "$tmp/cut"
	"$ACTUARY" ab --force --warmup 0 --rounds 1 --aa 0% -c "a=$toggle" -c b=none --pairs 1000 \
		-o "$tmp/cut" -- sleep 1 >"$tmp/stdout" 2>"$tmp/stderr" </dev/null &
	pid=$!
	until [ -e "$mark" ] && [ -s "$tmp/cut" ]; do
		kill -0 "$pid" || fail "$(cat "$tmp/stderr")"
		sleep 0.02
	done
	kill "-$1" "$pid"
	status=0
	wait "$pid" || status=$?
	same "ended by $1: status" "$2" "$status"
	# After SIGKILL the one who switches off is on its own.
	for _ in $(seq 500); do
		[ -e "$mark" ] || break
		sleep 0.02
	done
	[ ! -e "$mark" ] || fail "left on by $1"
	same "ended by $1: the last line" "$3" "$(tail -n 1 "$tmp/cut" | jq -c "$4")"
}
# A shell that is not interactive has its jobs ignore SIGINT; a program can have it back.
ended INT 130 '["SIGINT",false]' '[.interrupted, .complete]'
ended TERM 143 '["SIGTERM",false]' '[.interrupted, .complete]'
ended HUP 129 '["SIGHUP",false]' '[.interrupted, .complete]'
ended KILL 137 null .footer

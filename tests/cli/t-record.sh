#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# record: what needs no kernel: replays, the account, its options, and every way
# to begin wrongly.  tests/live/ has the rest.
. "$(dirname "$0")/lib.sh"
mklog=$BUILD/tests/cli/mklog
capture=$SRC/tests/data/shapes.capture

# record NAME OPTION...: a replay into the log $tmp/NAME
record()
{
	name=$1
	shift
	run "$ACTUARY" record --log "$tmp/$name" "$@"
}

# lines NAME OPTION...: how many records list has of it
lines()
{
	name=$1
	shift
	"$ACTUARY" list --csv --columns pid "$@" "$tmp/$name" 2>/dev/null | tail -n +2 | wc -l
}

segments()
{
	find "$tmp/$1" -name '*.act' | wc -l
}

record both --from "$capture"
same "status" 0 "$status"
same "the account's first line" "recorded   23 of 23 exits" \
	"$(head -n 1 "$tmp/stdout" | sed 's/ in .*//')"
grep -q '^lost       0 (cpu 0: 0, cpu 1: 0)$' "$tmp/stdout" || fail "$(cat "$tmp/stdout")"
grep -q '^processes  16 ended; 3 failed, 2 killed, 0 partial$' "$tmp/stdout" ||
	fail "$(cat "$tmp/stdout")"
grep -q '^forks' "$tmp/stdout" && fail "a replay knows of no forks"
same "what it says" "actuary record: recording to $tmp/both" "$(cat "$tmp/stderr")"
record quiet --quiet --from "$capture"
same "what it says with --quiet" "" "$(cat "$tmp/stderr")"

# What is kept.
record process --per process --from "$capture"
record task --per task --from "$capture"
same "--per both: tasks" 23 "$(lines both --task)"
same "--per both: processes" 16 "$(lines both)"
same "--per process: processes" 16 "$(lines process)"
same "--per task: tasks" 23 "$(lines task --task)"
[ "$("$ACTUARY" list --json "$tmp/process" | grep -c '"kind":"task"')" = 0 ] ||
	fail "--per process kept tasks"
for per in both process task; do
	same "--per $per: exits" "complete: recorded 23 of 23 exits" \
		"$("$ACTUARY" verify "$tmp/$per" | tail -n 1)"
done

# The heritage line.
record every --every 5 --from "$capture"
same "--every 5" "stats 5 enobufs 0 lost 0
stats 10 enobufs 0 lost 0
stats 15 enobufs 0 lost 0
stats 20 enobufs 0 lost 0" "$(grep ^stats "$tmp/stdout")"
record every.json --json --every 10 --from "$capture"
same "--every 10 --json" '{"stats":10,"enobufs":0,"lost":0}
{"stats":20,"enobufs":0,"lost":0}' "$(grep '^{"stats' "$tmp/stdout")"
same "the account is one object more" 3 "$(wc -l <"$tmp/stdout")"

# What a source lost is lost in the log, too; only --strict minds.
printf '%s\n' 'pid=1 comm=a end_ns=@1' 'gap from=@1 to=@2 count=7 cpu=0 cause=overflow' \
	'pid=2 comm=b end_ns=@3' 'state stop time=@4 recorded=2 lost=7' | "$mklog" "$tmp/lossy"
record copy --from "$tmp/lossy"
same "status with losses" 0 "$status"
grep -q '^recorded   2 of 9 exits' "$tmp/stdout" || fail "$(cat "$tmp/stdout")"
record strict --strict --from "$tmp/lossy"
same "status with losses and --strict" 4 "$status"
record fine --strict --from "$capture"
same "status without losses and --strict" 0 "$status"
record file --output "$tmp/account" --json --from "$capture"
same "--output leaves stdout alone" 0 "$(wc -c <"$tmp/stdout")"
grep -q '"recorded":23,"lost":0,' "$tmp/account" || fail "--output: $(cat "$tmp/account")"

# Segments: by size; the oldest go first, and the newest stays.
awk 'BEGIN { srand(1); for (i = 0; i < 40000; i++)
	printf "pid=%d comm=c end_ns=%d user_ns=%d\n", i, 1e15 + i, rand() * 1e9 }' | "$mklog" "$tmp/many"
record small --from "$tmp/many" --rotate-size 32K
[ "$(segments small)" -gt 3 ] || fail "--rotate-size: $(segments small) segments"
same "--rotate-size: records" 40000 "$(lines small)"
record kept --from "$tmp/many" --rotate-size 32K --max-size 80K
[ "$(segments kept)" -lt "$(segments small)" ] || fail "--max-size kept all"
# It is looked at when a segment begins: the newest comes on top, with a block more.
[ "$(du -bc "$tmp/kept"/*.act | tail -n 1 | cut -f1)" -le $(((80 + 32 + 20) * 1024)) ] ||
	fail "--max-size: $(du -bc "$tmp/kept"/*.act)"
same "--max-size: the last record" 39999 \
	"$("$ACTUARY" list --csv --columns pid --tail 1 "$tmp/kept" 2>/dev/null | tail -n 1)"
# What was recorded long ago is older than a minute: of it only what is written now stays.
"$mklog" "$tmp/aged" <<END
pid=1 comm=old end_ns=@1700000000
rotate
pid=2 comm=old end_ns=@1700000001
END
find "$tmp/aged" -name '*.act' -exec touch -d '2 hours ago' '{}' +
record aged --from "$capture" --max-age 1h
same "--max-age: old records" 0 "$(lines aged --comm old)"
same "--max-age: new records" 16 "$(lines aged)"

# ---- Wrong from the start: one line, and no log ----

refuses()
{
	word=$1
	shift
	expect_error 2 "$word" "$ACTUARY" record --log "$tmp/none" "$@"
	[ ! -e "$tmp/none" ] || fail "made a log all the same"
}

refuses "'x' is not a CPU list" --cpus x
for list in '' 3-1 1,,2 0- -1 0-1/0 ' ' 0x1; do
	refuses "is not a CPU list" "--cpus=$list"
done
refuses "no CPU beyond" --cpus 0,99999
refuses "no CPU beyond" --cpus 0-99999999999
refuses "beyond what the kernel takes" --rcvbuf 4G
refuses "--for and a command" --for 1s -- true
refuses "--sync needs" --sync 0
refuses "--per" --per thread
for option in '--for 1s' '--capture x' '--cpus 0' '--rcvbuf 1M' '--interval 1ms'; do
	# shellcheck disable=SC2086 # option and value
	refuses "--from replays" --from "$capture" $option
done
refuses "--from replays" --from "$capture" -- true
refuses "$tmp/absent" --from "$tmp/absent"
echo 'this is neither a capture nor a log, and long enough to tell' >"$tmp/plain"
refuses "$tmp/plain" --from "$tmp/plain"
expect_error 2 "not a directory" "$ACTUARY" record --log "$tmp/plain" --from "$capture"
expect_error 2 "$tmp/a/b" "$ACTUARY" record --log "$tmp/a/b" --from "$capture"
expect_error 1 "/nowhere/file" "$ACTUARY" record --log "$tmp/none" --output /nowhere/file \
	--from "$capture"

# Without the capability: why, and what to do.
if [ "$(id -u)" = 0 ]; then
	cp "$ACTUARY" "$tmp/actuary"
	chmod 755 "$tmp" "$tmp/actuary"
	if setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all true 2>/dev/null; then
		expect_error 1 "CAP_NET_ADMIN is needed" setpriv --reuid 65534 --regid 65534 \
			--clear-groups --inh-caps=-all "$tmp/actuary" record --log "$tmp/none"
	fi
fi

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The recorder is killed at 50 moments that nobody chose, while it opens, records
# and syncs under load.  No reader fails, what one has seen stays, what was
# synced is there, and what is missing lies between a death and the restart.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

rounds=50

# Some milliseconds, fewer than $1, as sleep(1) takes them.
moment()
{
	number=$(od -An -N2 -tu2 /dev/urandom)
	printf '0.%03d' $((number % $1))
}

# The writer may have died before there was anything to read.
is_begun()
{
	[ -n "$(find "$tmp/log" -name '*.act' -size +0 2>/dev/null)" ]
}

# look FILE: what is in the log of the load, in the log's order
look()
{
	: >"$1"
	is_begun || return 0
	"$ACTUARY" list --task --csv --columns comm,cpu,tid,btime_ns,wall_ns --comm "*$$" \
		"$tmp/log" >"$1" 2>"$tmp/err" || fail "the log cannot be read: $(cat "$tmp/err")"
}

# How many exits of anybody the log holds.
recorded()
{
	is_begun || { echo 0; return; }
	code=0
	"$ACTUARY" verify --json "$tmp/log" >"$tmp/verify" 2>"$tmp/err" || code=$?
	[ $code = 0 ] || [ $code = 4 ] || fail "round $round: verify: $code, $(cat "$tmp/err")"
	jq 'select(.type == "summary").recorded' "$tmp/verify"
}

# has_prefix WHOLE PART: all of the part begins the whole
has_prefix()
{
	cmp -n "$(stat -c %s "$2")" "$2" "$1" || fail "round $round: records that were there are gone"
}

# How many whole lines the account has.
accounts()
{
	jq -c . "$tmp/log.json" 2>/dev/null | wc -l
}

has_accounts()
{
	kill -0 "$recorder" || fail "the recorder ended: $(cat "$tmp/log.err")"
	[ "$(accounts)" -ge "$1" ]
}

ask_account()
{
	asked=$(($(accounts) + 1))
	kill -USR1 "$recorder"
	wait_for 20 has_accounts $asked
	tail -n 1 "$tmp/log.json" >"$tmp/asked"
}

# Two syncs have ended since: the second began behind what was recorded then.
is_synced()
{
	ask_account
	[ "$(jq .syncs "$tmp/asked")" -ge $((syncs + 2)) ]
}

die()
{
	kill -9 "$recorder"
	wait "$recorder" 2>/dev/null || :
	forget "$recorder"
}

start_recorder witness --per task --rcvbuf 128M
witness=$recorder
"$(as steady$$)" forks 10000000 --cpu-us 500 &
steady=$!
children="$children $steady"
synced_sum=0
round=0
: >"$tmp/dead"
for round in $(seq $rounds); do
	before=$(recorded)
	synced=0
	: >"$tmp/log.json"
	: >"$tmp/log.err"
	"$ACTUARY" record --log "$tmp/log" --per task --sync 10ms --rotate-size 100K --json \
		>"$tmp/log.json" 2>"$tmp/log.err" &
	recorder=$!
	children="$children $recorder"
	"$(as burst$$)" threads 100 2 &
	burst=$!
	if [ $((round % 4)) != 0 ]; then
		wait_for 20 is_recording log "$recorder"
		ask_account
		synced=$(jq .recorded "$tmp/asked")
		syncs=$(jq .syncs "$tmp/asked")
		wait_for 20 is_synced
		look "$tmp/seen"
	else
		cp "$tmp/dead" "$tmp/seen"
	fi
	sleep "$(moment 100)"
	die
	wait $burst
	look "$tmp/now"
	has_prefix "$tmp/now" "$tmp/dead"
	has_prefix "$tmp/now" "$tmp/seen"
	mv "$tmp/now" "$tmp/dead"
	found=$(($(recorded) - before))
	[ $found -ge "$synced" ] || fail "round $round: $found exits of $synced synced ones"
	synced_sum=$((synced_sum + synced))
done
"$ACTUARY" record --log "$tmp/log" --per task --json -- "$(as last$$)" forks 101 >"$tmp/account"
kill "$steady"
wait "$steady" 2>/dev/null || :
forget "$steady"
stop_recorder "$witness"

round=last
look "$tmp/now"
has_prefix "$tmp/now" "$tmp/dead"
at_least "exits known to be synced" 1000 $synced_sum
same "the last one lost" 0 "$(account "$tmp/account" .lost)"
same "forks seen by the last one" 101 "$(count '.flags % 2 == 1' --task --comm last$$ "$tmp/log")"

# What the witness saw between the first record and the last, and the log lacks,
# is at most one stretch a restart on each CPU.  The order in which two sockets
# get two messages may differ, so a few records do not end a stretch.
tasks()
{
	"$ACTUARY" list --task --csv --columns cpu,tid,btime_ns,wall_ns "$1" 2>/dev/null
}

same "the witness lost" 0 "$(account "$tmp/witness.json" .lost)"
tasks "$tmp/witness" >"$tmp/saw"
tasks "$tmp/log" >"$tmp/has"
awk -F, '
	FNR == 1 { next }
	NR == FNR { place[$0, ++count[$0]] = ++seen[$1]; next }
	!(($0, ++used[$0]) in place) { print "nobody saw " $0; exit 1 }
	{
		at = place[$0, used[$0]]
		has[$1, at] = 1
		if (!($1 in first) || at < first[$1]) first[$1] = at
		if (at > last[$1]) last[$1] = at
		recorded[$1]++
	}
	END {
		for (cpu in first) {
			stretches = missing = 0
			run = 16
			for (at = first[cpu]; at <= last[cpu]; at++) {
				if ((cpu, at) in has) {
					run++
					continue
				}
				missing++
				stretches += run >= 16
				run = 0
			}
			print cpu, recorded[cpu], missing, stretches, last[cpu] - first[cpu] + 1
		}
	}' "$tmp/saw" "$tmp/has" >"$tmp/stretches" || fail "$(cat "$tmp/stretches")"
"$ACTUARY" verify --json "$tmp/log" >"$tmp/verify" && fail "verify is content" || code=$?
same "status of verify" 4 "$code"
restarts=$(jq -s 'map(select(.type == "state" and .state == "restart")) | length' "$tmp/verify")
at_least "restarts" $((rounds / 2)) "$restarts"
same "gaps, one a restart" "$restarts" \
	"$(jq -s 'map(select(.type == "gap" and .cause == "down")) | length' "$tmp/verify")"
same "damages" 0 "$(jq -s 'map(select(.type == "summary"))[0].damages' "$tmp/verify")"
at_least "CPUs" 1 "$(wc -l <"$tmp/stretches")"
while read -r cpu recorded missing stretches all; do
	same "cpu $cpu: recorded $recorded + missing $missing" "$all" $((recorded + missing))
	[ "$stretches" -le "$restarts" ] ||
		fail "cpu $cpu: exits are missing in $stretches places, for $restarts restarts"
	at_least "cpu $cpu: exits missing, in $stretches places" 1 "$missing"
done <"$tmp/stretches"

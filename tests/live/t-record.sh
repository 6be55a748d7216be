#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the options and signals of a recorder do to real exits, what its status
# is, and what it tells a service manager.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# record NAME OPTION... -- COMMAND...: sets $code
record()
{
	name=$1
	shift
	code=0
	"$ACTUARY" record --log "$tmp/$name" --json "$@" >"$tmp/$name.json" 2>"$tmp/$name.err" ||
		code=$?
}

accounts()
{
	grep -c '"recorded"' "$tmp/$1.json" || :
}

has_accounts()
{
	[ "$(accounts "$1")" = "$2" ]
}

# ---- Options ----

# A line for each 100 exits, and each tells of 100 more.
record every --every 100 -- "$(as every$$)" forks 997
recorded=$(jq -r 'select(.recorded).recorded' "$tmp/every.json")
same "--every: lines" $((recorded / 100)) "$(grep -c '"stats"' "$tmp/every.json")"
same "--every: what they tell" "$(seq 100 100 "$recorded" | tr '\n' ' ')" \
	"$(jq -r 'select(.stats) | select(.lost == 0 and .enobufs == 0).stats' "$tmp/every.json" | tr '\n' ' ')"

# Only the exits of these CPUs.
allowed=$(taskset -cp $$ | sed 's/.*: *//')
here=${allowed%%[-,]*}
there=${allowed##*[-,]}
if [ "$here" != "$there" ]; then
	cat >"$tmp/both" <<-END
		#!/bin/sh
		taskset -c $here "$(as here$$)" forks 101
		taskset -c $there "$(as there$$)" forks 103
	END
	chmod +x "$tmp/both"
	record cpus --cpus "$here" -- "$tmp/both"
	same "--cpus: lost" "{\"$here\":0}" "$(jq -c .lost_by_cpu "$tmp/cpus.json")"
	same "--cpus: exits there" 101 "$(count '.flags % 2 == 1' --comm here$$ "$tmp/cpus")"
	same "--cpus: exits elsewhere" 0 "$(count true --comm there$$ "$tmp/cpus")"
	same "--cpus: CPUs in the log" 0 "$(count ".cpu != $here" --task "$tmp/cpus")"
fi

# The kernel doubles what it is asked for; the log keeps what it gave.
record rcvbuf --rcvbuf 1M -- true
same "--rcvbuf" "rcvbuf=2097152" "$("$ACTUARY" verify --json "$tmp/rcvbuf" |
	jq -r 'select(.state == "start").text' | grep -o 'rcvbuf=.*')"

record for --for 300ms
same "--for: status" 0 $code
same "--for: as long as that" true "$(jq '.wall_ns >= 300000000' "$tmp/for.json")"

# Nothing is made durable before its time, and then it is.
record seldom --sync 1h -- "$(as seldom$$)" forks 101
same "--sync 1h: syncs" 1 "$(account "$tmp/seldom.json" .syncs)"
start_recorder often --sync 10ms
"$(as often$$)" forks 101
is_synced()
{
	[ "$(count '.flags % 2 == 1' --comm often$$ "$tmp/often")" = 101 ]
}
wait_for 20 is_synced
echo "ok: --sync 10ms: there while it records"

# ---- Signals ----

kill -USR1 "$recorder"
wait_for 20 has_accounts often 1
kill -USR1 "$recorder"
wait_for 20 has_accounts often 2
kill -HUP "$recorder"
has_two_segments()
{
	[ "$(find "$tmp/often" -name '*.act' | wc -l)" = 2 ]
}
wait_for 20 has_two_segments
# Another recorder must not write there.
record often2 --log "$tmp/often" -- true
same "a second recorder: status" 1 $code
grep -q "$tmp/often" "$tmp/often2.err" || fail "$(cat "$tmp/often2.err")"
same "a second recorder: lines" 1 "$(grep -c '^actuary record: ' "$tmp/often2.err")"
"$(as behind$$)" forks 53
kill -INT "$recorder"
wait "$recorder" || fail "SIGINT: status $?"
forget "$recorder"
same "accounts" 3 "$(accounts often)"
tail -n 1 "$tmp/often.json" >"$tmp/last.json"
same "SIGINT: lost" 0 "$(account "$tmp/last.json" .lost)"
same "SIGINT: what came last" 53 "$(count '.flags % 2 == 1' --comm behind$$ "$tmp/often")"
same "SIGINT: the log's end" stopped \
	"$("$ACTUARY" verify --json "$tmp/often" | jq -r 'select(.type == "recording").end')"

# With a command, the first signal is the command's; it has the time to end by it.
cat >"$tmp/slow" <<END
#!/bin/sh
trap 'rm "$tmp/waits"; exit 21' TERM
: >"$tmp/waits"
while :; do sleep 0.05; done
END
chmod +x "$tmp/slow"
"$ACTUARY" record --log "$tmp/told" --json -- "$tmp/slow" >"$tmp/told.json" 2>"$tmp/told.err" &
recorder=$!
children="$children $recorder"
wait_for 20 test -e "$tmp/waits"
kill -TERM "$recorder"
code=0
wait "$recorder" || code=$?
forget "$recorder"
same "SIGTERM with a command: its status" 21 $code
[ ! -e "$tmp/waits" ] || fail "the command did not get the signal"
same "SIGTERM with a command: lost" 0 "$(account "$tmp/told.json" .lost)"

# One that does not heed it: the second signal ends the recording, not the command.
cat >"$tmp/deaf" <<END
#!/bin/sh
trap '' TERM
echo \$\$ >"$tmp/deaf.pid"
while [ ! -e "$tmp/enough" ]; do sleep 0.05; done
END
chmod +x "$tmp/deaf"
"$ACTUARY" record --log "$tmp/twice" --json -- "$tmp/deaf" >"$tmp/twice.json" 2>"$tmp/twice.err" &
recorder=$!
children="$children $recorder"
wait_for 20 test -s "$tmp/deaf.pid"
kill -TERM "$recorder"
sleep 0.2
kill -0 "$recorder" || fail "did not wait for its command"
kill -TERM "$recorder"
wait "$recorder" || :
forget "$recorder"
same "SIGTERM twice: lost" 0 "$(account "$tmp/twice.json" .lost)"
"$ACTUARY" verify "$tmp/twice" >/dev/null || fail "SIGTERM twice: the log is not whole"
: >"$tmp/enough"

# ---- Status ----

# status WANTED NAME COMMAND...
status()
{
	wanted=$1
	name=$2
	shift 2
	record "$name" -- "$@"
	same "status of $name" "$wanted" "$code"
	"$ACTUARY" verify --quiet "$tmp/$name" >/dev/null || fail "$name: the log is not whole"
}

status 7 code sh -c 'exit 7'
# shellcheck disable=SC2016 # the inner shell's
status 137 killed sh -c 'kill -KILL $$'
status 127 missing nosuchcommand
status 126 forbidden "$tmp"
: >"$tmp/taken"
record capture --capture "$tmp/taken" -- true
same "--capture over a file: status" 2 $code
same "--capture over a file: the file" 0 "$(wc -c <"$tmp/taken")"
grep -q "$tmp/taken: File exists" "$tmp/capture.err" || fail "$(cat "$tmp/capture.err")"

# ---- A service manager ----

if command -v python3 >/dev/null; then
	python3 - "$tmp/notify" >"$tmp/notified" <<-END &
		import socket, sys
		s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
		s.bind(sys.argv[1])
		while True:
		    text = s.recv(1024).decode()
		    print(text, flush=True)
		    if text == "STOPPING=1":
		        break
	END
	manager=$!
	children="$children $manager"
	wait_for 20 test -S "$tmp/notify"
	NOTIFY_SOCKET=$tmp/notify "$ACTUARY" record --quiet --log "$tmp/service" -o /dev/null -- true
	wait "$manager"
	forget "$manager"
	same "sd_notify" "READY=1 STOPPING=1" "$(tr '\n' ' ' <"$tmp/notified" | sed 's/ $//')"
fi

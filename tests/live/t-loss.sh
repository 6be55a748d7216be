#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A receive buffer much too small: what is lost is counted to the unit, CPU by
# CPU, as a second recorder that loses nothing bears witness; also beside others
# that end before, while and after it records.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$tmp/load" <<END
#!/bin/sh
"$(as loss$$)" forks 4999 &
"$(as loss$$)" threads 1000 3 &
wait
END
chmod +x "$tmp/load"

# counts_losses NAME: into the log $tmp/NAME
counts_losses()
{
	# A witness must not lose anything, whatever else keeps the machine busy.
	start_recorder "witness-$1" --per task --rcvbuf 128M --capture "$tmp/witness-$1.capture"
	witness=$recorder
	"$ACTUARY" record --log "$tmp/$1" --capture "$tmp/$1.capture" --per task --rcvbuf 512 \
		--json -- "$tmp/load" >"$tmp/account" 2>"$tmp/err" &
	small=$!
	wait $small || fail "$(cat "$tmp/err")"
	stop_recorder "$witness"

	same "$1: the witness lost" 0 "$(account "$tmp/witness-$1.json" .lost)"
	"$BUILD/tests/live/numbers" "$tmp/witness-$1.capture" "$tmp/$1.capture" $small >"$tmp/truth"
	at_least "$1: CPUs" 1 "$(wc -l <"$tmp/truth")"
	at_least "$1: lost" 1 "$(account "$tmp/account" .lost)"
	at_least "$1: overflows" 1 "$(account "$tmp/account" .enobufs)"
	while read -r cpu exits most; do
		recorded=$(count ".cpu == $cpu" --task "$tmp/$1")
		lost=$(account "$tmp/account" ".lost_by_cpu[\"$cpu\"]")
		echo "cpu $cpu: recorded $recorded, lost $lost"
		if [ "$most" = "$exits" ]; then
			same "$1: cpu $cpu: recorded + lost" "$exits" $((recorded + lost))
		else
			at_least "$1: cpu $cpu: recorded + lost" "$exits" $((recorded + lost))
			at_least "$1: cpu $cpu: exits at most" $((recorded + lost)) "$most"
		fi
	done <"$tmp/truth"

	# The log alone tells the same.
	"$ACTUARY" list --strict "$tmp/$1" >/dev/null 2>"$tmp/err" && fail "--strict is content" ||
		code=$?
	same "$1: status of --strict" 4 "$code"
	recorded=$(account "$tmp/account" .recorded)
	lost=$(account "$tmp/account" .lost)
	grep -q "recorded $recorded of $((recorded + lost)) exits" "$tmp/err" ||
		fail "$(cat "$tmp/err")"
}

keep_leak_checker_out
counts_losses alone
"$(as beside$$)" forks 10000000 &
beside=$!
children="$children $beside"
counts_losses beside
kill -0 "$beside" || fail "what was to go on beside the recording has ended"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A known effect is found: children that burn a known CPU time, in random pairs with
# children that don't, all on one CPU, so that nothing hides it.  What must lie in the
# interval, of 99.9 %, is the part that was added; nothing here depends on how fast
# the machine is.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status | sed 's/[-,].*//')
pairs=24

# per_fork FILE: nanoseconds of the median run
per_fork()
{
	jq -n '[inputs | select(.v and (.warmup | not)) | .v[0] / .ops] | sort | .[length / 2 | floor]' "$1"
}

taskset -c "$cpu" "$ACTUARY" bench -q -r 5 -n 3 -o "$tmp/pilot" forky --burst 30 >/dev/null
base=$(per_fork "$tmp/pilot")

# injects PERCENT: sets $low and $high, ratios, and $truth from the base that was measured
injects()
{
	burn=$(awk -v base="$base" -v part="$1" 'BEGIN { printf "%d", base * part / 100 }')
	"$ACTUARY" ab -q --force --settle 0 --aa 0% --pairs $pairs --rounds 3 -c "base=cpus:$cpu" \
		-c "burn=cpus:$cpu+with:--child-cpu=${burn}ns" -o "$tmp/$1" forky --burst 30 \
		>/dev/null 2>"$tmp/err" || fail "$(cat "$tmp/err")"
	"$ACTUARY" compare --json --level 99.9% --metric primary "$tmp/$1" |
		jq 'select(.type == "comparison")' >"$tmp/compared"
	low=$(jq .interval.low "$tmp/compared") high=$(jq .interval.high "$tmp/compared")
	truth=$(jq --argjson burn "$burn" '1 + $burn / .base.median' "$tmp/compared")
	echo "$1 % of $base ns: [$low, $high], put in: $truth"
}

# Clocks and loops around it are of a few hundred ns, which count as well.
covers()
{
	jq -n -e --argjson low "$low" --argjson high "$high" --argjson truth "$truth" \
		'$low <= $truth + 0.02 and $high >= $truth - 0.01' >/dev/null ||
		fail "[$low, $high] does not cover $truth"
	echo "ok: covered"
}

injects 5
covers
injects 200
covers
jq -n -e --argjson low "$low" '$low > 1' >/dev/null || fail "twice as much again is not found"
echo "ok: found"

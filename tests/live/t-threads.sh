#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 10 rounds of 1000 staggered threads: 10001 tasks, one process.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

load=$(as threads$$)

for per in both task process; do
	"$ACTUARY" record --log "$tmp/$per" --per $per --json -- "$load" threads 1000 10 >"$tmp/account"
	same "--per $per: lost" 0 "$(account "$tmp/account" .lost)"
	at_least "--per $per: recorded" 10001 "$(account "$tmp/account" .recorded)"
done
for per in both task; do
	same "--per $per: tasks" 10001 "$(count true --task --comm threads$$ "$tmp/$per")"
	same "--per $per: leaders" 1 "$(count '.pid == .tid' --task --comm threads$$ "$tmp/$per")"
done
for per in both process; do
	same "--per $per: processes" 1 "$(count true --comm threads$$ "$tmp/$per")"
	same "--per $per: its threads" 1 \
		"$(count '.threads == 10001 and .partial == false' --comm threads$$ "$tmp/$per")"
done
same "CPU time of the process is that of its tasks" true "$(
	{
		"$ACTUARY" list --json --columns cpu_ns --comm threads$$ "$tmp/both"
		"$ACTUARY" list --json --columns cpu_ns --task --comm threads$$ "$tmp/both"
	} | jq -s '.[0].cpu_ns == (.[1:] | map(.cpu_ns) | add)')"

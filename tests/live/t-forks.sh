#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 997 forks: each of them is there, none is lost.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

"$ACTUARY" record --log "$tmp/log" --json -- "$(as forks$$)" forks 997 >"$tmp/account"
same "lost" 0 "$(account "$tmp/account" .lost)"
at_least "forks as the kernel counted them" 997 "$(account "$tmp/account" .forks)"
# The parent has the name, too, but it was executed (flag 1: forked only).
same "forked processes" 997 "$(count '.flags % 2 == 1' --comm forks$$ "$tmp/log")"
same "all of the name" 998 "$(count true --comm forks$$ "$tmp/log")"
same "tasks" 998 "$(count '.kind == "both"' --task --comm forks$$ "$tmp/log")"
same "exit codes" 998 "$(count '.code == 0 and .signal == 0' --comm forks$$ "$tmp/log")"
same "exits of the whole log" "$(account "$tmp/account" .recorded)" \
	"$("$ACTUARY" list --task --json --columns exits "$tmp/log" | jq -s 'map(.exits) | add')"

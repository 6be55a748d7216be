#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Once it records, the recorder has no capability left, and still records.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

start_recorder log
for set in CapInh CapPrm CapEff CapAmb; do
	same "$set" 0000000000000000 \
		"$(sed -n "s/^$set:[[:space:]]*//p" "/proc/$recorder/status")"
done
same "NoNewPrivs" 1 "$(sed -n 's/^NoNewPrivs:[[:space:]]*//p' "/proc/$recorder/status")"
"$(as drop$$)" forks 101
stop_recorder "$recorder"
same "lost" 0 "$(account "$tmp/log.json" .lost)"
same "forks" 101 "$(count '.flags % 2 == 1' --comm drop$$ "$tmp/log")"
same "files that others can read" 0 "$(find "$tmp/log" -type f -perm /007 | wc -l)"

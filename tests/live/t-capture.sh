#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A capture of the kernel's messages, replayed, gives the same records.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

records()
{
	"$ACTUARY" list --json "$@"
}

cat >"$tmp/load" <<END
#!/bin/sh
"$(as capture$$)" forks 997
"$(as capture$$)" threads 100 10
END
chmod +x "$tmp/load"
"$ACTUARY" record --log "$tmp/live" --capture "$tmp/capture" --json -- "$tmp/load" >"$tmp/account"
"$ACTUARY" record --log "$tmp/replayed" --from "$tmp/capture" --json >"$tmp/account2"
same "lost" 0 "$(account "$tmp/account" .lost)"
same "recorded" "$(account "$tmp/account" .recorded)" "$(account "$tmp/account2" .recorded)"
for log in live replayed; do
	# Another process may have begun before the recording: only ours are complete.
	records --task --comm capture$$ "$tmp/$log" >"$tmp/$log.task"
	records --comm capture$$ "$tmp/$log" >"$tmp/$log.process"
done
same "tasks" 1999 "$(wc -l <"$tmp/live.task")"
cmp "$tmp/live.task" "$tmp/replayed.task"
cmp "$tmp/live.process" "$tmp/replayed.process"
# Reports read a capture as they read a log.
records --task --comm capture$$ "$tmp/capture" | cmp - "$tmp/live.task"

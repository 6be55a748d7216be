#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Two fork bursts side by side, as fast as the machine can.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$tmp/load" <<END
#!/bin/sh
"$(as left$$)" forks 9973 &
"$(as right$$)" forks 9967 &
wait
END
chmod +x "$tmp/load"
"$ACTUARY" record --log "$tmp/log" --json -- "$tmp/load" >"$tmp/account"
same "lost" 0 "$(account "$tmp/account" .lost)"
same "left" 9973 "$(count '.flags % 2 == 1' --comm left$$ "$tmp/log")"
same "right" 9967 "$(count '.flags % 2 == 1' --comm right$$ "$tmp/log")"

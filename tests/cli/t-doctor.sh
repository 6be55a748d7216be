#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Doctor explains what is missing: as an ordinary user, in namespaces of one's
# own, with a log that cannot be written.  Nothing here depends on what this
# machine's kernel offers beyond taskstats.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

command -v jq >/dev/null || skip "needs jq"
run "$ACTUARY" doctor --json --log "$tmp/log"
[ "$(jq -rs 'map(select(.check == "taskstats"))[0].status' "$tmp/stdout")" = ok ] ||
	skip "this kernel has no taskstats"

# point NAME MEMBER: of the last run
point()
{
	jq -rs --arg name "$1" --arg member "$2" \
		'map(select(.check == $name))[0][$member]' "$tmp/stdout"
}

# contains NAME PART TEXT
contains()
{
	case $3 in
	*"$2"*) echo "ok: $1" ;;
	*) fail "$1: no '$2' in: $3" ;;
	esac
}

# The status follows from what is needed, and each point has all members.
consistent()
{
	same "$1: status and points agree" true "$(jq -s --argjson status "$status" \
		'(map(select(.needed and .status != "ok")) | length > 0) == ($status == 1)' \
		"$tmp/stdout")"
	same "$1: members" true "$(jq -s 'all(.[];
		keys == ["check", "detail", "mend", "needed", "status"] and .detail != "")' \
		"$tmp/stdout")"
}

consistent "as we are"
same "a log that can be made" ok "$(point log status)"
[ ! -e "$tmp/log" ] || fail "doctor made the log"

: >"$tmp/file"
run "$ACTUARY" doctor --json --log "$tmp/file"
same "a file for a log: status" 1 "$status"
same "a file for a log" refused "$(point log status)"
run "$ACTUARY" doctor --json --log "$tmp/none/log"
same "a log in a directory that is not there" missing "$(point log status)"
contains "how to make it" "install -d -m 750 '$tmp/none'" "$(point log mend)"

run "$ACTUARY" doctor surplus
same "an argument: status" 2 "$status"
run "$ACTUARY" doctor --log "$tmp/log"
contains "text ends with the verdict" "recording is " "$(tail -n 1 "$tmp/stdout")"

switch=/proc/sys/kernel/task_delayacct
if [ -r "$switch" ] && [ "$(cat "$switch")" = 0 ]; then
	run "$ACTUARY" doctor --json --log "$tmp/log"
	same "the switch" off "$(point delay-accounting status)"
	same "its command" "sudo sysctl kernel.task_delayacct=1" \
		"$(point delay-accounting mend)"
fi

[ "$(id -u)" = 0 ] || exit 0
cp "$ACTUARY" "$tmp/actuary"
chmod 755 "$tmp" "$tmp/actuary"

if setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
	run setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$tmp/actuary" doctor --json --log "$tmp/log"
	consistent "an ordinary user"
	same "an ordinary user: status" 1 "$status"
	same "an ordinary user: capability" refused "$(point cap-net-admin status)"
	contains "an ordinary user: command" "sudo actuary record" "$(point cap-net-admin mend)"
	same "an ordinary user: registration" refused "$(point registration status)"
	contains "an ordinary user: reason" CAP_NET_ADMIN "$(point registration detail)"
	same "an ordinary user: exits" unknown "$(point exits status)"
	same "an ordinary user: log" refused "$(point log status)"
fi

# Root of a container or a service that took the capability away.
taken="--bounding-set=-net_admin --inh-caps=-net_admin"
# shellcheck disable=SC2086 # two options
if setpriv $taken true 2>/dev/null; then
	run setpriv $taken "$tmp/actuary" doctor --json --log "$tmp/log"
	consistent "root without it"
	same "root without it: status" 1 "$status"
	same "root without it: capability" refused "$(point cap-net-admin status)"
	contains "root without it: where to give it" NET_ADMIN "$(point cap-net-admin mend)"
	same "root without it: registration" refused "$(point registration status)"
	contains "root without it: reason" "taken from root" "$(point registration detail)"
	same "root without it: is not sent to root" 0 "$(grep -c sudo.actuary "$tmp/stdout")"
	same "root without it: exits" unknown "$(point exits status)"
	same "root without it: buffer" refused "$(point receive-buffer status)"
	expect_error 1 "taken from root" setpriv $taken "$tmp/actuary" record --log "$tmp/none"
	[ ! -e "$tmp/none" ] || fail "a log was made for nothing"
fi

# In a namespace of its own, as one of the flags of unshare(1).
inside()
{
	unshare "$@" true 2>/dev/null || return 1
	run unshare "$@" "$tmp/actuary" doctor --json --log "$tmp/log"
	consistent "unshare $*"
	same "unshare $*: status" 1 "$status"
}

if inside -n; then
	contains "unshare -n: reason" "network namespace" \
		"$(point registration detail) $(point exits detail)"
	contains "unshare -n: command" "nsenter -t 1 -n" \
		"$(point registration mend) $(point exits mend)"
fi
if inside -pf; then
	same "unshare -pf: namespace" refused "$(point pid-namespace status)"
	contains "unshare -pf: reason" "pid namespace" "$(point registration detail)"
	same "unshare -pf: user namespace" ok "$(point user-namespace status)"
fi
if inside -Ur; then
	same "unshare -Ur: namespace" refused "$(point user-namespace status)"
	same "unshare -Ur: capability" refused "$(point cap-net-admin status)"
	contains "unshare -Ur: reason" "user namespace" "$(point registration detail)"
fi
if inside -U; then
	same "unshare -U: namespace" refused "$(point user-namespace status)"
	contains "unshare -U: reason" "user namespace" "$(point registration detail)"
fi
# A recorder says the same, in a line, and makes no log.
for how in "-n network" "-pf pid" "-U user"; do
	flag=${how% *}
	unshare "$flag" true 2>/dev/null || continue
	expect_error 1 "${how#* } namespace" unshare "$flag" "$tmp/actuary" record --log "$tmp/none"
	[ ! -e "$tmp/none" ] || fail "a log was made for nothing"
done

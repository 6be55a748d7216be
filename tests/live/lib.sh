# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the live tests share.  Each begins with
#
#	. "$(dirname "$0")/lib.sh"
#
# They need root and the initial namespaces, for that is where the kernel
# tells of exits; without, they skip (77).  Other work on the machine does not
# disturb them: what they count has a name or a place of its own.
set -eu
export LC_ALL=C
unset ACTUARY_LOG

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${ACTUARY:?path of the program}" "${BUILD:?build directory}"
births=$BUILD/tests/live/births
shapes=$BUILD/tests/live/shapes
tmp=
children=

cleanup()
{
	for pid in $children; do
		kill -9 "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	[ -n "$tmp" ] || return 0
	[ ! -d "$tmp/mount" ] || umount -l "$tmp/mount" 2>/dev/null || :
	rm -rf "$tmp"
}

# CAP_NET_ADMIN is bit 12.
has_net_admin()
{
	caps=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	[ $((0x$caps >> 12 & 1)) = 1 ]
}

[ "$(id -u)" = 0 ] || skip "needs root"
has_net_admin || skip "needs CAP_NET_ADMIN"
# include/linux/proc_ns.h: the inodes of the initial ones are fixed, but not of net.
[ "$(stat -Lc %i /proc/self/ns/user)" = 4026531837 ] || skip "needs the initial user namespace"
[ "$(stat -Lc %i /proc/self/ns/pid)" = 4026531836 ] || skip "needs the initial pid namespace"
net=$(stat -Lc %i /proc/1/ns/net 2>/dev/null) || net=$(stat -Lc %i /proc/self/ns/net)
[ "$(stat -Lc %i /proc/self/ns/net)" = "$net" ] || skip "needs the initial network namespace"
command -v jq >/dev/null || skip "needs jq"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
tmp=$(mktemp -d "${TMPDIR:-/tmp}/actuary-live-XXXXXX")

# at_least NAME LEAST GOT
at_least()
{
	[ "$3" -ge "$2" ] || fail "$1: expected at least $2, got $3"
	echo "ok: $1: $3, at least $2"
}

# Tries a command for SECONDS at most: wait_for SECONDS COMMAND...
wait_for()
{
	tries=$(($1 * 20))
	shift
	while ! "$@"; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "waited in vain: $*"
		sleep 0.05
	done
}

# A value of an account: account FILE .lost
account()
{
	jq -r "$2" "$1"
}

# How many records pass jq's condition: count CONDITION LIST-OPTION...
count()
{
	condition=$1
	shift
	if [ "$condition" = true ]; then # half a million of them take jq half a minute
		"$ACTUARY" list --csv --columns pid "$@" 2>/dev/null | tail -n +2 | wc -l
		return
	fi
	"$ACTUARY" list --json "$@" 2>/dev/null | jq -c "select($condition) | 1" | wc -l
}

# Starts a recorder in the background; sets $recorder once it records.
# start_recorder NAME OPTION...: log $tmp/NAME, account $tmp/NAME.json
start_recorder()
{
	name=$1
	shift
	: >"$tmp/$name.err"
	"$ACTUARY" record --log "$tmp/$name" --json "$@" \
		>"$tmp/$name.json" 2>"$tmp/$name.err" &
	recorder=$!
	children="$children $recorder"
	wait_for 20 is_recording "$name" "$recorder"
}

is_recording()
{
	kill -0 "$2" 2>/dev/null || fail "the recorder ended: $(cat "$tmp/$1.err")"
	grep -q '^actuary record: recording to ' "$tmp/$1.err"
}

# stop_recorder PID: the account is complete when this returns.
stop_recorder()
{
	kill -TERM "$1"
	wait "$1" || fail "the recorder ended with status $?"
	forget "$1"
}

forget()
{
	left=
	for pid in $children; do
		[ "$pid" = "$1" ] || left="$left $pid"
	done
	children=$left
}

# The load generator under a name of its own: as NAME prints its path.
as()
{
	[ -e "$tmp/$1" ] || cp "$births" "$tmp/$1"
	echo "$tmp/$1"
}

# LeakSanitizer looks from a child of its own, which ends behind the account and
# would pass for the one that closes it.
keep_leak_checker_out()
{
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	export ASAN_OPTIONS
}

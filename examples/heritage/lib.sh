# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What these scripts share.  Each one sets $what and $long, then reads this file, and
# has: $ACTUARY, the program; $tmp, a directory of its own that goes away; and $short,
# not empty where it is to take seconds only.
set -eu
export LC_ALL=C
unset ACTUARY_LOG

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
: "${what:?}" "${long:?}"
short=
case ${1-} in
'')
	;;
--short)
	short=yes
	;;
-h | --help)
	cat <<-END
	Usage: $(basename "$0") [--short]

	$what

	Takes $long; with --short some seconds, and tells accordingly less.
	ACTUARY names the program, else it is build/src/actuary of this source tree,
	or the one that is installed.
	END
	exit
	;;
*)
	echo "$(basename "$0"): unknown option $1; -h tells more" >&2
	exit 2
	;;
esac

fail()
{
	echo "$(basename "$0"): $*" >&2
	exit 1
}

if [ -z "${ACTUARY-}" ]; then
	ACTUARY=$root/build/src/actuary
	[ -x "$ACTUARY" ] || ACTUARY=$(command -v actuary) ||
		fail "actuary is neither built nor installed; scripts/quickstart builds it"
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/actuary-heritage-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

needs()
{
	for tool; do
		command -v "$tool" >/dev/null || fail "needs $tool"
	done
}

needs_root()
{
	[ "$(id -u)" = 0 ] || fail "needs root: the kernel tells only root of exits"
}

title()
{
	printf '\n== %s ==\n\n' "$*"
}

# Measures quietly, also on a machine that is busy, which the result tells: ab RESULT OPTION...
ab()
{
	result=$1
	shift
	[ -z "$short" ] || set -- --aa 0% --warmup 0 --settle 0 "$@"
	"$ACTUARY" ab --quiet --force --output "$result" "$@" >"$tmp/said" 2>&1 ||
		[ $? = 4 ] || fail "$(cat "$tmp/said")"
}

# Seconds of each round of a condition: rounds RESULT CONDITION
rounds()
{
	jq -n -r --arg condition "$2" 'foreach inputs as $line (null;
		if $line.condition then $line.aa == false and $line.condition == $condition else . end;
		select(. and $line.v and ($line.warmup | not)) | $line.v[0] / 1e9)' "$1"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the command line tests share.  Each, t-VERB.sh, begins with
#
#	. "$(dirname "$0")/lib.sh"
#
# and compares what a command prints with golden files in tests/cli/VERB/:
# NAME is standard output, NAME.err standard error and NAME.status the exit
# status; the latter two are there only if there is something to tell.  BLESS=1
# writes them anew: look at the difference before you commit it.
set -eu
export LC_ALL=C TZ=UTC
unset ACTUARY_LOG COLUMNS NO_COLOR

: "${ACTUARY:?path of the program}" "${SRC:?source directory}" "${BUILD:?build directory}"
verb=$(basename "$0" .sh)
golden=$SRC/tests/cli/${verb#t-}
mklog=$BUILD/tests/cli/mklog
tmp=$(mktemp -d "${TMPDIR:-/tmp}/actuary-cli-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

fail()
{
	echo "failed: $*" >&2
	exit 1
}

skip()
{
	echo "skipped: $*"
	exit 77
}

# Runs a command into $tmp/out, $tmp/err and $status.  The temporary directory,
# whose name is new each time, is called TMP in both.
run()
{
	status=0
	"$@" >"$tmp/raw.out" 2>"$tmp/raw.err" </dev/null || status=$?
	sed "s|$tmp|TMP|g" "$tmp/raw.out" >"$tmp/out"
	sed "s|$tmp|TMP|g" "$tmp/raw.err" >"$tmp/err"
}

# bless NAME: what was just seen is right from now on.
bless()
{
	mkdir -p "$golden"
	cp "$tmp/out" "$golden/$1"
	rm -f "$golden/$1.err" "$golden/$1.status"
	[ ! -s "$tmp/err" ] || cp "$tmp/err" "$golden/$1.err"
	[ "$status" = 0 ] || echo "$status" >"$golden/$1.status"
}

# is_golden FILE SEEN: an absent golden file stands for an empty one.
is_golden()
{
	[ -e "$1" ] || set -- /dev/null "$2"
	diff -a -u "$1" "$2" >&2
}

# run_golden NAME COMMAND...: prints and returns what the golden files say.
run_golden()
{
	name=$1
	shift
	run "$@"
	[ -z "${BLESS:-}" ] || bless "$name"
	[ -e "$golden/$name" ] || fail "$name: no golden file $golden/$name; BLESS=1 makes it"
	wanted=0
	[ ! -e "$golden/$name.status" ] || read -r wanted <"$golden/$name.status"
	[ "$status" = "$wanted" ] ||
		fail "$name: status $status, not $wanted: $(cat "$tmp/err")"
	is_golden "$golden/$name" "$tmp/out" || fail "$name: standard output differs"
	is_golden "$golden/$name.err" "$tmp/err" || fail "$name: standard error differs"
	echo "ok: $name"
}

# expect_status STATUS COMMAND...: leaves its output in $tmp/out and $tmp/err.
expect_status()
{
	wanted=$1
	shift
	run "$@"
	[ "$status" = "$wanted" ] || fail "$*: status $status, not $wanted: $(cat "$tmp/err")"
}

# expect_error STATUS WORD COMMAND...: nothing on standard output, one line with
# the word on standard error.
expect_error()
{
	wanted=$1
	word=$2
	shift 2
	expect_status "$wanted" "$@"
	[ ! -s "$tmp/out" ] || fail "$*: printed $(head -n 3 "$tmp/out")"
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "$*: not one line: $(cat "$tmp/err")"
	grep -q -e "$word" "$tmp/err" || fail "$*: no \"$word\": $(cat "$tmp/err")"
	echo "ok: $* is refused"
}

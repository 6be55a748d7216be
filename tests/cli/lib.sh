# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# What the command line tests share.  Each t-VERB.sh begins with
#
#	. "$(dirname "$0")/lib.sh"
#
# and has: $ACTUARY, the program; $tmp, a directory of its own that goes away
# at the end; $golden, tests/cli/VERB/, which holds what is expected.  With
# BLESS=1 run_golden writes the golden files anew: read the difference before
# you commit it.
set -eu
export LC_ALL=C TZ=UTC COLUMNS=80
unset ACTUARY_LOG

# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$(dirname "$0")/../lib.sh"

: "${ACTUARY:?path of the program}" "${SRC:?source directory}" "${BUILD:?build directory}"
verb=$(basename "$0" .sh)
verb=${verb#t-}
golden=$SRC/tests/cli/$verb
tmp=$(mktemp -d "${TMPDIR:-/tmp}/actuary-$verb-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Runs a command; sets $status, output in $tmp/stdout and $tmp/stderr.
run()
{
	status=0
	"$@" >"$tmp/stdout" 2>"$tmp/stderr" </dev/null || status=$?
}

# The output so far with what differs from run to run put in place.
settle()
{
	sed "s|$tmp|TMP|g" "$1" >"$1.settled"
	mv "$1.settled" "$1"
}

# keep FILE GOLDEN: an empty one needs no file.
keep()
{
	mkdir -p "$golden"
	if [ -s "$1" ]; then
		cp "$1" "$2"
	else
		rm -f "$2"
	fi
}

# compare NAME FILE GOLDEN
compare()
{
	if [ -e "$3" ]; then
		diff -a -u "$3" "$2" || fail "$1: $(basename "$3") differs"
	elif [ -s "$2" ]; then
		cat "$2"
		fail "$1: output where none is expected, see above"
	fi
}

# run_golden NAME COMMAND...: stdout, stderr and status are those of
# $golden/NAME, NAME.err and NAME.status; where a file is missing, nothing is
# printed, and the status is 0.  Paths below $tmp read TMP.
run_golden()
{
	name=$1
	shift
	run "$@"
	settle "$tmp/stdout"
	settle "$tmp/stderr"
	: >"$tmp/status"
	[ "$status" = 0 ] || echo "$status" >"$tmp/status"
	if [ -n "${BLESS:-}" ]; then
		keep "$tmp/stdout" "$golden/$name"
		keep "$tmp/stderr" "$golden/$name.err"
		keep "$tmp/status" "$golden/$name.status"
		# Nothing at all would not tell whether the test was ever blessed.
		[ -s "$tmp/stdout" ] || [ -s "$tmp/stderr" ] || : >"$golden/$name"
	fi
	[ -e "$golden/$name" ] || [ -e "$golden/$name.err" ] ||
		fail "$name: no golden file, BLESS=1 writes it"
	compare "$name" "$tmp/stderr" "$golden/$name.err"
	compare "$name" "$tmp/stdout" "$golden/$name"
	compare "$name" "$tmp/status" "$golden/$name.status"
	echo "ok: $name"
}

# expect_status N COMMAND...
expect_status()
{
	wanted=$1
	shift
	run "$@"
	[ "$status" = "$wanted" ] ||
		fail "status $status, not $wanted, of: $*: $(cat "$tmp/stderr")"
	echo "ok: $wanted from ${*#"$ACTUARY"}"
}

# expect_error N WORD COMMAND...: status N, nothing on stdout, one line on
# stderr, which holds WORD.
expect_error()
{
	wanted=$1
	word=$2
	shift 2
	expect_status "$wanted" "$@"
	[ ! -s "$tmp/stdout" ] || fail "printed a result: $*"
	[ "$(wc -l <"$tmp/stderr")" = 1 ] || fail "not one line: $(cat "$tmp/stderr")"
	grep -q -F -e "$word" "$tmp/stderr" || fail "no \"$word\" in: $(cat "$tmp/stderr")"
}

# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# How every shell test says what it found; read by cli/lib.sh and live/lib.sh.

skip()
{
	echo "skipped: $*"
	exit 77
}

fail()
{
	echo "failed: $*" >&2
	exit 1
}

# same NAME WANTED GOT
same()
{
	[ "$2" = "$3" ] || fail "$1: expected $2, got $3"
	echo "ok: $1: $3"
}

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The program, its manual pages, README and completion tell the same; and the
# check that says so can fail.
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip "there is no bash"
expect_status 0 "$SRC/scripts/check-docs" "$ACTUARY" "$BUILD"
cat "$tmp/stdout"

# finds WORD: in the copy, with what was just spoilt.
finds()
{
	expect_status 1 "$tmp/scripts/check-docs" "$ACTUARY" "$BUILD"
	grep -q -F -e "$1" "$tmp/stderr" || fail "did not find \"$1\": $(cat "$tmp/stderr")"
	copy
}

copy()
{
	(cd "$SRC" && tar -cf - scripts/check-docs man completions include README.md) |
		tar -C "$tmp" -xf -
}

copy
expect_status 0 "$tmp/scripts/check-docs" "$ACTUARY" "$BUILD"
sed -i '/^\.It Fl -sync /d' "$tmp/man/actuary-record.1"
finds "man/actuary-record.1 lacks: --sync"
sed -i 's/^\.It Fl -sync /.It Fl -sink /' "$tmp/man/actuary-record.1"
finds "man/actuary-record.1 has, but should not: --sink"
rm "$tmp/man/actuary-list.1"
finds "there is no man/actuary-list.1"
sed -i '/^| .*`list/d; /^| .*`actuary list/d' "$tmp/README.md"
finds "README.md's table lacks: list"
sed -i 's/^	F(nvcsw,/	F(nvcsx,/' "$tmp/include/actuary/fields.h"
finds "actuary-fields.7 lacks: nvcsx"
sed -i 's/^\.It Cm list$/.It Cm lists/' "$tmp/man/actuary.1"
finds "man/actuary.1 lacks: list"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# delays of a log: what commands waited for, what is unknown, what is missing.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# prints NAME OPTION...
prints()
{
	name=$1
	shift
	run_golden "$name" "$ACTUARY" delays "$@"
}

"$BUILD/tests/cli/mklog" "$tmp/log" <"$golden/input.txt"

prints text --log "$tmp/log"
prints json --json --log "$tmp/log"
prints csv --csv --log "$tmp/log"
prints one --log "$tmp/log" --comm reader
prints before --strict --log "$tmp/log" --until @1796119204
prints strict --quiet --strict --json --log "$tmp/log"
expect_error 2 "exclude each other" "$ACTUARY" delays --json --csv --log "$tmp/log"
expect_error 2 "exclude each other" "$ACTUARY" delays --log "$tmp/log" --process 1
expect_error 2 "goes with it only" "$ACTUARY" delays --log "$tmp/log" --count 3

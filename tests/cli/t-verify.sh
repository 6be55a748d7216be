#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# verify: what it says of logs that are whole, that lack something, and of
# files that are no log.  BLESS=1 writes the golden files anew.
. "$(dirname "$0")/lib.sh"
mklog=$BUILD/tests/cli/mklog

# Names, host and kernel are this machine's, and with their lengths where a block
# begins; what is checked is not.
settle()
{
	sed -E -e "s|$tmp|TMP|g" \
		-e 's/([0-9]{10})-[0-9]{8}T[0-9]{6}Z/\1-WHEN/g' \
		-e 's/, begun .*/, begun WHEN on HOST/' \
		-e 's/( bytes at |"offset":)[0-9]+/\1OFFSET/' \
		-e 's/"created_ns":[0-9]+,"boot_id":"[^"]*","host":"[^"]*","kernel":"[^"]*"/HEADER/' \
		"$1" >"$1.settled"
	mv "$1.settled" "$1"
}

begin='default kind=3 uid=0 gid=0 exits=1
state start time=@1700000000 delayacct=0 forks=100 recorded=0 text="recorder\s1\n\e[31m"
pid=100 comm=a end_ns=@1700000001
pid=101 comm=b end_ns=@1700000002 exits=2
sync
pid=102 comm=c end_ns=@1700000003
pid=103 comm=d end_ns=@1700000004
rotate
pid=104 comm=d end_ns=@1700000005'
end='state stop time=@1700000006 forks=120 recorded=6'
gap='gap from=@1700000002 to=@1700000003 count=5 cpu=1 cause=overflow'

# make NAME LINE...: a log of these lines
make()
{
	name=$1
	shift
	printf '%s\n' "$@" | "$mklog" -b 2 "$tmp/$name"
}

first()
{
	echo "$tmp/$1"/0000000001-*.act
}

last()
{
	echo "$tmp/$1"/0000000002-*.act
}

make whole "$begin" "$end"
run_golden whole "$ACTUARY" verify "$tmp/whole"
run_golden whole "$ACTUARY" verify --log "$tmp/whole"
ACTUARY_LOG=$tmp/whole run_golden whole "$ACTUARY" verify
run_golden whole.json "$ACTUARY" verify --json "$tmp/whole"
run_golden segment "$ACTUARY" verify "$(first whole)"
"$ACTUARY" verify -o "$tmp/out" "$tmp/whole"
settle "$tmp/out"
compare output "$tmp/out" "$golden/whole"

# A span of time: recorded in all of it, in some of it, in none.
expect_status 0 "$ACTUARY" verify --since @1700000001 --until @1700000003 "$tmp/whole"
run_golden span "$ACTUARY" verify --since @1699999990 --until @1700000010 "$tmp/whole"
expect_status 4 "$ACTUARY" verify --until @1700000010 "$tmp/whole"
expect_status 4 "$ACTUARY" verify --since @1700000100 --until @1700000200 "$tmp/whole"
expect_status 0 "$ACTUARY" verify --since @1700000001 "$tmp/whole"
expect_error 2 since "$ACTUARY" verify --since @2 --until @1 "$tmp/whole"

# Exits are missing.
make gap "$begin" "$gap" "$end"
run_golden gap "$ACTUARY" verify "$tmp/gap"
run_golden gap.json "$ACTUARY" verify --json "$tmp/gap"
expect_status 0 "$ACTUARY" verify --since @1700000004 --until @1700000005 "$tmp/gap"
make unknown "$begin" 'gap from=@1700000002 to=@1700000003 cause=kernel' "$end"
run_golden unknown "$ACTUARY" verify "$tmp/unknown"
make nothing "$begin" 'gap from=@1700000002 to=@1700000003 count=0 cause=kernel' "$end"
expect_status 0 "$ACTUARY" verify "$tmp/nothing"
# Two exits more than the log holds were counted by the recorder.
make miscounted "$begin" 'state stop time=@1700000006 recorded=8'
run_golden miscounted "$ACTUARY" verify "$tmp/miscounted"

# The recorder died, and was started again.
make died "$begin"
run_golden died "$ACTUARY" verify "$tmp/died"
make died 'gap from=@1700000005 to=@1700000008 cause=down' \
	'state restart time=@1700000008 recorded=0' 'pid=105 comm=e end_ns=@1700000009' \
	'state stop time=@1700000010 recorded=1'
run_golden restarted "$ACTUARY" verify "$tmp/died"

# Damage: cut short, a byte in the middle, a segment that is missing.
cp -r "$tmp/whole" "$tmp/cut"
truncate -s -20 "$(last cut)"
run_golden cut "$ACTUARY" verify "$tmp/cut"
cp -r "$tmp/whole" "$tmp/changed"
printf X | dd of="$(first changed)" bs=1 seek="$(($(wc -c <"$(first whole)") - 1))" conv=notrunc \
	status=none
run_golden changed "$ACTUARY" verify "$tmp/changed"
run_golden changed.json "$ACTUARY" verify --json "$tmp/changed"
make three 'pid=1 comm=a end_ns=@1' rotate 'pid=2 comm=a end_ns=@2' rotate 'pid=3 comm=a end_ns=@3' \
	'state stop time=@4'
rm "$(last three)"
run_golden missing "$ACTUARY" verify "$tmp/three"
rm "$(first three)"
expect_status 0 "$ACTUARY" verify "$tmp/three"

# What is no log: one line, 2.
expect_error 2 "$tmp/absent" "$ACTUARY" verify "$tmp/absent"
: >"$tmp/empty"
expect_error 2 empty "$ACTUARY" verify "$tmp/empty"
echo 'somebody else wrote this, and it is long enough to hold a header' >"$tmp/other"
expect_error 2 'not a log' "$ACTUARY" verify "$tmp/other"
mkdir "$tmp/directory"
expect_error 2 "$tmp/directory" "$ACTUARY" verify "$tmp/directory"
echo text >"$tmp/directory/text"
expect_error 2 'not a log' "$ACTUARY" verify "$tmp/directory"
cp "$(first whole)" "$tmp/magic"
printf 'ELF\177' | dd of="$tmp/magic" conv=notrunc status=none
expect_error 2 'not a log' "$ACTUARY" verify "$tmp/magic"
cp "$(first whole)" "$tmp/newer"
printf '\002' | dd of="$tmp/newer" bs=1 seek=8 conv=notrunc status=none
expect_error 2 newer "$ACTUARY" verify "$tmp/newer"
head -c 40 "$(first whole)" >"$tmp/short"
expect_error 2 'cut short' "$ACTUARY" verify "$tmp/short"
expect_error 2 'one log' "$ACTUARY" verify "$tmp/whole" "$tmp/whole"

# Results that cannot be written are told once.
if [ -w /dev/full ]; then
	status=0
	"$ACTUARY" verify "$tmp/whole" >/dev/full 2>"$tmp/stderr" || status=$?
	same "status of a full disk" 1 "$status"
	same "messages of a full disk" 1 "$(wc -l <"$tmp/stderr")"
fi

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Help, and every way to use the program wrongly: status 2 and one line that
# names what was wrong.
. "$(dirname "$0")/lib.sh"

commands=$("$ACTUARY" -h | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ -n "$commands" ] || fail "actuary -h lists no command"

# prints WORD COMMAND...: status 0, WORD on stdout, nothing on stderr.
prints()
{
	word=$1
	shift
	expect_status 0 "$@"
	grep -q -F -e "$word" "$tmp/stdout" || fail "no \"$word\" from $*"
	[ ! -s "$tmp/stderr" ] || fail "talks on stderr: $(cat "$tmp/stderr")"
}

# ---- Without a command ----

prints "Usage: actuary COMMAND" "$ACTUARY" -h
prints "Usage: actuary COMMAND" "$ACTUARY" --help
prints "Usage: actuary COMMAND" "$ACTUARY" help
prints "actuary 0." "$ACTUARY" --version
expect_error 2 "which command?" "$ACTUARY"
expect_error 2 'unknown command "nosuch"' "$ACTUARY" nosuch
expect_error 2 'unknown command ""' "$ACTUARY" ''
expect_error 2 'unknown command "no\nsuch"' "$ACTUARY" 'no
such'
expect_error 2 "unknown option --nosuch" "$ACTUARY" --nosuch
expect_error 2 "unknown option -v" "$ACTUARY" -v
expect_error 2 'unknown command "nosuch"' "$ACTUARY" help nosuch
expect_error 2 "help takes one command" "$ACTUARY" help list record

# ---- Every command ----

# A value of the right name and the wrong form, for each option that has one.
wrong_values()
{
	"$ACTUARY" "$1" -h | sed -n 's/^ .* --\([a-z-]*\) \([^ ]*\).*/\1 \2/p' |
		while read -r option value; do
			case $value in
			N | PID | SIZE | DURATION | TIME | *\|*)
				echo "$option"
				;;
			esac
		done
}

for command in $commands; do
	prints "Usage: actuary $command" "$ACTUARY" "$command" -h
	expect_error 2 "unknown option --nosuch; actuary $command -h" "$ACTUARY" "$command" --nosuch
	expect_error 2 "unknown option -%; actuary $command -h" "$ACTUARY" "$command" -%
	expect_error 2 "--quiet takes no value" "$ACTUARY" "$command" --quiet=1
	expect_error 2 "unknown option --qui;" "$ACTUARY" "$command" --qui
	for option in $(wrong_values "$command"); do
		expect_error 2 "actuary $command: --$option: \"b\\x1bgus\"" \
			"$ACTUARY" "$command" "--$option" "$(printf 'b\033gus')"
		expect_error 2 "--$option needs a value" "$ACTUARY" "$command" "--$option"
	done
	# Without man(1) the manual is the short help.
	status=0
	PATH=$tmp/nowhere "$ACTUARY" "$command" --help >"$tmp/manual" || status=$?
	same "status of $command --help without man" 0 "$status"
	"$ACTUARY" "$command" -h | cmp - "$tmp/manual" || fail "$command --help is not its -h"
done

# ---- What is no log is bad input, for a recorder that replays, too ----

: >"$tmp/empty"
for command in list report verify; do
	expect_error 2 "empty, not a log" "$ACTUARY" "$command" "$tmp/empty"
	expect_error 2 "takes one log; see 'actuary $command -h'" "$ACTUARY" "$command" "$tmp" "$tmp"
done
expect_error 2 "empty, not a log" "$ACTUARY" record --from "$tmp/empty" --log "$tmp/none"

# ---- Results that cannot be written ----

if [ -c /dev/full ]; then
	status=0
	"$ACTUARY" -h >/dev/full 2>"$tmp/stderr" || status=$?
	same "status on a full disk" 1 "$status"
	same "message" "actuary: cannot write the results: No space left on device" \
		"$(cat "$tmp/stderr")"
fi
# (The shell itself may hold the pipe for a moment more: hence the tries.)
# A reader that has gone: no message, and the status of SIGPIPE, also where it is ignored.
for action in "trap - PIPE" "trap '' PIPE"; do
	eval "($action; until [ -e $tmp/gone ]; do sleep 0.01; done; \
		for try in 1 2 3 4 5 6 7 8 9 10; do s=0; \"$ACTUARY\" -h 2>$tmp/stderr || s=\$?; \
			[ \$s = 0 ] || break; sleep 0.1; done; echo \$s >$tmp/code)" |
		{ exec <&-; : >"$tmp/gone"; }
	same "status without a reader, $action" 141 "$(cat "$tmp/code")"
	[ ! -s "$tmp/stderr" ] || fail "complains of its reader: $(cat "$tmp/stderr")"
	rm "$tmp/gone"
done

# ---- Nothing was recorded yet ----

for command in report list verify; do
	expect_error 2 "cannot read $tmp/none: No such file or directory" \
		"$ACTUARY" "$command" "$tmp/none"
	[ -e /var/log/actuary ] || expect_error 2 \
		"name a log, or record one first: actuary record" "$ACTUARY" "$command"
done

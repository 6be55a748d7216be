#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion in bash: the words at the cursor in, what can follow out.
. "$(dirname "$0")/lib.sh"

command -v bash >/dev/null || skip "there is no bash"
mkdir "$tmp/bin" "$tmp/directory"
: >"$tmp/file"
printf '#!/bin/sh\n' >"$tmp/bin/actuary-completes"
chmod +x "$tmp/bin/actuary-completes"
ln -s "$ACTUARY" "$tmp/bin/actuary"
PATH=$tmp/bin:$PATH
set +u
. "$SRC/completions/actuary"
cd "$tmp" || exit

# Outside of a completion the builtin fails.
compopt()
{
	:
}

# completes WANTED WORD...: what can stand for the last word, sorted.
completes()
{
	local wanted=$1
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_actuary actuary "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	same "$(printf '%s ' "$@")" "$wanted" \
		"$(printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ $//')"
}

case $(complete -p actuary) in
*"-F _actuary actuary") ;;
*) fail "actuary has no completion" ;;
esac

commands=$(actuary -h | awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
# shellcheck disable=SC2086 # a word a line
completes "$(printf '%s\n' $commands help --help --version | sort | tr '\n' ' ' | sed 's/ $//')" \
	actuary ''
completes "record report" actuary re
completes "record report" actuary help re
completes "" actuary help record ''
completes "" actuary nosuch --

for name in $commands; do
	completes "$(actuary "$name" -h | grep -o '^  \(-.,\|   \) --[a-z-]*' | grep -o -e '--.*' |
		sort | tr '\n' ' ' | sed 's/ $//')" actuary "$name" --
done

# Values, by what -h calls them.
completes "both process task" actuary record --per ''
completes "task" actuary record --per t
completes "task" actuary record --per = t
completes "both process task" actuary record --per =
completes "directory" actuary record --log dir
completes "directory" actuary record -l dir
completes "" actuary record --log fil
completes "file" actuary record --from fil
completes "" actuary record --for ''
# An option after a value, and after options.
completes "--json" actuary record --per task --js
completes "--json" actuary record --per = task --js
completes "--json" actuary record -l directory --strict --js
# What follows the options is no option.
completes "" actuary record -- --js
completes "" actuary record ls --js
completes "file" actuary record ls fil
completes "file" actuary list fil
completes "file" actuary record -- ls fil
# Of commands, only this one has the name of a program that nobody else has.
completes "actuary-completes" actuary record -- actuary-c
completes "actuary-completes" actuary record --json -- actuary-c

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Real processes that are hard to print or to tell: hostile names, the largest
# user, ends by signal with and without a core, unusual priorities.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

chmod 711 "$tmp"
odd=$(as odd$$)
plain=$(as plain$$)
hostile=$(printf 'a\nb"\\\033\377,c')
cat >"$tmp/load" <<END
#!/bin/sh
cd "$tmp"
"$odd" forks 3 --comm '$hostile'
setpriv --reuid 4294967294 --regid 4294967293 --clear-groups "$plain" forks 2
setpriv --reuid 65534 "$plain" forks 1
nice -n -10 "$plain" forks 1 --exit 10
nice -n 19 "$plain" forks 1 --exit 19
ulimit -c unlimited
sh -c 'echo \$\$ >dumped; kill -SEGV \$\$'
ulimit -c 0
sh -c 'echo \$\$ >undumped; kill -SEGV \$\$'
sh -c 'echo \$\$ >killed; kill -KILL \$\$'
sh -c 'echo \$\$ >coded; exit 137'
true
END
chmod +x "$tmp/load"
"$ACTUARY" record --log "$tmp/log" --json -- "$tmp/load" >"$tmp/account" 2>"$tmp/err"
same "lost" 0 "$(account "$tmp/account" .lost)"

# Names, as valid UTF-8; in text and CSV nothing reaches the terminal by itself.
name='"a\nb\"\\\u001b\ufffd,c"'
same "hostile names" 3 "$(count ".comm == $name" "$tmp/log")"
same "by their name" 3 "$("$ACTUARY" list --csv --columns pid --comm 'a?b"*,c' "$tmp/log" | tail -n +2 | wc -l)"
"$ACTUARY" list --json "$tmp/log" | iconv -f UTF-8 -t UTF-8 >/dev/null || fail "not UTF-8"
for how in "list" "list --lastcomm" "report" "report --sa -a" "delays --log"; do
	# shellcheck disable=SC2086 # words
	"$ACTUARY" $how "$tmp/log" >"$tmp/text" 2>/dev/null
	tr -d '\n' <"$tmp/text" | grep -q '[[:cntrl:]]' && fail "$how: control bytes"
	iconv -f UTF-8 -t UTF-8 "$tmp/text" >/dev/null || fail "$how: not UTF-8"
	# GNU lastcomm has a question mark for what cannot be printed.
	grep -F -q -e 'a\nb"\\\x1b\xff,c' -e 'a?b"\??,c' "$tmp/text" || fail "$how: no such name"
done
echo "ok: hostile names in text"
same "a hostile name in CSV" 1 "$("$ACTUARY" report --csv --columns count --comm 'a?b"*,c' "$tmp/log" |
	grep -c -F 'b""\')"

# Users.
same "uid and gid" 3 "$(count '.uid == 4294967294 and .gid == 4294967293' "$tmp/log")"
same "--uid" 3 "$(count true --uid 4294967294 "$tmp/log")"
same "another uid" 2 "$(count '.uid == 65534' --comm plain$$ "$tmp/log")"
same "text has the number" 3 "$("$ACTUARY" list --columns user "$tmp/log" | grep -c 4294967294)"

# Priorities: the parent has none of its children's exit codes.
same "nice -10" 1 "$(count '.nice == -10 and .code == 10' --comm plain$$ "$tmp/log")"
same "nice 19" 1 "$(count '.nice == 19 and .code == 19' --comm plain$$ "$tmp/log")"
same "nice 0" 3 "$(count '.nice == 0 and .flags % 2 == 1' --comm plain$$ "$tmp/log")"

# Ends.
process()
{
	count "$2" --pid "$(cat "$tmp/$1")" "$tmp/log"
}

shown()
{
	"$ACTUARY" list --columns exit --pid "$(cat "$tmp/$1")" "$tmp/log" | tail -n 1 | tr -d ' '
}

same "without a core" 1 "$(process undumped '.signal == 11 and .core == false and .code == null')"
same "without a core, shown" SEGV "$(shown undumped)"
same "killed" 1 "$(process killed '.signal == 9 and .core == false and .code == null')"
same "killed, shown" KILL "$(shown killed)"
same "a code like that of one killed" 1 "$(process coded '.signal == 0 and .code == 137')"
same "a code like that, shown" 137 "$(shown coded)"
# Where a core goes is this machine's affair; where to a file, it was one.
case $(cat /proc/sys/kernel/core_pattern) in
core)
	same "with a core" 1 "$(process dumped '.signal == 11 and .core == true')"
	same "with a core, shown" SEGV+core "$(shown dumped)"
	;;
*)
	same "with a core or not" 1 "$(process dumped '.signal == 11')"
	;;
esac

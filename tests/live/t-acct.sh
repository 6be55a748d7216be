#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same load under the kernel's own process accounting, in a process
# namespace of its own, and under actuary: the same processes, the same CPU
# time within the rounding of the former, and the same tables.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
for tool in accton sa dump-acct; do
	command -v $tool >/dev/null || skip "needs GNU acct"
done

# Names of this test only, so that both sides can be asked about them: whatever the
# kernel's file has begins with sa-, as who turns it off also gets in.
cp "$(command -v accton)" "$tmp/sa-begin"
cp "$(command -v accton)" "$tmp/sa-end"
for name in one two three; do
	cp /bin/true "$tmp/sa-$name"
done
cat >"$tmp/sa-load" <<END
#!/bin/sh
for i in 1 2 3 4 5 6 7; do "$tmp/sa-one"; done
for i in 1 2 3; do "$tmp/sa-two"; done
"$tmp/sa-three"
"$(as sa-forks)" forks 211 --cpu-us 1000
"$(as sa-threads)" threads 50 2
"$(as sa-busy)" forks 3 --cpu-us 250000
"$(as sa-fails)" forks 7 --exit 3
END
cat >"$tmp/inside" <<END
#!/bin/sh
: >"$tmp/pacct"
"$tmp/sa-begin" "$tmp/pacct" >/dev/null && "$tmp/sa-load"; "$tmp/sa-end" off >/dev/null
END
chmod +x "$tmp/sa-load" "$tmp/inside"
"$ACTUARY" record --log "$tmp/log" --json -- unshare -pfm --mount-proc "$tmp/inside" >"$tmp/account"
same "lost" 0 "$(account "$tmp/account" .lost)"

# A line a command: name, processes, hundredths of CPU seconds.
# dump-acct: name|version|user|system|elapsed|uid|gid|memory|...
dump-acct "$tmp/pacct" | awk -F'|' '{ gsub(/ +$/, "", $1) } $1 ~ /^sa-(one|two|three|forks|threads|busy|fails)$/ {
	n[$1]++; cpu[$1] += $3 + $4 }
	END { for (name in n) print name, n[name], cpu[name] }' | sort >"$tmp/kernel"
for name in one two three forks threads busy fails; do
	"$ACTUARY" list --json --comm "sa-$name" --columns comm,cpu_ns "$tmp/log" | jq -rs --arg name "sa-$name" \
		'"\($name) \(length) \(map(.cpu_ns) | add / 1e7)"'
done | sort >"$tmp/ours"
same "commands" 7 "$(wc -l <"$tmp/kernel")"
same "processes of each command" "$(cut -d' ' -f1,2 "$tmp/kernel" | tr '\n' ' ')" \
	"$(cut -d' ' -f1,2 "$tmp/ours" | tr '\n' ' ')"
# The kernel rounds user and system time down, each to a hundredth.
paste -d' ' "$tmp/kernel" "$tmp/ours" | awk '{
	printf "ok: %s: %d hundredths, here %.1f\n", $1, $3, $6
	if ($6 < $3 - 0.001 || $6 > $3 + 2 * $2) { print "not within rounding"; exit 1 } }' ||
	fail "CPU times differ"

# sa's first column is the count, its last the command.
sa -a "$tmp/pacct" | awk '$NF ~ /^sa-(one|two|three|forks|threads|busy|fails)\*?$/ { print $NF, $1 }' |
	sort >"$tmp/sa"
"$ACTUARY" report --sa -a --comm 'sa-*' "$tmp/log" |
	awk '$NF ~ /^sa-(one|two|three|forks|threads|busy|fails)\*?$/ { print $NF, $1 }' | sort >"$tmp/report"
cmp "$tmp/sa" "$tmp/report" || fail "report --sa differs from sa: $(diff "$tmp/sa" "$tmp/report")"
echo "ok: report --sa: $(wc -l <"$tmp/report") lines as sa has them"

# Without -a what ran once is ***other.
sa "$tmp/pacct" | awk '{ print ($NF ~ /k$/ ? "all" : $NF), $1 }' | sort >"$tmp/sa"
"$ACTUARY" report --sa --comm 'sa-*' "$tmp/log" | awk '{ print ($NF ~ /k$/ ? "all" : $NF), $1 }' |
	sort >"$tmp/report"
cmp "$tmp/sa" "$tmp/report" || fail "report --sa differs from sa: $(diff "$tmp/sa" "$tmp/report")"
same "processes in ***other" "$(sa -a "$tmp/pacct" | awk '$1 == 1 { n++ } END { print n }')" \
	"$(sed -n 's/^\*\*\*other //p' "$tmp/report")"

# lastcomm marks with X whoever went down with its process; actuary does not.
lastcomm --forwards -f "$tmp/pacct" | awk '$1 ~ /^sa-(one|two|three)$/ { print substr($0, 1, 31) }' |
	sort >"$tmp/lastcomm"
"$ACTUARY" list --lastcomm "$tmp/log" | awk '$1 ~ /^sa-(one|two|three)$/ { print substr($0, 1, 31) }' |
	sort >"$tmp/list"
cmp "$tmp/lastcomm" "$tmp/list" || fail "list --lastcomm differs: $(diff "$tmp/lastcomm" "$tmp/list")"
echo "ok: list --lastcomm: $(wc -l <"$tmp/list") lines as lastcomm has them"

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# How the golden log of format 1 was made, with tests/cli/mklog of version
# 0.1.0:
#
#	golden-log-1.sh BUILD DIR
#
# A format that was released is read for ever, so the log is never made anew;
# a later format gets one of its own.  Its writer is killed, so that a tail is
# left beside the last segment.
set -eu
mklog=$1/tests/cli/mklog
dir=$2
input=$(mktemp -u)
mkfifo "$input"
trap 'rm -f "$input"' EXIT

"$mklog" -b 40 "$dir" <"$input" &
writer=$!
exec 3>"$input"
awk 'BEGIN {
	print "state start time=@1700000000 delayacct=1 forks=1000 recorded=0 text=\"golden\""
	split("sh ls cc1 make sleep", names, " ")
	for (n = 0; n < 150; n++) {
		noise = (n * 7919 + 104729) % 65521
		line = "kind=" (n % 7 ? 3 : 1 + n % 2) " pid=" 1000 + n " tid=" 1000 + n + (n % 11 == 0)
		line = line " ppid=" 1 + n % 3 " uid=" (n % 13 ? 1000 : "4294967294") " gid=100"
		line = line " comm=\"" (n % 17 ? names[1 + noise % 5] : "\\x01\\xff\\n" n) "\""
		line = line " end_ns=" 1700000000 + n "." sprintf("%09d", noise * 15013 % 1000000000)
		line = line " wall_ns=" noise * 1009 " user_ns=" noise % 5 * 4000000
		line = line " system_ns=" n % 3 * 4000000 " run_real_ns=" (noise % 5 + n % 3) * 4000000
		line = line " status=" (n % 19 ? 0 : 139) " flags=" n % 2 * 2 " cpu=" noise % 4
		line = line " exits=" 1 + n % 2 " nice=" (n % 23 ? 0 : -10) " minflt=" (n % 5 ? noise : "-")
		line = line " rss_max_bytes=" noise * 4096 " rss_integral=" (n % 29 ? noise : "18446744073709551615")
		line = line " read_bytes=" (n % 31 ? 0 : 4096) " exe_inode=" 123456789 + noise % 5
		line = line " blkio_delay_count=" (n % 10 == 0) " blkio_delay_ns=" (n % 10 ? 0 : noise)
		line = line " blkio_delay_max_ns=" (n % 10 ? "-" : noise) " version=16"
		gsub(/end_ns=/, "end_ns=@", line)
		print line
		if (n % 40 == 20)
			print "gap from=@" 1700000000 + n " to=@" 1700000001 + n " count=" n " cpu=1 cause=overflow"
		if (n == 70)
			print "rotate"
	}
	print "state switch time=@1700000150 delayacct=0 text=\"off\""
	print "gap from=@1700000150 to=@1700000151 cause=kernel"
	print "sync"
}' >&3
sleep 1
kill -9 $writer
wait $writer || :
exec 3>&-
rm -f "$dir/lock"

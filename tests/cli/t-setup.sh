#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# scripts/setup on machines that lack packages, which stand-ins for dpkg-query
# and apt-get play; and it names all that the build asks for.
. "$(dirname "$0")/lib.sh"

# A machine with the least of tools; what apt-get is told goes to $tmp/told.
machine=$tmp/machine
mkdir "$machine"
for tool in sh cat dirname grep mktemp rm; do
	ln -s "$(command -v $tool)" "$machine/$tool"
done

# stand_in NAME <SCRIPT
stand_in()
{
	{ echo '#!/bin/sh'; cat; } >"$machine/$1"
	chmod +x "$machine/$1"
}

setup()
{
	: >"$tmp/told"
	rm -f "$tmp/updated"
	run env PATH="$machine" sh "$SRC/scripts/setup" "$@"
}

# The words of the install that succeeded.
installed()
{
	tail -n 1 "$tmp/told" | tr ' ' '\n' | grep -v -e '^-' -e '^install$' | sort | tr '\n' ' '
}

stand_in id <<'END'
echo 0
END

# Not a Debian system: the names help.
setup
same "elsewhere: status" 1 "$status"
grep -q 'not a Debian system.*libmnl-dev' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"

# Nothing is there but git.
stand_in dpkg-query <<'END'
for package; do :; done
[ "$package" = git ] && echo installed
END
stand_in apt-get <<END
echo "\$*" >>"$tmp/told"
END
setup --build
same "--build: status" 0 "$status"
same "--build: calls of apt-get" 1 "$(wc -l <"$tmp/told")"
installed >"$tmp/build"
setup
same "all: status" 0 "$status"
installed >"$tmp/all"
tr ' ' '\n' <"$tmp/all" | grep -q -x git && fail "installs what is there"
[ "$(wc -w <"$tmp/all")" -gt "$(wc -w <"$tmp/build")" ] || fail "testing needs no more than building"
for package in $(cat "$tmp/build"); do
	grep -q -w -e "$package" "$tmp/all" || fail "testing needs no $package"
done
grep -q -e '-y' "$tmp/told" || fail "would ask questions: $(cat "$tmp/told")"

# Lists of packages that are too old: they are renewed, once.
stand_in apt-get <<END
echo "\$*" >>"$tmp/told"
[ "\$1" != update ] || : >"$tmp/updated"
[ -e "$tmp/updated" ] || { echo "E: Unable to locate package"; exit 100; }
END
setup --build
same "old lists: status" 0 "$status"
same "old lists: calls" "install update install" "$(cut -d' ' -f1 "$tmp/told" | tr '\n' ' ' | sed 's/ $//')"
same "old lists: packages" "$(cat "$tmp/build")" "$(installed)"

# It can't be had: what apt-get said is shown, and which packages.
stand_in apt-get <<'END'
echo "E: no route to the mirror"
exit 100
END
setup --build
same "no mirror: status" 1 "$status"
grep -q 'no route to the mirror' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
grep -q 'could not install:.* libzstd-dev' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"

# An ordinary user is told, unless all is there.
stand_in apt-get <<END
echo "\$*" >>"$tmp/told"
END
stand_in id <<'END'
echo 1000
END
setup --build
same "an ordinary user: status" 1 "$status"
grep -q 'needs root to install:.* meson' "$tmp/stderr" || fail "$(cat "$tmp/stderr")"
same "an ordinary user: calls" 0 "$(wc -l <"$tmp/told")"
stand_in dpkg-query <<'END'
echo installed
END
setup
same "all there: status" 0 "$status"
same "all there: calls" 0 "$(wc -l <"$tmp/told")"
setup --bild
same "a wrong option: status" 2 "$status"

# ---- What the build asks for is in the list, by the package that it comes from ----

command -v dpkg >/dev/null && command -v pkg-config >/dev/null || skip "the rest needs dpkg"

# needs LIST FILE WHAT
needs()
{
	# Links of merged directories are known to dpkg by one of their names.
	package=$(dpkg -S "$2" 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -n "$package" ] || { echo "no package: $3"; return; }
	grep -q -w -e "$package" "$tmp/$1" || fail "setup does not install $package for $3"
	echo "ok: $3: $package"
}

dependencies=$(sed -n "s/.*dependency('\([a-z-]*\)'.*/\1/p" "$SRC/meson.build")
[ -n "$dependencies" ] || fail "meson.build asks for nothing"
echo git >>"$tmp/all"
for name in $dependencies; do
	[ "$name" != threads ] || continue # of the C library
	directory=$(pkg-config --variable=pcfiledir "$name") || continue
	list=build
	[ "$name" != cmocka ] || list=all
	needs $list "$directory/$name.pc" "$name"
done
for tool in meson ninja; do
	needs build "$(readlink -f "$(command -v $tool)")" "$tool"
done
for tool in jq mandoc shellcheck cppcheck accton; do
	path=$(PATH=$PATH:/usr/sbin command -v $tool) || continue
	needs all "$(readlink -f "$path")" "$tool"
done

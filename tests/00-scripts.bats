#!/usr/bin/env bats
# What can be said of the sources and of the built library without a server.

bats_require_minimum_version 1.5.0
load lib/shim

setup() {
	cd "$shim_root" || return 1
}

# Scripts by name or by their first line; not what a build or git made.
scripts() {
	find . \( -name .git -o -name build -o -name 'build-*' -o -name m4 \
		-o -name autom4te.cache -o -name 'configure*' \) -prune -o -type f \
		\( -name '*.bats' -o -name '*.bash' -o -name '*.sh' -o \
		-exec sh -c 'head -n 1 "$1" | grep -aqE "^#!.*[/ ](ba|da)?sh( |$)"' sh {} \; \) \
		-print
}

@test "shellcheck finds nothing in any script" {
	local files
	mapfile -t files < <(scripts)
	printf '%s\n' "${files[@]}"
	[[ " ${files[*]} " = *" ./quickstart "* ]]
	[[ " ${files[*]} " = *' ./bin/nfsappend.in '* ]]
	shellcheck "${files[@]}"
}

@test "the wrapper is POSIX sh" {
	shellcheck -s sh bin/nfsappend.in
	dash -n bin/nfsappend.in
}

@test "mandoc finds nothing in the manual pages" {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	# It cannot know which other pages are installed.
	run ! grep -vE 'outdated mandoc.db|referenced manual not found' < <(
		mandoc -T lint man/nfsappend.1 "$(installed_page 7)" 2>&1)
}

@test "every variable of the manual page is one that the library reads" {
	local documented read
	documented=$(grep -oE '^\.It Ev NFSAPPEND_[A-Z]+' man/nfsappend.1 |
		sed 's/.* //' | sort -u)
	read=$(grep -rhoE '"NFSAPPEND_[A-Z]+"' lib | tr -d '"' | sort -u)
	diff -u <(echo "$documented") <(echo "$read")
}

# The page of a section as make install wrote it.
installed_page() {
	echo "$NFSAPPEND_PREFIX/share/man/man$1/nfsappend.$1"
}

# Identifiers of lib/core/log.h, as "NUMBER NAME".
messages() {
	sed -nE 's/^\t(NFSAPPEND_MSG_[A-Z_]+) = ([0-9]+),$/N\2 \1/p' \
		lib/core/log.h
}

@test "every message identifier is in the manual page, and no other" {
	[[ -n $(messages) ]]
	[[ -z $(messages | cut -d ' ' -f 1 | sort | uniq -d) ]]
	diff -u <(messages | cut -d ' ' -f 1 | sort) \
		<(sed -nE 's/^\.It Sy (N[0-9]+)$/\1/p' man/nfsappend.1 | sort)
}

# Also where a message, a page or a script speaks of another message.
@test "every identifier that is named anywhere is one of a message" {
	local named
	named=$(grep -rhowE 'N[1-9][0-9]{2}' man lib bin README.md NEWS \
		quickstart tests/*.bats tests/lib | sort -u)
	[[ -n $named ]]
	[[ -z $(comm -13 <(messages | cut -d ' ' -f 1 | sort) - <<<"$named") ]]
}

@test "every message has an identifier of the list" {
	local without
	without=$(awk '/nfsappend_log\(/ { n = 3; call = "" }
		n > 0 {
			call = call $0
			if (--n == 0 && call !~ /NFSAPPEND_MSG_|int level, int id/)
				print FILENAME ":" call
		}' lib/*/*.c)
	echo "$without"
	[[ -z $without ]]
}

@test "the manual page calls reserved those messages that nothing says" {
	local number name
	diff -u <(messages | while read -r number name; do
		grep -rqw --include='*.c' "$name" lib || echo "$number"
	done) <(grep -B 1 '^Reserved: ' man/nfsappend.1 |
		sed -n 's/^\.It Sy //p')
}

# One HOOK(name, how, "what happens") a line in hooks.def.
hook_names() {
	sed -n 's/^HOOK(\([a-zA-Z0-9_]*\), \(hooked\|watched\),.*/\1/p' \
		lib/preload/hooks.def | sort
}

@test "the library exports its hooks and nothing else" {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'the sanitizers add symbols; the plain build shows it'
	[[ -n $(hook_names) ]]
	diff -u <(hook_names) <(nm -D --defined-only --format=posix \
		"$(shim_library)" | sed 's/[@ ].*//' | sort)
}

@test "nfsappend(7) tells what becomes of every name in hooks.def" {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	sed -nE 's/^HOOK\(([A-Za-z0-9_]+), ([a-z]+), "(.*)"\)$/\2 \1 \3/p' \
		lib/preload/hooks.def >"$BATS_TEST_TMPDIR/hooks"
	[[ $(wc -l <"$BATS_TEST_TMPDIR/hooks") -eq $(grep -c '^HOOK(' lib/preload/hooks.def) ]]
	sed -n '/^\.Sh COVERAGE/,/^\.Sh FILES/p' "$(installed_page 7)" | awk '
		$1 == ".Ss" { how = tolower($2); sub(":", "", how) }
		$1 == ".It" { name = $3 }
		/^\\&/ { print how, name, substr($0, 3) }' >"$BATS_TEST_TMPDIR/page"
	diff -u <(sort "$BATS_TEST_TMPDIR/hooks") <(sort "$BATS_TEST_TMPDIR/page")
}

@test "the nfs module exports no hook" {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	local module
	module=$(dirname "$(shim_library)")/nfsappend-nfs.so
	[[ -r $module ]]
	[[ -z $(comm -12 <(hook_names) <(nm -D --defined-only --format=posix \
		"$module" | sed 's/[@ ].*//' | sort)) ]]
}

@test "the installed files can be loaded by every user" {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	local folder
	folder=$(dirname "$(shim_library)")
	[[ $(stat -Lc %a "$folder/libnfsappend.so") = 755 ]]
	[[ $(stat -Lc %a "$folder/nfsappend-nfs.so") = 755 ]]
	[[ $(stat -Lc %a "$NFSAPPEND_PREFIX/bin/nfsappend") = 755 ]]
}

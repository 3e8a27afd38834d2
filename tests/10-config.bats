#!/usr/bin/env bats
# The wrapper's command line, and what a bad environment does.

load lib/load

# bad_usage STATUS WORD... -- ARG...: the wrapper refuses with one message.
bad_usage() {
	local expected=$1 words=()
	shift
	while [[ $1 != -- ]]; do
		words+=("$1")
		shift
	done
	run "-$expected" --separate-stderr env -u NFSAPPEND_MAP -u NFSAPPEND_PATHS \
		"$SHIM_WRAPPER" "${@:2}"
	# shellcheck disable=SC2154
	printf '%s\n' "$stderr" >"$MESSAGES"
	echo "status $status, output: $output, messages: $stderr"
	[[ -z $output ]]
	one_message "${words[@]}"
}

setup() {
	in_control && skip 'needs the shim: nothing here runs without it'
	new_case
}

@test "--help and --version" {
	run -0 --separate-stderr "$SHIM_WRAPPER" --help
	[[ ${lines[0]} = 'usage: nfsappend [-p DIR]'* && -z $stderr ]]
	run -0 --separate-stderr "$SHIM_WRAPPER" --version
	[[ $output =~ ^nfsappend\ [0-9]+\.[0-9]+\.[0-9]+$ && -z $stderr ]]
}

@test "status 125 for what is wrong on the command line" {
	local url=nfs://server/export
	bad_usage 125 'no command' --
	bad_usage 125 'no command' -- -m "/logs=$url"
	bad_usage 125 'no path to serve' '-p DIR' -- true
	bad_usage 125 --frobnicate --help -- --frobnicate true
	bad_usage 125 -m 'no value' -- -m
	bad_usage 125 --log 'no value' -- --log
	bad_usage 125 "no '='" 'DIR=nfs://' -- -m /logs true
	bad_usage 125 "'http://server/export'" 'nfs://' -- -m /logs=http://server/export true
	bad_usage 125 'no server' -- -m /logs=nfs:///export true
	bad_usage 125 'no export' -- -m /logs=nfs://server true
	bad_usage 125 'no export' -- -m /logs=nfs://server/ true
	bad_usage 125 "'logs'" absolute -- -m "logs=$url" true
	bad_usage 125 "''" absolute -- -m "=$url" true
	bad_usage 125 'white space' -- -m "/my logs=$url" true
	bad_usage 125 "'/'" -- -m "/=$url" true
	bad_usage 125 'twice' -- -m "/logs=$url" -m "/logs=$url/other" true
	bad_usage 125 version '3 or 4' -- -m "/logs=$url?version=5" true
	bad_usage 125 nfsport 65535 -- -m "/logs=$url?nfsport=abc" true
	bad_usage 125 mountport 65535 -- -m "/logs=$url?mountport=0" true
	bad_usage 125 uid number -- -m "/logs=$url?version=3&uid=-5" true
	bad_usage 125 sec sys -- -m "/logs=$url?sec=krb5" true
	bad_usage 125 "'vesion'" -- -m "/logs=$url?vesion=4" true
	bad_usage 125 colon -- -p /a:/b true
	bad_usage 125 empty -- -p '' true
	bad_usage 125 --sharing "'shared'" guarded -- --sharing shared true
	bad_usage 125 --timeout "'-1'" seconds -- --timeout=-1 true
	bad_usage 125 --timeout "'1m'" seconds -- --timeout 1m true
	bad_usage 125 --timeout "''" seconds -- --timeout= true
	bad_usage 125 --timeout "'86401'" seconds -- --timeout=86401 true
	bad_usage 125 --fallback "'local'" kernel -- --fallback local true
	bad_usage 125 --log "'loud'" debug -- --log loud true
	bad_usage 125 --log /none 'does not exist' -- --log warn:/none/log true
	bad_usage 125 --log 'no file name' -- --log warn: true
	bad_usage 125 --stats /none 'does not exist' -- --stats /none/stats true
	bad_usage 125 --stats directory -- --stats / true
	bad_usage 125 bench 'no DIR or URL' -- bench
}

@test "status 126 for what cannot run, 127 for what is not there" {
	local url=nfs://server/export
	echo 'echo never' >"$BATS_TEST_TMPDIR/plain"
	bad_usage 126 /etc directory -- -m "/logs=$url" /etc
	bad_usage 126 plain 'not executable' -- -m "/logs=$url" "$BATS_TEST_TMPDIR/plain"
	bad_usage 127 no-such-program PATH -- -m "/logs=$url" no-such-program
	bad_usage 127 /no/such/program 'not found' -- -m "/logs=$url" /no/such/program
	bad_usage 127 status 'not found' -- -m "/logs=$url" -- status
	bad_usage 127 empty -- -m "/logs=$url" ''
}

@test "the command's own status, arguments and standard streams" {
	run --separate-stderr "$SHIM_WRAPPER" -m "$LOGS=$SHIM_URL" -- \
		sh -c 'cat; printf "<%s>" "$@"; echo err >&2; exit 42' \
		sh 'a b' '' '*' -m <<<input
	[[ $status -eq 42 && $output = $'input\n<a b><><*><-m>' && $stderr = err ]]
}

# The environment that a command gets, one variable.
environment() {
	"$SHIM_WRAPPER" "${@:2}" -- sh -c "printf '%s' \"\$$1\""
}

@test "LD_PRELOAD is prepended to, other variables are added to" {
	local url=nfs://server/export
	[[ $(environment LD_PRELOAD -p /a) = "$SHIM_LIBRARY" ]]
	[[ $(LD_PRELOAD=libc.so.6 environment LD_PRELOAD -p /a) = "$SHIM_LIBRARY:libc.so.6" ]]
	[[ $(environment NFSAPPEND_PATHS -p /a -p/b) = /a:/b ]]
	[[ $(NFSAPPEND_PATHS=/z environment NFSAPPEND_PATHS -p /a) = /z:/a ]]
	[[ $(NFSAPPEND_MAP=/z=$url environment NFSAPPEND_MAP -m "/a=$url" "-m/b=$url?uid=1") = \
		"/a=$url /b=$url?uid=1 /z=$url" ]]
	[[ $(environment NFSAPPEND_SHARING --sharing=single -p /a) = single ]]
	[[ $(environment NFSAPPEND_TIMEOUT --timeout 30 -p /a) = 30 ]]
	[[ $(environment NFSAPPEND_FALLBACK --fallback fail -p /a) = fail ]]
	[[ $(environment NFSAPPEND_LOG --log debug -p /a) = debug ]]
	[[ $(environment NFSAPPEND_LOG --log=info:log -p /a) = "info:$WORK/log" ]]
	[[ $(environment NFSAPPEND_STATS --stats stats -p /a) = "$WORK/stats" ]]
	[[ $(environment NFSAPPEND_STATS --stats stderr -p /a) = stderr ]]
}

@test "--print-env prints what systemd, cron and Docker read" {
	run -0 --separate-stderr "$SHIM_WRAPPER" -p '/50% "full"' --timeout 9 --print-env
	[[ -z $stderr ]]
	[[ $output = *"Environment=\"LD_PRELOAD=$SHIM_LIBRARY\""* ]]
	[[ $output = *'Environment="NFSAPPEND_PATHS=/50%% \"full\""'* ]]
	[[ $output = *$'\nNFSAPPEND_PATHS=\'/50% "full"\''* ]]
	[[ $output = *$'\nNFSAPPEND_TIMEOUT="9"'* ]]
	[[ $output = *$'\n-e \'NFSAPPEND_TIMEOUT=9\''* ]]
	# What it prints for cron, a shell can read too.
	eval "$(sed -n '/^# cron/,/^# Docker/{/^[A-Z]/p}' <<<"$output")"
	[[ $NFSAPPEND_PATHS = '/50% "full"' && $NFSAPPEND_TIMEOUT = 9 ]]
	unset LD_PRELOAD NFSAPPEND_PATHS NFSAPPEND_TIMEOUT
}

static_program() {
	echo 'int main(void) { return 5; }' |
		"${CC:-cc}" -static -xc - -o "$BATS_TEST_TMPDIR/static"
	printf '#!%s\n' "$BATS_TEST_TMPDIR/static" >"$BATS_TEST_TMPDIR/static-script"
	printf '#!/usr/bin/env -S A=b static-script\n' >"$BATS_TEST_TMPDIR/second"
	chmod +x "$BATS_TEST_TMPDIR/static-script" "$BATS_TEST_TMPDIR/second"
}

@test "a program that cannot be shimmed: warned about with -p" {
	static_program
	local program
	for program in static static-script second; do
		run --separate-stderr env "PATH=$BATS_TEST_TMPDIR:$PATH" \
			"$SHIM_WRAPPER" -p /logs "$program"
		printf '%s\n' "$stderr" >"$MESSAGES"
		[[ $status -eq 5 ]]
		one_message warning "$BATS_TEST_TMPDIR/static" 'statically linked'
	done
}

@test "a program that cannot be shimmed: refused with -m or --fallback fail" {
	static_program
	bad_usage 126 static 'statically linked' -m -- -m "$LOGS=$SHIM_URL" "$BATS_TEST_TMPDIR/static"
	bad_usage 126 static 'statically linked' -m -- -m "$LOGS=$SHIM_URL" "$BATS_TEST_TMPDIR/static-script"
	bad_usage 126 static '--fallback fail' -- -p /logs --fallback fail "$BATS_TEST_TMPDIR/static"
}

@test "setuid and setgid programs, Go programs, other machines, other libcs" {
	local program=$BATS_TEST_TMPDIR/program
	echo 'int main(void) { return 5; }' | "${CC:-cc}" -xc - -o "$program"
	run -5 "$SHIM_WRAPPER" -m "$LOGS=$SHIM_URL" "$program"
	chown 65534 "$program" && chmod u+s "$program"
	bad_usage 126 program setuid -- -m "$LOGS=$SHIM_URL" "$program"
	chgrp 65534 "$program" && chmod u-s,g+sx "$program"
	bad_usage 126 program setgid -- -m "$LOGS=$SHIM_URL" "$program"
	# An e_machine that no test machine has.
	cp "$(type -P true)" "$program"
	printf '\xfe\xca' | dd of="$program" bs=1 seek=18 conv=notrunc status=none
	bad_usage 126 program 'word size or machine' -- -m "$LOGS=$SHIM_URL" "$program"
	# As a cgo program has it: a note of the owner "Go" beside PT_INTERP.
	printf '%s\n' '.section .note.go.buildid, "a", %note' '.balign 4' \
		'.long 4, 4, 4' '.asciz "Go\0"' '.ascii "abcd"' \
		'.section .note.GNU-stack, "", %progbits' >"$program.s"
	echo 'int main(void) { return 5; }' |
		"${CC:-cc}" -xassembler "$program.s" -xc - -o "$program"
	bad_usage 126 program 'Go program' -- -m "$LOGS=$SHIM_URL" "$program"
	echo 'int main(void) { return 5; }' | "${CC:-cc}" -xc - -o "$program" \
		-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
	bad_usage 126 program 'another C library' -- -m "$LOGS=$SHIM_URL" "$program"
}

@test "a script whose interpreter is not there, is none, or has a carriage return" {
	local script=$BATS_TEST_TMPDIR/script
	printf '#!/no/such/interpreter -x\n' >"$script"
	chmod +x "$script"
	bad_usage 127 "$script" 'its interpreter /no/such/interpreter is not there' -- -p /a "$script"
	printf '#!%s\n' "$BATS_TEST_TMPDIR" >"$script"
	bad_usage 126 "$script" 'cannot be executed' -- -p /a "$script"
	printf '#!/bin/sh\r\nexit 0\r\n' >"$script"
	bad_usage 127 "$script" 'carriage return' -- -p /a "$script"
	# The kernel takes this for no program, and a shell for its own.
	printf '#!\nexit 7\n' >"$script"
	run -7 "$SHIM_WRAPPER" -p /a "$script"
}

@test "a library that is missing or misplaced" {
	local copy=$BATS_TEST_TMPDIR/nfsappend
	sed "s,^pkglibdir=.*,pkglibdir=$BATS_TEST_TMPDIR/none," "$SHIM_WRAPPER" >"$copy"
	run --separate-stderr sh "$copy" -m "$LOGS=$SHIM_URL" true
	[[ $status -eq 125 && $stderr = *"$BATS_TEST_TMPDIR/none/libnfsappend.so: not found"* ]]
	mkdir "$BATS_TEST_TMPDIR/with space"
	cp "$SHIM_LIBRARY" "$BATS_TEST_TMPDIR/with space/"
	sed "s,^pkglibdir=.*,pkglibdir='$BATS_TEST_TMPDIR/with space'," "$SHIM_WRAPPER" >"$copy"
	run --separate-stderr sh "$copy" -m "$LOGS=$SHIM_URL" true
	[[ $status -eq 125 && $stderr = *'white space'* ]]
}

# bad_map [-d] ENTRY WORD...: the entry of NFSAPPEND_MAP is dropped with one
# message that names variable, entry and WORDs; with -d where something below
# /other is opened, which fails. The good one beside it serves.
bad_map() {
	local below=''
	if [[ $1 = -d ]]; then
		below=/other/x
		shift
	fi
	rm -f "$SERVED/x"
	export NFSAPPEND_MAP=$1
	# shellcheck disable=SC2016
	run_shimmed sh -c 'echo served >>"$LOGS/x"; date >/dev/null
		[ -z "$2" ] || "$1" ac "$2" || :' sh "$PROGRAMS/prog_calls" "$below"
	unset NFSAPPEND_MAP
	[[ $status -eq 0 && $output = "${below:+open EIO}" ]]
	[[ $(cat "$SERVED/x") = served ]]
	one_message NFSAPPEND_MAP "$@"
}

@test "a malformed entry of NFSAPPEND_MAP: one message, the others serve" {
	bad_map -d /other
	bad_map -d /other=http://server/export
	bad_map -d /other=nfs://
	bad_map -d /other=nfs://server
	bad_map -d /other=nfs:///export
	bad_map -d '/other=nfs://server/export?version=9'
	bad_map -d '/other=nfs://server/export?nfsport=many'
	bad_map -d '/other=nfs://server/export?nfsport=65536'
	bad_map -d '/other=nfs://server/export?uid=-5'
	bad_map -d '"/other=nfs://server/export"' quotes
	bad_map -d 'NFSAPPEND_MAP=/other=nfs://server/export'
}

# Of these nobody can tell what is below them: each program says so.
@test "an entry of NFSAPPEND_MAP without a directory: a message at the start" {
	local entry
	for entry in =nfs://server/export relative=nfs://server/export; do
		export NFSAPPEND_MAP=$entry
		# shellcheck disable=SC2016
		run_shimmed sh -c ': >>"$LOGS/x"'
		unset NFSAPPEND_MAP
		[[ $status -eq 0 && -z $output ]]
		one_message NFSAPPEND_MAP "$entry"
	done
}

@test "the same map by the environment and by -m: no message, -m counts" {
	export NFSAPPEND_MAP="$LOGS=$SHIM_URL $LOGS/other=nfs://nowhere/x"
	run_shimmed sh -c 'echo one >>"$LOGS/x"'
	[[ $status -eq 0 && -z $stderr ]]
	NFSAPPEND_MAP="$LOGS=nfs://nowhere/other"
	run_shimmed sh -c 'echo two >>"$LOGS/x"'
	[[ $status -eq 0 && -z $stderr ]]
	unset NFSAPPEND_MAP
	run_shimmed "$SHIM_WRAPPER" -m "$LOGS=$SHIM_URL" -- \
		sh -c 'echo three >>"$LOGS/x"; echo "$LD_PRELOAD"'
	[[ $status -eq 0 && -z $stderr && $output != *libnfsappend*libnfsappend* ]]
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
}

@test "a path under a dropped entry of NFSAPPEND_MAP: EIO, nothing local" {
	local entry
	mkdir "$BATS_TEST_TMPDIR/bad"
	for entry in =http://server/export =nfs:// \
		'=nfs://server/export?version=9'; do
		export NFSAPPEND_MAP="$BATS_TEST_TMPDIR/bad$entry"
		run_shimmed "$PROGRAMS/prog_calls" ac "$BATS_TEST_TMPDIR/bad/x"
		unset NFSAPPEND_MAP
		[[ $status -eq 1 && $output = 'open EIO' ]]
		[[ -z $(ls -A "$BATS_TEST_TMPDIR/bad") ]]
		one_message NFSAPPEND_MAP "$BATS_TEST_TMPDIR/bad"
	done
}

# bad_variable NAME VALUE: one message that names both; appends go on.
bad_variable() {
	rm -f "$SERVED/x"
	export "$1=$2"
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 2
	unset "$1"
	[[ $status -eq 0 && $(wc -l <"$SERVED/x") -eq 2 ]]
	one_message "$1" "$2"
}

@test "a bad value of another variable: one message, the default holds" {
	bad_variable NFSAPPEND_SHARING shared
	bad_variable NFSAPPEND_TIMEOUT soon
	bad_variable NFSAPPEND_TIMEOUT -3
	bad_variable NFSAPPEND_FALLBACK local
	bad_variable NFSAPPEND_LOG loud
}

@test "a statistics file that cannot be written: one message, appends go on" {
	STATS=$BATS_TEST_TMPDIR/unwritable
	mkdir "$BATS_TEST_TMPDIR/gone"
	run_shimmed env "NFSAPPEND_STATS=$BATS_TEST_TMPDIR/none/stats" \
		"$PROGRAMS/prog_append" "$LOGS/x" 2
	[[ $status -eq 0 && $(wc -l <"$SERVED/x") -eq 2 ]]
	one_message NFSAPPEND_STATS "$BATS_TEST_TMPDIR/none/stats"
}

@test "log levels: off says nothing, debug goes to its file" {
	export NFSAPPEND_SHARING=shared
	SHIM_OPTIONS=(--log off)
	run_shimmed sh -c 'echo x >>"$LOGS/x"'
	[[ $status -eq 0 && -z $stderr ]]
	SHIM_OPTIONS=(--log "debug:$BATS_TEST_TMPDIR/log")
	run_shimmed sh -c 'echo x >>"$LOGS/x"'
	unset NFSAPPEND_SHARING
	[[ $status -eq 0 && -z $stderr ]]
	grep -q NFSAPPEND_SHARING "$BATS_TEST_TMPDIR/log"
}

@test "a message has program, pid and an identifier" {
	export NFSAPPEND_SHARING=shared
	run_shimmed sh -c 'echo $$; echo x >>"$LOGS/x"'
	unset NFSAPPEND_SHARING
	[[ $stderr =~ nfsappend.*sh.*$output.*[A-Z]+ ]]
}

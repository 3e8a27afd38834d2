#!/usr/bin/env bats
# nfsappend bench: what it says, that it leaves nothing behind, and that it ends.
# With a kernel mount: tests/vm/bench.bats.

bats_require_minimum_version 1.5.0
load lib/shim
load lib/server

setup_file() {
	export SERVER_SMALL_SIZE=4m
	start_server
	setup_shim
}

teardown_file() {
	stop_server
}

setup() {
	in_control && skip 'needs the shim: nothing here runs without it'
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'measures; the plain build shows it'
	new_case
	server_ensure
}

# bench ARG...: in the server's namespaces, where its address is.
bench() {
	in_server "$SHIM_WRAPPER" bench "$@"
}

# started SECONDS: in the background; sets pid, for wait.
started() {
	rm -f "$BATS_TEST_TMPDIR/pid"
	# shellcheck disable=SC2016 # expanded inside
	in_server sh -c 'echo $$ >"$0"; exec "$@"' "$BATS_TEST_TMPDIR/pid" \
		"$SHIM_WRAPPER" bench --seconds "$1" "$SHIM_URL" \
		>"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	pid=$!
}

signal() {
	in_server kill -s "$1" "$(<"$BATS_TEST_TMPDIR/pid")"
}

nothing_left() {
	[[ -z $(ls -A "$SERVED") ]]
	[[ -z $(in_server find /dev/shm /tmp -maxdepth 1 -name 'nfsappend-bench*') ]]
}

# figure LINE COLUMN: of the table; 1: one writer's records a second, 3 (behind
# a time and its unit): that of 16.
figure() {
	sed -n "s/^$1 //p" <<<"$output" | awk -v column="$2" '
		{ print column == 1 ? $1 : $4 }'
}

@test "NFSv3: a table of single and guarded, advice, and nothing left" {
	run -0 --separate-stderr bench --seconds 1 "$SHIM_URL"
	echo "$output"
	[[ -z $stderr ]]
	[[ ${lines[0]} = "$SHIM_URL, by NFSv3" ]]
	[[ $(figure 'nfsappend single' 1) -gt 0 && $(figure 'nfsappend single' 3) -gt 0 ]]
	[[ $(figure 'nfsappend guarded' 1) -gt 0 && $(figure 'nfsappend guarded' 3) -gt 0 ]]
	[[ $output = *'nfsappend locked       left out: NFSv3'* ]]
	[[ $output = *'A round trip to the server takes '* ]]
	[[ $output = *'no kernel mount to compare with'* ]]
	[[ $output = *'- locked, for writers on several machines, needs NFSv4'* ]]
	[[ $output != *MISSING* && $output != *'nfsappend said'* ]]
	nothing_left
}

@test "NFSv4: locked too, and how it compares with single" {
	run -0 --separate-stderr bench --seconds 1 \
		"$(server_url_v4 "export/$BATS_TEST_NUMBER")"
	echo "$output"
	[[ -z $stderr ]]
	[[ $(figure 'nfsappend locked' 1) -gt 0 && $(figure 'nfsappend locked' 3) -gt 0 ]]
	[[ $output =~ '- locked (what auto takes by NFSv4)'.*'% of single' ]]
	[[ $output != *MISSING* ]]
	nothing_left
}

@test "it writes where it was told, records of its own, two megabytes at most" {
	local pid i file='' most=0 size
	started 60
	for ((i = 0; i < 60; i++)); do
		file=$(ls -A "$SERVED")
		[[ $file != *$'\n'* ]]
		size=$(stat -c %s "$SERVED/$file" 2>/dev/null || echo 0)
		((most = size > most ? size : most, 1))
		[[ $most -eq 0 || $i -lt 20 ]] || break
		sleep 0.1
	done
	signal INT
	wait "$pid" || [[ $? = 130 ]]
	echo "largest: $most"
	[[ $most -gt 0 && $most -le 2001600 ]]
	nothing_left
}

@test "interrupted, terminated, hung up: the file is removed, status 128 + n" {
	local signal pid i rc
	for signal in INT:130 TERM:143 HUP:129; do
		started 60
		for ((i = 0; i < 200; i++)); do
			[[ -z $(ls -A "$SERVED") ]] || break
			sleep 0.05
		done
		[[ -n $(ls -A "$SERVED") ]]
		signal "${signal%:*}"
		rc=0
		wait "$pid" || rc=$?
		[[ $rc = "${signal#*:}" ]]
		grep -qx 'nfsappend bench: interrupted' "$BATS_TEST_TMPDIR/out"
		nothing_left
	done
}

@test "a server that falls silent: it ends, and says so" {
	server_signal STOP
	run bench --timeout 1 --seconds 2 "$SHIM_URL"
	server_signal CONT
	echo "$output"
	[[ $status -eq 1 && ${lines[-1]} = *'the server does not answer in time' ]]
}

@test "no NFS, no such directory, no such export, no permission: one clear line" {
	run -125 --separate-stderr bench "$BATS_TEST_TMPDIR"
	[[ ${#stderr_lines[@]} -eq 1 && -z $output ]]
	[[ $stderr = "nfsappend bench: $BATS_TEST_TMPDIR is not on NFS"*'name a directory of an NFS mount, or nfs://SERVER/EXPORT' ]]
	run -125 --separate-stderr bench /no/such/directory
	[[ $stderr = 'nfsappend bench: /no/such/directory: No such file or directory' ]]
	run -125 --separate-stderr bench nfs://server
	[[ ${#stderr_lines[@]} -eq 1 && $stderr = *'nfs://server: '* ]]
	run -1 --separate-stderr bench "nfs://127.0.0.1/none?$SERVER_PORTS"
	[[ ${#stderr_lines[@]} -eq 1 && $stderr = *'does not export /none'* ]]
	run -1 --separate-stderr bench "$(server_url readonly)"
	[[ ${#stderr_lines[@]} -eq 1 && $stderr = *'Read-only file system'* ]]
	nothing_left
}

@test "a full file system: the kernel's words, and the file is removed" {
	server_takes_tmpfs || skip 'this nfs-ganesha exports no tmpfs'
	in_server dd if=/dev/zero of="$SERVER_DIR/small/filler" bs=4k status=none || :
	run -1 --separate-stderr bench --seconds 1 "$(server_url small)"
	in_server rm "$SERVER_DIR/small/filler"
	echo "$stderr"
	[[ $stderr = *'No space left on device'* ]]
	[[ -z $(in_server ls -A "$SERVER_DIR/small") ]]
}

@test "bad usage: 125, and what is right" {
	local words
	for words in '' '--seconds' '--seconds 0' '--seconds x /' '--timeout 3601 /' '--what /' '/ /'; do
		# shellcheck disable=SC2086 # words
		run -125 --separate-stderr bench $words
		[[ -z $output && $stderr = 'nfsappend bench: '*'usage: nfsappend bench [--seconds S]'* ]]
	done
	run -0 bench --help
	[[ $output = 'usage: nfsappend bench'*'removed at the end.' ]]
}

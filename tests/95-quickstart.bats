#!/usr/bin/env bats
# ./quickstart demo, as a person runs it, and how it can end.

bats_require_minimum_version 1.5.0
load lib/shim

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'the demo builds for itself; the plain run shows it'
	cd "$shim_root" || return 1
}

# The demo's server processes, by the folder that they all name.
demo_servers() {
	pgrep -f "$shim_root/build/demo/server" || :
}

nothing_runs() {
	local i
	for ((i = 0; i < 250; i++)); do
		[[ -n $(demo_servers) ]] || return 0
		sleep 0.02
	done
	echo 'still running:' >&2
	ps -fp "$(demo_servers | paste -sd ,)" >&2
	return 1
}

@test "demo: lines of bash, Python and tee, from the server's own file system" {
	run -0 ./quickstart demo
	echo "$output"
	[[ $output = *$'\na line of bash\nINFO line 1 of Python logging\n'* ]]
	[[ $output = *$'\nINFO line 5 of Python logging\na line of tee -a\n'* ]]
	[[ $output = *'"write_rpcs":5'* && $output = *'2 each, sharing guarded, v3'* ]]
	[[ ${lines[-1]} = 'demo: done, '* ]]
	nothing_runs
}

# demo_ended_by SIGNAL: sent while the server runs.
demo_ended_by() {
	local pid line fifo=$BATS_TEST_TMPDIR/output
	mkfifo "$fifo"
	./quickstart demo >"$fifo" 2>&1 3>&- 4>&- &
	pid=$!
	while read -r line; do
		[[ $line != '== server:'* ]] || break
	done <"$fifo"
	kill -s "$1" "$pid" || :
	wait "$pid" || :
	nothing_runs
}

@test "demo: nothing runs on after kill and kill -9" {
	demo_ended_by TERM
	rm "$BATS_TEST_TMPDIR/output"
	demo_ended_by KILL
}

@test "what is asked for wrongly is said so" {
	run -2 ./quickstart
	[[ $output = 'usage: ./quickstart demo'* ]]
	run -2 ./quickstart check --half
	run -2 ./quickstart demo --serve
	run -1 ./quickstart demo --server
	run -1 ./quickstart demo --server http://server/export
	[[ $output = *"'http://server/export' is not nfs://SERVER/EXPORT"* ]]
}

@test "without root: the command to run is named" {
	mkdir -m 755 "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query"
	chmod 755 "$BATS_TEST_TMPDIR/bin/dpkg-query"
	# id says who we are: the checkout may be closed to other users.
	printf '#!/bin/sh\necho 65534\n' >"$BATS_TEST_TMPDIR/bin/id"
	chmod 755 "$BATS_TEST_TMPDIR/bin/id"
	run -1 env "PATH=$BATS_TEST_TMPDIR/bin:$PATH" ./quickstart check
	[[ ${lines[-1]} = *'as root, run: apt-get install -y --no-install-recommends '*libnfs-dev*bats* ]]
	rm "$BATS_TEST_TMPDIR/bin/dpkg-query"
	run -1 env "PATH=$BATS_TEST_TMPDIR/bin:$PATH" ./quickstart demo
	[[ ${lines[-1]} = *'run: sudo ./quickstart demo'* ]]
}

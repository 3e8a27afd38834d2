#!/usr/bin/env bats
# nfsappend bench on kernel mounts, against knfsd: tests/vm/run bench.bats.
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
}

# measured DIR: the table of a short run, in $output.
measured() {
	mkdir -p "$1"
	run -0 --separate-stderr "$NFSAPPEND_PREFIX/bin/nfsappend" bench \
		--seconds 1 "$1"
	echo "$output"
	[ "$stderr" = '' ]
	[ "$(ls -A "$1")" = '' ]
	[[ $output != *MISSING* && $output != *'nfsappend said'* ]]
	grep -E '^kernel, buffered +[0-9]+ .* lost, overwritten$' <<<"$output"
	grep -E '^kernel, O_SYNC +[0-9]+ .* kept, overwritten$' <<<"$output"
	grep -E '^nfsappend single +[0-9]+ .* kept, overwritten$' <<<"$output"
	grep -E '^nfsappend guarded +[0-9]+ ' <<<"$output"
	grep -E '^A round trip to the server takes [0-9]' <<<"$output"
	grep -E '^- 16 writers, nfsappend single beside kernel, O_SYNC: [0-9]+ records' <<<"$output"
}

@test "NFSv4.2: the kernel's ways beside ours, flock() beside locked" {
	measured /mnt/v4/bench
	[[ ${lines[0]} = '/mnt/v4/bench: / on '*', mounted by NFSv4.2; nfsappend speaks NFSv4.0 beside it' ]]
	grep -E '^kernel, O_SYNC, flock +[0-9]+ .* kept, kept$' <<<"$output"
	grep -E '^nfsappend locked +[0-9]+ .* kept, kept$' <<<"$output"
	grep -E '^- one writer, nfsappend locked beside kernel, O_SYNC, flock: ' <<<"$output"
}

@test "NFSv3 with nolock: no flock(), no locked, and why" {
	measured /mnt/v3/bench
	[[ ${lines[0]} = '/mnt/v3/bench: /mnt/export on '*', mounted by NFSv3' ]]
	grep '^kernel, O_SYNC, flock  left out: .*nolock' <<<"$output"
	grep '^nfsappend locked       left out: NFSv3' <<<"$output"
}

# The last one: what it leaves is a server without threads.
@test "a mount whose server is gone, before and during a run: it ends" {
	mkdir -p /mnt/v3/gone
	"$NFSAPPEND_PREFIX/bin/nfsappend" bench --timeout 2 --seconds 30 \
		/mnt/v3/gone >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
	local pid=$! rc=0
	until [ "$(ls -A /mnt/export/gone)" != '' ]; do sleep 0.1; done
	rpc.nfsd 0
	wait "$pid" || rc=$?
	cat "$BATS_TEST_TMPDIR/out"
	[ "$rc" = 1 ]
	[[ $(tail -n 1 "$BATS_TEST_TMPDIR/out") = *'the server does not answer in time' ]]
	# Its name, since nobody could remove it.
	grep -q 'gone/.nfsappend-bench-.* may be left; remove it$' "$BATS_TEST_TMPDIR/out"
	run -125 --separate-stderr "$NFSAPPEND_PREFIX/bin/nfsappend" bench \
		--timeout 2 /mnt/v3/gone/no-such-file
	echo "$stderr"
	[[ $stderr = *'no answer within 2 s; is its server down?' ]]
}

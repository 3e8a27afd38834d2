#!/usr/bin/env bats
# The fault proxy, between the raw client and the scripted server.

bats_require_minimum_version 1.5.0

setup_file() {
	load helper
	server_build
}

setup() {
	load helper
	server_start
	mkdir -p "$BATS_TEST_TMPDIR"
	"$SERVER_BIN/proxy" --seed 3 --control "$BATS_TEST_TMPDIR/pctl" \
		--to "127.0.0.1:$PORT" >"$BATS_TEST_TMPDIR/pport" 3>&- &
	PROXY_PID=$!
	PORT=$(wait_port "$BATS_TEST_TMPDIR/pport")
}

teardown() {
	proxy_stop
	server_stop
}

proxy_stop() {
	[ -n "${PROXY_PID-}" ] || return 0
	kill "$PROXY_PID"
	wait "$PROXY_PID"
	PROXY_PID=
}

ptell() {
	"$SERVER_BIN/proxy" --send "$BATS_TEST_TMPDIR/pctl" "$@"
}

@test "forwards, counts" {
	seq 300000 >"$BATS_TEST_TMPDIR/in"
	url="nfs://127.0.0.1/e/f?nfsport=$PORT&mountport=$PORT&version=3"
	nfs-cp "$BATS_TEST_TMPDIR/in" "$url"
	cmp "$BATS_TEST_TMPDIR/in" "$DATA/f"
	nfs-cat "$url" | cmp - "$BATS_TEST_TMPDIR/in"
	proxy_stop
	grep -qE '^connections [1-9][0-9]* .* cut 0 ' "$BATS_TEST_TMPDIR/pport"
}

@test "the reply of the nth WRITE is lost, and the connection with it" {
	ptell 'on reply WRITE nth 2 cut before'
	v3 write 0 10 write 10 10 write 20 10
	has "write: connection lost"
	[ "$(grep -c '^write: status 0' <<<"$output")" = 2 ]
	[ "$(size x)" = 30 ]
	run ptell status
	has "rule 1 seen 3 fired 1: on reply WRITE nth 2 cut before"
}

@test "requests and replies cut before, in the middle and after" {
	for what in request:before:0 request:middle:0 request:after:10 \
		reply:before:10 reply:middle:10; do
		IFS=: read -r way where left <<<"$what"
		ptell clear "on $way WRITE nth 1 cut $where reset"
		v3 write 0 10 getattr
		has "write: connection lost"
		# the server may read the whole request only after the cut
		for _ in {1..20}; do
			[ "$(size x)" = "$left" ] && break
			sleep 0.05
		done
		[ "$(size x)" = "$left" ]
	done
}

@test "drop, duplicate, delay of one record; longer" {
	ptell 'on request WRITE nth 1 drop' 'on reply WRITE nth 1 duplicate' \
		'on reply WRITE nth 2 delay 300ms' \
		'on request longer 1000 drop'
	before=$(date +%s%N)
	v3 timeout 200 write 0 10 timeout 2000 write 10 10 getattr write 20 10 \
		timeout 200 write 30 2000
	[ $((($(date +%s%N) - before) / 1000000)) -ge 700 ]
	mapfile -t w < <(grep '^write' <<<"$output")
	[ "${w[0]}" = "write: no reply" ]
	[[ ${w[1]} == "write: status 0"* ]]
	[[ ${w[2]} == "write: status 0"* ]]
	[ "${w[3]}" = "write: no reply" ]
	[ "$(size x)" = 30 ]
	run ptell status
	[[ $output == *" dropped 2 cut 0 duplicated 1 delayed 1"* ]]
}

@test "delay of everything: a round trip takes both" {
	ptell 'delay request 100ms' 'delay reply 100ms'
	before=$(date +%s%N)
	v3 getattr
	took=$((($(date +%s%N) - before) / 1000000))
	[ $took -ge 600 ] # mount, create, getattr
	[ $took -lt 1500 ]
}

@test "stall and go on; refuse; cut all" {
	ptell 'stall on'
	run raw timeout 200 mount /e
	has "mount: no reply"
	ptell 'stall off'
	v3 write 0 5
	starts "write: status 0"
	ptell 'refuse on'
	run ! raw mount /e
	ptell 'refuse off'
	"$SERVER_BIN/raw" "$PORT" mount /e create y sleep 500 getattr getattr \
		>"$BATS_TEST_TMPDIR/out" 3>&- &
	client=$!
	sleep 0.2
	ptell cut
	wait $client
	grep -qx 'getattr: connection lost' "$BATS_TEST_TMPDIR/out"
	grep -qx 'getattr: status 0 size 0' "$BATS_TEST_TMPDIR/out"
}

@test "random faults: what a seed and a rate give, nothing worse" {
	ptell 'on any rate 0.05 cut random' 'on any rate 0.02 drop'
	for _ in {1..5}; do
		# shellcheck disable=SC2046 # a hundred words
		raw timeout 50 mount /e create x \
			$(printf 'write 0 3000 getattr %.0s' {1..50}) || true
	done
	ptell clear
	v3 write 0 10
	starts "write: status 0"
	run ptell status
	cut=$(grep -oE 'cut [0-9]+' <<<"$output")
	[ "${cut#* }" -gt 10 ]
}

@test "bad commands and options are told" {
	run ! ptell 'on WRITE drop'
	run ! ptell 'on reply WRITE cut off'
	run ! ptell 'delay reply'
	run ! ptell nonsense
	run ! "$SERVER_BIN/proxy"
	"$SERVER_BIN/proxy" --help | grep -q 'cut random'
}

#!/usr/bin/env bats
# NFSv4.0 on the scripted server: the locked append in one compound, lost
# replies, leases and restarts, as nfs-ganesha and as knfsd do them.

bats_require_minimum_version 1.5.0

setup_file() {
	load helper
	server_build
}

setup() {
	load helper
}

teardown() {
	server_stop
}

v4() {
	run raw client me 1 open e x "$@"
	echo "$output"
	[ "$status" -eq 0 ]
}

nth_append() {
	grep '^append' <<<"$output" | sed -n "$1p"
}

@test "the locked append: one compound each" {
	server_start
	v4 append 100 append 100 append 50
	[ "$(size x)" = 250 ]
	[ "$(logged 'LOCK old .* WRITE .* LOCKU .* OK; sent')" = 2 ]
	[ "$(stat -c %a "$DATA/x")" = 640 ]
}

@test "NOT_SAME keeps the lock and tells the size" {
	server_start
	v4 append 100 size 7 append 10 fixed 10 append 10
	[ "$(nth_append 2)" = "append: status 10027 at VERIFY size 100" ]
	starts "fixed: status 0 count 10"
	[ "$(size x)" = 120 ]
}

@test "another host's lock: DENIED until LOCKU" {
	server_start
	# NOT_SAME leaves the mutex byte locked
	"$SERVER_BIN/raw" "$PORT" client other 1 open e x append 5 size 99 \
		append 5 sleep 800 fixed 5 >"$BATS_TEST_TMPDIR/out" 3>&- &
	other=$!
	sleep 0.3
	v4 append 10 append 10 sleep 900 size 10 append 10
	wait $other
	[ "$(nth_append 1)" = "append: status 10010 at LOCK" ]
	[ "$(nth_append 2)" = "append: status 10010 at LOCK" ]
	[[ $(nth_append 3) == "append: status 0 count 10"* ]]
	[ "$(size x)" = 20 ]
}

@test "lost reply, sent again: OLD_STATEID as nfs-ganesha says" {
	server_start
	tell 'on v4 COMPOUND with LOCK nth 2 cut after-execute'
	v4 append 100 append 50 again resync append 25
	[ "$(nth_append 2)" = "append: connection lost" ]
	has "again: status 10024 at LOCK"
	starts "append: status 0 count 25 committed 2 size 150"
	[ "$(size x)" = 175 ]
}

@test "lost reply, sent again: BAD_SEQID as knfsd says" {
	server_start --like knfsd
	tell 'on v4 COMPOUND with LOCK nth 2 drop'
	v4 timeout 300 append 100 append 50 again resync append 25
	[ "$(nth_append 2)" = "append: no reply" ]
	has "again: status 10026 at LOCK"
	[ "$(size x)" = 175 ]
}

@test "lost reply of NOT_SAME, sent again: NOT_SAME, and the lock is held" {
	for like in ganesha knfsd; do
		server_start --like $like
		tell 'on v4 COMPOUND with LOCK nth 2 cut after-execute'
		v4 append 100 size 3 append 50 again fixed 50 append 5
		has "again: status 10027 at VERIFY size 100"
		starts "fixed: status 0 count 50"
		[ "$(size x)" = 155 ]
		[ "$(logged 'LOCK old .* replayed OK;')" = 1 ]
		server_stop
		rm "$DATA/x" "$LOG"
	done
}

@test "sent again while the first is between LOCK and LOCKU: LOCK replays" {
	server_start
	tell 'on v4 WRITE nth 2 hold before'
	v4 timeout 300 append 100 append 50 again
	[ "$(nth_append 2)" = "append: no reply" ]
	# the second one finds the size unchanged and writes the same bytes
	starts "again: status 0 count 50"
	[ "$(logged 'LOCK old .* replayed OK;')" = 1 ]
	tell release
	[ "$(size x)" = 150 ]
}

@test "after LOCKU: the open stateid still writes, the lock's does not" {
	server_start
	v4 append 100 append 100 late 5 latelock 5
	starts "late: status 0"
	has "latelock: status 10024 at WRITE"
}

@test "operations fail by rule; the lock stays" {
	server_start
	tell 'on v4 LOCK nth 2 reply DENIED range 0 all' \
		'on v4 WRITE nth 2 reply NOSPC' 'on v4 LOCK nth 5 reply GRACE'
	v4 append 1 append 10 append 10 unlock append 10 append 10 append 10
	[ "$(nth_append 2)" = "append: status 10010 at LOCK" ]
	[ "$(nth_append 3)" = "append: status 28 at WRITE size 1" ]
	has "unlock: status 0"
	[ "$(grep -c 'append: status 10013 at LOCK' <<<"$output")" = 1 ]
	[ "$(size x)" = 21 ]
}

@test "a first LOCK that is denied uses the open owner's seqid alone" {
	server_start
	tell 'on v4 LOCK nth 1 reply DENIED'
	v4 append 10 append 10 append 10
	[ "$(nth_append 1)" = "append: status 10010 at LOCK" ]
	[ "$(size x)" = 20 ]
}

@test "short, committed, size and append-other within a compound" {
	server_start
	tell 'on v4 WRITE nth 2 short 4 committed UNSTABLE' \
		'on v4 VERIFY nth 3 append-other 40' 'on v4 GETATTR nth 5 size 9'
	v4 append 10 append 10 size 14 append 10 fixed 10
	[ "$(nth_append 2)" = "append: status 0 count 4 committed 0 size 10" ]
	[[ $(nth_append 3) == "append: status 10027 at VERIFY"* ]]
	[ "$(size x)" = 54 ]
}

@test "cut before an operation leaves those before it done" {
	server_start
	tell 'on v4 WRITE nth 2 cut before'
	v4 append 10 append 10 again
	[ "$(nth_append 2)" = "append: connection lost" ]
	# the lock is held: LOCK is answered from the cache, and the rest runs
	starts "again: status 0 count 10"
	[ "$(size x)" = 20 ]
}

@test "cut in the middle of a compound's request: nothing executed" {
	server_start
	tell 'on v4 COMPOUND with WRITE nth 2 cut middle-of-request'
	v4 append 10 append 1000 again append 5
	[ "$(nth_append 2)" = "append: connection lost" ]
	starts "again: status 0 count 1000"
	[ "$(size x)" -ge 1010 ]
}

@test "expired leases: EXPIRED for state, the anonymous stateid writes" {
	server_start --lease 300ms
	v4 append 10 append 10 sleep 500 append 10 renew anonymous 5
	[ "$(nth_append 3)" = "append: status 10011 at LOCK" ]
	has "renew: status 10011 at other"
	starts "anonymous: status 0"
}

@test "as knfsd an idle client lives until somebody wants its lock" {
	server_start --lease 300ms --like knfsd
	v4 append 10 append 10 sleep 500 append 10
	[[ $(nth_append 3) == "append: status 0"* ]]
}

@test "a dead holder's lock goes with its lease" {
	server_start --lease 500ms
	run raw client dead 1 open e x append 5 size 99 append 5
	v4 append 10 sleep 700 append 10
	[ "$(nth_append 1)" = "append: status 10010 at LOCK" ]
	[[ $(nth_append 2) != "append: status 10010"* ]]
	[ "$(logged 'expired client')" -ge 1 ]
}

@test "the same id with a new verifier ends the old state" {
	server_start
	"$SERVER_BIN/raw" "$PORT" client me 1 open e x append 5 append 5 \
		sleep 500 append 5 >"$BATS_TEST_TMPDIR/out" 3>&- &
	old=$!
	sleep 0.2
	raw client me 2
	wait $old
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out")" = \
		"append: status 10011 at LOCK" ]
}

@test "restart: stale state, a new verifier, grace" {
	server_start
	"$SERVER_BIN/raw" "$PORT" client me 1 open e x append 5 append 5 \
		sleep 500 append 5 append 5 client me 1 open e x \
		>"$BATS_TEST_TMPDIR/out" 3>&- &
	client=$!
	sleep 0.2
	tell 'restart grace 60s'
	wait $client
	cat "$BATS_TEST_TMPDIR/out"
	grep -qx 'append: connection lost' "$BATS_TEST_TMPDIR/out"
	grep -qx 'append: status 10023 at LOCK' "$BATS_TEST_TMPDIR/out"
	grep -qx 'open: status 10013 at OPEN' "$BATS_TEST_TMPDIR/out"
	tell 'restart'
	v4 append 5
	starts "append: status 0"
}

@test "close, and its replay" {
	server_start
	v4 append 5 close again late 5
	has "close: status 0"
	has "again: status 0"
	has "late: status 10025 at WRITE"
}

@test "the same answers as nfs-ganesha 4.3 to the recorded sequences" {
	server_start --lease 3s
	"$BATS_TEST_DIRNAME/sequences" "$SERVER_BIN/raw" "$PORT" e |
		diff "$BATS_TEST_DIRNAME/sequences.ganesha" -
}

@test "rules that cannot be met are refused" {
	server_start
	run ! tell 'on v4 COMPOUND append-other 5'
	run ! tell 'on v4 COMPOUND file x drop'
	run ! tell 'on v4 LOCK with WRITE drop'
	tell 'on v4 COMPOUND with WRITE nth 1 no-attributes count 3' \
		'on v4 COMPOUND with WRITE nth 2 reply RESOURCE' \
		'on v4 WRITE nth 2 rpc-reply SYSTEM_ERR'
	v4 append 10 append 10 append 10
	[[ $(nth_append 1) == "append: status 0 count 3 committed 2" ]]
	[[ $(nth_append 2) == "append: status 10018"* ]]
	[[ $(nth_append 3) == "append: rpc error"* ]]
}

@test "reclaim in grace: open, lock, then append; outside it NO_GRACE" {
	server_start
	"$SERVER_BIN/raw" "$PORT" client me 1 open e x append 5 append 5 \
		sleep 600 reconnect client me 1 append 5 reopen append 5 relock \
		sleep 700 unlock append 5 append 5 reopen \
		>"$BATS_TEST_TMPDIR/out" 3>&- &
	client=$!
	sleep 0.3
	tell 'restart grace 800ms'
	wait $client
	cat "$BATS_TEST_TMPDIR/out"
	grep -qx 'append: status 10023 at LOCK' "$BATS_TEST_TMPDIR/out"
	grep -qx 'reopen: status 0' "$BATS_TEST_TMPDIR/out"
	grep -qx 'append: status 10013 at LOCK' "$BATS_TEST_TMPDIR/out"
	grep -qx 'relock: status 0' "$BATS_TEST_TMPDIR/out"
	grep -qx 'unlock: status 0' "$BATS_TEST_TMPDIR/out"
	grep -qx 'reopen: status 10033 at OPEN' "$BATS_TEST_TMPDIR/out"
	[ "$(size x)" = 20 ]
}

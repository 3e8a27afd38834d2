#!/usr/bin/env bats
# The scripted server by itself: real libnfs against it, and each verb.

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

@test "libnfs-utils write and read a file, NFSv3" {
	server_start
	seq 300000 >"$BATS_TEST_TMPDIR/in"
	url="nfs://127.0.0.1/e/f?nfsport=$PORT&mountport=$PORT&version=3"
	nfs-cp "$BATS_TEST_TMPDIR/in" "$url"
	cmp "$BATS_TEST_TMPDIR/in" "$DATA/f"
	nfs-cat "$url" | cmp - "$BATS_TEST_TMPDIR/in"
	nfs-ls "nfs://127.0.0.1/e?nfsport=$PORT&mountport=$PORT" | grep -q ' f$'
}

@test "libnfs-utils write and read a file, NFSv4" {
	server_start
	# libnfs 4.0.0 encodes compounds of at most 4 KB
	seq 700 >"$BATS_TEST_TMPDIR/in"
	url="nfs://127.0.0.1/e/f?version=4&nfsport=$PORT"
	nfs-cp "$BATS_TEST_TMPDIR/in" "$url"
	cmp "$BATS_TEST_TMPDIR/in" "$DATA/f"
	nfs-cat "$url" | cmp - "$BATS_TEST_TMPDIR/in"
	nfs-ls "nfs://127.0.0.1/e?version=4&nfsport=$PORT" | grep -q ' f$'
}

@test "create, write, getattr, commit, read, remove" {
	server_start
	v3 write 0 100 write 100 50 unstable getattr commit read 0 1000
	starts "write: status 0 count 100 committed 2 size 100"
	starts "write: status 0 count 50 committed 0 size 150"
	has "getattr: status 0 size 150"
	has "read: status 0 count 150 size 150"
	[ "$(stat -c %a "$DATA/x")" = 640 ]
	run raw mount /e lookup x remove x getattr
	has "getattr: status 70"
}

@test "a handle survives rename and another server over the same folder" {
	server_start
	"$SERVER_BIN/raw" "$PORT" mount /e create x sleep 700 reconnect \
		write 0 10 >"$BATS_TEST_TMPDIR/out" &
	client=$!
	sleep 0.3
	mkdir "$DATA/sub"
	mv "$DATA/x" "$DATA/sub/y"
	server_stop
	server_start --port "$PORT"
	wait $client
	grep -q "^write: status 0 count 10" "$BATS_TEST_TMPDIR/out"
	[ "$(size sub/y)" = 10 ]
}

@test "reply STATUS: from the nth on, so many times, nothing executed" {
	server_start
	tell 'on WRITE nth 2 reply JUKEBOX times 2'
	v3 write 0 10 write 10 10 write 10 10 write 10 20
	[ "$(grep -c '^write: status 10008' <<<"$output")" = 2 ]
	[ "$(size x)" = 30 ]
	[ "$(logged 'WRITE .* DELAY sent rule=1$')" = 2 ]
}

@test "reply STATUS: each errno that v3 has, with wcc_data" {
	server_start
	for pair in NOSPC=28 DQUOT=69 FBIG=27 ROFS=30 ACCES=13 STALE=70 IO=5 \
		GRACE=10013 SERVERFAULT=10006 4711=4711; do
		tell clear "on v3 WRITE reply ${pair%=*}"
		v3 write 0 10
		has "write: status ${pair#*=} size 0"
	done
}

@test "reply STATUS executed: the error lies" {
	server_start
	tell 'on WRITE reply IO executed'
	v3 write 0 10
	has "write: status 5 size 10"
}

@test "every N drop: executed, no reply" {
	server_start
	tell 'on v3 WRITE every 2 drop'
	v3 timeout 200 write 0 10 write 10 10 write 20 10
	has "write: no reply"
	[ "$(size x)" = 30 ]
	[ "$(logged ' dropped rule=1$')" = 1 ]
}

@test "ignore: neither executed nor answered" {
	server_start
	tell 'on v3 WRITE ignore'
	v3 timeout 200 write 0 10
	has "write: no reply"
	[ "$(size x)" = 0 ]
}

@test "cut before and middle-of-request: not executed" {
	server_start
	for where in before middle-of-request; do
		tell clear "on v3 WRITE cut $where times 1"
		v3 write 0 100000 write 0 5
		has "write: connection lost"
		starts "write: status 0 count 5"
		[ "$(size x)" = 5 ]
	done
	[ "$(logged 'cut conn=[0-9]+ in the middle of a request')" = 1 ]
}

@test "cut after-execute and middle-of-reply: executed" {
	server_start
	for where in after-execute middle-of-reply; do
		tell clear "on v3 WRITE cut $where times 1"
		v3 write 0 100 getattr
		has "write: connection lost"
		has "getattr: status 0 size 100"
	done
}

@test "short, committed, count, size, no-attributes, not-stored" {
	server_start
	tell 'on WRITE nth 1 short 7' 'on WRITE nth 2 committed UNSTABLE' \
		'on WRITE nth 3 count 4294967295' \
		'on WRITE nth 4 size 0xffffffffffffffff' \
		'on WRITE nth 5 no-attributes' 'on WRITE nth 6 not-stored' \
		'on WRITE nth 7 committed DATA_SYNC' \
		'on READ short 3' 'on GETATTR size 12345678901234'
	v3 write 0 10 write 7 3 write 10 10 write 20 10 write 30 10 \
		write 40 10 write 40 10 read 0 10 getattr
	starts "write: status 0 count 7 committed 2 size 7"
	starts "write: status 0 count 3 committed 0 size 10"
	starts "write: status 0 count 4294967295 committed 2 size 20"
	starts "write: status 0 count 10 committed 2 size 18446744073709551615"
	starts "write: status 0 count 10 committed 2 verifier"
	starts "write: status 0 count 10 committed 2 size 40"
	starts "write: status 0 count 10 committed 1 size 50"
	has "read: status 0 count 3 size 50"
	has "getattr: status 0 size 12345678901234"
}

@test "verifier change: by rule and by command" {
	server_start
	tell 'on WRITE nth 2 verifier change'
	v3 write 0 1 write 1 1 write 2 1 commit
	mapfile -t v < <(grep -o 'verifier .*' <<<"$output")
	[ "${v[0]}" != "${v[1]}" ]
	[ "${v[1]}" = "${v[2]}" ]
	[ "${v[2]}" = "${v[3]}" ]
	tell verifier
	v3 write 0 1
	[ "$(grep -o 'verifier .*' <<<"$output")" != "${v[3]}" ]
}

@test "other hosts append, truncate and remove between two calls" {
	server_start
	tell 'on v3 WRITE nth 1 before-execute append-other 30' \
		'on v3 WRITE nth 2 truncate-other 0' \
		'on v3 WRITE nth 3 remove-other'
	v3 getattr write 0 10 write 30 10 write 40 10
	starts "write: status 0 count 10 committed 2 size 30"
	starts "write: status 0 count 10 committed 2 size 40"
	has "write: status 70"
}

@test "truncated, oversized and malformed replies" {
	server_start
	tell 'on v3 WRITE nth 1 truncate-xdr 16' \
		'on v3 WRITE nth 2 oversize-xdr 4000' \
		'on v3 WRITE nth 3 garbage-body 40' \
		'on v3 WRITE nth 4 fragment 16' 'on v3 WRITE nth 5 word 0 28'
	v3 timeout 300 write 0 10 write 0 10 write 0 10 write 0 10 write 0 10
	mapfile -t w < <(grep '^write' <<<"$output")
	[[ ${w[0]} != "write: status 0 count 10"* ]]
	[[ ${w[1]} == "write: status 0 count 10"* ]]
	[[ ${w[2]} != "write: status 0 count 10"* ]]
	[[ ${w[3]} == "write: status 0 count 10"* ]]
	[[ ${w[4]} == "write: status 28"* ]]
	[ "$(size x)" = 10 ]
}

@test "wrong xid, garbage, an absurd record mark: no reply to the call" {
	server_start
	tell 'on v3 WRITE nth 1 wrong-xid' 'on v3 WRITE nth 2 garbage 64' \
		'on v3 WRITE nth 3 mark 0xffffffff'
	v3 timeout 300 write 0 10 write 0 10 write 0 10 write 0 10
	mapfile -t w < <(grep '^write' <<<"$output")
	[[ ${w[0]} != "write: status"* ]]
	[[ ${w[1]} != "write: status"* ]]
	[[ ${w[2]} != "write: status"* ]]
	[[ ${w[3]} == "write: status 0"* ]]
}

@test "the bytes of duplicate-reply, oversize-xdr and cut middle-of-reply" {
	server_start
	# a NULL call: record mark, xid 7, CALL, RPC 2, NFS, v3, NULL, no auth
	call='\x80\x00\x00\x28\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00\x02'
	call+='\x00\x01\x86\xa3\x00\x00\x00\x03\x00\x00\x00\x00'
	call+='\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
	one='800000180000000700000001'
	one+='00000000000000000000000000000000'
	answer() {
		exec 5<>"/dev/tcp/127.0.0.1/$PORT"
		# shellcheck disable=SC2059 # the format is the data
		printf "$call" >&5
		timeout 0.3 cat <&5 | od -An -v -tx1 | tr -d ' \n'
		exec 5>&-
	}
	[ "$(answer)" = "$one" ]
	tell 'on v3 NULL nth 1 duplicate-reply' 'on v3 NULL nth 2 wrong-xid' \
		'on v3 NULL nth 3 cut middle-of-reply' \
		'on v3 NULL nth 4 truncate-xdr 4' 'on v3 NULL nth 5 garbage 9' \
		'on v3 NULL nth 6 rpc-reply SYSTEM_ERR'
	[ "$(answer)" = "$one$one" ]
	[ "$(answer)" = "${one/00000007/5a5a5a5d}" ]
	[ "$(answer)" = "${one:0:28}" ]
	short=${one/80000018/80000014}
	[ "$(answer)" = "${short:0:48}" ]
	[ "$(answer | wc -c)" = 18 ]
	[ "$(answer)" = "${one:0:48}00000005" ]
}

@test "late, delay: the reply takes its time, others overtake it" {
	server_start
	tell 'on v3 WRITE nth 1 late 300ms' 'on v3 WRITE nth 2 delay 300ms'
	before=$(date +%s%N)
	v3 write 0 10
	[ $((($(date +%s%N) - before) / 1000000)) -ge 300 ]
	v3 timeout 100 write 0 10 timeout 1000 getattr sleep 400 getattr
	# nobody waits for it any more, but it is executed
	mapfile -t g < <(grep '^getattr' <<<"$output")
	[ "${g[0]}" = "getattr: status 0 size 0" ]
	[ "${g[1]}" = "getattr: status 0 size 10" ]
}

@test "hold before and after execution, release" {
	server_start
	for where in before after; do
		tell clear "on v3 WRITE hold $where times 1"
		rm -f "$DATA/x"
		raw timeout 10000 mount /e create x write 0 10 \
			>"$BATS_TEST_TMPDIR/out" 3>&- &
		client=$!
		until tell status | grep -q 'held 1'; do sleep 0.05; done
		[ "$(size x)" = "$([ $where = after ] && echo 10 || echo 0)" ]
		grep -q write "$BATS_TEST_TMPDIR/out" && return 1
		tell release
		wait $client
		grep -q '^write: status 0 count 10' "$BATS_TEST_TMPDIR/out"
		[ "$(size x)" = 10 ]
	done
}

@test "restart: what was held or delayed is never executed" {
	server_start
	tell 'on v3 WRITE nth 1 hold before' 'on v3 WRITE nth 2 delay 300ms'
	v3 timeout 50 write 0 10 write 10 10
	[ "$(grep -c '^write: no reply' <<<"$output")" = 2 ]
	tell restart release
	sleep 0.5
	[ "$(size x)" = 0 ]
}

@test "rules: by file, at a rate, deleted, counted; errors are told" {
	server_start --seed 5
	tell 'on v3 WRITE file y reply IO' 'on v3 GETATTR rate 0.5 reply IO'
	rm -f "$DATA/x"
	run raw mount /e create x write 0 1 create y write 0 1
	starts "write: status 0 count 1"
	has "write: status 5 size 0"
	# shellcheck disable=SC2046 # forty words
	v3 $(printf 'getattr %.0s' {1..40})
	failed=$(grep -c '^getattr: status 5' <<<"$output")
	[ "$failed" -gt 8 ]
	[ "$failed" -lt 32 ]
	run tell status
	has "rule 1 seen 1 fired 1: on v3 WRITE file y reply IO"
	tell 'delete 1'
	run ! tell 'delete 1'
	run ! tell 'on v3 LOCK drop'
	run ! tell 'on WRITE nth zero drop'
	run ! tell 'on WRITE reply OK'
	run ! tell 'on v4 LOCK cut middle-of-request'
	run ! tell frobnicate
	run ! "$SERVER_BIN/scripted" --script <(echo 'on x') /tmp
	"$SERVER_BIN/scripted" --help | grep -q middle-of-reply
}

@test "commands over a FIFO, standard input and a script" {
	echo 'on v3 WRITE nth 1 reply IO' >"$BATS_TEST_TMPDIR/script"
	mkfifo "$BATS_TEST_TMPDIR/stdin"
	exec 7<>"$BATS_TEST_TMPDIR/stdin"
	server_start --script "$BATS_TEST_TMPDIR/script" \
		--fifo "$BATS_TEST_TMPDIR/fifo" --stdin <&7
	v3 write 0 10
	starts "write: status 5"
	echo 'on v3 WRITE nth 1 reply NOSPC' >"$BATS_TEST_TMPDIR/fifo"
	sleep 0.2
	v3 write 0 10
	starts "write: status 28"
	echo 'on v3 WRITE nth 1 reply ROFS' >&7
	sleep 0.2
	v3 write 0 10
	starts "write: status 30"
	exec 7>&-
}

@test "permissions are the caller's" {
	[ "$(id -u)" = 0 ] || skip "needs root to become another user"
	chmod 755 "$BATS_TEST_TMPDIR"
	server_start
	touch "$DATA/x"
	chmod 600 "$DATA/x"
	run setpriv --reuid 1 --regid 1 --clear-groups "$SERVER_BIN/raw" \
		"$PORT" mount /e lookup x write 0 5
	starts "write: status 13"
}

@test "1,000 calls under random faults: the server goes on" {
	server_start --seed 42
	for verb in drop ignore 'cut before' 'cut middle-of-request' \
		'cut after-execute' 'cut middle-of-reply' 'garbage 100' \
		wrong-xid 'truncate-xdr 20' duplicate-reply 'late 5ms' \
		'delay 5ms' 'mark 0x7fffffff' 'garbage-body 30'; do
		tell "on v3 * rate 0.02 $verb"
	done
	for _ in {1..10}; do
		# shellcheck disable=SC2046 # two hundred words
		raw timeout 30 mount /e lookup x \
			$(printf 'write 0 3000 getattr %.0s' {1..50}) || true
	done
	tell clear
	v3 write 0 10
	starts "write: status 0 count 10"
}

#!/usr/bin/env bats
# Faults by the thousand, from the scripted server: replies that no real server
# gives on demand. See lib/injected.

load lib/load
load lib/scripted
load lib/programs
load lib/injected

@test "an error of the server: that write() has its errno, the next one works" {
	local mode pair
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for pair in NOSPC:ENOSPC DQUOT:EDQUOT FBIG:EFBIG ROFS:EROFS \
			ACCES:EACCES PERM:EPERM STALE:ESTALE BADHANDLE:ESTALE \
			IO:EIO INVAL:EINVAL SERVERFAULT:EIO 4711:EIO; do
			refused "${pair#*:}" "on $WRITE every 2 reply ${pair%:*}"
		done
	done
}

@test "an error of the RPC layer: EIO or EACCES, the next one works" {
	local mode what
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for what in GARBAGE_ARGS SYSTEM_ERR PROC_UNAVAIL; do
			refused EIO "on $CALL every 2 rpc-reply $what"
		done
		refused EACCES "on $CALL every 2 rpc-reply AUTH_ERROR"
	done
}

@test "one error, one message: told once, with a cure" {
	local mode pair
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for pair in NOSPC:'free space' DQUOT:quota FBIG:rotate \
			ROFS:read-write ACCES:'correct owner' STALE:'open it again'; do
			rm -f "$SERVED/x"
			tell clear "on $WRITE nth 2 reply ${pair%%:*} times 3"
			run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" 6
			[[ $status -eq 0 && ${lines[3]} = 'acknowledged 3' ]]
			one_message "$LOGS/x" "${pair#*:}"
		done
	done
}

@test "JUKEBOX, DELAY, GRACE: waited for, so often as they come" {
	local mode status
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 reply DELAY"
		unharmed "on $WRITE rate 0.5 reply DELAY"
		[[ $(stats_sum retries) -ge $faults ]]
	done
	as_mode locked
	for status in GRACE RESOURCE; do
		tell clear "on $WRITE every $faults reply $status"
		faults=2 unharmed "on $WRITE every 2 reply DELAY"
	done
}

@test "a short WRITE: the rest follows, the record is whole" {
	local mode bytes
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for bytes in 1 7 99; do
			unharmed "on $WRITE every 2 short $bytes"
		done
	done
}

@test "committed less than FILE_SYNC: COMMIT, verifiers compared" {
	local mode stable
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for stable in UNSTABLE DATA_SYNC; do
			unharmed "on $WRITE every 2 committed $stable"
			[[ $(scripted_logged ' COMMIT') -ge $faults ]]
			# Another verifier with each COMMIT: a server that
			# restarted between the two, and may have lost the data.
			unharmed "on $WRITE every 2 committed $stable" \
				"on ${WRITE% *} COMMIT every 2 verifier change"
		done
	done
}

@test "the server restarted before COMMIT, and lost the data: sent again" {
	local mode
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 not-stored" \
			"on $WRITE every 2 committed UNSTABLE" \
			"on ${WRITE% *} COMMIT every 1 verifier change"
	done
}

# Whose port the server refuses from a new connection on.
@test "not let in any more, after an answer was lost: the record may be there" {
	as_mode locked
	tell 'on v4 COMPOUND with WRITE nth 2 cut after-execute' \
		'on v4 COMPOUND with WRITE nth 3 reply PERM'
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" 4
	[[ $status -eq 0 ]]
	[[ ${lines[0]} = '1 EPERM' && ${lines[1]} = 'acknowledged 3' ]]
	grep -q 'may be in the file.*N302' "$MESSAGES"
	cmp <(records 4) "$SERVED/x"
}

@test "COMMIT fails: that write() is told" {
	local mode
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		tell "on $WRITE nth 2 committed UNSTABLE" \
			"on ${WRITE% *} COMMIT reply NOSPC"
		run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" 4
		[[ $status -eq 0 ]]
		[[ ${lines[0]} = '1 ENOSPC' && ${lines[1]} = 'acknowledged 3' ]]
		one_message "$LOGS/x" ENOSPC
		# What was refused may be there, once and whole.
		cmp <(records 4) "$SERVED/x" || cmp <(records 4 1) "$SERVED/x"
	done
}

@test "attributes that are absent or absurd in the reply to WRITE" {
	local mode size
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 no-attributes"
		for size in 0 1 0x7fffffffffffffff 0xffffffffffffffff; do
			unharmed "on $WRITE every 2 size $size"
		done
	done
}

@test "a count that cannot be: in doubt, settled, once" {
	local mode number
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for number in 0 101 0x7fffffff 0x80000000 0xffffffff; do
			unharmed "on $WRITE every 2 count $number"
		done
		unharmed "on $WRITE every 2 committed 7"
	done
}

@test "a connection that is cut: before, within, after" {
	local mode where
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for where in before middle-of-request after-execute \
			middle-of-reply; do
			unharmed "on $CALL every 2 cut $where"
		done
	done
}

@test "XDR that ends too early" {
	local mode bytes
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for bytes in 1 4 8 12 24 60 1000; do
			unharmed "on $CALL every 2 truncate-xdr $bytes"
		done
	done
}

@test "XDR that goes on too long, and replies that came twice" {
	local mode
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		unharmed "on $CALL every 2 oversize-xdr 4"
		unharmed "on $CALL every 2 oversize-xdr 100000"
		unharmed "on $CALL every 2 duplicate-reply"
	done
}

@test "garbage: as record, as result, as record mark" {
	local mode what
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for what in 'mark 0x80000000' 'mark 0xffffffff' \
			'mark 0x7fffffff' wrong-xid; do
			unharmed "on $CALL every 2 $what"
		done
		# A status without a meaning is EIO, as the kernel has it.
		for what in 'garbage-body 4' 'garbage-body 64' \
			'garbage-body 4000'; do
			lies "$what"
		done
		# These may promise more than comes: half a second each.
		for what in 'garbage 1' 'garbage 24' 'garbage 4000' \
			'mark 0' 'mark 0x10'; do
			faults=$(count 1000 2) unharmed "on $CALL every 2 $what"
		done
	done
}

@test "lengths in the reply that lie" {
	local mode word value
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for word in 0 1 2 3; do
			for value in 0x7fffffff 0x80000000 0xfffffff0 0xffffffff; do
				faults=$(count 100 3) lies "word $((4 * word)) $value"
			done
		done
	done
}

@test "a reply in fragments" {
	local mode bytes
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for bytes in 1 4 50; do
			unharmed "on $CALL every 2 fragment $bytes"
		done
	done
}

@test "every call of the program, from the first contact on" {
	local mode rule
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for rule in 'fragment 3' 'delay 1ms' duplicate-reply; do
			unharmed "on * every 2 $rule"
		done
	done
}

# Also those that libnfs's decoder would have followed out of its buffer.
@test "lengths that lie from the first contact on: asked again" {
	local mode call word value
	faults=2
	as_mode guarded
	for call in MNT FSINFO LOOKUP CREATE ACCESS GETATTR WRITE COMMIT; do
		for word in 0 1 2 22; do
			for value in $(count '0x7fffffff 0x80000000 0xfffffff0' \
				'0x7fffffff 0xfffffff0'); do
				survives "$call" "$word" "$value"
			done
		done
	done
	as_mode locked
	for call in SETCLIENTID OPEN OPEN_CONFIRM GETFH GETATTR LOCK WRITE; do
		for word in 0 1 2 3 6; do
			for value in $(count '0x7fffffff 0x80000000 0xfffffff0' \
				'0x7fffffff 0xfffffff0'); do
				survives "$call" "$word" "$value"
			done
		done
	done
}

# survives CALL WORD VALUE: the first such call of the program has that word
# in its reply. It may be taken for a refusal, as the word may be a status.
survives() {
	echo "$mode: $*"
	rm -rf "$SERVED/x" "${NFSAPPEND_RUNTIME:?}"/*
	tell clear "on $1 nth 1 word $((4 * $2)) $3" 'on WRITE nth 2 committed UNSTABLE'
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" 3
	[[ $status -eq 0 || ($status -eq 1 && $output = 'open '*) ]]
	if [[ $output = 'acknowledged 3' ]]; then
		records 3 | cmp - "$SERVED/x"
	fi
}

# A record whose write() gave EIO may be in the file, once.

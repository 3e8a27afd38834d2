#!/usr/bin/env bats
# NFSv4.0 state that is lost, refused or in doubt: what no real server does on
# demand, from the scripted server. Every record that was acknowledged is there
# once, in order; no lock stays behind.

load lib/load
load lib/scripted
load lib/hosts

setup_file() {
	in_control && skip 'needs the shim: a local file has no state'
	start_server
	setup_shim
	build_scripted
}

setup() {
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	start_scripted
}

teardown() {
	cat "$MESSAGES" 2>/dev/null || :
	stop_scripted
	nothing_local
}

# appends RULE...: five records under those rules, then one by another host:
# which needs the lock, so nobody may hold it.
appends() {
	tell clear
	rm -f "$SERVED/x"
	[[ $# -eq 0 ]] || tell "$@"
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 5 one
	[[ $status -eq 0 && ${lines[0]} = 'acknowledged 5' ]]
	tell clear
	SHIM_LIMIT=20 on_host other "$PROGRAMS/prog_host" "$LOGS/x" 1 other
	[[ $(cut -c1-14 "$SERVED/x" | paste -sd ' ') = \
'one 00000000 a one 00000001 b one 00000002 c one 00000003 d one 00000004 e other 00000000' ]]
	[[ $(census "$SERVED/x") = 'records 6 torn 0 twice 0' ]]
}

@test "without faults: one compound an append" {
	appends
	[[ $(scripted_logged ' LOCK.* WRITE.* LOCKU') -ge 4 ]]
}

# LOCK nth 1 is the first lock of the owner, nth 2 the one of a whole compound.
@test "every state error at LOCK: made anew, each record once" {
	local code nth
	for code in EXPIRED STALE_CLIENTID STALE_STATEID BAD_STATEID \
		OLD_STATEID BAD_SEQID ADMIN_REVOKED GRACE DELAY RESOURCE LEASE_MOVED; do
		for nth in 1 2 4; do
			echo "$code $nth"
			appends "on v4 LOCK nth $nth reply $code"
		done
	done
}

@test "every state error at WRITE: made anew, each record once" {
	local code nth
	for code in EXPIRED STALE_CLIENTID STALE_STATEID BAD_STATEID \
		OLD_STATEID GRACE DELAY RESOURCE LEASE_MOVED; do
		for nth in 1 2 4; do
			echo "$code $nth"
			appends "on v4 WRITE nth $nth reply $code"
		done
	done
}

@test "every state error at LOCKU: the record is in, the lock is given back" {
	local code nth
	for code in EXPIRED STALE_CLIENTID STALE_STATEID BAD_STATEID \
		OLD_STATEID BAD_SEQID GRACE DELAY RESOURCE LEASE_MOVED; do
		for nth in 1 2 4; do
			echo "$code $nth"
			appends "on v4 LOCKU nth $nth reply $code"
		done
	done
}

@test "every state error at OPEN, OPEN_CONFIRM and SETCLIENTID" {
	local code op
	for code in EXPIRED STALE_CLIENTID STALE_STATEID BAD_STATEID \
		BAD_SEQID GRACE DELAY RESOURCE; do
		for op in OPEN OPEN_CONFIRM SETCLIENTID SETCLIENTID_CONFIRM; do
			echo "$code $op"
			rm -rf "${NFSAPPEND_RUNTIME:?}"/*
			appends "on v4 $op nth 1 reply $code"
		done
	done
}

@test "errors at GETATTR and VERIFY: nothing is written, the lock is given back" {
	local op code
	for op in GETATTR VERIFY; do
		for code in DELAY RESOURCE STALE_STATEID; do
			echo "$code $op"
			appends "on v4 $op nth 4 reply $code"
		done
	done
}

@test "DELAY and RESOURCE at PUTFH" {
	local code
	for code in DELAY RESOURCE; do
		appends "on v4 PUTFH nth 12 reply $code times 2"
	done
}

# fails_with ERRNO RULE...: the third of five records fails so, and is not
# there; the others are, and no lock stays.
fails_with() {
	tell clear
	rm -f "$SERVED/x"
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell "${@:2}"
	write_line three
	line_answer
	[[ $REPLY = "write $1" ]]
	tell clear
	append_line four
	SHIM_LIMIT=20 on_host other "$PROGRAMS/prog_host" "$LOGS/x" 1 other
	append_line five
	end_lines
	[[ $(cut -c1-5 "$SERVED/x" | paste -sd ' ') = 'one two four other five' ]]
}

@test "WRITE fails: the program is told, no lock stays behind" {
	local pair
	for pair in NOSPC:ENOSPC DQUOT:EDQUOT FBIG:EFBIG ROFS:EROFS IO:EIO \
		ACCES:EACCES SERVERFAULT:EIO; do
		echo "$pair"
		fails_with "${pair#*:}" "on v4 WRITE nth 1 reply ${pair%:*}"
	done
}

@test "LOCK fails: the program is told" {
	local pair
	for pair in ACCES:EACCES IO:EIO ROFS:EROFS MOVED:EREMOTE; do
		echo "$pair"
		fails_with "${pair#*:}" "on v4 LOCK nth 1 reply ${pair%:*}"
	done
}

@test "PUTFH fails: FHEXPIRED and STALE are ESTALE, MOVED is told" {
	fails_with ESTALE 'on v4 PUTFH nth 1 reply FHEXPIRED'
	fails_with ESTALE 'on v4 PUTFH nth 1 reply STALE'
	fails_with EREMOTE 'on v4 PUTFH nth 1 reply MOVED'
}

# in_doubt RULE...: the answer to an append is lost as the rule says.
in_doubt() {
	local cut=$1
	shift
	tell clear
	rm -f "$SERVED/x"
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell "$cut" "$@"
	append_line three
	tell clear
	append_line four
	SHIM_LIMIT=20 on_host other "$PROGRAMS/prog_host" "$LOGS/x" 1 other
	append_line five
	end_lines
	[[ $(cut -c1-5 "$SERVED/x" | paste -sd ' ') = 'one two three four other five' ]]
}

@test "the answer is lost, at each place, on a server like each of two" {
	local like place op
	for like in ganesha knfsd; do
		stop_scripted
		start_scripted --like "$like"
		for place in before middle-of-request after-execute middle-of-reply; do
			echo "$like $place"
			in_doubt "on v4 COMPOUND with WRITE nth 1 cut $place"
		done
		for op in LOCK GETATTR VERIFY WRITE; do
			echo "$like before $op"
			in_doubt "on v4 $op nth 1 cut before"
		done
	done
}

# Not even the seqid tells then: a record too many, never one too few.
@test "WRITE done, LOCKU and the answer not: at least once, and told" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell 'on v4 LOCKU nth 1 cut before'
	append_line three
	append_line four
	end_lines
	[[ $(uniq "$SERVED/x" | paste -sd ' ') = 'one two three four' ]]
	[[ $(wc -l <"$SERVED/x") -le 5 ]]
	one_message N303
}

@test "the answer is lost, and the state with it: read back" {
	local code
	for code in EXPIRED STALE_STATEID BAD_STATEID; do
		in_doubt 'on v4 COMPOUND with WRITE nth 1 cut after-execute' \
			"on v4 LOCK nth 2 reply $code"
		in_doubt 'on v4 COMPOUND with WRITE nth 1 cut middle-of-request' \
			"on v4 LOCK nth 1 reply $code"
	done
}

@test "the answer is lost, the server restarts: read back" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell 'on v4 COMPOUND with WRITE nth 1 drop'
	write_line three
	until_logged 'LOCK.*WRITE'
	tell 'restart grace 1s' cut
	line_answer
	[[ $REPLY = 'write 6' ]]
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
}

# until_logged REGEX [COUNT]
until_logged() {
	local i
	for ((i = 0; i < 400; i++)); do
		[[ $(scripted_logged "$1") -lt ${2:-1} ]] || return 0
		sleep 0.05
	done
	echo "never logged: $1" >&2
	return 1
}

# held_at OPERATION: the compound of "three" stops before it, and the
# connection is cut; sent again it is on another one.
held_at() {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell "on v4 $1 nth 1 hold before"
	write_line three
	until_status 'fired 1'
	tell cut
}

until_status() {
	local i
	for ((i = 0; i < 400; i++)); do
		! tell status | grep -q -- "$1" || return 0
		sleep 0.05
	done
	echo "never in the status: $1" >&2
	return 1
}

@test "a WRITE that comes late, after the lock has gone on, changes nothing" {
	local like
	for like in ganesha knfsd; do
		stop_scripted
		start_scripted --like "$like"
		held_at WRITE
		line_answer
		[[ $REPLY = 'write 6' ]]
		# The lock is free, others append, and only then the late one runs.
		on_host other "$PROGRAMS/prog_host" "$LOGS/x" 3 other 30
		append_line four
		cp "$SERVED/x" "$BATS_TEST_TMPDIR/before"
		tell release
		append_line five
		end_lines
		echo five | cat "$BATS_TEST_TMPDIR/before" - | cmp - "$SERVED/x"
		[[ $(cut -c1-5 "$SERVED/x" | paste -sd ' ') = \
			'one two three other other other four five' ]]
		rm "$SERVED/x"
	done
}

@test "sent again while the first one still runs: once, and nobody between" {
	local like pid
	for like in ganesha knfsd; do
		stop_scripted
		start_scripted --like "$like"
		held_at LOCKU
		# A second writer of this host, and one of another, want to write.
		shimmed "$PROGRAMS/prog_host" "$LOGS/x" 2 second 30 3>&- 4>&- &
		pid=$!
		until_logged 'LOCK.*VERIFY' 4
		tell release
		line_answer
		[[ $REPLY = 'write 6' ]]
		wait "$pid"
		append_line four
		end_lines
		[[ $(grep -c three "$SERVED/x") -eq 1 ]]
		[[ $(grep -v second "$SERVED/x" | paste -sd ' ') = 'one two three four' ]]
		[[ $(grep -c '^second 0000000[01] [ab]*$' "$SERVED/x") -eq 2 ]]
		[[ $(wc -l <"$SERVED/x") -eq 6 ]]
		rm "$SERVED/x"
	done
}

@test "another host appends in between: NOT_SAME, then two round trips" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	printf 'other host\n' >>"$SERVED/x"
	append_line three
	printf 'other host\n' >>"$SERVED/x"
	tell 'on v4 COMPOUND with WRITE nth 1 cut after-execute'
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two other host three other host four' ]]
}

@test "the file was truncated: the next record is at the new end, no hole" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	: >"$SERVED/x"
	append_line three
	: >"$SERVED/x"
	tell 'on v4 COMPOUND with WRITE nth 1 cut after-execute'
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = four ]]
}

@test "a short WRITE: the rest follows, if nobody came between" {
	start_lines "$LOGS/x"
	append_line one
	tell 'on v4 WRITE nth 1 short 3'
	append_line 'a whole record'
	tell clear 'on v4 WRITE nth 1 short 3' \
		'on v4 LOCK nth 2 append-other 7'
	write_line 'a record in two'
	line_answer
	[[ $REPLY = 'write 3' ]]
	end_lines
	[[ $(head -n 2 "$SERVED/x") = one$'\n''a whole record' ]]
}

@test "a short WRITE whose answer is lost" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell 'on v4 WRITE nth 1 short 3' \
		'on v4 COMPOUND with WRITE nth 1 cut after-execute'
	append_line 'a whole record'
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two a whole record' ]]
}

@test "less than FILE_SYNC is committed; another verifier, and it is looked up" {
	appends 'on v4 WRITE committed UNSTABLE'
	appends 'on v4 WRITE committed UNSTABLE' 'on v4 COMMIT nth 2 verifier change'
}

@test "locks of applications: waited for, with one message" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	tell 'on v4 LOCK nth 1 reply DENIED range 0 all times 40'
	append_line three
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
	one_message "$LOGS/x" N307
}

@test "locks of applications: a time-out is EIO, nothing is written" {
	SHIM_OPTIONS=(--timeout 1)
	start_lines "$LOGS/x"
	append_line one
	tell 'on v4 LOCK reply DENIED range 0 all'
	write_line two
	line_answer
	[[ $REPLY = 'write EIO' ]]
	tell clear
	append_line three
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one three' ]]
}

@test "a server without locks: guarded, told once" {
	local code
	for code in NOTSUPP LOCK_NOTSUPP; do
		tell clear "on v4 LOCK reply $code"
		rm -f "$SERVED/x" "$STATS"
		run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 5 one
		[[ $status -eq 0 && $(census "$SERVED/x") = 'records 5 torn 0 twice 0' ]]
		one_message N308
	done
}

@test "a server without NFSv4.0: a clear message" {
	tell 'on v4 COMPOUND reply MINOR_VERS_MISMATCH'
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 5 one
	[[ $status -eq 1 && $output = 'open Protocol not supported' ]]
	one_message NFSv4.0 version=4
	tell clear 'on v4 COMPOUND rpc-reply PROG_MISMATCH'
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 5 one
	[[ $status -eq 1 && $output = 'open Protocol not supported' ]]
	one_message NFSv4.0 version=4
}

@test "answers that make no sense: asked again, each record once" {
	local fault
	for fault in 'truncate-xdr 8' 'garbage-body 40' 'oversize-xdr 0' \
		'word 0 70' 'count 1000000' 'count 0'; do
		echo "$fault"
		in_doubt "on v4 COMPOUND with WRITE nth 1 $fault"
	done
}

@test "records over wsize: whole, under one lock" {
	stop_scripted
	start_scripted --max-io 4096
	start_hosts 3 20 - 20000
	wait_hosts
	each_once 3 20 20000
	[[ $(uniq -c "$SERVED/x" | wc -l) -eq 60 ]]
}

@test "the chunks of a long record: answers lost, states lost" {
	local rule
	stop_scripted
	start_scripted --max-io 4096
	for rule in 'on v4 WRITE nth 2 cut before' \
		'on v4 COMPOUND with WRITE nth 2 cut after-execute' \
		'on v4 COMPOUND with WRITE nth 5 cut after-execute' \
		'on v4 LOCK nth 2 cut before' \
		'on v4 COMPOUND with LOCKU nth 2 cut after-execute'; do
		echo "$rule"
		tell clear "$rule"
		rm -f "$SERVED/x"
		start_hosts 2 4 - 20000
		wait_hosts
		each_once 2 4 20000
	done
	tell clear
}

@test "after a restart the file is reclaimed by its handle, whatever its name" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	mv "$SERVED/x" "$SERVED/x.1"
	tell 'restart grace 2s' cut
	append_line three
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x.1") = 'one two three four' ]]
	[[ ! -e $SERVED/x ]]
}

@test "restarted without grace, the name gone: ESTALE, and told" {
	start_lines "$LOGS/x"
	append_line one
	mv "$SERVED/x" "$SERVED/x.1"
	echo other >"$SERVED/x"
	tell restart cut
	write_line two
	line_answer
	[[ $REPLY = 'write ESTALE' ]]
	end_lines
	[[ $(cat "$SERVED/x.1") = one && $(cat "$SERVED/x") = other ]]
	grep -q N310 "$MESSAGES"
}

@test "a restart in a long record: the lock is reclaimed, the record whole" {
	stop_scripted
	start_scripted --max-io 4096
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 1 zero 100
	tell 'on v4 WRITE nth 3 hold before'
	shimmed "$PROGRAMS/prog_host" "$LOGS/x" 1 long 20000 3>&- 4>&- &
	local pid=$!
	until_status 'fired 1'
	tell clear 'restart grace 2s' cut
	# Nobody else gets the lock before it is reclaimed.
	on_host other "$PROGRAMS/prog_host" "$LOGS/x" 2 other 100
	wait "$pid"
	[[ $(awk '{ print $1, length($0) + 1 }' "$SERVED/x" | paste -sd ' ') = \
		'zero 100 long 20000 other 100 other 100' ]]
}

@test "what is closed here is closed there, by the next open" {
	run_shimmed bash -c 'exec 3>>"$LOGS/a"; echo one >&3; exec 3>&-
		sleep 2.5; echo two >>"$LOGS/b"; echo three >>"$LOGS/a"'
	[[ $status -eq 0 && $(paste -sd ' ' "$SERVED/a") = 'one three' ]]
	[[ $(scripted_logged ' CLOSE') -eq 1 ]]
	# Not while another process of the host has it open.
	start_lines "$LOGS/a"
	append_line four
	run_shimmed bash -c 'exec 3>>"$LOGS/a"; echo five >&3; exec 3>&-
		sleep 2.5; echo six >>"$LOGS/b"'
	append_line seven
	end_lines
	[[ $(scripted_logged ' CLOSE') -eq 1 ]]
	[[ $(paste -sd ' ' "$SERVED/a") = 'one three four five seven' ]]
}

@test "a file made without a lock is not left open" {
	SHIM_OPTIONS=(--sharing guarded)
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 2 one
	[[ $status -eq 0 && $(scripted_logged ' CLOSE') -eq 1 ]]
	[[ $(scripted_logged ' LOCK') -eq 0 ]]
}

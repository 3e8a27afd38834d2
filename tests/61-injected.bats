#!/usr/bin/env bats
# Faults by the thousand, from the scripted server: replies that no real server
# gives on demand. Each append that is acknowledged is in the file once, whole
# and in order; each that is refused is not; the errno is that of the write()
# that met the fault; and the next append works.

load lib/load
load lib/scripted
load lib/programs

setup_file() {
	in_control && skip 'needs the shim: a local file meets none of these'
	start_server
	setup_shim
	build_scripted
}

setup() {
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	start_scripted
	faults=$(count 1000 20)
	# A guard against a hang, no verdict on speed.
	SHIM_LIMIT=$((120 + faults))
}

teardown() {
	stop_scripted
	nothing_local
}

# as_mode MODE: single or guarded by NFSv3, locked by NFSv4. What is not
# answered is asked again after half a second. Sets WRITE, the rules' word for
# a WRITE, and CALL, for the whole call that it is in.
as_mode() {
	local arguments="nfsport=$SCRIPTED_PORT&timeo=5"
	SHIM_OPTIONS=(--sharing "$1")
	if [[ $1 = locked ]]; then
		SHIM_URL="nfs://127.0.0.1/e?version=4&$arguments"
		WRITE='v4 WRITE' CALL='v4 COMPOUND with WRITE'
	else
		SHIM_URL="nfs://127.0.0.1/e?mountport=$SCRIPTED_PORT&$arguments"
		WRITE='v3 WRITE' CALL='v3 WRITE'
	fi
	mode=$1
	tell clear
	rm -f "$SERVED/x"
}

# What `prog_records FILE COUNT` writes, without the records that $2 (a list of
# numbers) names.
records() {
	awk -v count="$1" -v without=" $2 " 'BEGIN {
		for (i = 0; i < count; i++) {
			if (index(without, " " i " "))
				continue
			record = sprintf("r %08d ", i)
			letter = sprintf("%c", 97 + i % 26)
			while (length(record) < 99)
				record = record letter
			print record
		}
	}'
}

# How often the first of the present rules has fired.
fired() {
	tell status | sed -n "s/^rule [0-9]* seen [0-9]* fired \([0-9]*\):.*/\1/p" |
		head -n 1
}

# unharmed RULE...: twice as many appends as there shall be faults; the first
# rule strikes them, and the program sees nothing of it.
unharmed() {
	echo "$mode: $*"
	rm -f "$SERVED/x"
	tell clear "$@"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	[[ $status -eq 0 && $output = "acknowledged $((2 * faults))" ]]
	[[ -z $stderr ]]
	[[ $(fired) -ge $faults ]]
	records $((2 * faults)) | cmp - "$SERVED/x"
}

# refused ERRNO RULE: the rule strikes every second append: that one fails, and
# is not in the file.
refused() {
	local odd
	echo "$mode: $*"
	rm -f "$SERVED/x"
	tell clear "$2"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	mapfile -t odd < <(seq 1 2 $((2 * faults)))
	[[ $status -eq 0 && $(fired) -eq $faults ]]
	diff <(printf '%s\n' "${odd[@]/%/ $1}" "acknowledged $faults") <(echo "$output")
	records $((2 * faults)) "${odd[*]}" | cmp - "$SERVED/x"
	grep -q "$LOGS/x: an append failed .*: $1 .*\[N301\]" "$MESSAGES"
}

# lies FAULT: the reply says what is not so. Whatever it is taken for: no crash,
# no hang, and the records that were acknowledged are there once, in order.
lies() {
	echo "$mode: $1"
	rm -f "$SERVED/x"
	tell clear "on $CALL every 2 $1"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	[[ $status -eq 0 && $(fired) -ge $faults ]]
	[[ -z $(sort "$SERVED/x" | uniq -d) ]]
	awk -v n=$((2 * faults)) 'NF == 2 && $1 ~ /^[0-9]+$/ { bad[$1] }
		END { for (i = 0; i < n; i++)
			if (!(i in bad)) printf "r %08d\n", i }' \
		<<<"$output" >"$BATS_TEST_TMPDIR/acknowledged"
	cut -c1-10 "$SERVED/x" | grep -xFf "$BATS_TEST_TMPDIR/acknowledged" |
		cmp - "$BATS_TEST_TMPDIR/acknowledged"
}

@test "an error of the server: that write() has its errno, the next one works" {
	local mode pair
	for mode in single guarded locked; do
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
	for mode in single guarded locked; do
		as_mode "$mode"
		for what in GARBAGE_ARGS SYSTEM_ERR PROC_UNAVAIL; do
			refused EIO "on $CALL every 2 rpc-reply $what"
		done
		refused EACCES "on $CALL every 2 rpc-reply AUTH_ERROR"
	done
}

@test "one error, one message: told once, with a cure" {
	local mode pair
	for mode in single guarded locked; do
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
	for mode in single guarded locked; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 reply DELAY"
		unharmed "on $WRITE rate 0.7 reply DELAY"
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
	for mode in single guarded locked; do
		as_mode "$mode"
		for bytes in 1 7 99; do
			unharmed "on $WRITE every 2 short $bytes"
		done
	done
}

@test "committed less than FILE_SYNC: COMMIT, verifiers compared" {
	local mode stable
	for mode in single guarded locked; do
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
	for mode in single guarded locked; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 not-stored" \
			"on $WRITE every 2 committed UNSTABLE" \
			"on ${WRITE% *} COMMIT every 1 verifier change"
	done
}

@test "COMMIT fails: that write() is told" {
	local mode
	for mode in single guarded locked; do
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
	for mode in single guarded locked; do
		as_mode "$mode"
		unharmed "on $WRITE every 2 no-attributes"
		for size in 0 1 0x7fffffffffffffff 0xffffffffffffffff; do
			unharmed "on $WRITE every 2 size $size"
		done
	done
}

@test "a count that cannot be: in doubt, settled, once" {
	local mode number
	for mode in single guarded locked; do
		as_mode "$mode"
		for number in 0 101 0x7fffffff 0x80000000 0xffffffff; do
			unharmed "on $WRITE every 2 count $number"
		done
		unharmed "on $WRITE every 2 committed 7"
	done
}

@test "a connection that is cut: before, within, after" {
	local mode where
	for mode in single guarded locked; do
		as_mode "$mode"
		for where in before middle-of-request after-execute \
			middle-of-reply; do
			unharmed "on $CALL every 2 cut $where"
		done
	done
}

@test "a reply that never comes: asked again on another connection" {
	local mode what
	faults=$(count 20 3)
	for mode in single guarded locked; do
		as_mode "$mode"
		for what in drop ignore; do
			unharmed "on $CALL every 2 $what"
			[[ $(stats_sum reconnects) -ge $faults ]]
		done
	done
}

@test "a reply that comes late, after it was asked again" {
	local mode
	faults=$(count 20 2)
	for mode in single guarded locked; do
		as_mode "$mode"
		unharmed "on $CALL every 2 late 700ms"
		unharmed "on $CALL every 2 delay 700ms"
	done
}

@test "XDR that ends too early" {
	local mode bytes
	for mode in single guarded locked; do
		as_mode "$mode"
		for bytes in 1 4 8 12 24 60 1000; do
			unharmed "on $CALL every 2 truncate-xdr $bytes"
		done
	done
}

@test "XDR that goes on too long, and replies that came twice" {
	local mode
	for mode in single guarded locked; do
		as_mode "$mode"
		unharmed "on $CALL every 2 oversize-xdr 4"
		unharmed "on $CALL every 2 oversize-xdr 100000"
		unharmed "on $CALL every 2 duplicate-reply"
	done
}

@test "garbage: as record, as result, as record mark" {
	local mode what
	for mode in single guarded locked; do
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
			faults=$(count 20 3) unharmed "on $CALL every 2 $what"
		done
	done
}

@test "lengths in the reply that lie" {
	local mode word value
	for mode in single guarded locked; do
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
	for mode in single guarded locked; do
		as_mode "$mode"
		for bytes in 1 4 50; do
			unharmed "on $CALL every 2 fragment $bytes"
		done
	done
}

@test "every call of the program, from the first contact on" {
	local mode rule
	for mode in single guarded locked; do
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
			for value in 0x7fffffff 0x80000000 0xfffffff0; do
				survives "$call" "$word" "$value"
			done
		done
	done
	as_mode locked
	for call in SETCLIENTID OPEN OPEN_CONFIRM GETFH GETATTR LOCK WRITE; do
		for word in 0 1 2 3 6; do
			for value in 0x7fffffff 0x80000000 0xfffffff0; do
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
@test "NFSAPPEND_TIMEOUT: EIO, told as in doubt, settled before the next" {
	local mode what
	for mode in single guarded locked; do
		for what in drop ignore 'cut after-execute' 'cut before' \
			'reply DELAY' 'late 3s'; do
			as_mode "$mode"
			SHIM_OPTIONS+=(--timeout 1)
			start_lines "$LOGS/x"
			append_line one
			echo "$mode: $what"
			tell "on $CALL $what" \
				"on v3 GETATTR nth 2 $what times 1000"
			write_line two
			line_answer
			[[ $REPLY = 'write EIO' ]]
			tell clear
			append_line three
			append_line four
			end_lines
			run paste -sd ' ' "$SERVED/x"
			echo "$output"
			case $what in
			'reply DELAY')
				[[ $output = 'one three four' ]]
				;;
			drop | 'cut after-execute' | late*)
				[[ $output = 'one two three four' ]]
				;;
			*)
				[[ $output = 'one three four' ||
					$output = 'one two three four' ]]
				;;
			esac
			case $what in
			drop | ignore | late*) grep -q 'may be in the file' "$MESSAGES" ;;
			esac
			: >"$MESSAGES"
		done
	done
}

@test "not responding is told once, OK once" {
	local mode
	for mode in single guarded locked; do
		as_mode "$mode"
		start_lines "$LOGS/x"
		append_line one
		tell "on $CALL cut before"
		write_line two
		until_true grep -q 'not responding' "$MESSAGES"
		# Not again: the server is asked many times meanwhile.
		sleep 2
		tell clear
		line_answer
		[[ $REPLY = 'write 4' ]]
		append_line three
		end_lines
		[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
		[[ $(grep -c 'not responding, still trying' "$MESSAGES") -eq 1 ]]
		[[ $(grep -c '127.0.0.1.* OK ' "$MESSAGES") -eq 1 ]]
		[[ $(wc -l <"$MESSAGES") -eq 2 ]]
		: >"$MESSAGES"
	done
}

#!/usr/bin/env bats
# What lands on the server, how it is sent, and what it costs.

load lib/load

# What prog_append FILE COUNT [SIZE] writes, made without it.
expected_records() {
	awk -v count="$1" -v size="${2:-100}" 'BEGIN {
		for (i = 0; i < count; i++) {
			record = sprintf("%08d ", i)
			letter = sprintf("%c", 97 + i % 26)
			while (length(record) < size - 1)
				record = record letter
			print record
		}
	}'
}

# append_loop MODE COUNT FILE: captured; the RPCs in $captured and $counted.
append_loop() {
	in_control || SHIM_OPTIONS=(--sharing "$1")
	rm -f "$STATS"
	start_capture
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/$3" "$2"
	stop_capture
	[[ $status -eq 0 && -z $output && -z $stderr ]]
	cmp <(expected_records "$2") "$SERVED/$3"
	in_control && return
	captured=$(captured_total)
	counted=$(stats_sum rpcs)
	[[ $(stats_sum appends) -eq $2 && $(stats_sum bytes) -eq $(($2 * 100)) ]]
	[[ $(stats_sum write_rpcs) -eq $2 && $(captured_calls 7) -eq $2 ]]
	[[ $(captured_calls 21) -eq 0 && $(captured_stable) = 2 ]]
	[[ $(stats_sum errors) -eq 0 && $(stats_sum retries) -eq 0 ]]
	[[ $(stats_values sharing) = "$1" && $(stats_values protocol) = v3 ]]
}

# append_cost MODE RPCS: what each append after the first costs, by capture and
# by statistics. (The first one's look-up is the same in both loops.)
append_cost() {
	local many captured counted base_captured base_counted
	many=$(count 10000 500)
	append_loop "$1" 1 one
	base_captured=${captured-} base_counted=${counted-}
	append_loop "$1" "$many" many
	in_control && return
	echo "captured $base_captured, then $captured; counted $base_counted, then $counted"
	[[ $((captured - base_captured)) -eq $(((many - 1) * $2)) ]]
	[[ $((counted - base_counted)) -eq $(((many - 1) * $2)) ]]
}

@test "append loop, single: byte-exact, one RPC an append" {
	append_cost single 1
}

@test "append loop, guarded: byte-exact, two RPCs an append" {
	append_cost guarded 2
}

@test "auto is guarded on NFSv3" {
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 3
	[[ $status -eq 0 ]]
	in_control || [[ $(stats_values sharing) = guarded ]]
}

@test "the capture of one append: WRITE with FILE_SYNC, no COMMIT" {
	in_control && skip 'needs the shim: the control sends nothing'
	start_capture
	run_shimmed sh -c 'echo one >>"$LOGS/x"'
	stop_capture
	[[ $status -eq 0 && $(cat "$SERVED/x") = one ]]
	[[ $(captured_calls 7) -eq 1 && $(captured_stable) = 2 ]]
	[[ $(captured_calls 21) -eq 0 ]]
}

@test "killed with -9 right after write() returned: the record is there" {
	local round rounds
	rounds=$(count 100 5)
	for ((round = 1; round <= rounds; round++)); do
		run_shimmed "$PROGRAMS/prog_kill" "$LOGS/x"
		[[ $status -eq 137 && -z $output ]]
		[[ $(grep -cx acknowledged "$SERVED/x") -eq $round ]]
		[[ $(wc -l <"$SERVED/x") -eq $round ]]
	done
}

@test "write, writev, pwrite, empty and bad ones, offset and size" {
	same_as_local "$PROGRAMS/prog_write" @LOGS@/x
	[[ $(grep -c . "$SERVED/x") -eq 4 ]]
}

@test "the file has content already: it stays, and the offset starts at 0" {
	mkdir "$BATS_TEST_TMPDIR/control"
	chmod 1777 "$BATS_TEST_TMPDIR/control"
	printf 'old, no newline' | tee "$SERVED/x" >"$BATS_TEST_TMPDIR/control/x"
	same_as_local "$PROGRAMS/prog_write" @LOGS@/x
}

@test "records of one byte to more than wtmax" {
	local size
	for size in 10 4095 4096 65536 1048576 1048577 5000000; do
		same_as_local "$PROGRAMS/prog_append" "@LOGS@/x$size" 3 "$size"
	done
}

@test "a loop of long records: whole and in order" {
	same_as_local "$PROGRAMS/prog_append" @LOGS@/x "$(count 500 20)" 200000
}

@test "one open for each append" {
	local n
	n=$(count 1000 50)
	same_as_local sh -c "i=0; while [ \$i -lt $n ]; do
		echo record \$i >>@LOGS@/x; i=\$((i + 1)); done"
	[[ $(wc -l <"$SERVED/x") -eq $n ]]
}

@test "sequential writers in turn, each finds the other's end" {
	local round
	for round in 1 2 3; do
		same_as_local sh -c "echo one >>@LOGS@/x"
		# Another client of the server, between two of ours.
		echo other | tee -a "$SERVED/x" >>"$BATS_TEST_TMPDIR/control/x"
	done
	[[ $(wc -l <"$SERVED/x") -eq 6 ]]
}

@test "guarded sees what another client appends while the file is open" {
	start_lines "$LOGS/x"
	append_line ours
	echo theirs >>"$SERVED/x"
	append_line ours
	echo theirs >>"$SERVED/x"
	append_line ours
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'ours theirs ours theirs ours' ]]
}

@test "several files at once, and the same file twice" {
	run_shimmed sh -c 'exec 3>>"$LOGS/a" 4>>"$LOGS/b" 5>>"$LOGS/a"
		for i in 1 2 3; do echo a$i >&3; echo b$i >&4; echo A$i >&5; done'
	[[ $status -eq 0 ]]
	[[ $(paste -sd ' ' "$SERVED/a") = 'a1 A1 a2 A2 a3 A3' ]]
	[[ $(paste -sd ' ' "$SERVED/b") = 'b1 b2 b3' ]]
}

@test "the statistics line has exactly the promised fields" {
	in_control && skip 'needs the shim: the control counts nothing'
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 7
	[[ $status -eq 0 && $(wc -l <"$STATS") -eq 1 ]]
	run -0 jq -c 'keys_unsorted, (.files[] | keys_unsorted)' "$STATS"
	[[ ${lines[0]} = '["pid","command","files"]' ]]
	[[ ${lines[1]} = '["path","server","protocol","sharing","appends","bytes","rpcs","write_rpcs","lookup_rpcs","batched_max","retries","conflicts","reconnects","errors","p50_us","p99_us","max_us"]' ]]
	run -0 jq -r '.command, .files[0].path, .files[0].appends, .files[0].bytes,
		(.files[0] | .p50_us <= .p99_us and .p99_us <= .max_us)' "$STATS"
	[[ ${lines[*]} = "prog_append $LOGS/x 7 700 true" ]]
}

@test "no statistics line for a process without a managed file" {
	in_control && skip 'needs the shim: the control counts nothing'
	run_shimmed sh -c 'true; /bin/true'
	[[ $status -eq 0 && ! -s $STATS ]]
}

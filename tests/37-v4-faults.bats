#!/usr/bin/env bats
# NFSv4.0 on nfs-ganesha when things break: answers lost, writers killed,
# leases run out, the server restarted.

load lib/load
load lib/hosts
load lib/scripted

setup_file() {
	in_control && skip 'needs the shim: a local file meets none of these'
	SERVER_LEASE=10 SERVER_GRACE=10 start_server
	setup_shim
	build_scripted
}

setup() {
	server_ensure
	new_case
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

teardown() {
	stop_scripted
	nothing_local
}

# lose_answers NAME: writers of four hosts, until so many answers are lost.
lose_answers() {
	local want n lost=0 total=0 round=0
	want=$(count 500 40)
	n=$(((want * 23 / 4 + 100) / 2))
	start_proxy 20490
	tell_proxy 'on reply COMPOUND longer 200 every 23 cut before' \
		'on any rate 0.001 cut random'
	while ((lost < want)); do
		rm -f "$BATS_TEST_TMPDIR"/host.*.out
		[[ $1 = same ]] || HOSTS_FILE=x$((round++))
		start_hosts 4 "$n" "$1"
		wait_hosts
		total=$((total + n))
		lost=$(tell_proxy status | awk '
			match($0, /fired [0-9]+/) { n += substr($0, RSTART + 6, RLENGTH - 6) }
			END { print n + 0 }')
		echo "$lost connections cut"
		if [[ $1 = - ]]; then
			each_once 4 "$n"
		else
			each_once 4 "$total"
		fi
	done
	[[ $(stats_sum errors) -eq 0 && $(stats_sum reconnects) -ge $want ]]
}

@test "answers lost under load, unique records: each once" {
	lose_answers -
}

@test "answers lost under load, identical records: as many as acknowledged" {
	lose_answers same
}

@test "killed with -9 at random moments: no other record is harmed" {
	local round rounds acked
	rounds=$(count 200 15)
	start_hosts 3 1000000
	for ((round = 0; round < rounds; round++)); do
		on_host 9 "$PROGRAMS/prog_host" "$LOGS/x" 1000000 "victim$round" \
			>/dev/null 2>>"$MESSAGES" 3>&- 4>&- &
		sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
		until in_server pkill -KILL -f "prog_host .* victim$round\$"; do
			sleep 0.02
		done
		wait "$!" 2>/dev/null || :
	done
	in_server pkill -TERM -x prog_host
	wait_hosts
	acked=$(acknowledged)
	echo "# $rounds killed; $acked acknowledged; $(census "$SERVED/x")" >&3
	echo "# the others' longest append: $(grep -h longest "$BATS_TEST_TMPDIR"/host.*.out | paste -sd ' ')" >&3
	[[ $(census "$SERVED/x") = *' torn 0 twice 0' ]]
	grep '^h' "$SERVED/x" >"$BATS_TEST_TMPDIR/others"
	[[ $(census "$BATS_TEST_TMPDIR/others") = "records $acked torn 0 twice 0" ]]
}

@test "killed with the lock held: the next writer of the host gives it back" {
	local first
	start_scripted
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	start_hosts 0 0
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 1 zero 30
	tell 'on v4 LOCK nth 1 append-other 30' \
		'on v4 WRITE nth 1 hold before'
	# NOT_SAME first, then a WRITE that never comes back.
	shimmed "$PROGRAMS/prog_host" "$LOGS/x" 1 victim 30 \
		>/dev/null 2>&1 3>&- 4>&- &
	first=$!
	until_fired 'rule 2 .*fired 1'
	in_server pkill -KILL -f 'prog_host .* victim 30$'
	wait "$first" || :
	tell clear release
	SHIM_LIMIT=30 run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 3 next 30
	[[ $status -eq 0 ]]
	SHIM_LIMIT=30 on_host other "$PROGRAMS/prog_host" "$LOGS/x" 1 other 30
	[[ $(grep -c '^next' "$SERVED/x") -eq 3 && $(grep -c '^other' "$SERVED/x") -eq 1 ]]
	[[ $(grep -c '^victim' "$SERVED/x") -le 1 ]]
}

until_fired() {
	local i
	for ((i = 0; i < 400; i++)); do
		! tell status | grep -q -- "$1" || return 0
		sleep 0.05
	done
	tell status
	return 1
}

@test "idle for three leases, then append: one recovery, nothing lost" {
	SHIM_OPTIONS=(--log info)
	start_lines "$LOGS/x"
	append_line one
	append_line two
	sleep 31
	append_line three
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
	[[ $(grep -c N309 "$MESSAGES") -eq 1 ]]
	[[ $(stats_sum errors) -eq 0 ]]
}

@test "the server is killed and restarted under load, with a grace period" {
	local i
	sed -i 's/Graceless = .*/Graceless = false;/' "$SERVER_DIR/ganesha.conf"
	start_hosts 3 1000000
	for ((i = 0; i < $(count 5 1); i++)); do
		sleep 2
		server_kill
		sleep 1
		server_restart
		sleep 14
	done
	in_server pkill -TERM -x prog_host
	wait_hosts
	sed -i 's/Graceless = .*/Graceless = true;/' "$SERVER_DIR/ganesha.conf"
	echo "$(acknowledged) acknowledged; $(census "$SERVED/x")"
	[[ $(census "$SERVED/x") = "records $(acknowledged) torn 0 twice 0" ]]
}

@test "a server that falls silent and wakes up: each record once" {
	start_lines "$LOGS/x"
	append_line one
	append_line two
	server_signal STOP
	write_line three
	sleep 2
	server_signal CONT
	line_answer
	[[ $REPLY = 'write 6' ]]
	append_line four
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
}

@test "a time-out: EIO, and the next append settles what was in doubt" {
	SHIM_OPTIONS=(--timeout 1)
	start_lines "$LOGS/x"
	append_line one
	append_line two
	server_signal STOP
	write_line lost
	line_answer
	[[ $REPLY = 'write EIO' ]]
	server_signal CONT
	append_line three
	end_lines
	run cat "$SERVED/x"
	[[ $output = one$'\n'two$'\n'three || $output = one$'\n'two$'\n'lost$'\n'three ]]
}

#!/usr/bin/env bats
# nfs-ganesha killed and restarted, stopped and continued, its files moved and
# cut under eight writers of one host: every acknowledged record is there once,
# whole, in its writer's order.

load lib/load
load lib/programs
load lib/steady

writers=8

setup_file() {
	in_control && skip 'needs the shim: a local file has no server'
	SERVER_SMALL_SIZE=4m start_server
	setup_shim
}

setup() {
	server_ensure
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	SHIM_LIMIT=$(count 7200 600)
}

teardown() {
	[[ -z ${STEADY-} ]] || : >"$STEADY/stop"
	server_signal CONT 2>/dev/null || :
	nothing_local
}

# graceless true|false: from the next restart of the server on.
graceless() {
	SERVER_GRACELESS=$1 SERVER_GRACE=2 SERVER_LEASE=4 server_conf \
		>"$SERVER_DIR/ganesha.conf"
	server_restart
}

by_v4() {
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

# rounds NUMBER COMMAND...: so many faults under the writers.
rounds() {
	local i number=$1
	start_steady "$writers"
	for ((i = 0; i < number; i++)); do
		steady_round "$writers" "${@:2}"
	done
	stop_steady "$writers"
	echo "$number times $2 under $(steady_acknowledged) records" |
		tee -a "${NFSAPPEND_FIGURES:-/dev/null}"
	all_there "$writers" "$SERVED/x"
	# No error, no doubt; "not responding" and its end, at most.
	! grep -hvE '\[N(202|203|204)\]$' "$STEADY"/err.*
}

killed_and_restarted() {
	server_kill
	# The port refuses for a while, or hardly.
	sleep "0.$((RANDOM % 4))"
	server_restart
}

@test "kill -9 and restart, NFSv3" {
	rounds "$(count 200 3)" killed_and_restarted
}

@test "kill -9 and restart, NFSv4.0, no grace period" {
	by_v4
	rounds "$(count 200 3)" killed_and_restarted
}

@test "kill -9 and restart, NFSv3, the server has a grace period" {
	graceless false
	rounds "$(count 200 3)" killed_and_restarted
	graceless true
}

@test "kill -9 and restart, NFSv4.0, with a grace period" {
	graceless false
	by_v4
	rounds "$(count 200 3)" killed_and_restarted
	graceless true
}

silent_for_a_while() {
	server_signal STOP
	sleep "0.$((RANDOM % 10))"
	server_signal CONT
}

@test "SIGSTOP and SIGCONT, NFSv3 and NFSv4.0" {
	rounds "$(count 200 5)" silent_for_a_while
	by_v4
	rm "$SERVED/x"
	rounds "$(count 200 5)" silent_for_a_while
}

# Longer than timeo: the requests are sent again, and the server finds both.
@test "SIGSTOP until requests were sent again, NFSv3 and NFSv4.0" {
	SHIM_URL+='&timeo=3'
	rounds "$(count 50 3)" silent_for_a_while
	by_v4
	SHIM_URL+='&timeo=3'
	rm "$SERVED/x"
	rounds "$(count 50 3)" silent_for_a_while
}

# By another host: the writers' descriptors follow the file.
renamed() {
	moved=$((${moved:-0} + 1))
	mv "$SERVED/x" "$SERVED/x.$moved"
}

@test "renamed by another host: the records go on in the renamed file" {
	local i version
	for version in v3 v4; do
		[[ $version = v3 ]] || by_v4
		rm -f "$SERVED"/*
		start_steady "$writers"
		for ((i = 1; i <= $(count 100 5); i++)); do
			steady_round "$writers" mv "$SERVED/x$((i - 1))" "$SERVED/x$i" \
				2>/dev/null || steady_round "$writers" mv "$SERVED/x" "$SERVED/x1"
		done
		stop_steady "$writers"
		[[ $(ls "$SERVED") = "x$((i - 1))" ]]
		all_there "$writers" "$SERVED/x$((i - 1))"
	done
}

# What stood between the copy and the cut is lost, as with every program; what
# the server has of the rest is whole, and in order.
copied_and_cut() {
	cut_to=$((${cut_to:-0} + 1))
	cp "$SERVED/x" "$SERVED/x.$cut_to"
	truncate -s 0 "$SERVED/x"
}

# in_order FILE...: lines are whole (but for NULs before one: a hole is where a
# WRITE was under way while the file was cut), numbers of each writer only grow.
in_order() {
	cat "$@" | LC_ALL=C tr -d '\0' | LC_ALL=C awk '
		length($0) != 99 || NF != 3 { print "torn: " substr($0, 1, 60); bad++; next }
		($1 in last) && $2 <= last[$1] { print $1 ": " $2 " after " last[$1]; bad++ }
		{ last[$1] = $2; n++ }
		END { print n " records"; exit bad > 0 }'
}

holes() {
	cat "$@" | LC_ALL=C tr -dc '\0' | wc -c
}

@test "copytruncate by another host, a hundred times: no line torn, none twice" {
	local i number version last
	number=$(count 100 20)
	for version in v3 v4; do
		[[ $version = v3 ]] || by_v4
		rm -f "$SERVED"/*
		cut_to=0
		start_steady "$writers"
		for ((i = 0; i < number; i++)); do
			steady_round "$writers" copied_and_cut
		done
		stop_steady "$writers"
		mapfile -t files < <(ls -tr "$SERVED"/x.* | sort -t. -k2n)
		in_order "${files[@]}" "$SERVED/x"
		echo "$version: $(holes "${files[@]}" "$SERVED/x") bytes of holes" |
			tee -a "${NFSAPPEND_FIGURES:-/dev/null}"
		# The last record of each is there: nobody goes on elsewhere.
		for ((i = 1; i <= writers; i++)); do
			last=$(sed -n 's/^acknowledged //p' "$STEADY/out.$i")
			grep -aq "w$i $(printf %08d $((last - 1)))" "$SERVED/x"
		done
	done
}

@test "truncated by another host between two appends: no hole" {
	local version
	for version in v3 v4; do
		[[ $version = v3 ]] || by_v4
		start_lines "$LOGS/x"
		append_line one
		: >"$SERVED/x"
		append_line two
		append_line three
		truncate -s 4 "$SERVED/x"
		append_line four
		end_lines
		[[ $(paste -sd ' ' "$SERVED/x") = 'two four' ]]
		rm "$SERVED/x"
	done
}

@test "removed by another host: ESTALE as long as it is gone, then a new file" {
	local version
	for version in v3 v4; do
		[[ $version = v3 ]] || by_v4
		start_lines "$LOGS/x"
		append_line one
		rm "$SERVED/x"
		# So that the server has it open no more.
		server_restart
		write_line two
		line_answer
		[[ $REPLY = 'write ESTALE' ]]
		write_line three
		line_answer
		[[ $REPLY = 'write ESTALE' ]]
		end_lines
		[[ ! -e $SERVED/x ]]
		start_lines "$LOGS/x"
		append_line four
		end_lines
		[[ $(cat "$SERVED/x") = four ]]
		rm "$SERVED/x"
	done
}

@test "ENOSPC, then space again: no hole, no torn line" {
	local url file=$SERVER_DIR/small/x
	server_takes_tmpfs || skip 'this nfs-ganesha exports no tmpfs'
	for url in "$(server_url small)" "$(server_url_v4 small)"; do
		SHIM_URL=$url
		in_server rm -f "$SERVER_DIR"/small/*
		start_lines "$LOGS/x"
		append_line one
		in_server dd if=/dev/zero of="$SERVER_DIR/small/fill" bs=4k \
			2>/dev/null || :
		# What the file's last page has room for still fits.
		write_line "$(printf '%9000s' '' | tr ' ' f)"
		line_answer
		[[ $REPLY = 'write ENOSPC' || $REPLY =~ ^'write '[0-9]+$ ]]
		write_line "$(printf '%9000s' '' | tr ' ' g)"
		line_answer
		[[ $REPLY = 'write ENOSPC' ]]
		in_server rm "$SERVER_DIR/small/fill"
		append_line two
		append_line three
		end_lines
		in_server sh -c 'tr -d f <"$0"' "$file" >"$BATS_TEST_TMPDIR/content"
		[[ $(paste -sd ' ' "$BATS_TEST_TMPDIR/content") = 'one two three' ]]
	done
}

# The server falls silent for good: a program that waits for it is ended by
# what ends it on a kernel mount.
@test "a waiting program is ended by SIGINT, SIGTERM and SIGKILL" {
	local version signal pid
	for version in v3 v4; do
		[[ $version = v3 ]] || by_v4
		for signal in INT TERM KILL; do
			rm -f "$SERVED/x" pid
			coproc LINES_PROGRAM {
				shimmed sh -c 'echo $$ >"$1"; exec "$2" "$3"' sh \
					"$BATS_TEST_TMPDIR/pid" "$PROGRAMS/prog_lines" \
					"$LOGS/x" 2>>"$MESSAGES" 3>&- 4>&-
			}
			keep_coprocess
			line_answer
			[[ $REPLY = opened ]]
			append_line one
			server_signal STOP
			write_line two
			until_true grep -q 'not responding' "$MESSAGES"
			in_server kill -s "$signal" "$(<"$BATS_TEST_TMPDIR/pid")"
			# An end of file, and no answer.
			line_answer
			[[ -z $REPLY ]]
			wait "$lines_pid" && return 1
			server_signal CONT
			: >"$MESSAGES"
			# Who comes next settles what that one left, and goes on.
			start_lines "$LOGS/x"
			append_line three
			end_lines
			run paste -sd ' ' "$SERVED/x"
			[[ $output = 'one three' || $output = 'one two three' ]]
			: >"$MESSAGES"
		done
	done
}

@test "not responding is told once a program, and OK once" {
	local i
	start_steady "$writers"
	steady_advance "$writers"
	server_signal STOP
	for ((i = 1; i <= writers; i++)); do
		until_true grep -q 'not responding' "$STEADY/err.$i"
	done
	sleep 3
	server_signal CONT
	steady_advance "$writers"
	stop_steady "$writers"
	all_there "$writers" "$SERVED/x"
	for ((i = 1; i <= writers; i++)); do
		[[ $(grep -c 'not responding' "$STEADY/err.$i") -eq 1 ]]
		[[ $(grep -c ' OK ' "$STEADY/err.$i") -eq 1 ]]
		[[ $(wc -l <"$STEADY/err.$i") -eq 2 ]]
	done
}

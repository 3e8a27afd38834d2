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
	export OTHER=$BATS_FILE_TMPDIR/nfs-other
	# shellcheck disable=SC2046 # flags are words
	"${CC:-cc}" -O2 -o "$OTHER" \
		"$BATS_TEST_DIRNAME/programs/tools/nfs-other.c" \
		$(pkg-config --cflags --libs libnfs)
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

# by v3|v4: a folder of its own for each, since the server remembers names.
by() {
	version=$1
	SERVED=$SERVER_EXPORT/$BATS_TEST_NUMBER/$version
	mkdir -p "$SERVED"
	chmod 1777 "$SERVED"
	OTHER_URL=$(server_url "export/$BATS_TEST_NUMBER/$version")
	SHIM_URL=$OTHER_URL
	[[ $version = v3 ]] ||
		SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER/$version")
	: >"$MESSAGES"
}

# other rename OLD NEW, truncate NAME SIZE, unlink NAME: as another host.
other() {
	in_server "$OTHER" "$OTHER_URL" "$@"
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
	! grep -hvE '\[N(202|203|207)\]$' "$STEADY"/err.*
}

killed_and_restarted() {
	server_kill
	# The port refuses for a while, or hardly.
	sleep "0.$((RANDOM % 4))"
	server_restart
}

@test "kill -9 and restart, NFSv3" {
	by v3
	rounds "$(count 200 3)" killed_and_restarted
}

@test "kill -9 and restart, NFSv4.0, no grace period" {
	by v4
	rounds "$(count 200 3)" killed_and_restarted
}

@test "kill -9 and restart, NFSv3, the server has a grace period" {
	graceless false
	by v3
	rounds "$(count 200 3)" killed_and_restarted
	graceless true
}

@test "kill -9 and restart, NFSv4.0, with a grace period" {
	graceless false
	by v4
	rounds "$(count 200 3)" killed_and_restarted
	graceless true
}

silent_for_a_while() {
	server_signal STOP
	sleep "0.$((RANDOM % 10))"
	server_signal CONT
}

@test "SIGSTOP and SIGCONT, NFSv3 and NFSv4.0" {
	local version
	for version in v3 v4; do
		by "$version"
		rounds "$(count 200 5)" silent_for_a_while
	done
}

# Longer than timeo: the requests are sent again, and the server finds both.
@test "SIGSTOP until requests were sent again, NFSv3 and NFSv4.0" {
	local version
	for version in v3 v4; do
		by "$version"
		SHIM_URL+='&timeo=3'
		rounds "$(count 50 3)" silent_for_a_while
		[[ $(stats_sum reconnects) -gt 0 ]]
	done
}

# By another host: the writers' descriptors follow the file.
renamed() {
	other rename "$name" "x$((++moved))"
	name=x$moved
}

@test "renamed by another host: the records go on in the renamed file" {
	local i version name moved
	for version in v3 v4; do
		by "$version"
		name=x moved=0
		start_steady "$writers"
		for ((i = 0; i < $(count 100 5); i++)); do
			steady_round "$writers" renamed
		done
		stop_steady "$writers"
		[[ $(ls "$SERVED") = "$name" ]]
		all_there "$writers" "$SERVED/$name"
	done
}

# What stood between the copy and the cut is lost, as with every program; what
# the server has of the rest is whole, and in order.
copied_and_cut() {
	cut_to=$((${cut_to:-0} + 1))
	cp "$SERVED/x" "$SERVED/x.$cut_to"
	other truncate x 0
}

# Of a copy that was made while a WRITE was under way the end may be half a
# record: a local file system lets readers see a write page by page. The rest of
# it stood between the copy and the cut.
without_half() {
	local file half
	for file; do
		half=$(tail -n 1 "$file" | wc -c)
		[[ -z $(tail -c 1 "$file" | tr -d '\0\n') ]] || truncate -s "-$half" "$file"
	done
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
	local i number version last files
	number=$(count 100 20)
	for version in v3 v4; do
		by "$version"
		cut_to=0
		start_steady "$writers"
		for ((i = 0; i < number; i++)); do
			steady_round "$writers" copied_and_cut
		done
		stop_steady "$writers"
		files=()
		for ((i = 1; i <= number; i++)); do
			files+=("$SERVED/x.$i")
		done
		without_half "${files[@]}"
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
		by "$version"
		start_lines "$LOGS/x"
		append_line one
		other truncate x 0
		append_line two
		append_line three
		other truncate x 4
		append_line four
		end_lines
		[[ $(paste -sd ' ' "$SERVED/x") = 'two four' ]]
	done
}

# While the server has it open the file lives on without a name, as one of the
# kernel's would.
@test "removed by another host: ESTALE once it is gone, then a new file" {
	local version
	for version in v3 v4; do
		by "$version"
		start_lines "$LOGS/x"
		append_line one
		other unlink x
		server_restart
		write_line two
		line_answer
		[[ $REPLY = 'write ESTALE' ]]
		write_line three
		line_answer
		[[ $REPLY = 'write ESTALE' ]]
		end_lines
		[[ ! -e $SERVED/x ]]
		one_message "$LOGS/x" ESTALE
		start_lines "$LOGS/x"
		append_line four
		end_lines
		[[ $(cat "$SERVED/x") = four ]]
	done
}

@test "ENOSPC, then space again: no hole, no torn line" {
	local version file
	server_takes_tmpfs || skip 'this nfs-ganesha exports no tmpfs'
	for version in v3 v4; do
		file=$SERVER_DIR/small/$version
		SHIM_URL=$(server_url small)
		[[ $version = v3 ]] || SHIM_URL=$(server_url_v4 small)
		start_lines "$LOGS/$version"
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
		by "$version"
		for signal in INT TERM KILL; do
			coproc LINES_PROGRAM {
				shimmed sh -c 'echo $$ >"$1"; exec "$2" "$3"' sh \
					"$BATS_TEST_TMPDIR/pid" "$PROGRAMS/prog_lines" \
					"$LOGS/$signal" 2>>"$MESSAGES" 3>&- 4>&-
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
			if wait "$lines_pid"; then
				return 1
			fi
			server_signal CONT
			: >"$MESSAGES"
			# Who comes next settles what that one left, and goes on.
			start_lines "$LOGS/$signal"
			append_line three
			end_lines
			run paste -sd ' ' "$SERVED/$signal"
			echo "$version $signal: $output"
			[[ $output = 'one three' || $output = 'one two three' ]]
			: >"$MESSAGES"
		done
	done
}

# One of them waits for the server, the others for that one.
@test "eight programs that wait are ended by SIGINT or SIGTERM, each at once" {
	local i version signal
	for version in v3 v4; do
		by "$version"
		for signal in INT TERM; do
			start_steady "$writers"
			server_signal STOP
			for ((i = 1; i <= writers; i++)); do
				until_true grep -q 'not responding' "$STEADY/err.$i"
			done
			for ((i = 1; i <= writers; i++)); do
				in_server kill -s "$signal" "$(<"$STEADY/pid.$i")"
				until_true ended "${STEADY_PIDS[i - 1]}"
			done
			server_signal CONT
			for ((i = 0; i < writers; i++)); do
				if wait "${STEADY_PIDS[i]}"; then
					return 1
				fi
			done
		done
	done
}

ended() {
	! kill -0 "$1"
}

@test "not responding is told once a program, and OK once" {
	local i
	by v3
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

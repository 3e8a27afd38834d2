#!/usr/bin/env bats
# Group commit: many threads and processes of a host append to one file, and
# any of them is killed or stopped at any moment.

load lib/load

setup_file() {
	start_server
	setup_shim
}

setup() {
	in_control && skip 'needs the shim: the kernel has no queue of ours'
	server_ensure
	new_case
}

# sharing MODE: locked by NFSv4, the others by NFSv3.
sharing() {
	SHIM_OPTIONS=(--sharing "$1")
	[[ $1 != locked ]] ||
		SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

# group ARG...: prog_group on a new file; all is as it must be. Never the same
# name again: the server may know yet what was removed behind its back.
group() {
	files=$((${files-0} + 1))
	rm -f "$STATS"
	run_shimmed "$PROGRAMS/prog_group" "$@" "$LOGS/x$files" "$SERVED/x$files"
	echo "# ${SHIM_OPTIONS[*]} $*: $output" >&3
	[[ $status -eq 0 ]]
	[[ $output = *' lost 0 twice 0 late 0 torn 0' ]]
}

# survivors_batched N: batched_max of those that lived to tell is N or more.
survivors_batched() {
	local most
	most=$(jq -s '[.[].files[].batched_max] | max' "$STATS")
	echo "# batched_max $most" >&3
	[[ $most -ge $1 ]]
}

# field NAME: of prog_group's line
field() {
	sed -n "s/.*$1 \([0-9]*\).*/\1/p" <<<"$output"
}

@test "16 threads, each mode: nothing lost, each thread's order, batches" {
	local mode
	for mode in single guarded locked; do
		sharing "$mode"
		group -t 16 -c "$(count 500 100)"
		[[ $(field found) -eq $(field acknowledged) ]]
		survivors_batched 8
	done
}

@test "8 processes of 8 threads, long records among short ones" {
	local mode
	for mode in single guarded locked; do
		sharing "$mode"
		group -p 8 -t 8 -c "$(count 200 20)" -l
		[[ $(field found) -eq $(field acknowledged) ]]
	done
}

@test "64 processes, 32 of them killed while the others write" {
	local mode seed
	for mode in single guarded locked; do
		sharing "$mode"
		for seed in 1 2; do
			group -p 64 -c "$(count 500 300)" -k 32 -s "$seed"
			[[ $(field killed) -ge 28 && $(field amid) -eq 32 ]]
			survivors_batched 8
		done
	done
}

@test "the same with long records among them" {
	local mode
	for mode in single guarded locked; do
		sharing "$mode"
		group -p 64 -c "$(count 500 20)" -k 32 -s 3 -l
	done
}

@test "the same with identical records" {
	local mode
	for mode in single guarded locked; do
		sharing "$mode"
		group -p 64 -c "$(count 500 60)" -k 32 -s 4 -i
	done
}

# In ppoll(), on the answer: the one that leads. The others sleep on a futex,
# their parent in a nanosleep. Prints its pid in the server's namespace.
leading_process() {
	local i
	for ((i = 0; i < 200; i++)); do
		# shellcheck disable=SC2016 # expanded inside
		in_server sh -c 'for p in $(pgrep -f "^[^ ]*prog_group child"); do
			read -r nr rest <"/proc/$p/syscall"
			case $nr in 7 | 271) echo "$p"; exit 0 ;; esac
		done
		exit 1' && return
		sleep 0.05
	done
	return 1
}

# stopped_leader: four writers of one record, whose leader is stopped in the
# middle of its WRITE while the server answers again.
stopped_leader() {
	local i
	OUT=$BATS_TEST_TMPDIR/out
	shimmed "$PROGRAMS/prog_group" -p 4 -c 1 -g "$BATS_TEST_TMPDIR/go" \
		"$LOGS/x" "$SERVED/x" >"$OUT" 2>"$MESSAGES" 3>&- 4>&- &
	GROUP=$!
	for ((i = 0; i < 600; i++)); do
		! grep -qx ready "$OUT" || break
		sleep 0.05
	done
	server_signal STOP
	: >"$BATS_TEST_TMPDIR/go"
	LEADER=$(leading_process)
	in_server kill -STOP "$LEADER"
	server_signal CONT
}

# settled: the four have come to their end; prog_group's line in $output.
settled() {
	wait "$GROUP" || :
	run tail -n 1 "$OUT"
	echo "# $output" >&3
	[[ $output = *' lost 0 twice 0 late 0 torn 0' ]]
}

@test "a leader that is stopped: the others wait, and all goes well when it wakes" {
	SHIM_OPTIONS=(--sharing guarded)
	stopped_leader
	sleep 1
	[[ $(wc -l <"$SERVED/x") -le 1 ]] # its own record at most
	in_server kill -CONT "$LEADER"
	settled
	[[ $(field acknowledged) -eq 4 && $(field found) -eq 4 ]]
}

@test "a leader that is stopped: others end by their time-out, nothing twice" {
	SHIM_OPTIONS=(--sharing guarded --timeout 2)
	stopped_leader
	sleep 4
	in_server kill -CONT "$LEADER"
	settled
	[[ $(field acknowledged) -lt 4 && $(field found) -ge $(field acknowledged) ]]
	grep -qE 'stopped|may be in the file' "$MESSAGES"
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	[[ $status -eq 0 ]]
}

# Nothing in the segment is its business when it wakes: it hears from the
# others what became of its record.
@test "a leader that is stopped, locked: the others go on, it loses nothing when it wakes" {
	local i
	sharing locked
	stopped_leader
	for ((i = 0; i < 300; i++)); do
		[[ $(wc -l <"$SERVED/x") -lt 3 ]] || break
		sleep 0.1
	done
	echo "# the others had gone on after $((i / 10)) s" >&3
	[[ $(wc -l <"$SERVED/x") -ge 3 ]] # its own is in, or not
	grep -q N311 "$MESSAGES"
	in_server kill -CONT "$LEADER"
	settled
	[[ $(field acknowledged) -eq 4 && $(field found) -eq 4 ]]
}

@test "leaders stopped and woken at random, locked: each record once" {
	local i pid
	sharing locked
	OUT=$BATS_TEST_TMPDIR/out
	shimmed "$PROGRAMS/prog_group" -p 12 -c "$(count 20000 3000)" \
		"$LOGS/x" "$SERVED/x" >"$OUT" 2>"$MESSAGES" 3>&- 4>&- &
	GROUP=$!
	for ((i = 0; i < $(count 30 4); i++)); do
		server_signal STOP
		pid=$(leading_process) || break
		in_server kill -STOP "$pid"
		server_signal CONT
		sleep 2.5
		in_server kill -CONT "$pid"
		sleep 0.1
	done
	server_signal CONT
	settled
	echo "# $(grep -c N311 "$MESSAGES" || :) deposed" >&3
	grep -q N311 "$MESSAGES"
	[[ $(field acknowledged) -eq $(field found) ]]
}

@test "a leader that is stopped and killed: the others go on at once" {
	SHIM_OPTIONS=(--sharing guarded)
	stopped_leader
	in_server kill -KILL "$LEADER"
	settled
	[[ $(field killed) -eq 1 && $(field acknowledged) -eq 3 ]]
}

@test "1,000 open logs, 200 writers: memory, connections, descriptors" {
	local logs
	logs=1000
	ulimit -n 4096
	run_shimmed "$PROGRAMS/prog_logs" "$LOGS" "$logs" 200 "$(count 100 20)"
	echo "# $output" >&3
	[[ $status -eq 0 ]]
	[[ $(cat "$SERVED"/* | wc -l) -eq $((200 * $(count 100 20))) ]]
	[[ $(field connections) -le 64 ]]
	[[ $(field resident_kb) -le 200000 ]]
}

# There are 359 of them. A few hundred processes that connect at once are hard
# on a small machine.
@test "700 processes: reserved ports run out, all is served" {
	local processes
	processes=$(count 700 400)
	run_shimmed "$PROGRAMS/prog_group" -p "$processes" -c 2 "$LOGS/x" "$SERVED/x"
	echo "# $output" >&3
	echo "# messages: $(grep -c nfsappend "$MESSAGES" || :)" >&3
	sort "$MESSAGES" | sed 's/[0-9]\+/N/g' | uniq -c | sed 's/^/# /' | head -n 5 >&3
	[[ $status -eq 0 && $output = *'lost 0 twice 0 late 0 torn 0' ]]
	[[ $(field found) -eq $((2 * processes)) ]]
	# Each process that finds none says so once.
	run ! sh -c 'grep -o "\[[0-9]*\]: all ports" "$1" | sort | uniq -d | grep .' sh "$MESSAGES"
}

# runtime SIZE: a folder for segments with so much room, in the server's mount
# namespace.
runtime() {
	RUNTIME=$BATS_TEST_TMPDIR/runtime.$1
	mkdir -p "$RUNTIME"
	in_server mount -t tmpfs -o "size=$1,mode=700" tmpfs "$RUNTIME"
}

@test "little or no room for segments: every thread's record is there all the same" {
	local size
	sharing guarded
	for size in 4k 8k 64k 256k 400k; do
		runtime "$size"
		NFSAPPEND_RUNTIME=$RUNTIME group -t 16 -c 30
		[[ $(field found) -eq 480 ]]
		in_server umount "$RUNTIME"
	done
	NFSAPPEND_RUNTIME=/proc/none group -t 16 -c 30
	[[ $(field found) -eq 480 ]]
}

@test "the same with processes, which then are hosts of their own (locked)" {
	sharing locked
	runtime 4k
	NFSAPPEND_RUNTIME=$RUNTIME group -p 4 -t 2 -c 20 -l
	[[ $(field found) -eq 160 ]]
	NFSAPPEND_RUNTIME=/proc/none group -p 4 -t 2 -c 20
	[[ $(field found) -eq 160 ]]
}

# appended N: prog_append adds N records to the one file x.
appended() {
	local before=0
	[[ ! -e $SERVED/x ]] || before=$(wc -l <"$SERVED/x")
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" "$1"
	[[ $status -eq 0 && $(wc -l <"$SERVED/x") -eq $((before + $1)) ]]
}

@test "segments that are no segments: replaced or left, with a message" {
	local file target=$BATS_TEST_TMPDIR/target kind
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	sharing guarded
	appended 5
	file=$(find "$NFSAPPEND_RUNTIME" -type f)
	[[ -f $file ]]
	for kind in garbage short mode symlink directory fifo; do
		rm -rf "$file"
		echo untouched >"$target"
		case $kind in
		garbage) head -c 1400000 /dev/urandom >"$file" && chmod 600 "$file" ;;
		short) echo no >"$file" && chmod 600 "$file" ;;
		mode) : >"$file" && chmod 666 "$file" ;;
		symlink) ln -s "$target" "$file" ;;
		directory) mkdir "$file" ;;
		fifo) mkfifo -m 600 "$file" ;;
		esac
		appended 5
		echo "# $kind: $(tail -n 1 "$MESSAGES")" >&3
		[[ $(cat "$target") = untouched ]]
		grep -q nfsappend "$MESSAGES"
	done
}

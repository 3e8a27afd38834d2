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

# group ARG...: prog_group on a new file; all is as it must be.
group() {
	rm -f "$SERVED/x" "$STATS"
	run_shimmed "$PROGRAMS/prog_group" "$@" "$LOGS/x" "$SERVED/x"
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
			group -p 64 -c "$(count 500 60)" -k 32 -s "$seed"
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

# In ppoll(), on the answer: the one that leads. The others sleep on a futex.
# Prints its pid in the server's namespace.
leading_process() {
	local i
	for ((i = 0; i < 200; i++)); do
		# shellcheck disable=SC2016 # expanded inside
		in_server sh -c 'for p in $(pidof prog_append); do
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
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	[[ $status -eq 0 ]]
	server_signal STOP
	WRITERS=()
	for i in 1 2 3 4; do
		shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1 \
			>"$BATS_TEST_TMPDIR/out.$i" 2>"$BATS_TEST_TMPDIR/err.$i" 3>&- 4>&- &
		WRITERS+=("$!")
	done
	for ((i = 0; i < 200; i++)); do
		[[ $(in_server pidof prog_append | wc -w) -lt 4 ]] || break
		sleep 0.05
	done
	LEADER=$(leading_process)
	in_server kill -STOP "$LEADER"
	server_signal CONT
}

# ended_well: how many of the writers did
ended_well() {
	local pid n=0
	for pid in "${WRITERS[@]}"; do
		! wait "$pid" || n=$((n + 1))
	done
	echo "$n"
}

@test "a leader that is stopped: the others wait, and all goes well when it wakes" {
	local found
	SHIM_OPTIONS=(--sharing guarded)
	stopped_leader
	sleep 1
	found=$(wc -l <"$SERVED/x")
	[[ $found -le 2 ]] # its own batch at most
	in_server kill -CONT "$LEADER"
	[[ $(ended_well) -eq 4 ]]
	[[ $(wc -l <"$SERVED/x") -eq 5 ]]
}

@test "a leader that is stopped: others end by their time-out, nothing twice" {
	local well found
	SHIM_OPTIONS=(--sharing guarded --timeout 2)
	stopped_leader
	sleep 3.5
	in_server kill -CONT "$LEADER"
	well=$(ended_well)
	grep -h nfsappend "$BATS_TEST_TMPDIR"/err.* | sed 's/^/# /' >&3 || :
	found=$(wc -l <"$SERVED/x")
	# Told of each success, the file has it; of the others it may.
	[[ $well -lt 4 && $found -ge $((1 + well)) && $found -le 5 ]]
	grep -qE 'stopped|may be in the file' "$BATS_TEST_TMPDIR"/err.*
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	[[ $status -eq 0 && $(wc -l <"$SERVED/x") -ge $((found + 1)) ]]
	run ! grep -vE '^00000000 a+$' "$SERVED/x"
}

@test "a leader that is stopped and killed: the others go on at once" {
	SHIM_OPTIONS=(--sharing guarded)
	stopped_leader
	in_server kill -KILL "$LEADER"
	[[ $(ended_well) -eq 3 ]]
	[[ $(wc -l <"$SERVED/x") -ge 4 && $(wc -l <"$SERVED/x") -le 5 ]]
}

@test "1,000 open logs, 200 writers: memory, connections, descriptors" {
	local logs
	logs=$(count 1000 1000)
	run_shimmed "$PROGRAMS/prog_logs" "$LOGS" "$logs" 200 "$(count 100 20)"
	echo "# $output" >&3
	[[ $status -eq 0 && -z $stderr ]]
	[[ $(cat "$SERVED"/* | wc -l) -eq $((200 * $(count 100 20))) ]]
	[[ $(field connections) -le 64 ]]
	[[ $(field resident_kb) -le 200000 ]]
}

@test "700 processes: reserved ports run out, all is served" {
	run_shimmed "$PROGRAMS/prog_group" -p 700 -c 2 "$LOGS/x" "$SERVED/x"
	echo "# $output" >&3
	echo "# messages: $(grep -c nfsappend "$MESSAGES" || :)" >&3
	sort "$MESSAGES" | sed 's/[0-9]\+/N/g' | uniq -c | sed 's/^/# /' | head -n 5 >&3
	[[ $status -eq 0 && $output = *'acknowledged 1400 begun 1400 found 1400 lost 0 twice 0 late 0 torn 0' ]]
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

@test "segments that are no segments: replaced, with a message" {
	local file name target=$BATS_TEST_TMPDIR/target kind
	RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$RUNTIME"
	sharing guarded
	export NFSAPPEND_RUNTIME=$RUNTIME
	group -p 4 -c 5
	name=$(ls "$RUNTIME")
	file=$RUNTIME/$name
	[[ -f $file ]]
	for kind in garbage zeroes short mode; do
		case $kind in
		garbage) head -c "$(stat -c %s "$file")" /dev/urandom >"$file.new" ;;
		zeroes) truncate -s 5000000 "$file.new" ;;
		short) echo no >"$file.new" ;;
		mode) : >"$file.new" && chmod 666 "$file.new" ;;
		esac
		[[ $kind = mode ]] || chmod 600 "$file.new"
		mv "$file.new" "$file"
		group -p 4 -c 5
		[[ $(field found) -eq 20 ]]
		grep -q "$name" "$MESSAGES"
	done
	for kind in symlink directory fifo; do
		rm -rf "$file"
		echo untouched >"$target"
		case $kind in
		symlink) ln -s "$target" "$file" ;;
		directory) mkdir "$file" ;;
		fifo) mkfifo "$file" ;;
		esac
		group -t 4 -c 5
		[[ $(field found) -eq 20 && $(cat "$target") = untouched ]]
		grep -q nfsappend "$MESSAGES"
	done
}

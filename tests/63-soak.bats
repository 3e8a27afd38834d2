#!/usr/bin/env bats
# Hours of a logger's life in a short time: four processes of four threads,
# their file rotated by rename, the server killed and started again. No record
# is lost, none stands twice, and the processes do not grow.

load lib/load
load lib/programs
load lib/steady

processes=4 threads=4

setup_file() {
	in_control && skip 'needs the shim: a local file has no server'
	start_server
	setup_shim
}

setup() {
	server_ensure
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	SHIM_LIMIT=7200
	STEADY=$BATS_TEST_TMPDIR/steady
	mkdir "$STEADY"
	seconds=$(count 1800 10)
	rotate_every=$(count 10 2) restart_every=$(count 60 5)
}

teardown() {
	: >"$STEADY/stop"
	nothing_local
}

start_soak() {
	local i
	pids=()
	for ((i = 0; i < processes; i++)); do
		# shellcheck disable=SC2016 # sh expands it
		shimmed sh -c 'echo $$ >"$0"; exec "$@"' "$STEADY/pid.$i" \
			"$PROGRAMS/prog_soak" "$LOGS/x" $((i * threads + 1)) \
			"$threads" "$STEADY/stop" 20000 \
			>"$STEADY/soak.$i" 2>"$STEADY/err.$i" 3>&- 4>&- &
		pids+=("$!")
	done
}

# sizes: of each process KiB of memory and descriptors, in one line each. While
# it has the file open in all its threads.
sizes() {
	local i
	for ((i = 0; i < processes; i++)); do
		# shellcheck disable=SC2016
		in_server sh -c 'awk "/^VmRSS/ { print \$2 }" /proc/$1/status
			ls /proc/$1/fd | wc -l' sh "$(<"$STEADY/pid.$i")" |
			paste -sd ' '
	done
}

# The largest of all processes, memory and descriptors.
largest() {
	sizes | awk '
		$1 > rss { rss = $1 }
		$2 > fds { fds = $2 }
		END { print rss + 0, fds + 0 }'
}

soak() {
	local i now next_rotation next_restart end half rotations=0 restarts=0
	local early late files
	end=$((SECONDS + seconds)) half=$((SECONDS + seconds / 2))
	next_rotation=$((SECONDS + rotate_every))
	next_restart=$((SECONDS + restart_every))
	start_soak
	early=
	while ((SECONDS < end)); do
		sleep 0.5
		now=$SECONDS
		if ((now >= next_rotation)) && [[ -s $SERVED/x ]]; then
			shimmed mv "$LOGS/x" "$LOGS/x.$((++rotations))" 3>&- 4>&-
			next_rotation=$((now + rotate_every))
		fi
		# All that they will need they have by now.
		[[ -n $early ]] || ((now < half)) || early=$(largest)
		if ((now >= next_restart)); then
			server_restart
			next_restart=$((now + restart_every))
			restarts=$((restarts + 1))
		fi
		for ((i = 0; i < processes; i++)); do
			kill -0 "${pids[i]}" || {
				cat "$STEADY/soak.$i" "$STEADY/err.$i"
				return 1
			}
		done
	done
	late=$(largest)
	: >"$STEADY/stop"
	for ((i = 0; i < processes; i++)); do
		wait "${pids[i]}"
	done
	sed -n 's/^w\([0-9]*\) acknowledged \([0-9]*\) .*/\1 \2/p' "$STEADY"/soak.* |
		while read -r i files; do
			echo "acknowledged $files" >"$STEADY/out.$i"
		done
	files=()
	for ((i = 1; i <= rotations; i++)); do
		files+=("$SERVED/x.$i")
	done
	[[ ! -e $SERVED/x ]] || files+=("$SERVED/x")
	echo "$1: $seconds s, $rotations rotations, $restarts restarts," \
		"$(steady_acknowledged) records; largest process (KiB, fds)" \
		"half-way $early, at the end $late" | tee -a "${NFSAPPEND_FIGURES:-/dev/null}"
	[[ $rotations -gt 2 && $restarts -gt 0 ]]
	all_there $((processes * threads)) "${files[@]}"
	# A descriptor may be open anew at the moment, and a connection.
	[[ ${late#* } -le $((${early#* } + 4)) ]]
	[[ ${late% *} -le $((${early% *} + $(count 1024 4096))) ]]
}

@test "soak, NFSv3: counts match, memory and descriptors are flat" {
	soak NFSv3
}

@test "soak, NFSv4.0: counts match, memory and descriptors are flat" {
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
	soak NFSv4.0
}

#!/usr/bin/env bats
# nfsappend status: what it says of the files that programs of this host append
# to, and that nobody is hindered by it.

load lib/load

setup_file() {
	start_server
	setup_shim
}

setup() {
	in_control && skip 'needs the shim: the kernel has no segments of ours'
	server_ensure
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

teardown() {
	nothing_local
}

# status ARG...: of the sub-command, in the server's namespaces, as a user has
# it. The limit is there so that a hang is a failure.
status() {
	in_server timeout --foreground -k 5 30 "$SHIM_WRAPPER" status "$@"
}

# json: the object, read by somebody else's reader, in $JSON.
json() {
	status --json >"$BATS_TEST_TMPDIR/json" || return
	JSON=$("$PYTHON" -c 'import json, sys
line, = open(sys.argv[1], encoding="utf-8")
print(json.dumps(json.loads(line)))' "$BATS_TEST_TMPDIR/json")
}

# The output of the last run, for whoever reads the test's.
show() {
	printf '# %s\n' "${lines[@]}" >&3
}

# field FILTER: of the file $LOGS/x.
field() {
	jq -c --arg path "$LOGS/x" ".files[] | select(.path == \$path) | $1" \
		<<<"$JSON"
}

@test "processes and threads: the figures are the sum of their statistics" {
	local name threads=4 processes=4 records
	records=$(count 200 50)
	run_shimmed "$PROGRAMS/prog_group" -p "$processes" -t "$threads" \
		-c "$records" -l "$LOGS/x" "$SERVED/x"
	[[ $status -eq 0 ]]
	json
	echo "# $(field 'del(.writers, .segment)')" >&3
	[[ $(field .appends) -eq $((processes * threads * records)) ]]
	for name in appends bytes rpcs write_rpcs lookup_rpcs conflicts retries \
		reconnects errors; do
		echo "$name: $(field ".$name") here, $(stats_sum "$name") there"
		[[ $(field ".$name") -eq $(stats_sum "$name") ]]
	done
	[[ $(field .bytes) -eq $(stat -c %s "$SERVED/x") ]]
	[[ $(field .size) -eq $(stat -c %s "$SERVED/x") ]]
	[[ $(field .batched_max) -eq $(jq -s '[.[].files[].batched_max] | max' "$STATS") ]]
	[[ $(field .batches) -le $(field .appends) ]]
	[[ $(field '[.times[][1]] | add') -eq $(field .batches) ]]
	[[ $(field .max_us) -ge $(field .mean_us) && $(field .mean_us) -gt 0 ]]
	[[ $(field .protocol) = '"v4.0"' && $(field .sharing) = '"locked"' ]]
	[[ $(field '.queued + .sending') -eq 0 && $(field .in_doubt) = false ]]
	# All have left: nobody is shown, what they did is.
	[[ $(field '[.writers[] | select(.state != "gone")] | length') -eq 0 ]]
	run -0 status
	[[ $output = *"$LOGS/x"* && $output = *'writers: none now'* ]]
}

# Their numbers are those of the server's PID namespace, where status runs.
@test "a writer at work, stopped, killed" {
	local pid
	start_lines "$LOGS/x"
	append_line one
	json
	[[ $(field '.writers | length') -eq 1 ]]
	[[ $(field '.writers[0].command') = '"prog_lines"' ]]
	[[ $(field '.writers[0].state') = '"running"' ]]
	[[ $(field .appends) -eq 1 && $(field .size) -eq 4 ]]
	pid=$(field '.writers[0].pid')
	run -0 status
	show
	[[ $output = *"writers: $pid prog_lines"$'\n'* || $output = *"writers: $pid prog_lines" ]]
	in_server kill -STOP "$pid"
	run -0 status
	[[ $output = *"$pid prog_lines (stopped)"* ]]
	in_server kill -KILL "$pid"
	wait "$lines_pid" || :
	json
	[[ $(field '[.writers[] | select(.state != "gone")] | length') -eq 0 ]]
	run -0 status
	[[ $output = *'writers: none now; 1 gone'* ]]
}

@test "a server that does not answer: who sends, who waits" {
	local i
	shimmed "$PROGRAMS/prog_group" -p 4 -c 1 -g "$BATS_TEST_TMPDIR/go" \
		"$LOGS/x" "$SERVED/x" >"$BATS_TEST_TMPDIR/out" 2>"$MESSAGES" 3>&- 4>&- &
	for ((i = 0; i < 600; i++)); do
		! grep -qx ready "$BATS_TEST_TMPDIR/out" || break
		sleep 0.05
	done
	server_signal STOP
	: >"$BATS_TEST_TMPDIR/go"
	for ((i = 0; i < 200; i++)); do
		json
		[[ $(field '.queued') -ne 3 ]] || break
		sleep 0.05
	done
	echo "# $(field '[.queued, .sending, .writers]')" >&3
	[[ $(field .queued) -eq 3 ]]
	[[ $(field '[.writers[] | select(.sends)] | length') -eq 1 ]]
	run -0 status
	[[ $output = *' (sends)'* ]]
	server_signal CONT
	wait $!
	json
	[[ $(field .queued) -eq 0 && $(field .appends) -eq 4 ]]
}

@test "nobody is hindered: writers go on while it looks, over and over" {
	local looks=0 writers
	shimmed "$PROGRAMS/prog_group" -p 8 -c "$(count 5000 500)" \
		"$LOGS/x" "$SERVED/x" >"$BATS_TEST_TMPDIR/out" 2>"$MESSAGES" 3>&- 4>&- &
	writers=$!
	while kill -0 "$writers" 2>/dev/null; do
		status --json >"$BATS_TEST_TMPDIR/look" || [[ $? -eq 1 ]]
		jq -e . <"$BATS_TEST_TMPDIR/look" >/dev/null
		looks=$((looks + 1))
	done
	wait "$writers"
	echo "# looked $looks times; $(tail -n 1 "$BATS_TEST_TMPDIR/out")" >&3
	[[ $looks -ge 3 ]]
	grep -q 'lost 0 twice 0 late 0 torn 0' "$BATS_TEST_TMPDIR/out"
}

@test "nothing to show: why, and status 1" {
	run -1 status
	show
	[[ $output = *"$NFSAPPEND_RUNTIME (NFSAPPEND_RUNTIME) does not exist"* ]]
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	run -1 status
	[[ $output = *'No program has a file open'* && $output = *N503* ]]
	run -1 status --json
	[[ $(jq -c '[(.files | length), (.notes | length)]' <<<"$output") = '[0,2]' ]]
	chmod 755 "$NFSAPPEND_RUNTIME"
	run -1 status
	[[ $output = *"$NFSAPPEND_RUNTIME is used by no program"*0700* ]]
}

@test "no room for segments: said, and the program's appends are not shown" {
	mkdir -p "$NFSAPPEND_RUNTIME"
	in_server mount -t tmpfs -o size=4k,mode=700 tmpfs "$NFSAPPEND_RUNTIME"
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 3
	[[ $status -eq 0 ]]
	grep -q "$NFSAPPEND_RUNTIME.*make room there.*\[N503\]" "$MESSAGES"
	run -1 status
	in_server umount "$NFSAPPEND_RUNTIME"
	[[ $output = *"The file system of $NFSAPPEND_RUNTIME is full"* ]]
}

@test "files that are no segments: neither followed nor waited for" {
	local i=0 kind file
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 3
	file=$(find "$NFSAPPEND_RUNTIME" -type f -printf '%f\n' | head -n 1)
	for kind in garbage short zeroes cut symlink directory fifo socket; do
		i=$((i + 1))
		name=$NFSAPPEND_RUNTIME/$(printf '%032x' "$i")
		case $kind in
		garbage) head -c "$(stat -c %s "$NFSAPPEND_RUNTIME/$file")" /dev/urandom >"$name" ;;
		short) echo no >"$name" ;;
		zeroes) truncate -s "$(stat -c %s "$NFSAPPEND_RUNTIME/$file")" "$name" ;;
		cut) head -c 1000 "$NFSAPPEND_RUNTIME/$file" >"$name" ;;
		symlink) ln -s "$file" "$name" ;;
		directory) mkdir "$name" ;;
		fifo) mkfifo "$name" ;;
		socket) "$PYTHON" -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$name" ;;
		esac
	done
	run -0 status
	show
	[[ $output = *"$LOGS/x"* && $output = *': 8 of the files there are not shown'* ]]
	json
	[[ $(field .appends) -eq 3 && $(jq '.files | length' <<<"$JSON") -eq 1 ]]
}

@test "a name with a terminal's commands and bytes that are no UTF-8" {
	local name=$'x\033[2J\377"\\\302\233'
	run_shimmed sh -c 'echo one >>"$LOGS/$1"' sh "$name"
	[[ $status -eq 0 ]]
	json
	[[ $(jq -r '.files[0].path | test("^/logs-[0-9]+/x\u001b\\[2J\ufffd\"\\\\\u009b$")' \
		<<<"$JSON") = true ]]
	run -0 status
	[[ $output = *'/x?[2J?"\?'* ]]
}

# lines_in FILE N: it has come to have N lines
lines_in() {
	local i
	for ((i = 0; i < 300; i++)); do
		[[ $(wc -l <"$1") -lt $2 ]] || return 0
		sleep 0.1
	done
	return 1
}

@test "--watch: again and again, until a signal" {
	local watcher ended=0 out=$BATS_TEST_TMPDIR/watched
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	"$SHIM_WRAPPER" status --json --watch=1 >"$out" 3>&- 4>&- &
	watcher=$!
	lines_in "$out" 1
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	lines_in "$out" 3
	kill -TERM "$watcher"
	wait "$watcher" || ended=$?
	[[ $ended -eq 143 ]] # by SIGTERM
	jq -se 'length >= 3 and .[0].files[0].appends == 1 and
		.[-1].files[0].appends == 2' "$out" >/dev/null
	# Of a table the screen is cleared only where there is one.
	run -124 timeout -s INT 1 "$SHIM_WRAPPER" status --watch
	[[ $output = *"$LOGS/x"* && $output != *$'\033'* ]]
	run -124 script -qec "timeout -s INT 1 '$SHIM_WRAPPER' status --watch" /dev/null
	[[ $output = $'\033[H\033[2J'*"$LOGS/x"* ]]
}

@test "each user sees his own, root those of all" {
	unset NFSAPPEND_RUNTIME
	local as=(setpriv --reuid 12345 --regid 12345 --clear-groups)
	chmod 1777 "$SERVED"
	run_shimmed "${as[@]}" "$PROGRAMS/prog_append" "$LOGS/x" 1
	[[ $status -eq 0 ]]
	json
	[[ $(field .uid) -eq 12345 ]]
	JSON=$(in_server "${as[@]}" "$SHIM_WRAPPER" status --json)
	[[ $(field .uid) -eq 12345 ]]
	run -1 in_server setpriv --reuid 12346 --regid 12346 --clear-groups \
		"$SHIM_WRAPPER" status
	show
	[[ $output != *"$LOGS/x"* && $output = *'to root alone'* ]]
}

@test "the command line" {
	local bad
	run -0 status --help
	[[ $output = 'usage: nfsappend status'* ]]
	for bad in --frobnicate --watch=0 --watch=x --watch=-1 --watch= x; do
		run -125 --separate-stderr status "$bad"
		# shellcheck disable=SC2154 # bats sets it
		[[ -z $output && $stderr = 'nfsappend status: '*--help* ]]
	done
	run -127 "$SHIM_WRAPPER" -m "$LOGS=nfs://server/e" -- status
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 1
	run -2 in_server sh -c '"$1" status --json >/dev/full' sh "$SHIM_WRAPPER"
}

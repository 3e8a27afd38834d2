# For the tests of this folder: builds once per file, and runs one scripted
# server per test. SERVER_BIN names a folder that "build" already filled.

server_build() {
	if [ -z "${SERVER_BIN-}" ]; then
		export SERVER_BIN=$BATS_FILE_TMPDIR/bin
		"$BATS_TEST_DIRNAME/build" "$SERVER_BIN"
	fi
	[ -x "$SERVER_BIN/raw" ]
}

# wait_port FILE: the port that a server printed there
wait_port() {
	local i word number
	for ((i = 0; i < 100; i++)); do
		if [ -s "$1" ] && read -r word number <"$1" &&
			[ "$word" = port ]; then
			echo "$number"
			return
		fi
		sleep 0.05
	done
	return 1
}

# server_start [OPTION]...: sets PORT, LOG, DATA (the export /e on disk)
server_start() {
	local base=$BATS_TEST_TMPDIR
	DATA=$base/export/e LOG=$base/log
	mkdir -p "$DATA"
	"$SERVER_BIN/scripted" --log "$LOG" --control "$base/ctl" "$@" \
		"$base/export" >"$base/port" 2>"$base/stderr" 3>&- <&0 &
	SERVER_PID=$!
	PORT=$(wait_port "$base/port")
}

server_stop() {
	[ -n "${SERVER_PID-}" ] || return 0
	kill "$SERVER_PID"
	# Sanitizers tell by the exit status.
	wait "$SERVER_PID"
	SERVER_PID=
	cat "$BATS_TEST_TMPDIR/stderr"
	[ ! -s "$BATS_TEST_TMPDIR/stderr" ]
}

tell() {
	"$SERVER_BIN/scripted" --send "$BATS_TEST_TMPDIR/ctl" "$@"
}

raw() {
	"$SERVER_BIN/raw" "$PORT" "$@"
}

# v3 COMMAND...: on a fresh file x
v3() {
	rm -f "$DATA/x"
	run raw mount /e create x "$@"
	# shellcheck disable=SC2154 # bats sets them
	echo "$output"
	# shellcheck disable=SC2154
	[ "$status" -eq 0 ]
}

# has LINE: a line of the output is exactly that
has() {
	grep -qxF -- "$1" <<<"$output"
}

# starts TEXT: a line of the output begins with that
starts() {
	local line
	while IFS= read -r line; do
		[[ $line == "$1"* ]] && return
	done <<<"$output"
	return 1
}

logged() {
	grep -cE -- "$1" "$LOG"
}

size() {
	stat -c %s "$DATA/$1"
}

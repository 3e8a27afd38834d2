# shellcheck shell=bash
# The scripted server and the fault proxy of tests/server, inside the private
# server's namespaces, with the shim as their client.
#
#   setup_file() { start_server; setup_shim; build_scripted; }
#   start_scripted [OPTION]...     serves $SERVED as $LOGS by NFSv4
#   tell 'on v4 LOCK nth 3 reply EXPIRED'
#   start_proxy [PORT]; tell_proxy 'on reply COMPOUND every 7 cut before'
#
# Both end with the test (stop_scripted in teardown says if they ended well).

build_scripted() {
	export SCRIPTED_BIN=$BATS_FILE_TMPDIR/scripted
	"$shim_root/tests/server/build" "$SCRIPTED_BIN"
}

# waits for "port N" in FILE
scripted_port() {
	local i word number
	for ((i = 0; i < 200; i++)); do
		if [[ -s $1 ]] && read -r word number <"$1" && [[ $word = port ]]; then
			echo "$number"
			return
		fi
		sleep 0.05
	done
	return 1
}

start_scripted() {
	local base=$BATS_TEST_TMPDIR/scripted
	SERVED=$base/export/e
	SCRIPTED_LOG=$base/log
	mkdir -p "$SERVED"
	chmod 1777 "$SERVED"
	rm -f "$base/port" # of the one before
	in_server "$SCRIPTED_BIN/scripted" --log "$SCRIPTED_LOG" \
		--control "$base/ctl" "$@" "$base/export" \
		>"$base/port" 2>"$base/stderr" 3>&- 4>&- &
	SCRIPTED_PID=$!
	SCRIPTED_PORT=$(scripted_port "$base/port")
	scripted_url "$SCRIPTED_PORT"
}

# The shim goes to that port from now on.
scripted_url() {
	SHIM_URL="nfs://127.0.0.1/e?version=4&nfsport=$1"
}

tell() {
	"$SCRIPTED_BIN/scripted" --send "$BATS_TEST_TMPDIR/scripted/ctl" "$@"
}

# How many calls the log has with that extended regular expression.
scripted_logged() {
	grep -cE -- "$1" "$SCRIPTED_LOG" || :
}

# start_proxy [PORT]: between the shim and the scripted server, or the port.
start_proxy() {
	local base=$BATS_TEST_TMPDIR/proxy
	mkdir -p "$base"
	rm -f "$base/port"
	in_server "$SCRIPTED_BIN/proxy" --seed 7 --control "$base/ctl" \
		--to "127.0.0.1:${1:-$SCRIPTED_PORT}" \
		>"$base/port" 2>"$base/stderr" 3>&- 4>&- &
	PROXY_PID=$!
	PROXY_PORT=$(scripted_port "$base/port")
	# shellcheck disable=SC2001 # a pattern that ${//} does not know
	SHIM_URL=$(sed "s/nfsport=[0-9]*/nfsport=$PROXY_PORT/" <<<"$SHIM_URL")
}

tell_proxy() {
	"$SCRIPTED_BIN/proxy" --send "$BATS_TEST_TMPDIR/proxy/ctl" "$@"
}

# nsenter is our child, the program nsenter's.
stop_scripted() {
	local pid status=0
	[[ -z ${PROXY_PID-} ]] || tell_proxy quit >/dev/null 2>&1 || :
	[[ -z ${SCRIPTED_PID-} ]] || tell quit >/dev/null 2>&1 || :
	for pid in ${PROXY_PID-} ${SCRIPTED_PID-}; do
		wait "$pid" || status=1
	done
	PROXY_PID='' SCRIPTED_PID=''
	cat "$BATS_TEST_TMPDIR"/{scripted,proxy}/stderr 2>/dev/null || :
	return "$status"
}

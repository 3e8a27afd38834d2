# shellcheck shell=bash
# Captures what goes over the private server's NFS port, and counts it.
#
#   start_capture; shimmed ...; stop_capture
#   captured_calls 7            NFSv3 calls of procedure 7 (WRITE)
#   captured_stable             the stable_how values of NFSv3 WRITE calls
#
# Nothing waits for a time: a capture has begun, and is complete, when a NULL
# call made for that purpose is in the file (so procedure 0 is never counted).

capture_missing() {
	type -P dumpcap tshark >/dev/null || echo 'dumpcap and tshark (Debian: apt-get install tshark)'
}

start_capture() {
	CAPTURE=$BATS_TEST_TMPDIR/capture.pcapng
	in_server sh -c 'echo "$$" >"$0.pid" && exec dumpcap -q -i lo -B 64 \
		-f "tcp port 20490" -w "$0"' "$CAPTURE" 2>"$CAPTURE.log" 3>&- 4>&- &
	CAPTURE_PID=$!
	capture_marker
}

stop_capture() {
	capture_marker || return 1
	in_server kill -s TERM "$(cat "$CAPTURE.pid")"
	wait "$CAPTURE_PID" || return 1
	if ! grep -q 'received/dropped.*: [0-9]*/0 ' "$CAPTURE.log"; then
		echo 'the capture lost packets:' >&2
		cat "$CAPTURE.log" >&2
		return 1
	fi
	capture_fields >"$CAPTURE.calls"
}

# A NULL call from a port that no capture of this test has seen, until it shows.
capture_marker() {
	local i seen
	for ((i = 0; i < 100; i++)); do
		seen=$(capture_nulls)
		in_server rpcinfo -n 20490 -t 127.0.0.1 100003 3 >/dev/null || return 1
		sleep 0.05
		[[ $(capture_nulls) -le $seen ]] || return 0
	done
	echo 'the capture sees nothing:' >&2
	cat "$CAPTURE.log" >&2
	return 1
}

capture_nulls() {
	[[ -s $CAPTURE ]] || {
		echo 0
		return
	}
	tshark -r "$CAPTURE" -d tcp.port==20490,rpc \
		-Y 'rpc.msgtyp == 0 && rpc.procedure == 0' 2>/dev/null | wc -l
}

# One line a call: version, procedure, stable_how (WRITE only).
capture_fields() {
	tshark -r "$CAPTURE" -d tcp.port==20490,rpc -o rpc.desegment_rpc_over_tcp:TRUE \
		-Y 'rpc.msgtyp == 0 && rpc.program == 100003' -T fields -E separator=' ' \
		-e rpc.programversion -e rpc.procedure -e nfs.write.stable -e nfs.opcode \
		2>/dev/null | awk '
		# Several calls in one frame: their fields are joined by commas.
		{
			n = split($2, procedure, ",")
			split($1, version, ",")
			split($3, stable, ",")
			w = 0
			for (i = 1; i <= n; i++) {
				print version[i], procedure[i],
					version[i] == 3 && procedure[i] == 7 ? stable[++w] : "-"
			}
		}'
}

# captured_calls PROCEDURE: NFSv3, by number (RFC 1813): 1 GETATTR, 3 LOOKUP,
# 4 ACCESS, 7 WRITE, 8 CREATE, 21 COMMIT.
captured_calls() {
	awk -v p="$1" '$1 == 3 && $2 == p { n++ } END { print n + 0 }' "$CAPTURE.calls"
}

# All NFS calls but NULL.
captured_total() {
	awk '$2 != 0 { n++ } END { print n + 0 }' "$CAPTURE.calls"
}

# The stable_how values of all NFSv3 WRITE calls, each once (2 is FILE_SYNC).
captured_stable() {
	awk '$1 == 3 && $2 == 7 { print $3 }' "$CAPTURE.calls" | sort -u | paste -sd ' '
}

# shellcheck shell=bash
# Real programs that log: each is given N numbered records to write, and they
# are looked for on the server. Comes after lib/load and lib/batteries, with
#   setup_file() { start_server; setup_batteries; }
#
# NFSAPPEND_TABLE names a file that the rows of the table are added to.

programs_lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# new_program LABEL [FULL SMALL]: sets N, and RECORDS, a file that holds the
# lines record-000001 to record-N. PRIVATE is for configuration, sockets, pids.
new_program() {
	LABEL=$1
	N=$(count "${2:-1000}" "${3:-50}")
	RECORDS=$BATS_TEST_TMPDIR/records
	PRIVATE=$BATS_TEST_TMPDIR/private
	seq -f 'record-%06.0f' "$N" >"$RECORDS"
	mkdir -p "$PRIVATE"
	export N RECORDS PRIVATE SERVED SHIM_URL
}

# needs COMMAND PACKAGE
needs() {
	type -P "$1" >/dev/null ||
		skip "no $1 (Debian: apt-get install $2)"
}

needs_full() {
	[[ ${NFSAPPEND_FULL-} = 1 ]] || skip 'only with NFSAPPEND_FULL=1'
}

# needs_unpacked PACKAGE PATH: sets UNPACKED to the root of PACKAGE, in which
# the program PATH is, and UNPACKED_LIBRARIES for LD_LIBRARY_PATH.
needs_unpacked() {
	UNPACKED=$("$programs_lib/../programs/unpack" "$1" 2>"$BATS_TEST_TMPDIR/unpack") ||
		skip "$1 cannot be unpacked: $(tail -n 1 "$BATS_TEST_TMPDIR/unpack")"
	if [[ ! -x $UNPACKED/$2 ]]; then
		# It is installed.
		UNPACKED=
		[[ -x /$2 ]] || skip "no /$2 in $1"
	fi
	# shellcheck disable=SC2034 # for the tests
	UNPACKED_LIBRARIES=$(find "$UNPACKED/usr/lib" -maxdepth 2 -name 'lib*.so.*' \
		-printf '%h\n' 2>/dev/null | sort -u | paste -sd :)
}

# rotate FROM TO: as another NFS client.
rotate() {
	in_server "$PROGRAMS/nfs-rename" "$SHIM_URL" "$1" "$2"
}

# writes COMMAND...: it succeeds, without a word of ours.
writes() {
	run_shimmed "$@"
	# shellcheck disable=SC2154 # bats sets it
	[[ $status -eq 0 ]] && ! grep -q '^nfsappend: ' "$MESSAGES"
}

# served [-m] [-s SED] FILE...: the records are in these files on the server,
# each once and in order, and nothing else is; with -s after sed -E SED was
# applied to every line, with -m (many writers) in any order. Prints the row:
# records written, lines on the server, bytes in a local file instead.
served() {
	local edit="" order=cat lines there=$BATS_TEST_TMPDIR/there
	local OPTIND=1 option elsewhere file
	while getopts ms: option; do
		case $option in
		m) order="sort" ;;
		s) edit=$OPTARG ;;
		*) return 2 ;;
		esac
	done
	shift $((OPTIND - 1))
	for file; do
		[[ -s $SERVED/$file ]] || {
			echo "nothing is in $file" >&2
			return 1
		}
	done
	(cd "$SERVED" && cat -- "$@") | sed -E "$edit" | "$order" >"$there"
	lines=$(wc -l <"$there")
	elsewhere=$(local_bytes)
	row "$LABEL" "$N" "$lines" "$elsewhere"
	diff -u --label written "$RECORDS" --label 'on the server' "$there" &&
		[[ $elsewhere -eq 0 ]]
}

row() {
	local line
	printf -v line '| %-36s | %6s | %6s | %6s |' "$@"
	echo "# $line" >&3
	if [[ -n ${NFSAPPEND_TABLE-} ]]; then
		echo "$line" >>"$NFSAPPEND_TABLE"
	fi
}

# Bytes that came to lie in the folder of the test or under $LOGS here.
local_bytes() {
	local places=("$WORK")
	if ! in_control && [[ -e $LOGS ]]; then
		places+=("$LOGS")
	fi
	find "${places[@]}" -type f -printf '%s\n' | awk '{ sum += $1 } END { print sum + 0 }'
}

# start_daemon COMMAND...: under the shim, in the background; its messages are
# in $PRIVATE/daemon.log. In a session of its own: apache2 signals its group.
start_daemon() {
	shimmed setsid "$@" >"$PRIVATE/daemon.log" 2>&1 </dev/null 3>&- 4>&- &
	DAEMON=$!
}

# until_true COMMAND...: as soon as it succeeds, or a failure after 30 seconds.
until_true() {
	local i
	for ((i = 0; i < 600; i++)); do
		if "$@" >/dev/null 2>&1; then
			return 0
		fi
		sleep 0.05
	done
	echo "never came true: $*" >&2
	[[ ! -e $PRIVATE/daemon.log ]] || cat "$PRIVATE/daemon.log" >&2
	return 1
}

# signal_daemon SIGNAL PIDFILE
signal_daemon() {
	in_server kill -s "$1" "$(<"$2")"
}

# end_daemon SIGNAL PIDFILE: and waits for it.
end_daemon() {
	signal_daemon "$@"
	wait "$DAEMON" || {
		echo "the daemon ended with $?" >&2
		cat "$PRIVATE/daemon.log" >&2
		return 1
	}
}

# Whatever a failed test has left of its daemon; by pid, children first seen.
kill_daemon() {
	local pids=() next=() pid
	[[ -z ${DAEMON-} ]] || next=("$DAEMON")
	while [[ ${#next[@]} -gt 0 ]]; do
		pids+=("${next[@]}")
		mapfile -t next < <(for pid in "${next[@]}"; do
			tr ' ' '\n' 2>/dev/null <"/proc/$pid/task/$pid/children" | grep .
		done)
	done
	[[ ${#pids[@]} -eq 0 ]] || kill -KILL "${pids[@]}" 2>/dev/null || :
}

# shellcheck shell=bash
# Runs programs under the installed wrapper and looks at what came of it.
#
# setup_file() { start_server; setup_shim; }
# setup() { new_case; }             teardown() { nothing_local; }
#
# Variables from outside:
#   NFSAPPEND_PREFIX    where `make install` put it (default: build/root)
#   NFSAPPEND_FULL      1: the counts of the issues, not the small ones
#   NFSAPPEND_PROGRAMS  a folder to keep compiled tests/programs in
#   NFSAPPEND_TEST_RUNNER  words put before each program, e.g. valgrind's
#   NFSAPPEND_SANITIZER    path of libasan for a prefix built with
#                          --enable-sanitizers
#   NFSAPPEND_CONTROL   1: no shim, programs write straight to the server's own
#                       folder; what fails then is a fault of the test
#
# new_case sets, for one test:
#   LOGS     the managed directory as programs see it (it does not exist)
#   SERVED   the same directory on the server's own file system
#   STATS    where the statistics lines go
#   MESSAGES what the last program run by `shimmed` wrote to standard error
# and puts the test into an empty folder, $WORK.

shim_lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
shim_root=${shim_lib%/tests/lib}

# count FULL [SMALL]
count() {
	if [[ ${NFSAPPEND_FULL-} = 1 ]]; then
		echo "$1"
	else
		echo "${2:-$(($1 < 200 ? $1 : 200))}"
	fi
}

# The installed prefix and the compiled programs; for setup_file.
setup_shim() {
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	SHIM_WRAPPER=$NFSAPPEND_PREFIX/bin/nfsappend
	SHIM_LIBRARY=$(shim_library)
	: "${NFSAPPEND_PROGRAMS:=$BATS_SUITE_TMPDIR/programs}"
	if [[ ${NFSAPPEND_CONTROL-} != 1 && ! ( -x $SHIM_WRAPPER && -r $SHIM_LIBRARY ) ]]; then
		echo "no nfsappend under $NFSAPPEND_PREFIX: run ./quickstart check," \
			'or set NFSAPPEND_PREFIX to where make install put it' >&2
		return 1
	fi
	"$shim_root/tests/programs/build" "$NFSAPPEND_PROGRAMS" || return 1
	# A login shim such as pyenv's would be one more program under test.
	PYTHON=/usr/bin/python3
	[[ -x $PYTHON ]] || PYTHON=python3
	export NFSAPPEND_PREFIX SHIM_WRAPPER SHIM_LIBRARY PYTHON
	export PROGRAMS=$NFSAPPEND_PROGRAMS
}

# Debian's libdir has the architecture in it, others' have not.
shim_library() {
	local found
	for found in "$NFSAPPEND_PREFIX"/lib*/nfsappend/libnfsappend.so \
		"$NFSAPPEND_PREFIX"/lib/*/nfsappend/libnfsappend.so; do
		[[ ! -e $found ]] || break
	done
	echo "$found"
}

# A folder of its own on the server, and an empty one to be in.
new_case() {
	SERVED=$SERVER_EXPORT/$BATS_TEST_NUMBER
	WORK=$BATS_TEST_TMPDIR/work
	STATS=$BATS_TEST_TMPDIR/stats
	MESSAGES=$BATS_TEST_TMPDIR/messages
	SHIM_URL=$(server_url "export/$BATS_TEST_NUMBER")
	SHIM_OPTIONS=()
	mkdir -p "$SERVED" "$WORK"
	chmod 1777 "$SERVED" "$WORK"
	if [[ ${NFSAPPEND_CONTROL-} = 1 ]]; then
		LOGS=$SERVED
	else
		# Of this test alone: others may run beside it.
		LOGS=/logs-$$
		[[ ! -e $LOGS ]] || {
			echo "$LOGS exists on this machine: tests cannot tell" >&2
			return 1
		}
	fi
	export LOGS
	# The programs are not built with a sanitizer: their leaks are their own.
	# Reports are files, so that no program can swallow them.
	export ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0:abort_on_error=1:log_path=$BATS_TEST_TMPDIR/sanitizer"
	export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1:log_path=$BATS_TEST_TMPDIR/sanitizer"
	cd "$WORK" || return 1
}

# shimmed COMMAND...: runs COMMAND under the wrapper with $LOGS mapped to
# $SHIM_URL, with $SHIM_OPTIONS, in the server's namespaces, killed after
# SHIM_LIMIT seconds (status 124: the shim hung).
shimmed() {
	local run=(in_server timeout --foreground -k 5 "${SHIM_LIMIT:-120}")
	local runner=()
	read -r -a runner <<<"${NFSAPPEND_TEST_RUNNER-}"
	if [[ ${NFSAPPEND_CONTROL-} = 1 ]]; then
		"${run[@]}" "$@"
		return
	fi
	if [[ -n ${NFSAPPEND_SANITIZER-} ]]; then
		run+=(env "LD_PRELOAD=$NFSAPPEND_SANITIZER")
	fi
	"${run[@]}" "$SHIM_WRAPPER" "${SHIM_OPTIONS[@]}" -m "$LOGS=$SHIM_URL" \
		--stats "$STATS" -- "${runner[@]}" "$@"
}

# run_shimmed COMMAND...: as bats's run, standard error apart, in $MESSAGES.
run_shimmed() {
	run --separate-stderr shimmed "$@"
	# shellcheck disable=SC2154 # bats sets it
	printf '%s' "${stderr:+$stderr$'\n'}" >"$MESSAGES"
	# shellcheck disable=SC2154
	echo "status $status, output: $output, messages: $stderr"
}

# same_as_local COMMAND...: runs COMMAND on a local folder and under the shim;
# every @LOGS@ in its arguments stands for the folder. Exit status, standard
# output, standard error and every file (bytes, mode) must be the same.
same_as_local() {
	local control=$BATS_TEST_TMPDIR/control kind
	mkdir -p "$control"
	chmod 1777 "$control"
	run --separate-stderr in_server env LOGS="$control" "${@//@LOGS@/$control}"
	outcome "$control" >"$BATS_TEST_TMPDIR/outcome.local"
	run --separate-stderr shimmed "${@//@LOGS@/$LOGS}"
	outcome "$LOGS" >"$BATS_TEST_TMPDIR/outcome.shimmed"
	for kind in local shimmed; do
		listing "$([[ $kind = local ]] && echo "$control" || echo "$SERVED")" \
			>>"$BATS_TEST_TMPDIR/outcome.$kind"
	done
	diff -u "$BATS_TEST_TMPDIR"/outcome.{local,shimmed} &&
		diff -r --no-dereference "$control" "$SERVED"
}

# The last `run`, with the folder's name made neutral.
outcome() {
	printf '%s\n' "status $status" "output ${output//$1/@LOGS@}" \
		"stderr ${stderr//$1/@LOGS@}"
}

listing() {
	(cd "$1" && find . -printf '%P %y %m %s %l\n' | sort | tail -n +2)
}

# No program under test may have written anything but to the server.
nothing_local() {
	[[ -n ${WORK-} ]] || return 0
	if [[ ${NFSAPPEND_CONTROL-} != 1 && -e $LOGS ]]; then
		echo "$LOGS came to be on the local disk" >&2
		find "$LOGS" -ls >&2
		rm -rf "$LOGS"
		return 1
	fi
	if [[ -n $(find "$WORK" -mindepth 1 -type f -size +0 -print -quit) ]]; then
		echo 'files on the local disk:' >&2
		find "$WORK" -mindepth 1 -ls >&2
		return 1
	fi
	# That libasan does not know a format of the program's own is no report.
	if compgen -G "$BATS_TEST_TMPDIR/sanitizer.*" >/dev/null &&
		grep -v 'WARNING: unexpected format specifier in printf interceptor' \
			"$BATS_TEST_TMPDIR"/sanitizer.* >&2; then
		return 1
	fi
}

# one_message WORD...: exactly one line of nfsappend's in $MESSAGES, naming each
# WORD.
one_message() {
	local word number
	number=$(grep -c nfsappend "$MESSAGES" || :)
	if [[ $number -ne 1 ]]; then
		echo "$number messages, not 1:" >&2
		cat "$MESSAGES" >&2
		return 1
	fi
	for word; do
		grep -qF -- "$word" "$MESSAGES" || {
			echo "the message does not name '$word':" >&2
			cat "$MESSAGES" >&2
			return 1
		}
	done
}

# stats_sum FIELD: over all processes and files of this test; fails if a line
# is not JSON.
stats_sum() {
	jq -s "[.[].files[].$1] | add // 0" "$STATS"
}

# The values of FIELD that occur, each once, in one line.
stats_values() {
	jq -rs "[.[].files[].$1] | unique | join(\" \")" "$STATS"
}

in_control() {
	[[ ${NFSAPPEND_CONTROL-} = 1 ]]
}

# A program that appends one line each time the test says so:
#   start_lines FILE; append_line TEXT (fails unless all of it was written);
#   end_lines. write_line TEXT only asks; line_answer reads what came of it.
start_lines() {
	coproc LINES_PROGRAM {
		shimmed "$PROGRAMS/prog_lines" "$1" 2>>"$MESSAGES" 3>&- 4>&-
	}
	keep_coprocess
	line_answer
	[[ $REPLY = opened ]]
}

# bash unsets the variables of the coprocess LINES_PROGRAM when it ends, and it
# may end at once: keep our own.
# shellcheck disable=SC2153 # bash sets LINES_PROGRAM_PID
keep_coprocess() {
	local in=${LINES_PROGRAM[0]} out=${LINES_PROGRAM[1]}
	lines_pid=$LINES_PROGRAM_PID
	exec {lines_out}<&"$in" {lines_in}>&"$out"
	exec {in}<&- {out}>&-
}

write_line() {
	printf '%s\n' "$1" >&"$lines_in"
}

line_answer() {
	REPLY=
	read -r -t 60 -u "$lines_out" || :
}

append_line() {
	write_line "$1"
	line_answer
	[[ $REPLY = "write $((${#1} + 1))" ]] || {
		echo "the append of '$1' was answered by '$REPLY'" >&2
		return 1
	}
}

end_lines() {
	exec {lines_in}>&-
	line_answer
	exec {lines_out}<&-
	[[ $REPLY = 'close 0' ]] || return 1
	wait "$lines_pid"
}

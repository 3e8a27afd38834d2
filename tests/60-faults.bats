#!/usr/bin/env bats
# Errors: each reaches the program with the right errno, is told once, and
# nothing lands on the local disk (teardown looks in every test).

load lib/load

setup() {
	in_control && skip 'needs the shim: a local file meets none of these'
	server_ensure
	new_case
}

# refused ERRNO WORD...: open fails so, with one message that names each WORD,
# for a program in C and for the shell, whose exit status is a local file's.
refused() {
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x"
	[[ $status -eq 1 && $output = "open $1" ]]
	one_message "${@:2}"
	run_shimmed dash -c 'echo never >>"$LOGS/x"'
	[[ $status -eq 2 && -z $output ]]
	one_message_of_ours_among "${@:2}"
}

# The shell complains on standard error too.
one_message_of_ours_among() {
	grep nfsappend "$MESSAGES" >"$MESSAGES.ours" || :
	MESSAGES=$MESSAGES.ours one_message "$@"
}

# file_refused ERRNO PATH [FLAGS]: open fails so, with one message that names
# PATH: that it is the server which says this is not to be seen otherwise.
file_refused() {
	run_shimmed "$PROGRAMS/prog_calls" "${3:-ac}" "$2"
	[[ $status -eq 1 && $output = "open $1" ]]
	one_message "$2"
}

@test "unknown server: EHOSTUNREACH" {
	SHIM_URL=nfs://no-such-server.invalid/export
	refused EHOSTUNREACH no-such-server.invalid
}

@test "refused port: ECONNREFUSED" {
	SHIM_URL="nfs://127.0.0.1$SERVER_EXPORT?nfsport=20490&mountport=20999"
	refused ECONNREFUSED 127.0.0.1 20999
	SHIM_URL="nfs://127.0.0.1$SERVER_EXPORT?nfsport=20999&mountport=20491"
	refused ECONNREFUSED 127.0.0.1 20999
}

@test "missing folder of an export: ENOENT" {
	SHIM_URL=$(server_url export/none)
	refused ENOENT 127.0.0.1 "$SERVER_EXPORT/none"
	[[ ! -e $SERVER_EXPORT/none ]]
}

# nfs-ganesha answers MNT3ERR_ACCES for a path that it exports not at all.
@test "a path that the server does not export: EACCES" {
	SHIM_URL=$(server_url none)
	refused EACCES 127.0.0.1 "$SERVER_DIR/none"
}

@test "an export that does not admit this client: EACCES" {
	SHIM_URL=$(server_url forbidden)
	refused EACCES 127.0.0.1 "$SERVER_DIR/forbidden"
	[[ -z $(ls -A "$SERVER_DIR/forbidden") ]]
}

@test "no permission in the directory, and on the file: EACCES" {
	mkdir -m 755 "$SERVED/root"
	echo root >"$SERVED/file"
	chmod 644 "$SERVED/file"
	SHIM_URL=$(server_url "export/$BATS_TEST_NUMBER" 'uid=65534&gid=65534')
	file_refused EACCES "$LOGS/root/x"
	file_refused EACCES "$LOGS/file"
	[[ -z $(ls -A "$SERVED/root") && $(cat "$SERVED/file") = root ]]
}

# As the kernel's client: it has the answer of ACCESS for a file that is there,
# and that of CREATE for one that is not.
@test "a read-only export: EROFS, EACCES for a file that is there" {
	echo old >"$SERVER_DIR/readonly/file"
	SHIM_URL=$(server_url readonly)
	file_refused EROFS "$LOGS/x"
	file_refused EACCES "$LOGS/file" a
	[[ $(cat "$SERVER_DIR/readonly/file") = old ]]
}

@test "a missing directory: ENOENT; a file as directory: ENOTDIR" {
	touch "$SERVED/file"
	file_refused ENOENT "$LOGS/none/x"
	file_refused ENOTDIR "$LOGS/file/x"
}

@test "a directory instead of a file: EISDIR" {
	mkdir "$SERVED/sub"
	file_refused EISDIR "$LOGS/sub"
	file_refused EISDIR "$LOGS"
	file_refused EISDIR "$LOGS/sub" a
}

@test "what programs probe for is refused without a message" {
	touch "$SERVED/there"
	run_shimmed "$PROGRAMS/prog_calls" a "$LOGS/none"
	[[ $status -eq 1 && $output = 'open ENOENT' && -z $stderr ]]
	run_shimmed "$PROGRAMS/prog_calls" acx "$LOGS/there"
	[[ $status -eq 1 && $output = 'open EEXIST' && -z $stderr ]]
	ln -s there "$SERVED/link"
	run_shimmed "$PYTHON" -c 'import os, sys
try:
    os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
except OSError as e:
    print(e.errno)' "$LOGS/link"
	[[ $status -eq 0 && $output = 40 && -z $stderr ]]
}

@test "a name too long: ENAMETOOLONG; links in a circle: ELOOP" {
	ln -s loop "$SERVED/loop"
	file_refused ENAMETOOLONG "$LOGS/$(printf '%256s' '' | tr ' ' n)"
	file_refused ELOOP "$LOGS/loop"
	file_refused ELOOP "$LOGS/loop" a
}

@test "ENOSPC: what was acknowledged is in the file, not a byte more" {
	local size file
	SHIM_URL=$(server_url small)
	file=$SERVER_DIR/small/x
	for size in 100 5000 65536; do
		run_shimmed "$PROGRAMS/prog_fill" "$LOGS/x" "$size"
		[[ $status -eq 0 ]]
		[[ ${lines[0]} = 'write ENOSPC' && ${lines[2]} = 'close 0' ]]
		[[ ${lines[1]} = "acknowledged $(in_server stat -c %s "$file")" ]]
		in_server sh -c '! tr -d f <"$0" | grep -q .' "$file"
		one_message "$LOGS/x" 'No space left on device'
		in_server rm "$file"
	done
}

@test "ENOSPC through stdio: the program is told" {
	local shell
	SHIM_URL=$(server_url small)
	for shell in bash dash; do
		run_shimmed "$PROGRAMS/prog_fill" "$LOGS/x" 4096
		run_shimmed "$shell" -c 'echo "$(printf "%9000s" "")" >>"$LOGS/x"'
		[[ $status -ne 0 && $stderr = *'No space left on device'* ]]
		in_server rm "$SERVER_DIR/small/x"
	done
}

@test "a server that is killed and comes back: each record once, in order" {
	start_lines "$LOGS/x"
	append_line one
	server_restart
	append_line two
	append_line three
	server_kill
	write_line four
	server_restart
	line_answer
	[[ $REPLY = 'write 5' ]]
	append_line five
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four five' ]]
}

@test "a server that falls silent and wakes up: each record once" {
	start_lines "$LOGS/x"
	append_line one
	server_signal STOP
	write_line two
	server_signal CONT
	line_answer
	[[ $REPLY = 'write 4' ]]
	append_line three
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
}

@test "a time-out: EIO, and what was acknowledged before and after stays" {
	SHIM_OPTIONS=(--timeout 1)
	start_lines "$LOGS/x"
	append_line one
	server_kill
	write_line lost
	line_answer
	[[ $REPLY = 'write EIO' ]]
	grep -q nfsappend "$MESSAGES"
	server_restart
	append_line three
	end_lines
	# The one in doubt may be there, once.
	run cat "$SERVED/x"
	[[ $output = one$'\n'three || $output = one$'\n'lost$'\n'three ]]
}

@test "the first contact times out: EIO, one message" {
	SHIM_OPTIONS=(--timeout 1)
	server_signal STOP
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x"
	server_signal CONT
	[[ $status -eq 1 && $output = 'open EIO' ]]
	one_message 127.0.0.1
}

@test "standard error closed, its number a data file's, the server gone" {
	local data=$BATS_TEST_TMPDIR/data
	SHIM_OPTIONS=(--timeout 1)
	coproc LINES_PROGRAM {
		shimmed "$PROGRAMS/prog_stderr_reused" "$LOGS/x" "$data" 3>&- 4>&-
	}
	keep_coprocess
	line_answer
	[[ $REPLY = 'log 0' ]]
	line_answer
	[[ $REPLY = 'data 2' ]]
	server_kill
	write_line go
	line_answer
	[[ $REPLY = 'write EIO' ]]
	line_answer
	[[ $REPLY = 'log again ECONNREFUSED' || $REPLY = 'log again EIO' ]]
	wait "$lines_pid"
	server_restart
	[[ $(cat "$data") = before$'\n'after ]]
}

@test "standard error closed, its number a data file's, the server never there" {
	local data=$BATS_TEST_TMPDIR/data
	SHIM_URL="nfs://127.0.0.1$SERVER_EXPORT?nfsport=20999&mountport=20999"
	run_shimmed sh -c 'echo go | "$1" "$LOGS/x" "$2"' sh \
		"$PROGRAMS/prog_stderr_reused" "$data"
	[[ $status -eq 0 && ${lines[0]} = 'log ECONNREFUSED' ]]
	[[ $(cat "$data") = before$'\n'after ]]
}

@test "a file that is removed on the server: ESTALE or a file without a name" {
	start_lines "$LOGS/x"
	append_line one
	rm "$SERVED/x"
	server_restart
	write_line two
	line_answer
	[[ $REPLY = 'write ESTALE' ]]
	end_lines
	[[ ! -e $SERVED/x ]]
}

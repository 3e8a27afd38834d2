#!/usr/bin/env bats
# Processes, threads, signals: the same programs' way of comparing. Rounds are
# few by default, those of the issues with NFSAPPEND_FULL=1.

load lib/load
load lib/batteries

setup_file() {
	start_server
	setup_batteries
}

@test "vfork children" {
	semantics vfork
}

@test "posix_spawn with file actions" {
	messages_expected=1 semantics spawn # one for the folder that is missing
}

@test "raw clone, _Fork, clone with CLONE_VM and CLONE_FILES" {
	semantics clone
}

@test "daemon()" {
	semantics daemon
}

@test "a chain of execs" {
	semantics exec "$(count 100 8)"
}

@test "setuid after open" {
	# Nobody must be able to walk to the control's folder.
	chmod 711 "$BATS_RUN_TMPDIR"
	messages_expected=1 semantics setuid
}

@test "standard descriptors closed at start" {
	semantics closed_std
}

@test "no descriptor left" {
	semantics emfile
}

@test "descriptors passed over a Unix socket" {
	semantics scm_rights
}

@test "every descriptor from 3 to 1023 closed" {
	semantics close_all
	kept_connection
}

@test "a local file on the number of a socket in use" {
	semantics socket_number
	kept_connection
}

@test "fork while threads append" {
	compare=same_records semantics fork_threads "$(count 1000 20)"
}

@test "8 processes on one file" {
	compare=same_lines semantics processes "$(count 1000 25)"
}

@test "16 threads on one and on many files" {
	compare=same_lines semantics threads "$(count 1000 10)"
}

@test "a handler appends while the main code is in malloc" {
	compare=same_records semantics signal_malloc "$(count 1000 100)"
}

@test "SIGALRM storm" {
	semantics alarm_storm "$(count 1000 50)"
}

@test "pthread_cancel of a thread that appends" {
	compare=same_records semantics cancel "$(count 1000 20)"
}

@test "a handler on a small alternate stack, a thread with the smallest" {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip "a sanitizer's frames do not fit into 8 KiB; the plain build shows it"
	semantics small_stack
}

@test "siglongjmp out of a handler" {
	compare=same_records semantics siglongjmp "$(count 1000 100)"
}

@test "open, append, close: nothing leaks" {
	semantics leak "$(count 100000 500)"
}

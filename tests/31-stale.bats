#!/usr/bin/env bats
# A number that becomes another file's by a way that is easily missed ("Stale
# state"): every call answers for the file that it is now. Each of these fails
# without the hook, or the check, that it is about: tests/without-hooks takes
# them out, one after the other, and shows it.

load lib/load
load lib/batteries

setup_file() {
	start_server
	setup_batteries
}

@test "stale: close_range" {
	semantics stale close_range
}

@test "stale: closefrom" {
	semantics stale closefrom
}

@test "stale: syscall-close" {
	semantics stale syscall-close
}

@test "stale: syscall-dup2" {
	semantics stale syscall-dup2
}

@test "stale: syscall-dup2-back" {
	semantics stale syscall-dup2-back
}

@test "stale: syscall-dup3" {
	semantics stale syscall-dup3
}

@test "stale: raw-close" {
	semantics stale raw-close
}

@test "stale: raw-dup3" {
	semantics stale raw-dup3
}

@test "stale: raw-dup3-back" {
	semantics stale raw-dup3-back
}

@test "stale: freopen-away" {
	semantics stale freopen-away
}

@test "stale: freopen-back" {
	semantics stale freopen-back
}

@test "stale: daemon" {
	semantics stale daemon
}

@test "stale: setfl" {
	semantics stale setfl
}

@test "stale: setfl-in-child" {
	semantics stale setfl-in-child
}

@test "stale: vfork" {
	semantics stale vfork
}

@test "stale: clone-files" {
	semantics stale clone-files
}

@test "stale: same-file" {
	semantics stale same-file
}

@test "stale: other-log" {
	semantics stale other-log
}

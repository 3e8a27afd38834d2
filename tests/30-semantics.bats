#!/usr/bin/env bats
# System calls on an O_APPEND descriptor answer as the kernel's own do: each
# program of tests/programs/semantics prints what it saw, on a local folder and
# on a managed one.

load lib/load
load lib/batteries

setup_file() {
	start_server
	setup_batteries
}

@test "open: flags, modes, refusals" {
	messages_expected=1 semantics open
}

@test "the dup family shares one offset" {
	semantics dup
}

@test "F_GETFL and F_SETFL, seen through every dup" {
	semantics setfl
}

@test "O_APPEND set by F_SETFL: managed from then on" {
	semantics setfl_on
}

@test "lseek after open and around each write" {
	semantics offset
}

@test "fstat and statx are never behind" {
	semantics stat
}

@test "pwrite appends" {
	semantics pwrite
}

@test "pwritev2: RWF_NOAPPEND, RWF_DSYNC, RWF_SYNC" {
	semantics pwritev2
}

@test "writev with 1024 vectors, with none, with too many" {
	semantics writev
}

@test "writes of 0 bytes to 64 MiB" {
	semantics sizes "$(count 67108864 3145728)"
}

@test "EFAULT" {
	semantics efault
}

@test "RLIMIT_FSIZE and SIGXFSZ" {
	messages_expected=1 semantics fsize
}

@test "O_RDWR reads its own appends" {
	semantics rdwr
}

@test "ftruncate, then appends" {
	semantics truncate
}

@test "fsync, locks, fchmod and others" {
	semantics sync
}

@test "syscall(2) with write, dup and close calls" {
	semantics syscall
}

@test "sendfile, splice, copy_file_range, mmap are refused" {
	semantics splice
}

@test "close_range and closefrom" {
	semantics close_range
	kept_connection
}

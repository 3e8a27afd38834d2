#!/usr/bin/env bats
# Programs that run without us, and inherit a descriptor of a file on a kernel
# mount that we serve: the kernel serves it from then on. In one guest:
# tests/vm/run mounts-exec.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	export PROGRAMS=$BATS_FILE_TMPDIR
	source "$BATS_TEST_DIRNAME/mounts.bash"
	build host
	build inherited
	build inherited -o static -static
	build inherited -o setuid
	chown 1:1 "$PROGRAMS/prog_setuid"
	chmod 4755 "$PROGRAMS/prog_setuid"
	chmod 755 "$PROGRAMS"
}

setup() {
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
	N=$(count 2000 30)
}

# one_after_the_other COMMAND...: a shell under us appends, then the command
# with the log as its output, then the shell again.
# shellcheck disable=SC2016
one_after_the_other() {
	rm -f "$SERVED/log" "$STATS"
	nfsappend_p -- bash -c 'log=$0; n=$1; shift
		"$PROGRAMS/prog_inherited" before "$n" >>"$log"
		"$@" "$n" >>"$log" || exit
		"$PROGRAMS/prog_inherited" after "$n" >>"$log"' \
		"$LOGS/log" "$N" "$@" 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	[ "$(grep -c N409 "$BATS_TEST_TMPDIR/err")" = 1 ]
	each_once $((3 * N))
	[ "$(stats_of protocol | tr '\n' ' ')" = "kernel $PROTOCOL " ]
}

# at_the_same_time COMMAND...: the command while its parent's side appends.
# shellcheck disable=SC2016
at_the_same_time() {
	rm -f "$SERVED/log" "$STATS"
	nfsappend_p -- bash -c 'log=$0; n=$1; shift
		exec >>"$log"
		"$PROGRAMS/prog_host" "$log" "$n" opens >&2 &
		"$PROGRAMS/prog_inherited" inherits "$n" &
		"$@" "$n" &
		wait' "$LOGS/log" "$N" "$@" 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	each_once $((3 * N))
}

both_ways() {
	one_after_the_other "$@"
	at_the_same_time "$@"
}

static() { both_ways "$PROGRAMS/prog_static" static; }
@test "a static program" {
	on_both_mounts static
}

setuid() { both_ways "$PROGRAMS/prog_setuid" setuid; }
@test "a setuid program" {
	on_both_mounts setuid
}

without_environment() {
	both_ways env -i "$PROGRAMS/prog_inherited" bare
}
@test "a program started by env -i" {
	on_both_mounts without_environment
}

by_python() {
	one_after_the_other python3 -c 'import subprocess, sys
sys.exit(subprocess.call(sys.argv[1:]))' "$PROGRAMS/prog_static" vfork
	at_the_same_time python3 -c 'import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ,
	file_actions=[(os.POSIX_SPAWN_DUP2, 1, 9), (os.POSIX_SPAWN_DUP2, 9, 1)])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' \
		"$PROGRAMS/prog_static" spawned
}
@test "by vfork and by posix_spawn" {
	on_both_mounts by_python
}

go_program() {
	both_ways "$PROGRAMS/prog_go" go
}
@test "a Go program" {
	type go >/dev/null || skip 'no Go toolchain here'
	cat >"$PROGRAMS/main.go" <<-'END'
		package main

		import ("fmt"; "os"; "strconv"; "strings")

		func main() {
			n, _ := strconv.Atoi(os.Args[2])
			for i := 0; i < n; i++ {
				head := fmt.Sprintf("%s %08d ", os.Args[1], i)
				tail := strings.Repeat(string(rune('a'+i%26)), 99-len(head))
				os.Stdout.WriteString(head + tail + "\n")
			}
		}
	END
	GOCACHE=$BATS_TEST_TMPDIR go build -o "$PROGRAMS/prog_go" "$PROGRAMS/main.go"
	on_both_mounts go_program
}

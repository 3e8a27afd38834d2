#!/usr/bin/env bats
# One program of each family under valgrind's memcheck: no error in the library
# or in what it does to the program. (The sanitizers need no file of their own:
# ./quickstart check runs the suite again on a build with ASan and UBSan.)

load lib/load

setup() {
	in_control && skip 'needs the shim: there is nothing to check'
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'valgrind cannot run what ASan is loaded into'
	type -P valgrind >/dev/null ||
		skip 'valgrind is not installed (Debian: apt-get install valgrind)'
	new_case
	export NFSAPPEND_TEST_RUNNER="valgrind --quiet --error-exitcode=99 --trace-children=yes --child-silent-after-fork=no --log-file=$BATS_TEST_TMPDIR/valgrind.%p"
}

teardown() {
	find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'valgrind.*' -size +0 -exec cat {} +
	[[ -z $(find "$BATS_TEST_TMPDIR" -maxdepth 1 -name 'valgrind.*' -size +0) ]]
	nothing_local
}

# checked COMMAND...: ends well, and valgrind did look.
checked() {
	run_shimmed "$@"
	[[ $status -eq 0 ]]
	compgen -G "$BATS_TEST_TMPDIR/valgrind.*"
}

@test "valgrind: open and write" {
	local call
	for call in open open64 openat openat64; do
		checked "$PROGRAMS/prog_open" "$call" "$LOGS/x"
	done
	# It writes from address 1, too, which memcheck says of write(2) itself.
	printf '{\nfrom nowhere\nMemcheck:Param\nrt_sigprocmask(set)\nobj:*/libnfsappend.so\n}\n' \
		>"$BATS_TEST_TMPDIR/nowhere"
	NFSAPPEND_TEST_RUNNER+=" --suppressions=$BATS_TEST_TMPDIR/nowhere"
	checked "$PROGRAMS/prog_write" "$LOGS/y"
	[[ $(wc -l <"$SERVED/x") -eq 4 ]]
}

@test "valgrind: a loop of appends, long records" {
	checked "$PROGRAMS/prog_append" "$LOGS/x" "$(count 10000 100)"
	checked "$PROGRAMS/prog_append" "$LOGS/y" 2 3000000
	[[ $(wc -l <"$SERVED/x") -eq $(count 10000 100) ]]
}

@test "valgrind: duplicates and replaced descriptors" {
	checked "$PROGRAMS/prog_dup" "$LOGS/x"
	checked "$PROGRAMS/prog_replace" "$LOGS/y" "$BATS_TEST_TMPDIR/other"
}

@test "valgrind: stdio" {
	local how
	for how in a a+ freopen fdopen wide; do
		checked "$PROGRAMS/prog_stdio" "$how" "$LOGS/x"
	done
}

@test "valgrind: fork and exec" {
	checked "$PROGRAMS/prog_fork" "$LOGS/x"
	[[ $(wc -l <"$SERVED/x") -eq 6 ]]
}

@test "valgrind: a shell with an inherited descriptor" {
	checked dash -c 'exec >>"$LOGS/x"; echo one; /bin/echo two'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two' ]]
}

@test "valgrind: an open that fails, a server that is restarted" {
	run_shimmed "$PROGRAMS/prog_calls" a "$LOGS/none"
	[[ $status -eq 1 && $output = 'open ENOENT' ]]
	start_lines "$LOGS/x"
	append_line one
	server_restart
	append_line two
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two' ]]
}

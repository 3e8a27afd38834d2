#!/usr/bin/env bats
# Streams: stdio writes without any symbol that could be hooked by name.

load lib/load

@test "a program that prints through stdio, in each buffering" {
	local buffering
	for buffering in default full line none; do
		same_as_local sh -c "$PROGRAMS/prog_print $buffering >>@LOGS@/$buffering"
	done
}

@test "fopen in each appending mode" {
	local mode
	for mode in a a+ ab ae ac a+e 'a,ccs=UTF-8'; do
		same_as_local "$PROGRAMS/prog_stdio" "$mode" "@LOGS@/x${mode//[^a-z]/_}"
	done
}

@test "fopen64, freopen, fdopen and a wide stream" {
	local how
	for how in fopen64 freopen fdopen wide; do
		same_as_local "$PROGRAMS/prog_stdio" "$how" "@LOGS@/$how"
	done
}

@test "a file with content already, opened by each" {
	local how
	mkdir "$BATS_TEST_TMPDIR/control"
	for how in a a+ fopen64 freopen fdopen wide; do
		echo old | tee "$SERVED/$how" >"$BATS_TEST_TMPDIR/control/$how"
		same_as_local "$PROGRAMS/prog_stdio" "$how" "@LOGS@/$how"
	done
}

@test "bash's own echo and printf" {
	same_as_local bash -c 'echo one >>@LOGS@/x; printf "%s\n" two >>@LOGS@/x
		{ echo three; echo four; } >>@LOGS@/x'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
}

@test "standard output and standard error to one file" {
	same_as_local bash -c '{ echo out; echo err >&2; ls /nonexistent; } \
		>>@LOGS@/x 2>&1'
	[[ $(wc -l <"$SERVED/x") -eq 3 ]]
}

@test "a program whose standard output is the file prints to it at exit" {
	same_as_local bash -c 'exec >>@LOGS@/x; echo one; exec /bin/echo two'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two' ]]
}

@test "streams on other files are left alone" {
	run_shimmed sh -c '"$1" full >"$2/plain"; "$1" line >>"$LOGS/x"' sh \
		"$PROGRAMS/prog_print" "$BATS_TEST_TMPDIR"
	[[ $status -eq 0 ]]
	cmp <("$PROGRAMS/prog_print" full) "$BATS_TEST_TMPDIR/plain"
}

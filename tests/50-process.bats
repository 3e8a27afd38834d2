#!/usr/bin/env bats
# Descriptors that live on: duplicated, inherited, replaced.

load lib/load

@test "dup, dup2, dup3 and F_DUPFD, the original closed" {
	same_as_local "$PROGRAMS/prog_dup" @LOGS@/x
	[[ $(grep -c '^original' "$SERVED/x") -eq 5 ]]
}

@test "a number that another file has taken over is that file's" {
	run_shimmed "$PROGRAMS/prog_replace" "$LOGS/x" "$BATS_TEST_TMPDIR/other"
	[[ $status -eq 0 && $output = 'same number 1' ]]
	[[ $(paste -sd , "$SERVED/x") = 'log 1,log 2' ]]
	[[ $(paste -sd , "$BATS_TEST_TMPDIR/other") = 'other 1,other 2' ]]
}

@test "fork, a grandchild, wait, exec with the descriptor" {
	same_as_local "$PROGRAMS/prog_fork" @LOGS@/x
	[[ $(wc -l <"$SERVED/x") -eq 6 ]]
}

@test "a child inherits the file as its standard output" {
	same_as_local sh -c 'exec >>@LOGS@/x; echo one; sh -c "echo two; /bin/echo three"
		bash -c "echo four"; cat </dev/null; echo five | cat'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four five' ]]
}

@test "a descriptor handed down through two programs" {
	same_as_local sh -c 'exec 7>>@LOGS@/x; echo one >&7
		sh -c "sh -c \"echo two >&7\"; echo three >&7"; echo four >&7'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
}

@test "a pipeline in a sub-shell" {
	same_as_local sh -c '(printf "b\na\n" | sort | sed s/^/x/) >>@LOGS@/x'
	[[ $(paste -sd ' ' "$SERVED/x") = 'xa xb' ]]
}

@test "a background child, waited for" {
	same_as_local sh -c '{ echo child; } >>@LOGS@/x & wait; echo parent >>@LOGS@/x'
	[[ $(paste -sd ' ' "$SERVED/x") = 'child parent' ]]
}

@test "a background child that outlives its parent" {
	mkfifo "$BATS_TEST_TMPDIR/gate" "$BATS_TEST_TMPDIR/done"
	run_shimmed sh -c '(read -r _ <"$1/gate"; echo late >>"$LOGS/x"
		echo >"$1/done") </dev/null >/dev/null 2>&1 &
		echo parent >>"$LOGS/x"' sh "$BATS_TEST_TMPDIR"
	[[ $status -eq 0 && $(cat "$SERVED/x") = parent ]]
	echo >"$BATS_TEST_TMPDIR/gate"
	read -r _ <"$BATS_TEST_TMPDIR/done" || true
	[[ $(paste -sd ' ' "$SERVED/x") = 'parent late' ]]
}

@test "exit statuses and deaths by signal pass through" {
	same_as_local sh -c 'echo x >>@LOGS@/x; exit 37'
	same_as_local sh -c 'echo x >>@LOGS@/y; kill -TERM $$'
	same_as_local false
}

@test "each process says its own statistics, before exec too" {
	in_control && skip 'needs the shim: the control counts nothing'
	run_shimmed "$PROGRAMS/prog_fork" "$LOGS/x"
	[[ $status -eq 0 ]]
	[[ $(stats_sum appends) -eq 6 ]]
	[[ $(stats_sum bytes) -eq $(stat -c %s "$SERVED/x") ]]
	# Parent before exec, child, grandchild, and the program after exec.
	[[ $(wc -l <"$STATS") -eq 4 ]]
}

@test "another user's identity goes over the wire" {
	[[ -z $(in_server setpriv --reuid=65534 --regid=65534 --clear-groups \
		sh -c 'test -x "$1" -a -r "$2" || echo no' sh \
		"$PROGRAMS/prog_append" "$SHIM_LIBRARY") ]] ||
		skip 'this checkout cannot be entered by user 65534'
	mkdir -m 700 "$SERVED/private"
	run_shimmed setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
		'umask 027; echo mine >>"$LOGS/x"; "$1" ac "$LOGS/private/x"' sh \
		"$PROGRAMS/prog_calls"
	[[ $output = 'open EACCES' ]]
	[[ $(stat -c '%u %g %a' "$SERVED/x") = '65534 65534 640' ]]
	[[ $(cat "$SERVED/x") = mine ]]
}

# The runtime calls mkdir() before it is ready for anything, ours included.
@test "a program with a sanitizer that makes a folder for its reports" {
	local program=$BATS_TEST_TMPDIR/program
	[[ -z ${NFSAPPEND_SANITIZER-} ]] || skip 'a sanitizer is there already'
	"${CC:-cc}" -fsanitize=address -o "$program" \
		"$BATS_TEST_DIRNAME/programs/prog_calls.c" 2>/dev/null ||
		skip 'no address sanitizer'
	ASAN_OPTIONS="detect_leaks=0:verify_asan_link_order=0:log_path=$BATS_TEST_TMPDIR/a/b/report" \
		run_shimmed "$program" ac "$LOGS/x"
	[[ $status -eq 0 && ${lines[2]} = 'write 5' && -z $stderr ]]
	[[ $(cat "$SERVED/x") = line ]]
	[[ -d $BATS_TEST_TMPDIR/a/b ]]
}

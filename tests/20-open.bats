#!/usr/bin/env bats
# Which paths are ours, and what open() makes of them.

load lib/load

# opened_by CALL FILE: prog_open reached the server's FILE under its LOGS name.
opened_by() {
	run_shimmed "$PROGRAMS/prog_open" "$1" "$LOGS/$2"
	[[ $status -eq 0 && -z $output && -z $stderr ]]
	[[ $(cat "$SERVED/$2") = "${1%@*}" ]]
}

@test "open, open64, openat and openat64 create and append" {
	opened_by open a
	opened_by open64 b
	opened_by openat c
	opened_by openat64 d
}

@test "the fortified calls append to a file that exists" {
	local call
	for call in __open_2 __open64_2 __openat_2 __openat64_2; do
		touch "$SERVED/$call"
		opened_by "$call" "$call"
	done
}

@test "an absolute path given to openat with a directory descriptor" {
	opened_by "openat@$WORK" x
}

@test "a path relative to a directory descriptor" {
	run_shimmed "$PROGRAMS/prog_open" openat@/ "${LOGS#/}/x"
	[[ $status -eq 0 && $(cat "$SERVED/x") = openat ]]
	mkdir inner
	run_shimmed "$PROGRAMS/prog_open" "openat@$WORK/inner" \
		"$(realpath -m --relative-to="$WORK/inner" "$LOGS")/x"
	[[ $status -eq 0 && $(cat "$SERVED/x") = openat$'\n'openat ]]
}

@test "a path relative to the working directory, after chdir too" {
	run_shimmed sh -c "cd / && echo one >>'${LOGS#/}/x' && cd /usr/lib &&
		echo two >>'../../${LOGS#/}/x'"
	[[ $status -eq 0 && $(cat "$SERVED/x") = one$'\n'two ]]
}

@test "dots and double slashes in the path" {
	mkdir "$SERVED/sub"
	run_shimmed sh -c 'for path in "$LOGS/./x" "$LOGS//x" "$LOGS/sub/../x" \
		"/.$LOGS/x" "/usr/..$LOGS/x" "//$LOGS/x"
	do
		echo "$path" >>"$path" || exit
	done'
	[[ $status -eq 0 && -z $stderr ]]
	[[ $(wc -l <"$SERVED/x") -eq 6 ]]
}

@test "a path that leaves the mapped directory by .. is not ours" {
	run_shimmed sh -c "echo local >>'$LOGS/../${WORK#/}/local'"
	# The kernel looks up the directory too, which does not exist: an error,
	# or the local file, but nothing on the server.
	rm -f "$WORK/local"
	[[ -z $(ls -A "$SERVED") ]]
}

@test "a directory whose name only begins like the mapped one is not ours" {
	run_shimmed sh -c 'echo x >>"${LOGS}er/x"'
	[[ $status -ne 0 && -z $(ls -A "$SERVED") ]]
}

@test "symbolic links on this host that lead into the mapped directory" {
	ln -s "$LOGS" "$BATS_TEST_TMPDIR/link"
	ln -s "$LOGS/x" "$BATS_TEST_TMPDIR/file"
	ln -s link "$BATS_TEST_TMPDIR/second"
	run_shimmed sh -c 'cd "$1" && echo 1 >>link/x && echo 2 >>file &&
		echo 3 >>"$1/second/x"' sh "$BATS_TEST_TMPDIR"
	[[ $status -eq 0 && -z $stderr ]]
	[[ $(paste -sd ' ' "$SERVED/x") = "1 2 3" ]]
}

@test "a sub-folder, and a mapped directory within another" {
	mkdir -p "$SERVED/sub/deep" "$SERVER_EXPORT/other"
	in_control || SHIM_OPTIONS+=(-m "$LOGS/sub/other=$(server_url export/other)")
	run_shimmed sh -c 'echo 1 >>"$LOGS/sub/deep/x"'
	[[ $status -eq 0 && $(cat "$SERVED/sub/deep/x") = 1 ]]
	in_control && return
	run_shimmed sh -c 'echo 2 >>"$LOGS/sub/other/y"'
	[[ $status -eq 0 && $(cat "$SERVER_EXPORT/other/y") = 2 ]]
	[[ ! -e $SERVED/sub/other ]]
}

@test "a mapped directory that exists on this host hides it" {
	in_control && skip 'needs the shim: there is nothing to hide'
	mkdir "$BATS_TEST_TMPDIR/exists"
	echo local >"$BATS_TEST_TMPDIR/exists/x"
	local mapped=$LOGS
	LOGS=$BATS_TEST_TMPDIR/exists
	run_shimmed sh -c "echo served >>'$LOGS/x'"
	[[ $status -eq 0 && $(cat "$SERVED/x") = served ]]
	[[ $(cat "$LOGS/x") = local ]]
	LOGS=$mapped
}

@test "O_CREAT: mode and umask" {
	local mask
	for mask in 000 022 077; do
		same_as_local sh -c "umask $mask; $PROGRAMS/prog_calls ac @LOGS@/a$mask 666
			$PROGRAMS/prog_calls ac @LOGS@/b$mask 640"
	done
}

@test "O_EXCL: EEXIST for a file that is there" {
	same_as_local sh -c "$PROGRAMS/prog_calls acx @LOGS@/x
		$PROGRAMS/prog_calls acx @LOGS@/x"
	[[ $(cat "$SERVED/x") = line ]]
}

@test "O_TRUNC empties the file, and only with it" {
	same_as_local sh -c "$PROGRAMS/prog_calls ac @LOGS@/x
		$PROGRAMS/prog_calls act @LOGS@/x
		$PROGRAMS/prog_calls ac @LOGS@/x"
	[[ $(wc -l <"$SERVED/x") -eq 2 ]]
}

@test "O_CLOEXEC and O_RDWR" {
	same_as_local sh -c "$PROGRAMS/prog_calls ace @LOGS@/x
		$PROGRAMS/prog_calls acr @LOGS@/x
		$PROGRAMS/prog_calls acer @LOGS@/x"
}

@test "creat never leaves a file on the local disk" {
	local call
	for call in creat creat64; do
		run_shimmed "$PROGRAMS/prog_creat" "$call" "$LOGS/$call"
		[[ $status -ne 0 || $(cat "$SERVED/$call") = new ]]
	done
}

# The descriptor that stands for the file is a file with a content.
@test "a file size limit of 1 KiB, and of none" {
	run_shimmed bash -c 'ulimit -f 1; echo one >>"$LOGS/x" && echo two >>"$LOGS/x"'
	[[ $status -eq 0 && $(paste -sd ' ' "$SERVED/x") = 'one two' ]]
	in_control && return
	one_message N503 'ulimit -f'
	# Messages by a pipe: the limit is one on files.
	run_shimmed bash -c 'sh -c "ulimit -f 0; echo never >>\"\$LOGS/y\"" 2>&1 | cat >&2
		exit "${PIPESTATUS[0]}"'
	[[ $status -eq 2 && ! -s $SERVED/y ]]
	grep -q '/y: a file size limit .*ulimit -f.*N405' "$MESSAGES"
}

@test "without O_CREAT a missing file is ENOENT" {
	same_as_local "$PROGRAMS/prog_calls" a @LOGS@/none
}

@test "names with spaces, quotes, newlines, UTF-8, and of 255 bytes" {
	local long
	long=$(printf '%255s' '' | tr ' ' n)
	same_as_local sh -c 'for name in "a b" "it'\''s" "q\"" "100%" "#1" "é" \
		"two
lines" "?version=4" "$1"
	do
		echo "$name" >>"$2/$name" || exit
	done' sh "$long" @LOGS@
	# One byte more: the program gets the same, and its administrator a word.
	SHIM_OPTIONS+=(--log off)
	same_as_local "$PROGRAMS/prog_calls" ac "@LOGS@/n$long"
	SHIM_OPTIONS=()
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/n$long"
	[[ $status -eq 1 && $output = 'open ENAMETOOLONG' ]]
	grep 'ENAMETOOLONG.*shorten the name.*\[N403\]' "$MESSAGES"
}

@test "descriptors on other files are left alone" {
	run_shimmed sh -c 'echo local >>"$1/unmanaged"; echo served >>"$LOGS/x"
		echo more >>"$1/unmanaged"' sh "$BATS_TEST_TMPDIR"
	[[ $status -eq 0 && $(cat "$SERVED/x") = served ]]
	[[ $(paste -sd ' ' "$BATS_TEST_TMPDIR/unmanaged") = 'local more' ]]
}

# The calls of the program itself: what comes after the last one of start-up.
unmanaged_trace() {
	local trace=$BATS_TEST_TMPDIR/trace
	in_server strace -f -o "$trace" "$@" "$PROGRAMS/prog_append" \
		"$BATS_TEST_TMPDIR/unmanaged" 5
	sed -e 's/^[0-9]* *//' "$trace" | sed -n '/unmanaged", /,$p' |
		sed -e 's/0x[0-9a-f]*/ADDRESS/g'
}

@test "an unmanaged file: the same system calls with and without the shim" {
	in_control && skip 'needs the shim: there is nothing to compare'
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'a sanitizer makes calls of its own; the plain build shows it'
	unmanaged_trace >plain
	unmanaged_trace -E "LD_PRELOAD=$SHIM_LIBRARY" \
		-E "NFSAPPEND_MAP=$LOGS=$SHIM_URL" >shimmed
	[[ $(grep -c '^write(' plain) -eq 5 ]]
	diff -u plain shimmed
	rm plain shimmed
}

@test "threads that open at once, before anything else: every one is served" {
	local round rounds
	rounds=$(count 300 20)
	for ((round = 1; round <= rounds; round++)); do
		run_shimmed "$PROGRAMS/prog_first" "$LOGS/x$round" 16
		[[ $status -eq 0 && -z $output && -z $stderr ]]
		[[ $(wc -l <"$SERVED/x$round") -eq 16 ]]
	done
}

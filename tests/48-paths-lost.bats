#!/usr/bin/env bats
# Calls that make, move and remove, whose answer was lost after the server had
# done as it was told: the program hears of its success, and of nothing else.

load lib/load
load lib/scripted

setup_file() {
	start_server
	setup_shim
	build_scripted
}

setup() {
	in_control && skip 'the control has no connection to cut'
	new_case
	start_scripted
}

teardown() {
	stop_scripted
	nothing_local
}

# by VERSION
by() {
	if [[ $1 = v3 ]]; then
		SHIM_URL="nfs://127.0.0.1/e?nfsport=$SCRIPTED_PORT&mountport=$SCRIPTED_PORT"
	else
		scripted_url "$SCRIPTED_PORT"
	fi
}

# lost CALL COMMAND...: the answer to the first CALL of COMMAND never comes.
# COMMAND succeeds without a word.
lost() {
	local call=$1
	tell clear "on $call nth 1 cut after-execute"
	run_shimmed "${@:2}"
	[[ $status -eq 0 && -z $output && -z $stderr ]]
	tell status >"$BATS_TEST_TMPDIR/status"
	cat "$BATS_TEST_TMPDIR/status"
	grep -q 'fired 1:' "$BATS_TEST_TMPDIR/status"
}

# The v4 operation is CREATE for both.
make_call() {
	[[ $version = v3 ]] && echo "$1" || echo CREATE
}

@test "mkdir, rmdir, ln, ln -s, mv, mv over another, rm" {
	local version
	for version in v3 v4; do
		by "$version"
		rm -rf "${SERVED:?}"/*
		lost "$(make_call MKDIR)" mkdir "$LOGS/d"
		[[ -d $SERVED/d ]]
		echo one >"$SERVED/f"
		if [[ $version = v3 ]]; then
			lost LINK ln "$LOGS/f" "$LOGS/g"
			[[ $SERVED/f -ef $SERVED/g ]]
		else # the scripted server has no LINK there
			ln "$SERVED/f" "$SERVED/g"
		fi
		lost "$(make_call SYMLINK)" ln -s f "$LOGS/s"
		[[ $(readlink "$SERVED/s") = f ]]
		lost RENAME mv "$LOGS/s" "$LOGS/t"
		[[ ! -L $SERVED/s && -L $SERVED/t ]]
		echo two >"$SERVED/h"
		lost RENAME mv -f "$LOGS/h" "$LOGS/f"
		[[ ! -e $SERVED/h && $(<"$SERVED/f") = two && $(<"$SERVED/g") = one ]]
		lost REMOVE rm "$LOGS/f"
		[[ ! -e $SERVED/f ]]
		if [[ $version = v3 ]]; then
			lost RMDIR rmdir "$LOGS/d"
		else
			lost REMOVE rmdir "$LOGS/d"
		fi
		[[ ! -e $SERVED/d ]]
	done
}

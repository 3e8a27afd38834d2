#!/usr/bin/env bats
# Calls on paths below a mapped directory: each does what it does on a local
# directory, and nothing comes to be on this host's disk.

load lib/load

# as_nobody CALL...: prog_path as a user who owns nothing.
as_nobody() {
	# The control lies in bats's own folders, which are closed.
	local folder=$BATS_TEST_TMPDIR/control
	while [[ $folder != "${BATS_RUN_TMPDIR%/*}" ]]; do
		chmod o+x "$folder"
		folder=${folder%/*}
	done
	same_as_local setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$PROGRAMS/prog_path" "$@"
}

# path CALL...: prog_path, compared with a local directory.
path() {
	same_as_local "$PROGRAMS/prog_path" "$@"
}

@test "stat, lstat, fstatat, statx and their older names: a file" {
	path identity @LOGS@/none
	same_as_local sh -c 'umask 027; printf 12345 >>@LOGS@/x
		"$1" stat @LOGS@/x + lstat @LOGS@/x + statx @LOGS@/x' sh \
		"$PROGRAMS/prog_path"
	[[ $output = *'stat mode 100640 links 1'*'size 5'* ]]
	path identity @LOGS@/x
	[[ $output = 'identity 1 1 1' ]]
}

@test "stat of directories, of the mapped one too, and of what is not there" {
	path mkdir @LOGS@/d 750 + stat @LOGS@/d + stat @LOGS@/d/ + stat @LOGS@ \
		+ stat @LOGS@/ + stat @LOGS@/d/.. + lstat @LOGS@/. + statx @LOGS@/d
	[[ $output = *'stat mode 40750'* ]]
	path stat @LOGS@/none + lstat @LOGS@/none + statx @LOGS@/none \
		+ stat @LOGS@/none/x + stat @LOGS@/none/ + stat ''
}

@test "stat through a file is ENOTDIR, through too many links ELOOP" {
	local folder
	for folder in "$SERVED" "$BATS_TEST_TMPDIR/control"; do
		mkdir -p "$folder"
		touch "$folder/x"
		ln -s loop "$folder/loop"
		ln -s x "$folder/link"
		ln -s none "$folder/dangling"
	done
	path stat @LOGS@/x/y + stat @LOGS@/x/ + stat @LOGS@/loop \
		+ stat @LOGS@/link + lstat @LOGS@/link + stat @LOGS@/dangling \
		+ lstat @LOGS@/dangling + lstat @LOGS@/link/
}

@test "a path relative to the working directory, a link, dots" {
	ln -s "$LOGS" link
	touch "$SERVED/x"
	run_shimmed sh -c 'cd / && "$1" stat "${LOGS#/}/x" + statx "usr/..$LOGS/x" \
		+ stat "$2/link/x" + stat ".//$LOGS/./x"' sh "$PROGRAMS/prog_path" "$WORK"
	[[ $status -eq 0 && -z $stderr && $output != *E* ]]
}

@test "access: for root and for a user, files and directories" {
	mkdir "$SERVED/d" "$BATS_TEST_TMPDIR/control" "$BATS_TEST_TMPDIR/control/d"
	local folder
	for folder in "$SERVED" "$BATS_TEST_TMPDIR/control"; do
		install -m 640 /dev/null "$folder/closed"
		install -m 755 /dev/null "$folder/open"
		chmod 700 "$folder/d"
	done
	path access @LOGS@/closed '' + access @LOGS@/none '' + access @LOGS@/open rx \
		+ access @LOGS@/closed rw + access @LOGS@/d rwx
	run ! grep -w EACCES <<<"$output"
	as_nobody access @LOGS@/closed r + access @LOGS@/closed '' \
		+ access @LOGS@/open rx + access @LOGS@/open w + access @LOGS@/d x \
		+ access @LOGS@/d '' + access @LOGS@ w
	grep -qw EACCES <<<"$output"
}

@test "access asks as the real user, eaccess as the effective one" {
	local folder
	mkdir "$BATS_TEST_TMPDIR/control"
	for folder in "$SERVED" "$BATS_TEST_TMPDIR/control"; do
		install -m 600 /dev/null "$folder/closed"
		chmod 755 "$folder"
	done
	path real_user 65534 + access @LOGS@/closed r
	[[ $output = *'access EACCES'* && $output = *'eaccess 0'* ]]
}

@test "mkdir: mode and umask, EEXIST, ENOENT, ENOTDIR" {
	same_as_local sh -c 'umask 027; "$1" mkdir @LOGS@/a 777 + mkdir @LOGS@/a 777 \
		+ mkdir @LOGS@/a/b/ 1770 + mkdir @LOGS@/none/x 755 + mkdirat @LOGS@/c 700 \
		+ mkdir @LOGS@/a/.. 755 + mkdir @LOGS@/a/. 755; : >>@LOGS@/x
		"$1" mkdir @LOGS@/x 755 + mkdir @LOGS@/x/y 755' sh "$PROGRAMS/prog_path"
	[[ $(stat -c %a "$SERVED/a") = 750 && $(stat -c %a "$SERVED/a/b") = 1750 ]]
}

@test "mkdir of the mapped directory is EEXIST, however it is spelled" {
	same_as_local "$PROGRAMS/prog_path" mkdir @LOGS@ 755 + mkdir @LOGS@/ 755 \
		+ mkdir /..@LOGS@ 755 + mkdirat /usr/..@LOGS@/. 755
	run_shimmed sh -c 'cd / && "$1" mkdir "${LOGS#/}" 755 + mkdir "./$LOGS" 755 \
		+ mkdirat "usr/../$LOGS/" 755' sh "$PROGRAMS/prog_path"
	[[ $(grep -c EEXIST <<<"$output") -eq 3 ]]
}

@test "a directory without permission: EACCES, and nothing local" {
	local folder
	mkdir "$BATS_TEST_TMPDIR/control"
	for folder in "$SERVED" "$BATS_TEST_TMPDIR/control"; do
		mkdir "$folder/ours"
		mkdir -m 700 "$folder/closed"
	done
	as_nobody mkdir @LOGS@/ours/x 755 + stat @LOGS@/closed/x \
		+ stat @LOGS@/closed + access @LOGS@/closed/x r
}

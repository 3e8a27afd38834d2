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

@test "unlink, rmdir, remove: files, directories, what is not there" {
	same_as_local sh -c 'for name in a b c d; do echo "$name" >>@LOGS@/$name; done
		mkdir @LOGS@/da @LOGS@/db @LOGS@/dc @LOGS@/dc/full
		"$1" unlink @LOGS@/a + unlinkat @LOGS@/b 0 + remove @LOGS@/c \
		+ unlink @LOGS@/a + unlink @LOGS@/da + unlink @LOGS@/d/ \
		+ rmdir @LOGS@/da + unlinkat @LOGS@/db 512 + rmdir @LOGS@/dc \
		+ remove @LOGS@/dc + rmdir @LOGS@/d + rmdir @LOGS@/none + rmdir @LOGS@/dc/. \
		+ rmdir @LOGS@/dc/.. + unlink @LOGS@ + unlink @LOGS@/dc/.. \
		+ remove @LOGS@/dc/full + remove @LOGS@/dc + unlink @LOGS@/none/x' sh \
		"$PROGRAMS/prog_path"
}

@test "the mapped directory itself can be neither removed nor moved" {
	in_control && skip 'needs the shim: it is a plain directory'
	run_shimmed "$PROGRAMS/prog_path" rmdir "$LOGS" + remove "$LOGS/" \
		+ rename "$LOGS" "$WORK/x" + rename "$LOGS" "$LOGS/x"
	[[ $output = *'rmdir EBUSY'*'remove EBUSY'*'rename EXDEV'*'rename EBUSY'* ]]
	[[ -d $SERVED && ! -e $WORK/x ]]
}

@test "rename: into place, over another, directories, and what must fail" {
	same_as_local sh -c 'for name in a b c d; do echo "$name" >>@LOGS@/$name; done
		mkdir @LOGS@/da @LOGS@/db @LOGS@/full @LOGS@/full/x
		"$1" rename @LOGS@/a @LOGS@/new + renameat @LOGS@/b @LOGS@/new \
		+ renameat2 @LOGS@/c @LOGS@/da/c + rename @LOGS@/da @LOGS@/dc \
		+ rename @LOGS@/dc @LOGS@/db + rename @LOGS@/db @LOGS@/full \
		+ rename @LOGS@/db @LOGS@/d + rename @LOGS@/d @LOGS@/db \
		+ rename @LOGS@/none @LOGS@/x + rename @LOGS@/d @LOGS@/none/x \
		+ rename @LOGS@/d @LOGS@/d + rename @LOGS@/full @LOGS@/full/x/y \
		+ rename @LOGS@/d @LOGS@/x/ + rename @LOGS@/full/ @LOGS@/moved/' sh \
		"$PROGRAMS/prog_path"
	[[ $(cat "$SERVED/new") = b && $(cat "$SERVED/db/c") = c ]]
}

# rm -r link/ must not empty what the link leads to.
@test "a slash behind the name of a link: the link is meant, as by the kernel" {
	same_as_local sh -c 'mkdir @LOGS@/d; echo a >>@LOGS@/a; ln -s d @LOGS@/s
		ln -s none @LOGS@/t; "$1" rmdir @LOGS@/s/ + unlink @LOGS@/s/ \
		+ remove @LOGS@/s/ + rename @LOGS@/s/ @LOGS@/x + rename @LOGS@/a @LOGS@/s/ \
		+ rename @LOGS@/d @LOGS@/s/ + mkdir @LOGS@/t/ 755 + mkdir @LOGS@/s/ 755 \
		+ mkdir @LOGS@/a/ 755 + symlink x @LOGS@/t/ + link @LOGS@/a @LOGS@/t/ \
		+ stat @LOGS@/s/ + open @LOGS@/s/ 0 + rename @LOGS@/a ""' sh \
		"$PROGRAMS/prog_path"
	[[ -d $SERVED/d && -L $SERVED/s && ! -e $SERVED/none ]]
	run_shimmed "$PROGRAMS/prog_path" open "$LOGS/s/" 0102 + open "$LOGS/a/" 0102 \
		+ open "$LOGS/x/" 0102
	[[ $(grep -c EISDIR <<<"$output") -eq 3 ]]
}

@test "the working directory is not removed or renamed as ." {
	same_as_local sh -c 'mkdir -p @LOGS@/d/e; cd @LOGS@/d/e; "$1" rmdir . + rmdir ./ \
		+ remove . + unlink . + rename . ../x + rename ../e . + rename .. x \
		+ rename none . + rename none x/y + rename none @LOGS@/none/x + rmdir ..
		cd ..; "$1" rmdir ./e/. + rename e/. x + stat e' sh "$PROGRAMS/prog_path"
	[[ -d $SERVED/d/e ]]
}

@test "open of a directory to truncate it, or to make one, is refused" {
	same_as_local sh -c 'mkdir @LOGS@/d; "$1" open @LOGS@/d 01000 + open @LOGS@/d 02000 \
		+ open @LOGS@/d 0100' sh "$PROGRAMS/prog_path"
	# O_CREAT with O_DIRECTORY; Linux before 6.4 makes a file.
	run_shimmed "$PROGRAMS/prog_path" open "$LOGS/new" 0200100
	in_control || [[ $output = 'open EINVAL' && ! -e $SERVED/new ]]
}

@test "rename and link between the server and this host are EXDEV" {
	in_control && skip 'needs the shim: it is all one disk'
	touch local "$SERVED/x"
	run_shimmed "$PROGRAMS/prog_path" rename local "$LOGS/y" \
		+ rename "$LOGS/x" "$WORK/y" + link local "$LOGS/y" \
		+ link "$LOGS/x" "$WORK/y" + rename none "$LOGS/y"
	[[ $output = *'rename EXDEV'*'rename EXDEV'*'link EXDEV'*'link EXDEV'*'rename ENOENT' ]]
	[[ -e local && -e $SERVED/x && ! -e y && ! -e $SERVED/y ]]
	mkdir "$SERVER_EXPORT/other-$BATS_TEST_NUMBER"
	SHIM_OPTIONS+=(-m "/other=$(server_url "export/other-$BATS_TEST_NUMBER")")
	run_shimmed "$PROGRAMS/prog_path" rename "$LOGS/x" /other/x \
		+ link "$LOGS/x" /other/x
	[[ $output = 'rename EXDEV'$'\n''link EXDEV' ]]
}

@test "mv between the server and this host copies" {
	same_as_local sh -c 'seq 1000 >"$1/x" && mv "$1/x" @LOGS@/x && echo y >>@LOGS@/x &&
		mv @LOGS@/x "$1/y" && wc -l <"$1/y" && rm "$1/y"' sh "$BATS_TEST_TMPDIR"
	[[ -z $stderr && $output = 1001 && ! -e $SERVED/x ]]
}

@test "link, symlink, readlink" {
	same_as_local sh -c 'echo a >>@LOGS@/a; mkdir @LOGS@/d
		"$1" link @LOGS@/a @LOGS@/b + linkat @LOGS@/a @LOGS@/d/c 0 + lstat @LOGS@/a \
		+ link @LOGS@/a @LOGS@/b + link @LOGS@/d @LOGS@/e + link @LOGS@/none @LOGS@/f \
		+ symlink a @LOGS@/s + symlinkat ../a @LOGS@/d/s + symlink none @LOGS@/t \
		+ symlink x @LOGS@/s + symlink x @LOGS@/u/ + symlink "" @LOGS@/v \
		+ readlink @LOGS@/s + readlink @LOGS@/d/s + readlink @LOGS@/t \
		+ readlink @LOGS@/a + readlink @LOGS@/none + stat @LOGS@/d/s \
		+ linkat @LOGS@/s @LOGS@/g 0 + linkat @LOGS@/s @LOGS@/h 1024 \
		+ lstat @LOGS@/g + lstat @LOGS@/h; cat @LOGS@/d/s' sh "$PROGRAMS/prog_path"
}

@test "chmod, chown, truncate" {
	same_as_local sh -c 'echo 12345 >>@LOGS@/x; mkdir @LOGS@/d
		"$1" symlink x @LOGS@/s + chmod @LOGS@/x 640 + stat @LOGS@/x \
		+ fchmodat @LOGS@/s 604 0 + fchmodat @LOGS@/s 600 256 + lstat @LOGS@/x \
		+ chown @LOGS@/x 1 2 + chown @LOGS@/s -1 3 + lchown @LOGS@/s 4 5 \
		+ lstat @LOGS@/s + fchownat @LOGS@/x 6 -1 0 + stat @LOGS@/x \
		+ truncate @LOGS@/x 3 + truncate @LOGS@/s 9 + truncate @LOGS@/d 0 \
		+ truncate @LOGS@/none 0 + truncate @LOGS@/x -1 + chmod @LOGS@/none 600 \
		+ chmod @LOGS@/d 711 + stat @LOGS@/d' sh "$PROGRAMS/prog_path"
	[[ $(stat -c '%a %u %g %s' "$SERVED/x") = '604 6 3 9' ]]
}

@test "the utime family" {
	same_as_local sh -c 'echo 1 >>@LOGS@/x; "$1" times @LOGS@/x + times @LOGS@/none' \
		sh "$PROGRAMS/prog_path"
}

@test "by an open descriptor what a path call has changed is seen at once" {
	same_as_local "$PYTHON" -c "import os
fd = os.open('@LOGS@/x', os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
os.write(fd, b'12345')
print(os.fstat(fd).st_size, oct(os.fstat(fd).st_mode))
os.chmod('@LOGS@/x', 0o600)
print(oct(os.fstat(fd).st_mode))
os.truncate('@LOGS@/x', 2)
print(os.fstat(fd).st_size)
os.link('@LOGS@/x', '@LOGS@/y')
print(os.fstat(fd).st_nlink)
os.unlink('@LOGS@/x')
print(os.fstat(fd).st_nlink)
os.rename('@LOGS@/y', '@LOGS@/z')
os.write(fd, b'6')"
	[[ $(cat "$SERVED/z") = 126 ]]
}

@test "statfs and statvfs" {
	path mkdir @LOGS@/d 755 + space @LOGS@/d + space @LOGS@/none
	touch "$SERVED/x"
	run_shimmed "$PROGRAMS/prog_path" space "$LOGS/x" + space "$LOGS"
	[[ $(grep -c '^space 1 255 255$' <<<"$output") -eq 2 ]]
	in_control && return
	run_shimmed stat -f -c %T "$LOGS/x"
	[[ $output = nfs ]]
}

@test "extended attributes are not supported, and said so" {
	touch "$SERVED/x"
	run_shimmed "$PROGRAMS/prog_path" xattr "$LOGS/x" + xattr "$LOGS/none"
	in_control && return
	[[ $(grep -c EOPNOTSUPP <<<"$output") -eq 5 && $(grep -c ENOENT <<<"$output") -eq 5 ]]
}

@test "a named pipe is refused with EPERM and one message" {
	in_control && skip 'needs the shim: a local directory takes it'
	local call
	for call in mkfifo mknod; do
		run_shimmed "$PROGRAMS/prog_path" "$call" "$LOGS/pipe"
		[[ $output = "$call EPERM" ]]
		one_message "$LOGS/pipe" EPERM
	done
	[[ -z $(ls -A "$SERVED") ]]
}

@test "mknod makes a regular file" {
	same_as_local sh -c 'umask 027; "$1" mknod_file @LOGS@/x + stat @LOGS@/x' sh \
		"$PROGRAMS/prog_path"
	[[ $output = *'mknod 0'*'mknodat EEXIST'* ]]
}

@test "a socket, inotify and chroot are refused, each with one message" {
	in_control && skip 'needs the shim: a local directory takes them'
	local call
	mkdir "$SERVED/d"
	for call in 'bind EPERM' 'watch EOPNOTSUPP' 'chroot EPERM'; do
		run_shimmed "$PROGRAMS/prog_path" "${call% *}" \
			"$LOGS/$([[ $call = bind* ]] && echo socket || echo d)"
		[[ $output = "$call" ]]
		one_message "${call#* }"
		# Not on this host's disk, if the folder is there, too.
		(
			LOGS=$BATS_TEST_TMPDIR/exists
			mkdir -p "$LOGS/d"
			run_shimmed "$PROGRAMS/prog_path" "${call% *}" \
				"$LOGS/$([[ $call = bind* ]] && echo socket || echo d)"
			[[ $output = "$call" && ! -e $LOGS/socket ]]
		)
	done
}

@test "pathconf and ftok" {
	touch "$SERVED/x"
	run_shimmed "$PROGRAMS/prog_path" limits "$LOGS/x" + limits "$LOGS" \
		+ limits "$LOGS/none"
	[[ $output = 'pathconf 255
pathconf 4096
ftok 0
pathconf 255
pathconf 4096
ftok 0
pathconf ENOENT
pathconf ENOENT
ftok ENOENT' ]]
}

@test "what /dev/stdout and /proc/self/fd/N name is the mapped file" {
	same_as_local sh -c '"$1" stat /dev/stdout + statx /proc/self/fd/1 \
		+ chmod /dev/fd/1 604 + chown /proc/self/fd/1 1 2 + truncate /dev/stdout 3 \
		>>@LOGS@/x; stat -c "%a %u %g" @LOGS@/x' sh "$PROGRAMS/prog_path"
	[[ $output = '604 1 2' ]]
}

@test "flags that the kernel does not know, a path relative to a file" {
	same_as_local "$PYTHON" -c "import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(256)
fd = os.open('@LOGS@', os.O_RDONLY)
file = os.open('@LOGS@/x', os.O_RDWR | os.O_CREAT)
def call(name, *a):
    ctypes.set_errno(0)
    r = getattr(libc, name)(*a)
    print(name, errno.errorcode.get(ctypes.get_errno(), r))
call('statx', fd, b'x', 4, 0x7ff, room)
call('statx', fd, b'x', 0, 0x80000000, room)
call('statx', fd, b'x', 0x6000, 0x7ff, room)
call('linkat', fd, b'x', fd, b'y', 0x4000)
call('faccessat', fd, b'', 4, 0x1000)
call('openat', file, b'x', 0)
times = (ctypes.c_long * 4)(0, 0x3ffffffe, 0, 0x3ffffffe)
call('utimensat', fd, b'none', times, 0)"
}

@test "a time that NFSv3 cannot tell becomes the nearest that it can" {
	in_control && skip 'needs NFSv3'
	touch "$SERVED/x" "$SERVED/y"
	run_shimmed "$PYTHON" -c "import os
os.utime('$LOGS/x', (-5, -6))
os.utime('$LOGS/y', (5e9, 5e9))"
	[[ $(stat -c '%X %Y' "$SERVED"/[xy]) = $'0 0\n4294967295 4294967295' ]]
}

# As on a kernel mount after another host has removed the file; where this host
# does, a kernel mount would keep it under another name until it is closed.
@test "a removed or replaced file that is open: ESTALE at the next append" {
	in_control && skip 'needs the shim: a local disk keeps the file'
	echo a >"$SERVED/x"
	echo b >"$SERVED/y"
	run_shimmed "$PROGRAMS/prog_path" hold "$LOGS/x" + append 1 \
		+ rename "$LOGS/y" "$LOGS/x" + append 2
	[[ $output = *'append 1'*'append ESTALE' ]]
	one_message "$LOGS/x" ESTALE
	[[ $(cat "$SERVED/x") = b ]]
	run_shimmed "$PROGRAMS/prog_path" hold "$LOGS/x" + unlink "$LOGS/x" + append 3
	[[ $output = *'append ESTALE' && -z $(ls -A "$SERVED") ]]
}

@test "mkdir -p makes what is missing" {
	same_as_local sh -c 'mkdir -p @LOGS@/a/b/c && mkdir -p @LOGS@/a/b/c @LOGS@/a/d &&
		mkdir -p @LOGS@ && echo x >>@LOGS@/a/b/c/x'
	[[ $(cat "$SERVED/a/b/c/x") = x ]]
}

@test "names with spaces, quotes, newlines, UTF-8, and of 255 bytes" {
	local long
	long=$(printf '%255s' '' | tr ' ' n)
	same_as_local sh -c 'for name in "a b" "it'\''s" "q\"" "100%" "#1" "é€" -x \
		"two
lines" "?version=4" "*" "$1"
	do
		mkdir "$2/$name" && echo "$name" >>"$2/$name/$name" &&
			mv "$2/$name/$name" "$2/$name/moved" && cat "$2/$name/moved" || exit
	done; ls -A "$2" | sort; "$3" mkdir "$2/n$1" 755 + rename "$2/$1" "$2/n$1" \
		+ stat "$2/n$1" + unlink "$2/n$1"; rm -r "$2/$1"' sh "$long" @LOGS@ \
		"$PROGRAMS/prog_path"
	[[ $(grep -c ENAMETOOLONG <<<"$output") -ge 4 ]]
}

@test "symbolic links that leave the export lead to this host" {
	in_control && skip 'needs the shim: the folder lies elsewhere'
	mkdir "$SERVED/d" local
	: >local/file
	ln -s "$WORK/local" "$SERVED/absolute"
	ln -s "../..$WORK/local" "$SERVED/d/relative"
	ln -s /nowhere/at/all "$SERVED/dangling"
	run_shimmed sh -c 'ls "$LOGS/absolute/" && ls "$LOGS/d/relative/" &&
		stat -c %F "$LOGS/absolute/file" && readlink "$LOGS/absolute" &&
		realpath "$LOGS/d/relative/file" && cd "$LOGS/absolute" && pwd -P &&
		! cat "$LOGS/dangling" && rm "$LOGS/absolute"'
	[[ $status -eq 0 && $output = "file
file
regular empty file
$WORK/local
$WORK/local/file
$WORK/local" ]]
	[[ -e local/file && ! -L $SERVED/absolute ]]
	rm -r local
}

@test "nested maps: the longest match wins, for every call" {
	in_control && skip 'needs the shim: there are no maps'
	local inner=$SERVER_EXPORT/inner-$BATS_TEST_NUMBER
	mkdir -p "$SERVED/sub/inner" "$inner/d"
	: >"$inner/file"
	: >"$SERVED/sub/inner/hidden"
	SHIM_OPTIONS+=(-m "$LOGS/sub/inner=$(server_url "export/${inner##*/}")")
	run_shimmed sh -c 'ls "$LOGS/sub/inner"; cd "$LOGS/sub" && ls inner && cd inner &&
		pwd && mkdir new && ls -d ../../sub && cd .. && pwd && mv inner/file x;
		rmdir inner; find "$LOGS" | sort'
	[[ $output = "d
file
d
file
$LOGS/sub/inner
../../sub
$LOGS/sub
$LOGS
$LOGS/sub
$LOGS/sub/inner
$LOGS/sub/inner/d
$LOGS/sub/inner/new
$LOGS/sub/x" ]]
	[[ -d $inner/new && -e $SERVED/sub/x && -e $SERVED/sub/inner/hidden ]]
}

@test "a mapped directory that exists on this host hides it, for every call" {
	in_control && skip 'needs the shim: there is nothing to hide'
	mkdir "$BATS_TEST_TMPDIR/exists"
	: >"$BATS_TEST_TMPDIR/exists/local"
	LOGS=$BATS_TEST_TMPDIR/exists
	mkdir "$SERVED/d"
	run_shimmed sh -c 'cd "$LOGS/.." && ls exists && mkdir exists/new && cd exists &&
		echo x >>y && ls && cd d && ls -d ../y && "$1" glob "$LOGS/*" + scandir "$LOGS" \
		+ realpath "$LOGS/../exists/y"; mv ../y ../z; rm -r ../new' sh \
		"$PROGRAMS/prog_tree"
	[[ $status -eq 0 && $output = "d
d
new
y
../y
glob 0
  $LOGS/d/
  $LOGS/new/
  $LOGS/y
scandir 3
  d 4
  new 4
  y 8
realpath $LOGS/y 1" ]]
	[[ $(ls "$SERVED") = $'d\nz' && $(ls "$LOGS") = local ]]
	LOGS=/nowhere
}

@test "an IPv6 server" {
	in_server test -e /proc/net/if_inet6 || skip 'no IPv6 here'
	in_server ip -6 address show dev lo | grep -q ::1 || skip 'no ::1 here'
	SHIM_URL=${SHIM_URL/127.0.0.1/[::1]}
	run_shimmed sh -c 'mkdir "$LOGS/d" && echo 6 >>"$LOGS/d/x" && ls "$LOGS/d"'
	[[ $status -eq 0 && $output = x && $(cat "$SERVED/d/x") = 6 ]]
}

@test "the same by syscall(2)" {
	same_as_local perl -e 'require "syscall.ph" if 0; my $d = "@LOGS@";
		my ($mkdir, $rename, $stat, $open, $unlink, $rmdir, $access) =
			(83, 82, 4, 2, 87, 84, 21);
		my $st = "\0" x 200;
		print syscall($mkdir, "$d/d", 0755), "\n";
		print syscall($open, "$d/d/x", 02101, 0644) >= 0, "\n";
		print syscall($rename, "$d/d/x", "$d/d/y"), "\n";
		print syscall($stat, "$d/d/y", $st), "\n";
		print syscall($access, "$d/d/x", 0), "\n";
		print syscall($unlink, "$d/d/y"), "\n";
		print syscall($rmdir, "$d/d"), "\n"'
	[[ $(uname -m) != x86_64 || $output = $'0\n1\n0\n0\n-1\n0\n0' ]]
}

@test "by syscall(2), what programs call for which their libc has no name" {
	same_as_local "$PROGRAMS/prog_raw" @LOGS@
	[[ $output = *'copied 5' ]]
}

@test "syscall(2) does nothing to a folder of this host that is mapped" {
	in_control && skip 'needs the shim'
	LOGS=$BATS_TEST_TMPDIR/exists
	mkdir "$LOGS"
	run_shimmed "$PROGRAMS/prog_raw" "$LOGS"
	[[ $status -eq 0 && -e $SERVED/how && -z $(ls -A "$LOGS") ]]
	LOGS=/nowhere
}

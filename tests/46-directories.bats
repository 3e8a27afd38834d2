#!/usr/bin/env bats
# Directories below a mapped directory: listed, walked, and as the working
# directory; and the calls that libc makes of other calls by itself.

load lib/load

# tree CALL...: prog_tree, compared with a local directory.
tree() {
	same_as_local "$PROGRAMS/prog_tree" "$@"
}

# The same files and folders on the server and in the control.
populate() {
	local folder control=$BATS_TEST_TMPDIR/control
	mkdir -p "$control"
	for folder in "$SERVED" "$control"; do
		mkdir -p "$folder"/a/{b/c,empty} "$folder/.hidden"
		echo 1 >"$folder/file"
		echo 2 >"$folder/a/b/c/deep"
		echo 3 >"$folder/a/with space.log"
		echo 4 >"$folder/a/two.log"
		ln -s a/b "$folder/link"
		ln -s none "$folder/dangling"
		ln -s .. "$folder/a/up"
	done
}

@test "opendir, readdir, rewinddir, dirfd, closedir" {
	populate
	tree list @LOGS@ + list @LOGS@/a/ + list @LOGS@/a/empty + list @LOGS@/link \
		+ list @LOGS@/file + list @LOGS@/none + list @LOGS@/dangling
	[[ $output = *'  .. 4 1'*'  a 4 1'*'  dangling 10 1'*'  file 8 1'* ]]
}

@test "a directory opened first, then fdopendir" {
	populate
	tree fdlist @LOGS@/a + fdlist @LOGS@/file
}

@test "telldir and seekdir, in a directory of several replies" {
	local i folder
	mkdir "$BATS_TEST_TMPDIR/control"
	for folder in "$SERVED" "$BATS_TEST_TMPDIR/control"; do
		for ((i = 0; i < 280; i++)); do
			: >"$folder/$(printf '%0200d' "$i")"
		done
	done
	tree seek @LOGS@ + list @LOGS@ + scandir @LOGS@
	[[ $output = *'seek 282 entries 0 wrong'* ]]
}

@test "ten thousand names are listed, each once" {
	local n
	n=$(count 10000 3000)
	(cd "$SERVED" && seq -f 'name-%.0f' "$n" | xargs touch)
	run_shimmed sh -c 'ls "$LOGS" | sort >list; wc -l <list; sort -u list | wc -l; rm list'
	[[ $output = "$n"$'\n'"$n" ]]
}

@test "scandir" {
	populate
	tree scandir @LOGS@ + scandir @LOGS@/a + scandir @LOGS@/none \
		+ scandir @LOGS@/file
}

@test "glob: wildcards in the last component and before it" {
	populate
	tree glob '@LOGS@/*' + glob '@LOGS@/a/*.log' + glob '@LOGS@/*/*' \
		+ glob '@LOGS@/?/b/c/d*' + glob '@LOGS@/none*' + glob '@LOGS@/.h*' \
		+ glob @LOGS@/file + glob @LOGS@/none + glob '@LOGS@/dang*' \
		+ glob '@LOGS@/[af]*' + glob '/etc/host[s]' + glob '/nowhere*'
}

@test "ftw and nftw, with their flags" {
	populate
	tree nftw @LOGS@ + nftw @LOGS@/a + nftw @LOGS@/file + nftw @LOGS@/none \
		+ nftw @LOGS@/link
}

@test "fts, with its options and instructions" {
	populate
	tree fts @LOGS@ + fts @LOGS@/a/ + fts @LOGS@/file + fts @LOGS@/none \
		+ fts @LOGS@/link
}

@test "realpath and canonicalize_file_name" {
	populate
	tree realpath @LOGS@ + realpath @LOGS@/a/../file + realpath @LOGS@/link/c \
		+ realpath @LOGS@/a/up/a/up/./file + realpath @LOGS@//a///b/ \
		+ realpath @LOGS@/none + realpath @LOGS@/dangling \
		+ realpath @LOGS@/file/x + realpath /usr/../etc + realpath ''
}

@test "mkstemp, mkostemps, mkdtemp" {
	tree temporary @LOGS@
	[[ -z $(ls -A "$SERVED") ]]
	run_shimmed "$PROGRAMS/prog_tree" temporary "$LOGS/none"
	[[ $(grep -c ENOENT <<<"$output") -eq 3 ]]
}

@test "chdir, fchdir, getcwd" {
	populate
	tree cd @LOGS@/a + append relative + cd b + append here + cd ../empty/. \
		+ back / + append there + fcd @LOGS@/a/b/c + append more \
		+ cd ../../up + list . + realpath a \
		+ cd @LOGS@/link + cd none + cd @LOGS@/file
	[[ -e $SERVED/a/relative && -e $SERVED/a/b/here && -e $SERVED/a/b/c/more ]]
}

@test "chdir without permission is EACCES" {
	mkdir -m 700 "$SERVED/closed"
	run_shimmed setpriv --reuid 65534 --regid 65534 --clear-groups \
		"$PROGRAMS/prog_tree" cd "$LOGS/closed"
	[[ $output = 'chdir EACCES'* ]]
}

@test "children inherit the working directory, whichever way they are made" {
	populate
	local way
	for way in 'import os
os.system("pwd; echo 1 >>by_system")' 'import subprocess
subprocess.run(["pwd"])
subprocess.run("echo 2 >>by_run", shell=True)
subprocess.run("pwd; echo 3 >>by_cwd", shell=True, cwd="b")' 'import os
p = os.posix_spawn("/bin/pwd", ["pwd"], os.environ)
os.waitpid(p, 0)' 'import os
print(os.popen("pwd").read())' 'import os
if os.fork() == 0:
    print(os.getcwd(), flush=True)
    os.execl("/bin/pwd", "pwd")
os.wait()'; do
		same_as_local sh -c 'cd @LOGS@/a && "$1" -c "$2"' sh "$PYTHON" "$way"
		[[ $status -eq 0 && $output = *"$LOGS/a"* ]]
	done
	[[ -e $SERVED/a/by_system && -e $SERVED/a/b/by_cwd ]]
}

@test "a program without us finds nothing by a relative path, and makes nothing" {
	in_control && skip 'needs the shim'
	populate
	run_shimmed sh -c 'cd "$LOGS/a" && env -u LD_PRELOAD sh -c "echo x >>y; ls two.log
		cat ../file; mkdir z"'
	[[ $status -ne 0 && -z $output ]]
	[[ ! -e $SERVED/a/y && ! -e $SERVED/a/z ]]
}

@test "out of the map by .., from a relative and from an absolute path" {
	in_control && skip 'needs the shim: the folder lies elsewhere'
	mkdir -p "$SERVED/a"
	run_shimmed sh -c 'cat "$LOGS/../etc/hostname" && cd "$LOGS/a" &&
		cat ../../etc/hostname && cd ../.. && pwd && ls -d ../etc &&
		cd "$LOGS" && cp "..$1/local" copy && cat copy' sh "$WORK"
	[[ $status -ne 0 ]]
	echo local >local
	run_shimmed sh -c 'cat "$LOGS/../etc/hostname" && cd "$LOGS/a" &&
		cat ../../etc/hostname && cd ../.. && pwd && ls -d ../etc &&
		cd "$LOGS" && cp "..$1/local" copy && cat copy' sh "$WORK"
	rm local
	[[ $status -eq 0 && $output = "$(cat /etc/hostname /etc/hostname)"$'\n/\n../etc\nlocal' ]]
	[[ $(cat "$SERVED/copy") = local ]]
}

@test "nothing of the working directory is left behind" {
	in_control && skip 'needs the shim'
	mkdir -p "$SERVED/a/b"
	run_shimmed sh -c 'cd "$LOGS/a/b" && cd .. && cd "$LOGS" && pwd'
	[[ $output = "$LOGS" ]]
	[[ -z $(find /dev/shm /tmp /var/tmp -maxdepth 1 -name '.nfsappend-cwd-*') ]]
}

@test "a deep tree: made, walked, and removed" {
	same_as_local sh -c 'cd @LOGS@ && deep=$(printf "directory-%02d/" $(seq 40)) &&
		mkdir -p "$deep" && echo end >>"$deep/file" && find . | wc -l &&
		cat "$deep/file" && (cd "$deep" && pwd | wc -c >>../size && cat file) &&
		find . -name file && rm -r directory-01 && ls -a'
	[[ -z $stderr && -z $(ls -A "$SERVED") ]]
}

@test "find, du, chmod -R, cp -r, diff -r, tar, rm -rf" {
	populate
	same_as_local sh -c 'cd @LOGS@ && find . | sort && find @LOGS@ -name "*.log" | sort &&
		find -L a -type f | sort; find . -type f -exec cat {} + | sort &&
		find . -name deep -execdir cat {} \; && find . -empty | sort &&
		chmod -R go-w a && cp -r a copy && diff -r --no-dereference a copy &&
		tar cf - a | tar tf - | sort && tar cf @LOGS@/t.tar a &&
		mkdir out && tar xf t.tar -C out && find out | sort &&
		rm -rf a copy out t.tar && ls -A | sort'
}

@test "a program below a map is not run, with one message" {
	in_control && skip 'needs the shim'
	printf '#!/bin/sh\necho ran\n' >"$SERVED/script"
	chmod 755 "$SERVED/script"
	cp /bin/true "$SERVED/true"
	local how
	for how in '"$LOGS/script"' 'cd "$LOGS" && ./script' 'exec "$LOGS/true"' \
		'"$PYTHON" -c "import os
try:
    os.posix_spawn(os.environ[\"LOGS\"] + \"/true\", [\"x\"], os.environ)
except PermissionError:
    os._exit(126)"'; do
		run_shimmed bash -c "$how"
		[[ $status -eq 126 && $output != *ran* ]]
		[[ $(grep -c 'nfsappend:.*EACCES' "$MESSAGES") -eq 1 ]]
	done
	run_shimmed bash -c '"$LOGS/none" || exit 3'
	[[ $status -eq 3 && $stderr = *'No such file'* ]]
	# What is read, not run, is no program.
	run_shimmed sh -c 'sh "$LOGS/script"'
	[[ $output = ran ]]
}

@test "a directory is opened again by /proc/self/fd" {
	mkdir "$SERVED/d"
	: >"$SERVED/d/x"
	run_shimmed "$PYTHON" -c "import os
fd = os.open('$LOGS/d', os.O_RDONLY)
again = os.open('/proc/self/fd/%d' % fd, os.O_RDONLY | os.O_DIRECTORY)
print(os.listdir(again), os.path.samestat(os.fstat(fd), os.fstat(again)))
try: os.open('/dev/fd/%d' % fd, os.O_WRONLY)
except IsADirectoryError: print('directory')"
	[[ $status -eq 0 && $output = "['x'] True"$'\n'directory ]]
}

@test "posix_spawn in a mapped directory" {
	same_as_local sh -c 'mkdir @LOGS@/d; : >>@LOGS@/d/x; ln -s d @LOGS@/s
		cd @LOGS@ && "$1" spawn_in @LOGS@/d + spawn_in s + spawn_in / + spawn_in none' \
		sh "$PROGRAMS/prog_path"
	[[ $output = *"d"$'\n'x* ]]
}

@test "a map in a directory that is not on this host: mkdir -p and realpath" {
	in_control && skip 'needs the shim'
	LOGS=$LOGS/deep/er
	mkdir "$SERVED/d"
	run_shimmed sh -c 'mkdir -p "$LOGS/a/b" && ls "$LOGS" && realpath "$LOGS/d" &&
		readlink -f "$LOGS/d" && cd "$LOGS/d" && cd ../.. && pwd && cd .. &&
		ls deep/er && "$1" stat . + stat "$LOGS/../.." + access . w + mkdir deep 755 \
		+ stat other + mkdir other 755' sh "$PROGRAMS/prog_path"
	[[ $output = "a
d
$LOGS/d
$LOGS/d
${LOGS%/*}
a
d
stat mode 40555"* && $(grep -c 'stat mode 40555 links 2' <<<"$output") -ge 2 ]]
	[[ $output = *'access EACCES'*'mkdir EEXIST'*'stat ENOENT'*'mkdir ENOENT'* ]]
	[[ -d $SERVED/a/b && ! -e ${LOGS%/deep/er} ]]
}

# The names of directories that are open are known up to 1,023 bytes.
@test "a tree with paths of 3,500 bytes is walked and removed, by NFSv3 and v4" {
	local url
	for url in "$SHIM_URL" "$(server_url_v4 "export/$BATS_TEST_NUMBER")"; do
		SHIM_URL=$url
		same_as_local sh -c 'cd @LOGS@; name=$(printf %250s "" | tr " " n); i=0
			while [ $((i += 1)) -le 14 ]; do
				mkdir "$name" && cd "$name" || exit
			done
			: >x; cd @LOGS@; find . -name x | wc -c; cp -r "$name" copy
			du -a copy | wc -l; rm -r copy "$name"' sh
		[[ $output = $'3518\n15' ]]
	done
}

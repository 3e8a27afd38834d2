#!/usr/bin/env bats
# Every way in which stdio and iostreams write: files, return values, positions
# and exit status as on a local folder (tests/programs/stdio).

load lib/load
load lib/batteries

setup_file() {
	start_server
	setup_batteries
}

# shellcheck disable=SC2034 # shim.bash reads what this sets
# The small export has one file system of its own; so has the control.
small_export() {
	local control=$BATS_TEST_TMPDIR/control
	server_takes_tmpfs || skip 'this nfs-ganesha exports no tmpfs'
	mkdir -p "$control"
	in_server mount -t tmpfs -o size=256k,mode=1777 small "$control"
	in_server rm -f "$SERVER_DIR/small/full"
	if in_control; then
		LOGS=$SERVER_DIR/small
	else
		SHIM_URL=$(server_url small)
	fi
}

# In FULL runs every case again in a program built without _FORTIFY_SOURCE.
plain() {
	local name messages_expected=1
	mkdir "$BATS_TEST_TMPDIR/control"
	for name; do
		echo "case $name"
		# Files are not removed behind the server's back.
		mkdir -m 1777 "$SERVED/$name" "$BATS_TEST_TMPDIR/control/$name"
		same "$PROGRAMS/stdio-battery-plain" "$name" "@LOGS@/$name"
	done
}

libcxx() {
	[[ -x $PROGRAMS/stdio-battery-libc++ ]] ||
		skip 'no libc++ (Debian: apt-get install clang libc++-dev libc++abi-dev)'
	battery "$1" stdio-battery-libc++
}

libstdcxx() {
	battery "$1" stdio-battery-libstdc++
}

@test "every case of the batteries is in this file" {
	diff <("$PROGRAMS/stdio-battery" --list | cut -d' ' -f1 | sort) \
		<(sed -nE 's/^@test "stdio: (.*)" \{$/\1/p' "$BATS_TEST_FILENAME" | sort)
	diff <("$PROGRAMS/stdio-battery-libstdc++" --list | sort) \
		<(sed -nE 's/^@test "libstdc\+\+: (.*)" \{$/\1/p' "$BATS_TEST_FILENAME" | sort)
	[[ $("$PROGRAMS/stdio-battery" --list | wc -l) -ge 50 ]]
}

@test "stdio: printf" {
	battery printf
}

@test "stdio: printf-positional" {
	battery printf-positional
}

@test "stdio: printf-long" {
	battery printf-long
}

@test "stdio: printf-registered" {
	battery printf-registered
}

@test "stdio: vprintf" {
	battery vprintf
}

@test "stdio: fprintf" {
	battery fprintf
}

@test "stdio: vfprintf" {
	battery vfprintf
}

@test "stdio: dprintf" {
	battery dprintf
}

@test "stdio: vdprintf" {
	battery vdprintf
}

@test "stdio: puts" {
	battery puts
}

@test "stdio: fputs" {
	battery fputs
}

@test "stdio: putc" {
	battery putc
}

@test "stdio: putchar" {
	battery putchar
}

@test "stdio: fputc" {
	battery fputc
}

@test "stdio: fwrite" {
	battery fwrite
}

@test "stdio: fwrite-large" {
	battery fwrite-large
}

@test "stdio: unlocked" {
	battery unlocked
}

@test "stdio: memory-streams" {
	battery memory-streams
}

@test "stdio: fopencookie" {
	battery fopencookie
}

@test "stdio: fwprintf" {
	battery fwprintf
}

@test "stdio: wprintf" {
	battery wprintf
}

@test "stdio: fputws" {
	battery fputws
}

@test "stdio: wide-unlocked" {
	battery wide-unlocked
}

@test "stdio: wide-orientation" {
	battery wide-orientation
}

@test "stdio: wide-unbuffered" {
	battery wide-unbuffered
}

@test "stdio: wide-position" {
	battery wide-position
}

@test "stdio: ccs-utf8" {
	battery ccs-utf8
}

@test "stdio: ccs-latin1" {
	battery ccs-latin1
}

@test "stdio: wide-perror" {
	battery wide-perror
}

@test "stdio: wide-freopen" {
	battery wide-freopen
}

@test "stdio: unbuffered" {
	battery unbuffered
}

@test "stdio: line-buffered" {
	battery line-buffered
}

@test "stdio: fully-buffered" {
	battery fully-buffered
}

@test "stdio: own-buffer" {
	battery own-buffer
}

@test "stdio: setbuf" {
	battery setbuf
}

@test "stdio: buffer-change" {
	battery buffer-change
}

@test "stdio: stderr-default" {
	battery stderr-default
}

@test "stdio: fflush-all" {
	battery fflush-all
}

@test "stdio: fpurge" {
	battery fpurge
}

@test "stdio: two-streams" {
	battery two-streams
}

@test "stdio: stream-and-write" {
	battery stream-and-write
}

@test "stdio: fopen-a" {
	battery fopen-a
}

@test "stdio: fopen-ab" {
	battery fopen-ab
}

@test "stdio: fopen-ae" {
	battery fopen-ae
}

@test "stdio: fopen-ac" {
	battery fopen-ac
}

@test "stdio: fopen-am" {
	battery fopen-am
}

@test "stdio: fopen-ax" {
	battery fopen-ax
}

@test "stdio: fopen-a+" {
	battery fopen-a+
}

@test "stdio: fopen-a+ce" {
	battery fopen-a+ce
}

@test "stdio: fopen64" {
	battery fopen64
}

@test "stdio: fopen-umask" {
	battery fopen-umask
}

@test "stdio: fopen-errors" {
	messages_expected=1 battery fopen-errors
}

@test "stdio: fdopen-a" {
	battery fdopen-a
}

@test "stdio: fdopen-w" {
	battery fdopen-w
}

@test "stdio: fdopen-a+" {
	battery fdopen-a+
}

@test "stdio: fdopen-refused" {
	battery fdopen-refused
}

@test "stdio: fdopen-sets-append" {
	battery fdopen-sets-append
}

@test "stdio: many-streams" {
	battery many-streams
}

@test "stdio: open-close-cycles" {
	battery open-close-cycles
}

@test "stdio: freopen-stdout" {
	battery freopen-stdout
}

@test "stdio: freopen-stderr" {
	battery freopen-stderr
}

@test "stdio: freopen64" {
	battery freopen64
}

@test "stdio: freopen-away" {
	battery freopen-away
}

@test "stdio: freopen-back" {
	battery freopen-back
}

@test "stdio: freopen-other-log" {
	battery freopen-other-log
}

@test "stdio: freopen-null" {
	battery freopen-null
}

@test "stdio: freopen-missing" {
	messages_expected=1 battery freopen-missing
}

@test "stdio: fopen-dev-stdout" {
	battery fopen-dev-stdout
}

@test "stdio: fclose-number" {
	battery fclose-number
}

@test "stdio: fclose-stdout" {
	battery fclose-stdout
}

@test "stdio: dup2-under" {
	battery dup2-under
}

@test "stdio: save-restore" {
	battery save-restore
}

@test "stdio: close-under" {
	battery close-under
}

@test "stdio: ftell" {
	battery ftell
}

@test "stdio: fseek" {
	battery fseek
}

@test "stdio: rewind" {
	battery rewind
}

@test "stdio: fgetpos" {
	battery fgetpos
}

@test "stdio: read-write-turns" {
	battery read-write-turns
}

@test "stdio: other-writer" {
	battery other-writer
}

@test "stdio: stream-size" {
	battery stream-size
}

@test "stdio: stream-ftruncate" {
	battery stream-ftruncate
}

@test "stdio: perror" {
	battery perror
}

@test "stdio: warn" {
	battery warn
}

@test "stdio: err" {
	battery err
}

@test "stdio: errx" {
	battery errx
}

@test "stdio: error" {
	battery error
}

@test "stdio: assert" {
	battery assert
}

@test "stdio: assert-perror" {
	battery assert-perror
}

@test "stdio: psignal" {
	battery psignal
}

@test "stdio: getopt" {
	battery getopt
}

@test "stdio: argp" {
	battery argp
}

@test "stdio: putpwent" {
	battery putpwent
}

@test "stdio: psiginfo" {
	battery_exception psiginfo
}

@test "stdio: backtrace-symbols-fd" {
	battery_exception backtrace-symbols-fd
}

@test "stdio: herror" {
	battery_exception herror
}

@test "stdio: syslog-perror" {
	battery_exception syslog-perror
}

@test "stdio: fortify-abort" {
	battery_exception fortify-abort
}

@test "stdio: malloc-abort" {
	battery_exception malloc-abort
}

@test "stdio: system" {
	battery system
}

@test "stdio: popen-read" {
	battery popen-read
}

@test "stdio: popen-write" {
	battery popen-write
}

@test "stdio: fork-full-buffer" {
	battery fork-full-buffer
}

@test "stdio: fork-stdout" {
	battery fork-stdout
}

@test "stdio: fclose-in-child" {
	battery fclose-in-child
}

@test "stdio: exec-loses" {
	battery exec-loses
}

@test "stdio: exit" {
	battery exit
}

@test "stdio: return" {
	battery return
}

@test "stdio: _exit" {
	battery _exit
}

@test "stdio: quick_exit" {
	battery quick_exit
}

@test "stdio: abort" {
	battery abort
}

@test "stdio: exit-in-thread" {
	battery exit-in-thread
}

@test "stdio: threads-flockfile" {
	compare=same_lines battery threads-flockfile
}

@test "stdio: threads-streams" {
	compare=same_lines battery threads-streams
}

@test "stdio: error-efbig" {
	messages_expected=1 battery error-efbig
}

@test "stdio: error-efbig-buffered" {
	messages_expected=1 battery error-efbig-buffered
}

@test "stdio: error-efbig-at-exit" {
	messages_expected=1 battery error-efbig-at-exit
}

@test "stdio: error-sigxfsz" {
	battery error-sigxfsz
}

@test "stdio: error-enospc" {
	SERVED=$BATS_TEST_TMPDIR/nothing
	small_export
	messages_expected=1 both "$PROGRAMS/stdio-battery" error-enospc @LOGS@
	diff -u "$OUTCOME.control" "$OUTCOME.shimmed"
	in_server cat "$SERVER_DIR/small/full" >"$BATS_TEST_TMPDIR/full"
	[[ $(<"$BATS_TEST_TMPDIR/full") = 'room again' ]]
}

@test "stdio: error-dev-full" {
	battery error-dev-full
}

@test "stdio: error-ebadf" {
	battery error-ebadf
}

@test "libstdc++: cout" {
	libstdcxx cout
}

@test "libstdc++: cout-unsynced" {
	libstdcxx cout-unsynced
}

@test "libstdc++: cout-and-printf" {
	libstdcxx cout-and-printf
}

@test "libstdc++: cerr" {
	libstdcxx cerr
}

@test "libstdc++: wcout" {
	libstdcxx wcout
}

@test "libstdc++: ofstream" {
	libstdcxx ofstream
}

@test "libstdc++: ofstream-ate" {
	libstdcxx ofstream-ate
}

@test "libstdc++: ofstream-large" {
	libstdcxx ofstream-large
}

@test "libstdc++: ofstream-unbuffered" {
	libstdcxx ofstream-unbuffered
}

@test "libstdc++: ofstream-move" {
	libstdcxx ofstream-move
}

@test "libstdc++: fstream-read-back" {
	libstdcxx fstream-read-back
}

@test "libstdc++: cout-rdbuf" {
	libstdcxx cout-rdbuf
}

@test "libstdc++: ofstream-missing" {
	messages_expected=1 libstdcxx ofstream-missing
}

@test "libstdc++: terminate" {
	libstdcxx terminate
}

@test "libstdc++: static-destructor" {
	libstdcxx static-destructor
}

@test "libstdc++: cxx-quick-exit" {
	libstdcxx cxx-quick-exit
}

@test "libc++: cout" {
	libcxx cout
}

@test "libc++: cout-unsynced" {
	libcxx cout-unsynced
}

@test "libc++: cout-and-printf" {
	libcxx cout-and-printf
}

@test "libc++: cerr" {
	libcxx cerr
}

@test "libc++: wcout" {
	libcxx wcout
}

@test "libc++: ofstream" {
	libcxx ofstream
}

@test "libc++: ofstream-ate" {
	libcxx ofstream-ate
}

@test "libc++: ofstream-large" {
	libcxx ofstream-large
}

@test "libc++: ofstream-unbuffered" {
	libcxx ofstream-unbuffered
}

@test "libc++: ofstream-move" {
	libcxx ofstream-move
}

@test "libc++: fstream-read-back" {
	libcxx fstream-read-back
}

@test "libc++: cout-rdbuf" {
	libcxx cout-rdbuf
}

@test "libc++: ofstream-missing" {
	messages_expected=1 libcxx ofstream-missing
}

@test "libc++: terminate" {
	libcxx terminate
}

@test "libc++: static-destructor" {
	libcxx static-destructor
}

@test "libc++: cxx-quick-exit" {
	libcxx cxx-quick-exit
}

@test "without _FORTIFY_SOURCE, the printf family and wide streams" {
	plain printf printf-positional printf-long printf-registered vprintf \
		fprintf vfprintf dprintf vdprintf puts fputs putc putchar fputc \
		fwrite fwrite-large unlocked memory-streams fopencookie fwprintf \
		wprintf fputws wide-unlocked wide-orientation wide-unbuffered wide- \
		position ccs-utf8 ccs-latin1 wide-perror wide-freopen
}

@test "without _FORTIFY_SOURCE, all other cases" {
	[[ ${NFSAPPEND_FULL-} = 1 ]] || skip 'only with NFSAPPEND_FULL=1'
	local cases
	readarray -t cases < <("$PROGRAMS/stdio-battery" --list |
		grep -v -e ' exception' -e threads- -e error-enospc)
	plain "${cases[@]}"
}

#!/usr/bin/env bats
# nfsappend doctor: what is well, what is not, each with its cause and cure; the
# exit status; and that it leaves nothing behind, whatever happens.

load lib/load
load lib/scripted

setup_file() {
	in_control && skip 'needs the shim: there is nothing to examine'
	start_server
	setup_shim
	build_scripted
	# For those who are not root.
	chmod a+x "$BATS_FILE_TMPDIR" "$BATS_FILE_TMPDIR"/.. "$BATS_FILE_TMPDIR/../.." "$SERVER_DIR"
}

setup() {
	new_case
	chmod a+x "$BATS_TEST_TMPDIR"
	USER_ID=
	SANITIZED=()
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		SANITIZED=(env "LD_PRELOAD=$NFSAPPEND_SANITIZER")
}

teardown() {
	server_ensure
	stop_scripted
	nothing_local
}

# doctor ARG...: $status and $output; as user $USER_ID, if that is set. It must
# end by itself, and leave nothing in the folder of this test.
doctor() {
	with_wrapper doctor "$@"
}

# with_wrapper OPTION... doctor ARG...
with_wrapper() {
	local as=()
	[[ -z $USER_ID ]] || as=(setpriv --reuid "$USER_ID" --regid "$USER_ID"
		--clear-groups --bounding-set=-all --inh-caps=-all)
	run in_server timeout --foreground -k 5 60 "${as[@]}" "${SANITIZED[@]}" "$SHIM_WRAPPER" "$@"
	echo "$output"
	echo "status $status"
	[[ $(find "$SERVED" -name '.nfsappend-doctor*') = '' ]]
}

# says WORDS...: a line has all of them.
says() {
	local line word
	while read -r line; do
		for word; do
			[[ $line = *"$word"* ]] || continue 2
		done
		return 0
	done <<<"$output"
	echo "no line says: $*" >&2
	return 1
}

# cause_and_cure LEVEL CAUSE CURE: one line after the other.
cause_and_cure() {
	says "$1 " "$2"
	grep -A 1 -F -- "$2" <<<"$output" | grep -F 'cure: ' | grep -qF -- "$3"
}

url_v4() {
	server_url_v4 "export/$BATS_TEST_NUMBER"
}

@test "a good path, by NFSv3 and by NFSv4" {
	doctor "$SHIM_URL"
	[[ $status -eq 0 && ${lines[-1]} = 'doctor: all well' ]]
	if [[ -z ${NFSAPPEND_SANITIZER-} ]]; then
		says 'ok' 'loads into a 64-bit program' glibc
		says 'ok' 'stdio' 'taken over'
	fi
	says 'ok' 'nfsappend-nfs.so loads' libnfs
	says 'ok' 'user 0, group 0'
	says 'ok' 'meet in /dev/shm/nfsappend-0'
	says 'ok' 'NFS answers on port 20490'
	says 'ok' 'MOUNT answers on port 20491'
	says 'ok' '1048576 bytes (wtmax)'
	says 'ok' "ports above 1023, too ('insecure')"
	says 'note' 'NFSv3 is used' 'NFSv4.0 is offered, too'
	says 'ok' 'a stable append takes'
	says 'ok' '384 bytes were appended' 'read back'
	doctor "$(url_v4)"
	[[ $status -eq 0 && ${lines[-1]} = 'doctor: all well' ]]
	says 'ok' 'NFSv4.0 is spoken'
	says 'ok' 'locks work'
	says 'ok' 'no grace period' 'lease is 60 s'
	says 'ok' '512 bytes were appended' 'read back'
}

@test "a file on a server; below a DIR of -m; what the configuration names" {
	echo content >"$SERVED/log"
	doctor "$(url_v4)" "${SHIM_URL/\?/\/log?}"
	[[ $status -eq 0 ]]
	says 'ok' 'log is there (8 bytes)'
	with_wrapper -m "$LOGS=$(url_v4)" doctor "$LOGS/log"
	[[ $status -eq 0 ]]
	says 'note' "$LOGS/log stands for nfs://127.0.0.1/export/$BATS_TEST_NUMBER/log?version=4"
	says 'ok' 'log is there'
	says 'ok' 'nobody has locked it'
	with_wrapper -m "$LOGS=$SHIM_URL" doctor
	[[ $status -eq 0 ]]
	says 'ok' '384 bytes were appended'
	[[ $(cat "$SERVED/log") = content ]]
	doctor
	[[ $status -eq 0 ]]
	says 'note' 'no place was named'
}

@test "a stopped server" {
	server_signal STOP
	doctor -t 1 "$SHIM_URL" "$(url_v4)"
	server_signal CONT
	[[ $status -eq 2 && ${lines[-1]} = 'doctor: does not work: 2 FAIL'* ]]
	cause_and_cure FAIL 'accepts connections, but nothing answers' \
		'look at the NFS server on 127.0.0.1'
}

@test "a server that stops in the middle" {
	start_scripted
	tell 'on v4 LOCK every 1 ignore'
	doctor -t 1 "$SHIM_URL"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no answer in time' '-t SECONDS'
}

@test "wrong export, refused port, no such name, no such host, no URL" {
	doctor "$(server_url nowhere)"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "does not export $SERVER_DIR/nowhere" 'correct the path'
	doctor "$(server_url_v4 nowhere)"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'is not there on the server' 'showmount -e 127.0.0.1'
	doctor 'nfs://127.0.0.1/export?version=4&nfsport=1'
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'port 1 of 127.0.0.1 (NFS) refuses connections' \
		'start the NFS server'
	doctor 'nfs://no-such-host.invalid/export'
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no-such-host.invalid does not resolve' 'correct the name'
	doctor 'nfs://10.1.2.3/export'
	[[ $status -eq 2 ]]
	cause_and_cure FAIL '10.1.2.3 cannot be reached' 'route'
	# rpcbind is no NFS server.
	doctor 'nfs://127.0.0.1/export?version=4&nfsport=111'
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'port 111 of 127.0.0.1 is no NFS' 'correct the port'
	doctor 'nfs:///export'
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no good URL' 'nfs://SERVER/EXPORT'
}

@test "an export that is read-only, one that admits nobody, a folder of others" {
	doctor "$(server_url readonly)"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no file can be made there: Read-only' 'export with rw'
	doctor "$(server_url forbidden)"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'does not export' 'admit this host'
	# nfs-ganesha shows it neither by NFSv4 nor by NFSv3.
	USER_ID=65534 doctor "$(server_url forbidden)" "$(server_url_v4 forbidden)"
	[[ $status -eq 2 && ${lines[-1]} = *'2 FAIL'* ]]
	cause_and_cure FAIL "it is 'secure'" "add 'insecure' to the export"
	mkdir -m 755 "$SERVED/roots"
	echo x >"$SERVED/roots/log"
	USER_ID=65534 doctor "${SHIM_URL/\?/\/roots?}"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no file can be made there: Permission denied' 'user 65534'
	USER_ID=65534 doctor "${SHIM_URL/\?/\/roots\/log?}"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'does not let user 65534 append to log' 'chown'
}

@test "grace, no space, no locks, no NFSv4.0" {
	start_scripted
	tell 'on v4 OPEN every 1 reply GRACE'
	doctor "$SHIM_URL"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'in its grace period' 'in a minute or two'
	tell clear 'on v4 WRITE every 1 reply NOSPC'
	doctor "$SHIM_URL"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'No space left' 'make room'
	tell clear 'on v4 LOCK every 1 reply LOCK_NOTSUPP'
	doctor "$SHIM_URL"
	[[ $status -eq 1 && ${lines[-1]} = 'doctor: works, but: 1 WARN'* ]]
	cause_and_cure WARN 'the server has no locks' 'one host'
	tell clear 'on v4 COMPOUND every 1 reply MINOR_VERS_MISMATCH'
	doctor "$SHIM_URL"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'does not speak NFSv4.0' 'vers4.0=y'
}

@test "a user who is not root, one with many groups" {
	USER_ID=65534
	doctor "$SHIM_URL" "$(url_v4)"
	[[ $status -eq 0 ]]
	says 'ok' 'user 65534, group 65534'
	says 'note' "ports below 1024 may not be used"
	says 'ok' "ports above 1023 ('insecure')"
	run in_server setpriv --groups "$(seq -s , 100 120)" "${SANITIZED[@]}" "$SHIM_WRAPPER" doctor
	echo "$output"
	[[ $status -eq 1 ]]
	cause_and_cure WARN 'you are in 21 groups' manage-gids
}

@test "a host segment directory that cannot be used, variables that are wrong" {
	mkdir -m 777 "$BATS_TEST_TMPDIR/open"
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/open
	doctor "$SHIM_URL"
	[[ $status -eq 1 ]]
	cause_and_cure WARN "$NFSAPPEND_RUNTIME (mode 0777" NFSAPPEND_RUNTIME
	unset NFSAPPEND_RUNTIME
	NFSAPPEND_SHARING=both NFSAPPEND_LOG=loud doctor "$SHIM_URL"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "NFSAPPEND_SHARING='both'" 'correct the variable'
	cause_and_cure FAIL "NFSAPPEND_LOG='loud'" 'correct the variable'
}

# compile NAME [OPTION]...: a program that says that it was run.
compile() {
	local name=$1
	shift
	cc -x c -o "$BATS_TEST_TMPDIR/$name" - "$@" <<-'C'
		#include <fcntl.h>
		#include <stdlib.h>
		int main(void) { return open(getenv("RAN"), O_CREAT, 0600) < 0; }
	C
}

@test "programs: a dynamic one, static, musl, 32 bits, scripts; none is run" {
	local dir=$BATS_TEST_TMPDIR
	export RAN=$dir/ran
	compile dynamic
	compile static -static
	doctor "$dir/dynamic" ls
	[[ $status -eq 0 ]]
	says 'ok' "$dir/dynamic is a dynamically linked program"
	says 'ok' '/ls is a dynamically linked program'
	doctor "$dir/static"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "$dir/static is statically linked" 'dynamically linked build'
	printf '#!%s\n' "$dir/dynamic" >"$dir/script"
	printf '#!/usr/bin/env -S %s\n' "$dir/static" >"$dir/other"
	printf '#!/no/such/shell\n' >"$dir/broken"
	chmod 755 "$dir"/{script,other,broken}
	doctor "$dir/script"
	[[ $status -eq 0 ]]
	says 'ok' "script, run by $dir/dynamic"
	doctor "$dir/other"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "$dir/static is statically linked" 'dynamically linked build'
	doctor "$dir/broken"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL '/no/such/shell cannot be run' 'first line'
	doctor no-such-program
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'no-such-program: neither' 'correct the name'
	printf 'void _start(void) { for (;;) ; }' |
		cc -m32 -nostdlib -static -x c -o "$dir/small" - 2>/dev/null &&
		doctor "$dir/small" &&
		cause_and_cure FAIL 'another word size' 'word size'
	if type -P musl-gcc >/dev/null; then
		printf 'int main(void) { return 0; }' |
			musl-gcc -x c -o "$dir/musl" -
		doctor "$dir/musl"
		[[ $status -eq 2 ]]
		cause_and_cure FAIL 'uses another C library' 'for glibc'
	fi
	[[ ! -e $RAN ]]
}

@test "programs: setuid, setgid, file capabilities; sudo, docker, snap" {
	local dir=$BATS_TEST_TMPDIR name
	export RAN=$dir/ran
	for name in setuid setgid capable sudo docker; do
		compile "$name"
	done
	chmod 4755 "$dir/setuid"
	chmod 2755 "$dir/setgid"
	doctor "$dir/setuid"
	[[ $status -eq 0 ]]
	says 'note' 'setuid' 'not for users who gain rights'
	USER_ID=65534
	doctor "$dir/setuid"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "$dir/setuid is setuid" 'without the setuid bit'
	doctor "$dir/setgid"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL "$dir/setgid is setgid" 'without the setgid bit'
	if setcap cap_chown+ep "$dir/capable" 2>/dev/null; then
		doctor "$dir/capable"
		[[ $status -eq 2 ]]
		cause_and_cure FAIL 'has file capabilities' AmbientCapabilities
	fi
	doctor "$dir/sudo" "$dir/docker"
	[[ $status -eq 1 ]]
	cause_and_cure WARN 'sudo starts its command in a fresh environment' 'behind it'
	cause_and_cure WARN 'started by a daemon' --print-env
	[[ ! -e $RAN ]]
}

@test "a place that is not on NFS" {
	doctor "$WORK"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'not on an NFS mount' "nfsappend -m $WORK=nfs://"
}

# eventually COMMAND...: until it succeeds; its output, or a failure in the end.
eventually() {
	local i
	for ((i = 0; i < 600; i++)); do
		! "$@" || return 0
		sleep 0.05
	done
	echo "in vain: $*" >&2
	return 1
}

# The pid of that very command line, as the server's namespaces count.
pid_within() {
	eventually in_server pgrep -nfx "$1"
}

@test "a process: what is managed, and why the rest is not" {
	local pid
	SHIM_URL=$(url_v4)
	start_lines "$LOGS/x"
	append_line one
	pid=$(pid_within "$PROGRAMS/prog_lines $LOGS/x")
	doctor "$pid"
	[[ $status -eq 0 ]]
	says 'ok' "process $pid is prog_lines"
	says 'ok' "nfsappend is in it: $SHIM_LIBRARY"
	says 'ok' "NFSAPPEND_MAP=$LOGS=$SHIM_URL"
	says 'ok' "$LOGS/x on nfs://127.0.0.1/export/$BATS_TEST_NUMBER, NFSv4: managed" \
		'sharing locked' '1 process here' 'served by nfsappend'
	says 'note' "$MESSAGES: not managed: it is not on an NFS mount"
	says 'ok' '1 descriptor is managed'
	USER_ID=65534 doctor "$pid"
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'it may not be looked at' 'as user 0, or as root'
	end_lines
	doctor 4194303
	[[ $status -eq 2 ]]
	cause_and_cure FAIL 'there is no process 4194303' 'correct the number'
}

@test "a process that nfsappend is not in" {
	local pid
	in_server sleep 60 3>&- 4>&- &
	pid=$(pid_within 'sleep 60')
	doctor "$pid"
	[[ $status -eq 2 ]]
	says FAIL 'nfsappend is not in it'
	cause_and_cure note 'started without LD_PRELOAD' --print-env
	in_server kill "$pid"
	wait "$!" || :
}

@test "a process without nfsappend that has inherited a file" {
	local pid
	# shellcheck disable=SC2016 # expanded inside
	shimmed sh -c 'exec 9>>"$0"; LD_PRELOAD= exec sleep 61' "$LOGS/x" 3>&- 4>&- &
	pid=$(pid_within 'sleep 61')
	doctor "$pid"
	[[ $status -eq 2 ]]
	cause_and_cure WARN 'descriptor 9' 'under nfsappend'
	says WARN "$LOGS/x" 'its writes fail with EPERM'
	in_server kill "$pid"
	wait "$!" || :
}

is_empty() {
	[[ $(ls -A "$1") = '' ]]
}

@test "a signal: the file of the test is removed first" {
	local signal pid
	start_scripted
	for signal in INT TERM; do
		tell clear 'on v4 WRITE every 1 delay 700ms'
		# The shell has what runs in the background ignore SIGINT.
		# shellcheck disable=SC2016 # expanded inside
		in_server env --default-signal=INT sh -c '"$@"; echo "status $?"' \
			sh "${SANITIZED[@]}" "$SHIM_WRAPPER" doctor -t 20 "$SHIM_URL" \
			>"$BATS_TEST_TMPDIR/out" 3>&- 4>&- &
		eventually compgen -G "$SERVED/.nfsappend-doctor.*"
		# The oldest: the one that waits for the others.
		pid=$(in_server pgrep -ox nfsappend-docto)
		in_server kill -s "$signal" "$pid"
		wait "$!"
		cat "$BATS_TEST_TMPDIR/out"
		[[ $(tail -n 1 "$BATS_TEST_TMPDIR/out") = \
			"status $((128 + $(kill -l "$signal")))" ]]
		is_empty "$SERVED"
	done
}

@test "killed, or nobody reads what it says: the file is removed all the same" {
	start_scripted
	tell clear 'on v4 WRITE every 1 delay 300ms'
	in_server "${SANITIZED[@]}" "$SHIM_WRAPPER" doctor -t 20 "$SHIM_URL" 3>&- 4>&- | head -n 1
	[[ ${PIPESTATUS[1]} -eq 0 ]]
	in_server "${SANITIZED[@]}" "$SHIM_WRAPPER" doctor -t 20 "$SHIM_URL" 3>&- 4>&- &
	eventually compgen -G "$SERVED/.nfsappend-doctor.*"
	in_server kill -s KILL "$(in_server pgrep -ox nfsappend-docto)"
	wait "$!" || :
	eventually is_empty "$SERVED"
}

@test "usage, and a command that is called doctor" {
	doctor --help
	[[ $status -eq 0 && ${lines[0]} = 'usage: nfsappend'* ]]
	doctor -t none
	[[ $status -eq 125 ]]
	doctor -x
	[[ $status -eq 125 && ${lines[0]} = 'nfsappend doctor: no such option' ]]
	printf '#!/bin/sh\necho a program: "$@"\n' >"$BATS_TEST_TMPDIR/doctor"
	chmod 755 "$BATS_TEST_TMPDIR/doctor"
	PATH=$BATS_TEST_TMPDIR:$PATH run in_server "${SANITIZED[@]}" "$SHIM_WRAPPER" \
		-m "$LOGS=$SHIM_URL" -- doctor -t
	echo "$output"
	[[ $status -eq 0 && $output = 'a program: -t' ]]
}

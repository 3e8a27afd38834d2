#!/usr/bin/env bats
# nfsappend doctor on kernel mounts, NFSv3 and NFSv4.2. In one guest: tests/vm/run
# doctor.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
}

setup() {
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
}

# The export anew, with these options besides.
export_with() {
	exportfs -o "no_root_squash,fsid=0,no_subtree_check,sync,$1" \
		'*:/mnt/export'
}

teardown() {
	tc qdisc del dev lo root 2>/dev/null || :
	export_with rw,insecure
}

# doctor ARG...: $status and $output; nothing of it is left on the server.
doctor() {
	run timeout -k 5 60 "${AS[@]}" "$NFSAPPEND_PREFIX/bin/nfsappend" \
		"${OPTIONS[@]}" doctor "$@"
	echo "$output"
	echo "status $status"
	left_nothing
}
AS=() OPTIONS=()

left_nothing() {
	[ "$(find /mnt/export -name '.nfsappend-doctor*')" = '' ]
}

unprivileged() {
	AS=(setpriv --reuid 1000 --regid 1000 --clear-groups)
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
	echo "no line says: $*"
	return 1
}

# cause_and_cure LEVEL CAUSE CURE: one line after the other.
cause_and_cure() {
	says "$1 " "$2"
	grep -A 1 -F -- "$2" <<<"$output" | grep -F 'cure: ' | grep -qF -- "$3"
}

good() {
	AS=()
	OPTIONS=(-p "$LOGS")
	doctor "$LOGS"
	[[ $status -eq 0 && ${lines[-1]} = 'doctor: all well' ]]
	says ok 'NFS answers on port 2049'
	says ok "mount $MOUNT of 127.0.0.1:/" 'hard, sec=sys'
	says ok '(wsize)'
	says ok 'the kernel tells its file handles'
	says ok "ports above 1023, too ('insecure')"
	says ok 'a stable append takes'
	says ok 'bytes were appended' 'read back'
	says ok 'a program that opens the file on the mount sees them'
	if [ "$PROTOCOL" = v3 ]; then
		says note 'NFSv4.0 is offered, too' vers=4.2
	else
		says ok 'NFSv4.2 mount'
		says ok 'NFSv4.0 is spoken'
		says ok 'flock() and fcntl() locks of programs work on the mount'
		says ok 'locks work'
		says ok 'no grace period; its lease is 90 s'
	fi
	# What -p names is examined without an argument.
	doctor
	[[ $status -eq 0 ]]
	says ok 'a program that opens the file on the mount sees them'
}
@test "a good path" {
	on_both_mounts good
}

secure() {
	export_with rw,secure
	AS=() OPTIONS=(-p "$LOGS")
	doctor "$LOGS"
	[ "$status" -eq 0 ]
	says note "ports below 1024 only ('secure')" "'insecure' in the export"
	unprivileged
	doctor "$LOGS"
	[ "$status" -eq 1 ]
	cause_and_cure WARN "its export is 'secure', and this user may not use a port below 1024" \
		"add 'insecure' to the export"
	says WARN 'the kernel serves its files, each write with O_SYNC'
	OPTIONS=(--fallback fail -p "$LOGS")
	doctor "$LOGS"
	[ "$status" -eq 2 ]
	cause_and_cure FAIL "its export is 'secure'" CAP_NET_BIND_SERVICE
}
@test "a 'secure' export, as root and as somebody else" {
	on_both_mounts secure
}

@test "a 'secure' export by URL, as somebody else" {
	mkdir -m 1777 "/mnt/export/$FOLDER"
	export_with rw,secure
	unprivileged
	doctor "nfs://127.0.0.1/mnt/export/$FOLDER" \
		"nfs://127.0.0.1/$FOLDER?version=4"
	[[ $status -eq 2 && ${lines[-1]} = *'2 FAIL'* ]]
	says FAIL "version=4 cannot be reached" "it is 'secure'"
	says FAIL "mnt/export/$FOLDER cannot be reached" "it is 'secure'"
	cause_and_cure FAIL "may not use a port below 1024" "add 'insecure' to the export"
}

others_lock() {
	echo content >"$SERVED/log"
	chmod 666 "$SERVED/log"
	exec 9>>"$LOGS/log"
	flock 9
	OPTIONS=(-p "$LOGS")
	doctor "$LOGS/log" 9>&-
	exec 9>&-
	if [ "$PROTOCOL" = v4.0 ]; then
		[ "$status" -eq 1 ]
		cause_and_cure WARN 'a program has a write lock on the whole file' \
			/proc/locks
	fi
	says note 'on this host process' 'has a write lock on it (FLOCK)'
	[ "$(cat "$SERVED/log")" = content ]
}
@test "who has locked the file" {
	on_both_mounts others_lock
}

refusals() {
	local is
	echo content >"$SERVED/log"
	chmod 644 "$SERVED/log"
	export_with rw,insecure
	OPTIONS=()
	unprivileged
	doctor "$LOGS/log"
	[ "$status" -eq 2 ]
	cause_and_cure FAIL "$LOGS/log may not be written by you (user 1000)" chmod
	OPTIONS=(-p /somewhere/else)
	AS=()
	doctor "$LOGS/log"
	[ "$status" -eq 1 ]
	cause_and_cure WARN 'NFSAPPEND_PATHS (-p) does not name it' "-p $LOGS/log"
	OPTIONS=()
	doctor "$LOGS/new"
	[ "$status" -eq 0 ]
	says note 'the file is not there yet'
	[ ! -e "$SERVED/new" ]
	export_with ro,insecure
	doctor "$LOGS"
	[ "$status" -eq 2 ]
	cause_and_cure FAIL 'Read-only' 'export with rw'
}
@test "a file of somebody else, one that is not named, one that is not there, read-only" {
	on_both_mounts refusals
}

silent() {
	OPTIONS=()
	tc qdisc add dev lo root netem loss 100%
	doctor -t 1 "$LOGS"
	tc qdisc del dev lo root
	[ "$status" -eq 2 ]
	cause_and_cure WARN 'does not answer at all' firewall
	cause_and_cure FAIL "the kernel's mount $MOUNT does not answer either" umount
}
@test "a server that is silent: the doctor does not wait for the mount" {
	on_both_mounts silent
}

elsewhere() {
	AS=(unshare --net)
	doctor "$LOGS"
	[ "$status" -eq 1 ]
	cause_and_cure WARN '127.0.0.1 cannot be reached from here' 'network namespace'
	says note "the kernel's mount $MOUNT does answer"
}
@test "another network namespace" {
	on_both_mounts elsewhere
}

signalled() {
	local pid
	tc qdisc add dev lo root netem delay 40ms
	# The shell has what runs in the background ignore SIGINT.
	env --default-signal=INT "$NFSAPPEND_PREFIX/bin/nfsappend" doctor \
		-t 20 "$LOGS" >"$BATS_TEST_TMPDIR/out" 3>&- &
	pid=$!
	for _ in {1..200}; do
		[ "$(find "$SERVED" -name '.nfsappend-doctor*')" = '' ] || break
		sleep 0.02
	done
	[ "$(find "$SERVED" -name '.nfsappend-doctor*')" != '' ]
	kill -s INT "$pid"
	status=0
	wait "$pid" || status=$?
	tc qdisc del dev lo root
	cat "$BATS_TEST_TMPDIR/out"
	[ "$status" -eq 130 ]
	left_nothing
}
@test "SIGINT: the file of the test is removed first" {
	on_both_mounts signalled
}

process() {
	local pid
	# shellcheck disable=SC2016 # expanded inside
	nfsappend_p -- bash -c 'exec >>"$1/log" 9<"$1/log" 8>"$1/plain" 7>>/mnt/export/local
		echo started; exec sleep 60' bash "$LOGS" 3>&- 2>/dev/null &
	for _ in {1..200}; do
		[ ! -s "$SERVED/log" ] || break
		sleep 0.05
	done
	pid=$(pgrep -nfx 'sleep 60')
	doctor "$pid"
	[ "$status" -eq 0 ]
	says ok 'nfsappend is in it'
	says ok "descriptor 1: $LOGS/log" managed 'served by nfsappend'
	says note "descriptor 8: $LOGS/plain: not managed: it is opened without O_APPEND"
	says note "descriptor 9: $LOGS/log: not managed: it is opened for reading only"
	says note "descriptor 7: /mnt/export/local: not managed: it is not on an NFS mount"
	kill "$pid"
	wait || :
}
@test "a process: what is managed, and why the rest is not" {
	on_both_mounts process
}

by_kernel() {
	local pid
	export_with rw,secure
	chmod 1777 "$BATS_TEST_TMPDIR"
	# shellcheck disable=SC2016 # expanded inside
	setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$NFSAPPEND_PREFIX/bin/nfsappend" -p "$LOGS" -- bash -c \
		'exec >>"$1/log"; echo started; exec sleep 61' bash "$LOGS" \
		3>&- 2>/dev/null &
	for _ in {1..200}; do
		[ ! -s "$SERVED/log" ] || break
		sleep 0.05
	done
	pid=$(pgrep -nfx 'sleep 61')
	doctor "$pid"
	kill "$pid"
	wait || :
	[ "$status" -eq 1 ]
	cause_and_cure WARN 'managed, but served by the kernel' 'N406 or N409'
}
@test "a process whose file the kernel serves" {
	on_both_mounts by_kernel
}

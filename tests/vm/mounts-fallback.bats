#!/usr/bin/env bats
# Files on kernel mounts that cannot be served our way, or not any more: the
# kernel does it, durably, and one message says why. In one guest: tests/vm/run
# mounts-fallback.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	export PROGRAMS=$BATS_FILE_TMPDIR
	source "$BATS_TEST_DIRNAME/mounts.bash"
	build host
	build drop
	build identity
	build inherited -o static -static
	build send
	build send -o receive -static
	chmod -R go+rX "${BATS_FILE_TMPDIR%/file*}" "$PROGRAMS"
}

setup() {
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
	N=$(count 2000 20)
}

# The export anew, with these options besides.
export_with() {
	exportfs -o "rw,no_root_squash,fsid=0,no_subtree_check,sync,$1" \
		'*:/mnt/export'
}

teardown() {
	export_with insecure
}

unprivileged() {
	chmod 1777 "$BATS_TEST_TMPDIR"
	setpriv --reuid 1000 --regid 1000 --clear-groups "$@"
}

# fallen_back COUNT: all records are there, by the kernel, one message.
fallen_back() {
	cat "$BATS_TEST_TMPDIR/err"
	each_once "$1"
	[ "$(stats_of protocol)" = kernel ]
	[ "$(grep -c N406 "$BATS_TEST_TMPDIR/err")" = 1 ]
	[ "$(grep -c '\[N' "$BATS_TEST_TMPDIR/err")" = 1 ]
}

secure() {
	export_with secure
	nfsappend_p --help >/dev/null
	unprivileged "$BASH" -c '. "$0"; shift 0; STATS=$1 LOGS=$2
		nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" "$3" one
		nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" "$3" two' \
		"$BATS_TEST_DIRNAME/mounts.bash" "$STATS" "$LOGS" "$N" \
		2>"$BATS_TEST_TMPDIR/err"
	fallen_back $((2 * N))
	grep -q "insecure.*CAP_NET_BIND_SERVICE" "$BATS_TEST_TMPDIR/err"
	[ "$(stats_of appends)" = $((2 * N)) ]
}
@test "an unprivileged user against a 'secure' export" {
	on_both_mounts secure
}

no_route() {
	unshare --net "$BASH" -c '. "$0"; STATS=$1 LOGS=$2
		nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" "$3" one' \
		"$BATS_TEST_DIRNAME/mounts.bash" "$STATS" "$LOGS" "$N" \
		2>"$BATS_TEST_TMPDIR/err"
	fallen_back "$N"
}
@test "a network namespace without a route to the server" {
	on_both_mounts no_route
}

# As the administrator sees it afterwards: status, and the message of level
# info.
# told BY PROTOCOL
told() {
	local by=$1 how=$2 shown
	shown=$("$NFSAPPEND_PREFIX/bin/nfsappend" status)
	echo "$shown"
	grep -A 1 " $LOGS/log\$" <<<"$shown" | grep -q ", $how, "
	[ "$(grep -c N402 "$BATS_TEST_TMPDIR/info")" = 1 ]
	grep -q "$LOGS/log is served by $by.*, because .*: .*, NFSv.*N402" \
		"$BATS_TEST_TMPDIR/info"
}
tells() {
	mkdir -p "$LOGS/left"
	nfsappend_p --log "info:$BATS_TEST_TMPDIR/info" -- bash -c \
		"echo one >>$LOGS/log; echo two >>$LOGS/log"
	told nfsappend "$PROTOCOL"
	rm "$BATS_TEST_TMPDIR/info"
	unshare --net "$BASH" -c '. "$0"; STATS=$1 LOGS=$2
		nfsappend_p --log "info:$3" -- bash -c \
			"echo one >>$LOGS/left/log"' \
		"$BATS_TEST_DIRNAME/mounts.bash" "$STATS" "$LOGS" \
		"$BATS_TEST_TMPDIR/info"
	LOGS=$LOGS/left
	told 'the kernel' kernel
	rm "$BATS_TEST_TMPDIR/info"
}
@test "status and the log tell by whom a file is served, and why" {
	on_both_mounts tells
}

refused() {
	run -1 --separate-stderr unshare --net "$BASH" -c '. "$0"
		STATS=$1 LOGS=$2
		nfsappend_p --fallback fail -- bash -c "echo x >>$LOGS/log"' \
		"$BATS_TEST_DIRNAME/mounts.bash" "$STATS" "$LOGS"
	echo "$stderr"
	[[ $stderr = *'N406'* && $stderr = *'Input/output error'* ]]
	[ ! -s "$SERVED/log" ]
}
@test "--fallback fail: open() fails" {
	on_both_mounts refused
}

# As nginx and rsyslog: open as root, write as another user.
becomes() {
	: >"$STATS"
	chmod 666 "$STATS"
	chmod 1777 "$BATS_TEST_TMPDIR"
	nfsappend_p -- "$PROGRAMS/prog_drop" "$LOGS/log" "$N" 1000 2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	each_once $((4 * N))
	[ "$(stats_of appends)" = $((4 * N)) ]
}
becomes_insecure() {
	becomes
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	only_we_wrote
}
@test "a file of mode 0600 that root opens and another user writes" {
	on_both_mounts becomes_insecure
}

becomes_secure() {
	export_with secure
	becomes
	[ "$(grep -c N409 "$BATS_TEST_TMPDIR/err")" = 1 ]
}
@test "the same against a 'secure' export: the kernel's from setuid() on" {
	on_both_mounts becomes_secure
}

# becomes_by HOW MODE [ARGUMENT]
becomes_by() {
	local log=$LOGS/$1-$2 N
	N=$(count 200 20)
	: >"$STATS"
	chmod 666 "$STATS"
	chmod 1777 "$BATS_TEST_TMPDIR"
	echo "$1, mode $2"
	nfsappend_p -- "$PROGRAMS/prog_identity" "$log" "$2" "$N" "$1" "${3-}" \
		2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	each_once $((2 * N)) "$SERVED/$1-$2"
	# The child's writes, if not all, were the kernel's.
	[[ $(stats_of protocol) = kernel* ]]
	[ "$(grep -cE '\[N40[69]\]' "$BATS_TEST_TMPDIR/err")" = 1 ]
}

# 0600: converted before, who could not open it any more; 0666: when the
# server refuses the new user's port.
identities() {
	local how
	export_with secure
	for how in setuid setreuid setresuid raw-setuid raw-setreuid raw-setresuid; do
		becomes_by "$how" 600 1000
	done
	becomes_by setuid 666 1000
	becomes_by raw-setuid 666 1000
	becomes_by capset 600
	becomes_by raw-capset 666
}
@test "setuid, setreuid, setresuid, capset, also by syscall(2), against a 'secure' export" {
	on_both_mounts identities
}

raw_execve() {
	becomes_by raw-execve 600 "$PROGRAMS/prog_static"
}
@test "a static program by syscall(SYS_execve)" {
	on_both_mounts raw_execve
}

sent() {
	nfsappend_p -- "$PROGRAMS/prog_send" "$LOGS/log" "$N" "$PROGRAMS/prog_receive" \
		2>"$BATS_TEST_TMPDIR/err"
	cat "$BATS_TEST_TMPDIR/err"
	each_once $((3 * N))
	[ "$(grep -c N409 "$BATS_TEST_TMPDIR/err")" = 1 ]
}
@test "a descriptor sent to a program without us" {
	on_both_mounts sent
}

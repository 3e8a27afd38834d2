#!/usr/bin/env bats
# shellcheck disable=SC2317 # a test that ends with return is no end of the file
# NFSv4.0 on nfs-ganesha: the same programs, what each append costs, modes of
# new files, and several hosts at once.

load lib/load
load lib/hosts

setup() {
	new_case
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

# loop_rpcs MODE COUNT: RPCs of a loop of COUNT appends, captured and counted.
loop_rpcs() {
	rm -f "$STATS"
	SHIM_OPTIONS=(--sharing "$1")
	start_capture
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x$2" "$2"
	stop_capture
	[[ $status -eq 0 && -z $output && -z $stderr ]]
	[[ $(wc -c <"$SERVED/x$2") -eq $(($2 * 100)) ]]
	[[ $(stats_sum appends) -eq $2 && $(stats_sum write_rpcs) -eq $2 ]]
	[[ $(stats_sum errors) -eq 0 && $(stats_sum retries) -eq 0 ]]
	[[ $(stats_sum conflicts) -eq 0 ]]
	[[ $(stats_values sharing) = "$1" && $(stats_values protocol) = v4.0 ]]
	captured=$(captured_total) counted=$(stats_sum rpcs)
}

# one_rpc MODE: what the appends after the first two cost is one RPC each.
one_rpc() {
	local many base_captured base_counted captured counted
	in_control && skip 'needs the shim: the control sends nothing'
	type -P tshark >/dev/null || skip 'tshark is not installed'
	many=$(count 10000 500)
	loop_rpcs "$1" 2
	base_captured=$captured base_counted=$counted
	rm -rf "${NFSAPPEND_RUNTIME:?}"/*
	loop_rpcs "$1" "$many"
	echo "captured $base_captured, then $captured; counted $base_counted, then $counted"
	[[ $((captured - base_captured)) -eq $((many - 2)) ]]
	[[ $((counted - base_counted)) -eq $((many - 2)) ]]
}

@test "locked: one RPC an append, by capture and by count" {
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	one_rpc locked
}

@test "guarded: one RPC an append" {
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	one_rpc guarded
}

@test "single: one RPC an append" {
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	one_rpc single
}

@test "auto is locked on NFSv4" {
	in_control && skip 'needs the shim'
	run_shimmed "$PROGRAMS/prog_append" "$LOGS/x" 3
	[[ $status -eq 0 && $(stats_values sharing) = locked ]]
}

@test "write, writev, pwrite, empty and bad ones, offset and size" {
	local mode
	for mode in locked guarded single; do
		in_control || SHIM_OPTIONS=(--sharing "$mode")
		same_as_local "$PROGRAMS/prog_write" "@LOGS@/$mode"
	done
}

@test "records of one byte to more than wsize, in each mode" {
	local size mode
	for mode in locked guarded single; do
		in_control || SHIM_OPTIONS=(--sharing "$mode")
		for size in 10 3900 4096 65536 1048576 1048577 5000000; do
			same_as_local "$PROGRAMS/prog_append" \
				"@LOGS@/x$mode$size" 3 "$size"
		done
	done
}

@test "open: mode and umask, O_EXCL, O_TRUNC, O_RDWR, O_CLOEXEC" {
	local mask
	for mask in 000 022 027 077; do
		same_as_local sh -c "umask $mask; $PROGRAMS/prog_calls ac @LOGS@/a$mask 666
			$PROGRAMS/prog_calls ac @LOGS@/b$mask 640
			$PROGRAMS/prog_calls acx @LOGS@/c$mask 666"
	done
	same_as_local sh -c "$PROGRAMS/prog_calls acx @LOGS@/x
		$PROGRAMS/prog_calls acx @LOGS@/x
		$PROGRAMS/prog_calls act @LOGS@/x
		$PROGRAMS/prog_calls acer @LOGS@/x
		$PROGRAMS/prog_calls a @LOGS@/none"
	[[ $(stat -c %a "$SERVED/a027") = 640 ]]
}

@test "a new file belongs to who made it, and may be made unwritable" {
	in_control && skip 'needs the shim: the control runs as root'
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER" 'uid=1234&gid=4321')
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x" 444
	[[ $status -eq 0 && $(cat "$SERVED/x") = line ]]
	[[ $(stat -c '%u %g %a' "$SERVED/x") = '1234 4321 444' ]]
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x" 444
	[[ $status -eq 1 && $output = 'open EACCES' ]]
}

@test "stdio, duplicates, fork and exec" {
	local how
	for how in a a+ freopen fdopen wide; do
		same_as_local "$PROGRAMS/prog_stdio" "$how" "@LOGS@/$how"
	done
	same_as_local "$PROGRAMS/prog_dup" @LOGS@/dup
	same_as_local "$PROGRAMS/prog_fork" @LOGS@/fork
	same_as_local bash -c 'exec >>@LOGS@/exec; echo one; /bin/echo two
		(echo three; /bin/echo four)'
}

@test "one open for each append, of many processes, share one open state" {
	local n
	n=$(count 500 30)
	run_shimmed sh -c "i=0; while [ \$i -lt $n ]; do
		/bin/echo record \$i >>\$LOGS/x; i=\$((i + 1)); done"
	[[ $status -eq 0 && $(wc -l <"$SERVED/x") -eq $n ]]
	in_control && return
	# All are one client with one open and one lock owner.
	[[ $(stats_sum conflicts) -eq 0 && $(stats_sum errors) -eq 0 ]]
	[[ $(stats_sum write_rpcs) -eq $n ]]
}

@test "processes of one host, at once: each record once" {
	local i pids=() n
	n=$(count 500 50)
	for i in 1 2 3 4; do
		shimmed "$PROGRAMS/prog_host" "$LOGS/x" "$n" "p$i" 3>&- 4>&- &
		pids+=("$!")
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	each_once 4 "$n"
	# One client of the server: no conflict, at most one RPC a record.
	in_control || [[ $(stats_sum conflicts) -eq 0 ]]
	in_control || [[ $(stats_sum write_rpcs) -le $((4 * n)) ]]
}

@test "eight hosts at once: each record once, whole" {
	local n
	n=$(count 2000 150)
	start_hosts 8 "$n"
	wait_hosts
	each_once 8 "$n"
	in_control || [[ $(stats_sum appends) -eq $((8 * n)) ]]
}

@test "eight hosts with long records" {
	local n
	n=$(count 200 10)
	start_hosts 8 "$n" - 1500000
	wait_hosts
	each_once 8 "$n" 1500000
}

# So that the test before can fail at all.
@test "eight hosts without the lock lose records" {
	in_control && skip 'needs the shim: local appends are atomic'
	local round found
	SHIM_OPTIONS=(--sharing guarded)
	for ((round = 0; round < 10; round++)); do
		HOSTS_FILE=x$round
		start_hosts 8 500
		wait_hosts
		found=$(census "$SERVED/$HOSTS_FILE")
		echo "$found of 4000"
		[[ $found = 'records 4000 torn 0 twice 0' ]] || return 0
	done
	return 1
}

# Through us a lock is one among those who share the descriptor: none of it
# reaches the server, and none is waited for.
@test "a program that locks its log while it appends" {
	same_as_local bash -c 'exec 9>>@LOGS@/x; flock 9; echo one >&9
		echo two >>@LOGS@/x; exec 9>&-; flock @LOGS@/x sh -c "echo three >>@LOGS@/x"
		/usr/bin/python3 -c "
import fcntl, sys
f = open(sys.argv[1], \"a\")
fcntl.lockf(f, fcntl.LOCK_EX)
print(\"four\", file=f, flush=True)
fcntl.lockf(f, fcntl.LOCK_UN)" @LOGS@/y'
}

@test "sharing modes of one host that differ: the strictest, told once" {
	in_control && skip 'needs the shim'
	SHIM_OPTIONS=(--sharing single)
	start_lines "$LOGS/x"
	append_line one
	SHIM_OPTIONS=(--sharing locked)
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 3 other
	[[ $status -eq 0 && ! -s $MESSAGES ]]
	append_line two
	append_line three
	SHIM_OPTIONS=(--sharing guarded)
	run_shimmed "$PROGRAMS/prog_host" "$LOGS/x" 3 third
	[[ $status -eq 0 ]]
	one_message N107 locked guarded
	end_lines
	[[ $(stats_values sharing) = locked && $(wc -l <"$SERVED/x") -eq 9 ]]
}

@test "a program and the server's own host, in turn" {
	start_lines "$LOGS/x"
	append_line ours
	echo theirs >>"$SERVED/x"
	append_line ours
	: >"$SERVED/x"
	append_line ours
	end_lines
	[[ $(paste -sd ' ' "$SERVED/x") = ours ]]
}

@test "the file size limit: SIGXFSZ or EFBIG, not a byte too many" {
	# More than a host segment, whose file it limits too.
	same_as_local bash -c 'trap "" XFSZ; ulimit -f 3000; for i in 1 2 3; do
		printf "%1100000s\n" "$i"; done >>@LOGS@/x; echo "status $?"'
}

@test "errors of the first contact" {
	in_control && skip 'needs the shim'
	local pair
	for pair in export/none:ENOENT none:ENOENT; do
		SHIM_URL=$(server_url_v4 "${pair%:*}")
		run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x"
		[[ $status -eq 1 && $output = "open ${pair#*:}" ]]
		one_message N201 "${pair%:*}"
	done
	SHIM_URL='nfs://127.0.0.1/export?version=4&nfsport=20999'
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x"
	[[ $status -eq 1 && $output = 'open ECONNREFUSED' ]]
	one_message 20999
}

@test "errors of open: as a kernel client gives them" {
	in_control && skip 'needs the shim: the control runs as root'
	mkdir -m 755 "$SERVED/root"
	mkdir "$SERVED/sub"
	echo root >"$SERVED/file"
	chmod 644 "$SERVED/file"
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER" 'uid=65534&gid=65534')
	local pair
	for pair in root/x:EACCES file:EACCES none/x:ENOENT file/x:ENOTDIR \
		sub:EISDIR; do
		run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/${pair%:*}"
		echo "$pair"
		[[ $status -eq 1 && $output = "open ${pair#*:}" ]]
	done
	SHIM_URL=$(server_url_v4 readonly)
	run_shimmed "$PROGRAMS/prog_calls" ac "$LOGS/x"
	[[ $status -eq 1 && $output = 'open EROFS' ]]
}

@test "ENOSPC: what was acknowledged is in the file, not a byte more" {
	in_control && skip 'needs the shim'
	server_takes_tmpfs || skip 'this nfs-ganesha exports no tmpfs'
	local size
	SHIM_URL=$(server_url_v4 small)
	for size in 100 5000 65536; do
		run_shimmed "$PROGRAMS/prog_fill" "$LOGS/x$size" "$size"
		[[ $status -eq 0 && ${lines[0]} = 'write ENOSPC' ]]
		[[ ${lines[1]} = "acknowledged $(in_server stat -c %s "$SERVER_DIR/small/x$size")" ]]
		# Through the shim: the server must not remember the name.
		run_shimmed sh -c ': >"$LOGS/x'"$size"'"'
	done
}

#!/usr/bin/env bats
# Files on kernel NFS mounts (nfsappend -p), against knfsd, in one guest:
# tests/vm/run mounts.bats. Every test does the same on NFSv3 and on NFSv4.2.
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	export PROGRAMS=$BATS_FILE_TMPDIR
	source "$BATS_TEST_DIRNAME/mounts.bash"
	build host
	build late
	build placeholder
	build rounds
	build reader
	build inherited
}

setup() {
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
}

one_line() {
	run -0 --separate-stderr nfsappend_p -- bash -c "echo hi >>$LOGS/log"
	[ "$output$stderr" = '' ]
	[ "$(<"$SERVED/log")" = hi ]
	[ "$(stats_of server)" = 127.0.0.1 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	[ "$(stats_of appends)" = 1 ]
	[ "$(stats_of lookup_rpcs)" = 0 ]
	only_we_wrote
}
@test "bash's echo >>, with nothing configured but the path" {
	on_both_mounts one_line
}

same_as_plain() {
	local plain=$BATS_TEST_TMPDIR/plain shim=$BATS_TEST_TMPDIR/shim
	"$PROGRAMS/prog_placeholder" "$LOGS/plain" >"$plain"
	KERNEL_WRITES=$(kernel_rpcs WRITE)
	nfsappend_p -- "$PROGRAMS/prog_placeholder" "$LOGS/log" >"$shim"
	diff "$plain" "$shim"
	cmp "$SERVED/plain" "$SERVED/log"
	only_we_wrote
}
@test "stat, lseek, F_GETFL, locks, truncation, reads: as from a plain descriptor" {
	on_both_mounts same_as_plain
}

# readers PROGRAM [ARGUMENT]: which writes the records.
readers() {
	local n polling tailing
	n=$(count 2000 200)
	rm -f "$LOGS/log"
	: >"$LOGS/log"
	"$PROGRAMS/prog_reader" "$LOGS/log" $((n * 100)) \
		>"$BATS_TEST_TMPDIR/read" 2>"$BATS_TEST_TMPDIR/nuls" 3>&- &
	polling=$!
	tail -c +1 -F "$LOGS/log" >"$BATS_TEST_TMPDIR/tailed" 3>&- &
	tailing=$!
	nfsappend_p -- "$PROGRAMS/$1" "$LOGS/log" "$n" "${@:2}"
	wait "$polling"
	cat "$BATS_TEST_TMPDIR/nuls"
	cmp "$BATS_TEST_TMPDIR/read" "$SERVED/log"
	for _ in {1..200}; do
		cmp -s "$BATS_TEST_TMPDIR/tailed" "$SERVED/log" && break
		sleep 0.1
	done
	kill "$tailing"
	cmp "$BATS_TEST_TMPDIR/tailed" "$SERVED/log"
	each_once "$n"
	only_we_wrote
}
readers_of_one() { readers prog_host one; }
@test "a local tail -F and a reader that polls see every byte and no NUL" {
	on_both_mounts readers_of_one
}

# Each open() tells the kernel of the new size, which is where NULs come from.
readers_of_many() { readers prog_rounds; }
@test "the same when the file is opened for each record" {
	on_both_mounts readers_of_many
}

# On a mount where the kernel's client itself would look again in ten minutes.
told() {
	local slow=$BATS_TEST_TMPDIR/slow options=vers=4.2 from=127.0.0.1:/ how
	[ "$PROTOCOL" != v3 ] || options=vers=3,nolock from=127.0.0.1:/mnt/export
	mkdir -p "$slow"
	mount -t nfs -o "$options,actimeo=600,nosharecache" "$from" "$slow"
	LOGS=$slow/${LOGS##*/}
	for how in '1 0' '5 0' '2 1500' '2 1500 open'; do
		# shellcheck disable=SC2086
		nfsappend_p -- "$PROGRAMS/prog_late" "$LOGS/${how// /-}" $how || {
			umount -l "$slow"
			return 1
		}
	done
	umount "$slow"
}
@test "local readers are told of an append, and of each in a short burst" {
	on_both_mounts told
}

dirty_pages() {
	# Every close of a shell's would flush them.
	perl -e 'open(my $log, ">>", $ARGV[0]) or die;
		syswrite($log, "not yet on the server\n");
		open(my $told, ">", $ARGV[1]); close($told);
		select(undef, undef, undef, 0.05) until -e $ARGV[2]' \
		"$LOGS/log" "$BATS_TEST_TMPDIR/dirty" "$BATS_TEST_TMPDIR/done" 3>&- &
	until [ -e "$BATS_TEST_TMPDIR/dirty" ]; do sleep 0.05; done
	[ ! -s "$SERVED/log" ]
	nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" 20 one
	touch "$BATS_TEST_TMPDIR/done"
	wait $!
	rm "$BATS_TEST_TMPDIR"/d*
	[ "$(head -n 1 "$SERVED/log")" = 'not yet on the server' ]
	tail -n +2 "$SERVED/log" >"$BATS_TEST_TMPDIR/ours"
	each_once 20 "$BATS_TEST_TMPDIR/ours"
}
@test "another local program's dirty pages, then ours, then its close: all there" {
	on_both_mounts dirty_pages
}

inherited() {
	"$BASH" -c 'exec "$@" >>"$0"' "$LOGS/log" timeout 60 \
		"$NFSAPPEND_PREFIX/bin/nfsappend" --stats "$STATS" -p "$LOGS" \
		-- "$PROGRAMS/prog_inherited" one 20
	each_once 20
	[ "$(stats_of appends)" = 20 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	only_we_wrote
}
@test "a descriptor from a parent without us (StandardOutput=append:) is served" {
	on_both_mounts inherited
}

# shellcheck disable=SC2016
own_locks() {
	local i
	for i in 1 2 3; do
		nfsappend_p -- flock "$LOGS/log" sh -c 'echo >>"$0" locked' "$LOGS/log"
	done
	[ "$(<"$SERVED/log")" = $'locked\nlocked\nlocked' ]
	only_we_wrote
}
@test "flock log sh -c 'echo >> log' does not wait for itself" {
	on_both_mounts own_locks
}

# A user of 20 groups and two files.
many_groups() {
	chmod -R go+rX "${BATS_FILE_TMPDIR%/file*}"
	chmod 1777 "$BATS_TEST_TMPDIR"
	setpriv --reuid 1000 --regid 1000 --groups "$(seq -s , 2001 2020)" \
		"$BASH" -c '. "$0"; STATS=$1 LOGS=$2
			nfsappend_p -- bash -c "echo a >>\$1; echo b >>\$2; echo c >>\$1" \
				- "$LOGS/one" "$LOGS/two"' \
		"$BATS_TEST_DIRNAME/mounts.bash" "$STATS" "$LOGS" \
		2>"$BATS_TEST_TMPDIR/err" || :
	cat "$BATS_TEST_TMPDIR/err"
	[ "$(<"$SERVED/one")" = $'a\nc' ]
	[ "$(<"$SERVED/two")" = b ]
	[ "$(grep -c N206 "$BATS_TEST_TMPDIR/err")" = 1 ]
	[ "$(grep -c '\[N' "$BATS_TEST_TMPDIR/err")" = 1 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	only_we_wrote
}
@test "a user of more than 16 groups: said once" {
	on_both_mounts many_groups
}

# The server answers our first WRITE with JUKEBOX or DELAY while it takes the
# delegation back.
delegated() {
	local there=/mnt/v4/${LOGS##*/}/log
	echo first >"$SERVED/log"
	exec 7<"$there"
	[ "$(head -n 1 <&7)" = first ]
	grep -q 'type: deleg' /proc/fs/nfsd/clients/*/states
	nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" 20 one
	! grep 'type: deleg' /proc/fs/nfsd/clients/*/states
	# With NFSv4 it is our OPEN that waits.
	[ "$PROTOCOL" = v4.0 ] || [ "$(stats_of retries)" -ge 1 ]
	[ "$(stats_of errors)" = 0 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	[ "$(tail -n +2 <"$there" | head -c 11)" = 'one 0000000' ]
	exec 7<&-
	tail -n +2 "$SERVED/log" >"$BATS_TEST_TMPDIR/ours"
	each_once 20 "$BATS_TEST_TMPDIR/ours"
	only_we_wrote
}
@test "this host's kernel client has a delegation: it is waited for" {
	on_both_mounts delegated
}

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
	build placeholder
	build reader
	build rounds
	build inherited
	build inherited -o static -static
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

readers() {
	local n=$(count 2000 300) polling tailing
	: >"$LOGS/log"
	"$PROGRAMS/prog_reader" "$LOGS/log" $((n * 100)) \
		>"$BATS_TEST_TMPDIR/read" 2>"$BATS_TEST_TMPDIR/nuls" 3>&- &
	polling=$!
	tail -c +1 -F "$LOGS/log" >"$BATS_TEST_TMPDIR/tailed" 3>&- &
	tailing=$!
	nfsappend_p -- "$PROGRAMS/prog_host" "$LOGS/log" "$n" one
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
@test "a local tail -F and a reader that polls see every byte and no NUL" {
	on_both_mounts readers
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

languages() {
	local php=php ruby=ruby
	type php >/dev/null || php=true
	type ruby >/dev/null || ruby=true
	nfsappend_p -- "$php" -r 'ini_set("error_log", $argv[1]);
		for ($i = 0; $i < 20; $i++) error_log("php $i");' "$LOGS/php"
	nfsappend_p -- "$ruby" -r logger -e 'log = Logger.new(ARGV[0])
		20.times { |i| log.info("ruby #{i}") }' "$LOGS/ruby"
	[ "$php" = true ] || [ "$(grep -c 'php [0-9]*$' "$SERVED/php")" = 20 ]
	[ "$ruby" = true ] || [ "$(grep -c 'ruby [0-9]*$' "$SERVED/ruby")" = 20 ]
	only_we_wrote
}
@test "php's error_log and ruby's Logger, which lock the file" {
	on_both_mounts languages
}

# all_rpcs COMMAND...: what the kernel's client sends for it, in $SENT and, of
# the kind ACCESS, in $ASKED.
all_rpcs() {
	local before asked
	before=$(kernel_rpcs ALL)
	asked=$(kernel_rpcs ACCESS)
	"$@"
	ASKED=$(($(kernel_rpcs ACCESS) - asked))
	SENT=$(($(kernel_rpcs ALL) - before - ASKED))
}

# After each change by another client, which we are, the kernel's client asks
# on NFSv3 at the next open whether it may (ACCESS): shown, not counted.
few_rpcs() {
	local n kernel
	n=$(count 1000 100)
	echo first >"$LOGS/plain"
	echo first >"$LOGS/log"
	# Connections, state: counted apart.
	"$PROGRAMS/prog_rounds" "$LOGS/plain" 1 sync
	nfsappend_p -- "$PROGRAMS/prog_rounds" "$LOGS/log" 1
	rm "$STATS"
	all_rpcs "$PROGRAMS/prog_rounds" "$LOGS/plain" "$n" sync
	kernel=$SENT
	echo "RPCs for $n rounds: the kernel alone $SENT and $ASKED ACCESS"
	KERNEL_WRITES=$(kernel_rpcs WRITE)
	all_rpcs nfsappend_p -- "$PROGRAMS/prog_rounds" "$LOGS/log" "$n"
	echo "with us $SENT and $ASKED ACCESS of the kernel's," \
		"$(stats_of rpcs) of ours"
	[ $((SENT + $(stats_of rpcs))) -le $((kernel + n / 20)) ]
	[ "$(wc -c <"$SERVED/log")" = $(((n + 1) * 100 + 6)) ]
	only_we_wrote
}
@test "open, append, close for each record: no more RPCs than the kernel with O_SYNC" {
	on_both_mounts few_rpcs
}

# crashes HOW TEXT: what it says on a managed descriptor 2 is in the log, with
# appends of another process before and after.
crashes() {
	local program=$PROGRAMS/prog_crash
	[ "$1" != asan ] || program=$PROGRAMS/prog_asan
	rm -f "$SERVED/log"
	# shellcheck disable=SC2016
	nfsappend_p -- bash -c 'ulimit -c 0
		echo before >>"$0"
		exec 2>>"$0"
		echo before too >&2
		"$1" "$2"
		echo after >>"$0"' "$LOGS/log" "$program" "$1" || :
	cat "$SERVED/log"
	grep -q "$2" "$SERVED/log"
	[ "$(grep -c '^before' "$SERVED/log")" = 2 ]
	[ "$(tail -n 1 "$SERVED/log")" = after ]
	! tr -d '\n' <"$SERVED/log" | grep -q '[^[:print:][:space:]]'
}
crash_messages() {
	crashes free 'free(): invalid pointer'
	crashes stack 'stack smashing detected'
	crashes backtrace 'prog_crash.*\[0x'
	[ ! -x "$PROGRAMS/prog_asan" ] ||
		crashes asan 'AddressSanitizer: heap-buffer-overflow\|ASan cannot proceed'
}
@test "crash messages on descriptor 2 land in the log" {
	build crash -w -fstack-protector-all
	! type clang >/dev/null || clang -w -fsanitize=address -o "$PROGRAMS/prog_asan" \
		"$BATS_TEST_DIRNAME/../programs/prog_crash.c" || :
	on_both_mounts crash_messages
}

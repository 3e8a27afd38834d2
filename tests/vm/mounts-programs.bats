#!/usr/bin/env bats
# Files on kernel NFS mounts: programs that lock them, open them for each record,
# or crash. In one guest: tests/vm/run mounts-programs.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	export PROGRAMS=$BATS_FILE_TMPDIR
}

setup() {
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
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
# on NFSv3 at the next open whether it may (ACCESS), once for each tick of the
# server's clock for ctime: shown, not counted. Every open() by a path asks;
# what would not is a descriptor kept open behind the program's back, which
# keeps the mount busy and removed files from going.
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
	echo "# $MOUNT, $n rounds: the kernel alone $kernel RPCs; with us" \
		"$((SENT + $(stats_of rpcs))) and $ASKED ACCESS" >&3
	[ $((SENT + $(stats_of rpcs))) -le $((kernel + n / 20)) ]
	[ "$(wc -c <"$SERVED/log")" = $(((n + 1) * 100 + 6)) ]
	only_we_wrote
}
@test "open, append, close for each record: no more RPCs than the kernel with O_SYNC" {
	build rounds
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

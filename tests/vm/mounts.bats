#!/usr/bin/env bats
# Files on kernel NFS mounts (nfsappend -p), against knfsd, in one guest:
# tests/vm/run mounts.bats. Every test does the same on NFSv3 and on NFSv4.2.
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
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

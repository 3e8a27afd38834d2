#!/usr/bin/env bats
# NFSv4.0 from several machines: each record once.
# contain bats tests/vm/hosts/v4.bats

# shellcheck source=v4.bash
source "${BATS_TEST_FILENAME%/*}/v4.bash"

@test "two guests and a process of this host: each record once, whole" {
	local n
	n=$(count 2000 150)
	PIDS=()
	on a a "$(wrapped /logs/x "$n" a)"
	on b b "$(wrapped /logs/x "$n" b)"
	on host host "$(wrapped /logs/x "$n" host)"
	finish
	fetch_file x
	echo "# $(census "$BATS_TEST_TMPDIR/x") of $((3 * n))" >&3
	[ "$(census "$BATS_TEST_TMPDIR/x")" = "records $((3 * n)) torn 0 twice 0" ]
}

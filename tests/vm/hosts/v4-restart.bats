#!/usr/bin/env bats
# NFSv4.0 from several machines, whose server loses its power: two leases long,
# so `check --full` only.
# contain bats tests/vm/hosts/v4-restart.bats

# shellcheck source=v4.bash
source "${BATS_TEST_FILENAME%/*}/v4.bash"

# The kernel's client writes beside us, to a file of its own, synchronously.
@test "the server loses power under load and has its full grace period" {
	local n=1000000
	PIDS=()
	on a a "$(wrapped /logs/x $n a) & pid=\$!; sleep $(($(lease) + 40)); kill \$pid; wait \$pid"
	on b kernel "sync; exec 3>>/mnt/v4/$BATS_TEST_NUMBER/k; i=0; longest=0
		end=\$((SECONDS + $(($(lease) + 40))))
		while [ \$SECONDS -lt \$end ]; do
			start=\${EPOCHREALTIME/./}
			( flock 9; echo kernel \$i >&9; sync -d /dev/fd/9 ) 9>>/mnt/v4/$BATS_TEST_NUMBER/k
			took=\$(((\${EPOCHREALTIME/./} - start) / 1000))
			[ \$took -le \$longest ] || longest=\$took
			i=\$((i + 1))
		done
		echo \"kernel longest \$longest ms, \$i records\""
	on host host "$(wrapped /logs/x $n host) & pid=\$!; sleep $(($(lease) + 40)); kill \$pid; wait \$pid"
	sleep 10
	guest_power_off server
	guest_start server --role server --ip 1 --keep-grace \
		--lease "$(lease)" --grace "$(lease)"
	finish
	fetch_file x
	local acked
	acked=$(awk '$1 == "acknowledged" { n += $2 } END { print n }' \
		"$BATS_TEST_TMPDIR"/{a,host}.out)
	echo "# $acked acknowledged; $(census "$BATS_TEST_TMPDIR/x")" >&3
	grep -H longest "$BATS_TEST_TMPDIR"/*.out | sed 's/.*\//# /' >&3
	[ "$(census "$BATS_TEST_TMPDIR/x")" = "records $acked torn 0 twice 0" ]
}

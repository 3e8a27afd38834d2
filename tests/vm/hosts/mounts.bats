#!/usr/bin/env bats
# Files on kernel NFS mounts (nfsappend -p), seen and written from several
# machines: a server and two clients in User-Mode Linux.
# contain bats tests/vm/hosts/mounts.bats

# shellcheck source=v4.bash
source "${BATS_TEST_FILENAME%/*}/v4.bash"

# in_guest VERSION SCRIPT: for guest_exec: SCRIPT with the functions of
# mounts.bash, on that mount.
in_guest() {
	echo "source '$BATS_TEST_DIRNAME/../mounts.bash'
		export NFSAPPEND_PREFIX='$NFSAPPEND_PREFIX'
		MOUNT=/mnt/v$1 LOGS=/mnt/v$1/$BATS_TEST_NUMBER STATS=/tmp/stats
		PATH=/tmp/v4:\$PATH SHIM_LIMIT=400
		rm -f \$STATS; KERNEL_WRITES=\$(kernel_rpcs WRITE)
		$2"
}

# As the test in mounts.bats does on one machine.
read_elsewhere() {
	local n=$2 sum
	PIDS=()
	guest_exec server ": >/mnt/export/$BATS_TEST_NUMBER/log$1"
	on b reader "$(in_guest "$1" "
		prog_reader \$LOGS/log$1 $((n * 100)) >/tmp/read 2>/tmp/nuls &
		polling=\$!
		tail -c +1 -F \$LOGS/log$1 >/tmp/tailed &
		tailing=\$!
		echo reading
		wait \$polling || { cat /tmp/nuls; exit 1; }
		for ((i = 0; i < 600 && \$(stat -c %s /tmp/tailed) < $((n * 100)); i++)); do
			sleep 0.1
		done
		kill \$tailing
		cat /tmp/nuls
		cat /tmp/read | sha256sum
		cat /tmp/tailed | sha256sum")"
	until grep -q reading "$BATS_TEST_TMPDIR/reader.out"; do
		kill -0 "${PIDS[0]}"
		sleep 0.1
	done
	on a writer "$(in_guest "$1" "
		nfsappend_p -- prog_host \$LOGS/log$1 $n one && only_we_wrote")"
	finish
	fetch_file "log$1"
	[ "$(census "$BATS_TEST_TMPDIR/log$1")" = "records $n torn 0 twice 0" ]
	sum=$(sha256sum <"$BATS_TEST_TMPDIR/log$1")
	grep -qx "$((n * 100)) bytes, 0 of them NUL" "$BATS_TEST_TMPDIR/reader.out"
	[ "$(grep -cFx "$sum" "$BATS_TEST_TMPDIR/reader.out")" = 2 ]
	echo "# NFSv$1: $(grep NUL "$BATS_TEST_TMPDIR/reader.out"), $(census "$BATS_TEST_TMPDIR/log$1")" >&3
}
@test "a tail -F and a reader that polls, on a second guest: every byte, no NUL" {
	local version
	for version in 3 4; do
		read_elsewhere "$version" "$(count 2000 100)"
	done
}

# Both processes of a guest share a host segment, this host is a third one.
@test "two guests, two processes each with -p, and one with -m: each record once" {
	local n guest
	n=$(count 2000 60)
	PIDS=()
	for guest in a b; do
		on $guest $guest "$(in_guest 4 "
			nfsappend_p -- prog_host \$LOGS/log $n ${guest}1 & first=\$!
			nfsappend_p -- prog_host \$LOGS/log $n ${guest}2 & second=\$!
			wait \$first && wait \$second && only_we_wrote &&
				stats_of sharing && stats_of protocol &&
				stats_of lookup_rpcs")"
	done
	on host host "$(wrapped /logs/log "$n" host)"
	finish
	for guest in a b; do
		[ "$(tail -n 3 "$BATS_TEST_TMPDIR/$guest.out" | tr '\n' ' ')" = \
			'locked v4.0 0 ' ]
	done
	fetch_file log
	echo "# $(census "$BATS_TEST_TMPDIR/log") of $((5 * n))" >&3
	[ "$(census "$BATS_TEST_TMPDIR/log")" = "records $((5 * n)) torn 0 twice 0" ]
}

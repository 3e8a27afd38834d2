#!/usr/bin/env bats
# NFSv4.0 from several machines: a server and two clients in User-Mode Linux,
# and processes of this host. contain bats tests/vm/hosts/v4.bats
bats_require_minimum_version 1.7.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../guest.bash"
	source "$BATS_TEST_DIRNAME/../../lib/hosts.bash"
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	# A guest sees the sources, but not the temporary folder.
	local build="mkdir -p /tmp/v4 && cc -std=gnu11 -O1 -o /tmp/v4/prog_host '$BATS_TEST_DIRNAME/../../programs/prog_host.c'"
	bash -c "${build//\/tmp\/v4/$BATS_FILE_TMPDIR}"
	net_up
	guest_start server --role server --ip 1 --lease "$(lease)" --grace "$(lease)"
	guest_start a --role client --ip 2
	guest_start b --role client --ip 3
	guest_exec a "$build"
	guest_exec b "$build"
}

teardown_file() {
	source "$BATS_TEST_DIRNAME/../guest.bash"
	local guest
	for guest in a b server; do
		guest_power_off "$guest"
	done
}

setup() {
	source "$BATS_TEST_DIRNAME/../guest.bash"
	source "$BATS_TEST_DIRNAME/../../lib/hosts.bash"
	guest_exec server "mkdir -p -m 1777 /mnt/export/$BATS_TEST_NUMBER"
}

count() {
	if [ "${NFSAPPEND_FULL-}" = 1 ]; then
		echo "$1"
	else
		echo "$2"
	fi
}

lease() {
	count 90 15
}

# wrapped ARG...: what runs prog_host under the shim, in a guest or here.
wrapped() {
	echo "PATH=\$PATH:/tmp/v4:'$BATS_FILE_TMPDIR'; '$NFSAPPEND_PREFIX/bin/nfsappend' -m '/logs=nfs://10.77.0.1/$BATS_TEST_NUMBER?version=4' -- prog_host $*"
}

# on GUEST NAME SCRIPT...: in the background, its output in a file.
on() {
	local where=$1 name=$2
	shift 2
	if [ "$where" = host ]; then
		bash -c "$*" >"$BATS_TEST_TMPDIR/$name.out" 2>&1 3>&- 4>&- &
	else
		guest_exec "$where" --limit 500 "$*" \
			>"$BATS_TEST_TMPDIR/$name.out" 2>&1 3>&- 4>&- &
	fi
	PIDS+=("$!")
}

finish() {
	local pid status=0
	for pid in "${PIDS[@]}"; do
		wait "$pid" || status=1
	done
	tail -n 3 "$BATS_TEST_TMPDIR"/*.out
	return "$status"
}

# The file as the server has it.
fetch_file() {
	guest_exec server --limit 200 \
		"cat /mnt/export/$BATS_TEST_NUMBER/$1" >"$BATS_TEST_TMPDIR/$1"
}

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

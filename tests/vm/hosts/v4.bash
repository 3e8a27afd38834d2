# shellcheck shell=bash
# NFSv4.0 from several machines: a server and two clients in User-Mode Linux,
# and processes of this host. For v4.bats, v4-restart.bats and mounts.bats.
bats_require_minimum_version 1.7.0

setup_file() {
	source "$BATS_TEST_DIRNAME/../guest.bash"
	source "$BATS_TEST_DIRNAME/../../lib/hosts.bash"
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	# A guest sees the sources, but not the temporary folder.
	local program build='mkdir -p /tmp/v4'
	for program in host reader; do
		build+=" && cc -std=gnu11 -O1 -o /tmp/v4/prog_$program '$BATS_TEST_DIRNAME/../../programs/prog_$program.c'"
	done
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

#!/usr/bin/env bats
# The server loses its power under eight writers of one host segment, again and
# again, and is booted from its disk: every acknowledged record is there once,
# whole, in its writer's order. On an export that says "stored" too early
# (async) the same is seen to fail.
#
# Beside the guest, not in it: tests/vm/contain bats tests/vm/power.bats

load ../lib/load
load ../lib/steady
load guest

writers=8

setup_file() {
	vm_check
	net_up
	setup_shim
}

# The namespaces end with what `contain` runs.
teardown_file() {
	:
}

setup() {
	STATS=$BATS_TEST_TMPDIR/stats
	LOGS=/logs-$$
	SHIM_LIMIT=7200
	SHIM_OPTIONS=()
	export LOGS NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	guest=server$BATS_TEST_NUMBER
}

teardown() {
	[[ -z ${STEADY-} ]] || : >"$STEADY/stop"
	guest_power_off "$guest"
	[[ ! -e $LOGS ]]
}

in_server() {
	"$@"
}

# boot [OPTION]...: the same disk each time. The grace period is kept, as after
# any start of a server.
boot() {
	guest_start "$guest" --role server --ip 1 --keep-grace --grace 10 \
		--lease 10 "${options[@]}"
}

by() {
	SHIM_URL=nfs://10.77.0.1/mnt/export
	[[ $1 = v3 ]] || SHIM_URL='nfs://10.77.0.1/?version=4'
}

power_failure() {
	guest_power_off "$guest"
	boot
}

# What the server has after all this.
fetch() {
	nfs-cat nfs://10.77.0.1/mnt/export/x >"$BATS_TEST_TMPDIR/x"
}

# failures NUMBER: so many under the writers, each while all of them run.
failures() {
	local i
	start_steady "$writers"
	for ((i = 0; i < $1; i++)); do
		steady_round "$writers" power_failure
	done
	stop_steady "$writers"
	echo "$1 power failures under $(steady_acknowledged) records" |
		tee -a "${NFSAPPEND_FIGURES:-/dev/null}"
	# What is not on the disk by now is not counted as stored.
	power_failure
	fetch
}

@test "power failures, NFSv3: nothing that was acknowledged is lost" {
	options=()
	boot
	by v3
	failures "$(count 20 3)"
	all_there "$writers" "$BATS_TEST_TMPDIR/x"
}

@test "power failures, NFSv4.0: nothing that was acknowledged is lost" {
	options=()
	boot
	by v4
	failures "$(count 20 3)"
	all_there "$writers" "$BATS_TEST_TMPDIR/x"
}

@test "the control: a server that says stored too early loses records" {
	options=(--export async)
	boot
	by v3
	# The file itself shall outlive it.
	guest_exec "$guest" 'echo -n >/mnt/export/x && sync'
	start_steady "$writers"
	steady_advance "$writers"
	# So that all of it is not on the disk by chance.
	sleep 2
	power_failure
	stop_steady "$writers"
	power_failure
	fetch
	run all_there "$writers" "$BATS_TEST_TMPDIR/x"
	echo "$output" | head -n 4
	[[ $status -ne 0 ]]
	[[ $output = *' where '*' should be'* || $output = *' of '* ]]
}

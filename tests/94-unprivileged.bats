#!/usr/bin/env bats
# Without root, without a mount, without a capability: from a checkout to lines
# on a server of one's own.

bats_require_minimum_version 1.5.0
load lib/shim
load lib/server

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'the demo builds for itself; the plain run shows it'
	cd "$shim_root" || return 1
}

# The checkout as a user has it who can install nothing.
own_checkout() {
	mkdir -m 755 "$1"
	tar -c --exclude=./build --exclude=./build-asan --exclude=./build-tsan --exclude=./.git . | tar -x -C "$1"
	chown -R 65534:65534 "$1"
}

@test "demo in a user namespace, without a capability: a server of its own" {
	local home=$BATS_TEST_TMPDIR/home
	own_checkout "$home"
	# Every folder above is bats's, for root alone.
	chmod a+x "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR"/.. "$BATS_TEST_TMPDIR"/../..
	export SERVER_DIR=$BATS_TEST_TMPDIR/server
	start_server
	cd "$home"
	run in_server setpriv --reuid 65534 --regid 65534 --clear-groups \
		--bounding-set=-all --inh-caps=-all env HOME="$home" unshare --map-current-user -- \
		sh -c 'grep CapEff /proc/self/status; exec "$@"' sh \
		./quickstart demo --server "nfs://127.0.0.1$SERVER_EXPORT?$SERVER_PORTS"
	stop_server
	echo "$output"
	[[ $status -eq 0 && ${lines[0]} = CapEff:*0000000000000000 ]]
	[[ ${lines[-1]} = 'demo: done, '* ]]
	[[ $(cat "$SERVER_EXPORT"/nfsappend-demo-*.log | wc -l) -eq 7 ]]
	[[ $output = *$'\nINFO line 5 of Python logging\na line of tee -a\n'* ]]
}

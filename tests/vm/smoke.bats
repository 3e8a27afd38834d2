#!/usr/bin/env bats
# Runs in a guest (tests/vm/run smoke.bats): is the guest what the other
# files take it for, and does the installed shim work in it at all?
bats_require_minimum_version 1.7.0

# mount_option DIR NAME : the value of a mount option, from the kernel.
mount_option() {
	local options
	options=$(findmnt -n -o OPTIONS --mountpoint "$1")
	[[ ,$options, == *",$2="* ]] || return 1
	options=${options#*"$2="}
	echo "${options%%,*}"
}

need_shim() {
	[ -n "${NFSAPPEND_PREFIX:-}" ] ||
		skip "NFSAPPEND_PREFIX is unset: no installed nfsappend to test"
	[ -x "$NFSAPPEND_PREFIX/bin/nfsappend" ] ||
		skip "no $NFSAPPEND_PREFIX/bin/nfsappend: make install first"
}

@test "the guest is a User-Mode Linux kernel" {
	grep -q 'User Mode Linux' /proc/cpuinfo
}

@test "what is written in the guest does not reach the host's files" {
	[ "$(findmnt -n -o FSTYPE /)" = overlay ]
	[ -z "$(findmnt -n -t hostfs -O rw)" ]
	echo x >"/usr/nfsappend-$$"
	rm "/usr/nfsappend-$$"
}

@test "/mnt/v3 is an NFSv3 mount of the kernel" {
	[ "$(mount_option /mnt/v3 vers)" = 3 ]
	[ "$(mount_option /mnt/v3 addr)" = 127.0.0.1 ]
}

@test "/mnt/v4 is an NFSv4 mount of the kernel, of the version asked for" {
	local want=4.2
	if [[ $VM_V4 == *vers=* ]]; then
		want=${VM_V4#*vers=}
		want=${want%%,*}
	fi
	[ "$(mount_option /mnt/v4 vers)" = "$want" ]
	[ "$(mount_option /mnt/v4 addr)" = 127.0.0.1 ]
}

@test "appends through both mounts arrive in the server's file system" {
	[ "$(findmnt -n -o FSTYPE /mnt/export)" = ext4 ]
	echo three >>/mnt/v3/kernel
	echo four >>/mnt/v4/kernel
	[ "$(</mnt/export/kernel)" = $'three\nfour' ]
}

@test "the server answers NFSv3 and NFSv4.0 requests of libnfs" {
	echo x >/mnt/export/seen
	run -0 nfs-ls nfs://127.0.0.1/mnt/export
	[[ $output == *seen* ]]
	run -0 nfs-ls 'nfs://127.0.0.1/?version=4'
	[[ $output == *seen* ]]
}

@test "the server is not in its grace period" {
	[ -z "$VM_KEEP_GRACE" ] || skip "--keep-grace was asked for"
	run -0 timeout 5 flock /mnt/v4/lock true
}

@test "a round trip takes the delay that was asked for, twice" {
	local start took
	start=${EPOCHREALTIME/./}
	for _ in {1..20}; do
		exec 4<>/dev/tcp/127.0.0.1/2049
		exec 4<&-
	done
	took=$(((${EPOCHREALTIME/./} - start) / 20))
	echo "connect: $took us, asked for: ${VM_DELAY:-none}"
	[ -n "$VM_DELAY" ] || skip "no --delay was asked for"
	# Compare with the same delay as tc understands it, in microseconds.
	delay=$(tc -j qdisc show dev lo |
		sed 's/.*"delay":{"delay":\([0-9.e-]*\).*/\1/' |
		awk '{ printf "%d", $1 * 1000000 }')
	[ "$delay" -gt 0 ]
	[ "$took" -ge $((2 * delay)) ]
}

@test "nfsappend: bash's echo >> lands on the server, and nowhere else" {
	need_shim
	run -0 "$NFSAPPEND_PREFIX/bin/nfsappend" \
		-m /logs=nfs://127.0.0.1/mnt/export -- \
		bash -c 'echo hi >> /logs/x'
	[ "$(</mnt/export/x)" = hi ]
	[ ! -e /logs ]
}

# shellcheck disable=SC2016
@test "nfsappend: 100 appends of one descriptor, in order, each once" {
	need_shim
	run -0 "$NFSAPPEND_PREFIX/bin/nfsappend" \
		-m /logs=nfs://127.0.0.1/mnt/export -- \
		bash -c 'seq 100 | while read -r i; do echo "$i"; done >> /logs/many'
	[ "$(</mnt/export/many)" = "$(seq 100)" ]
}

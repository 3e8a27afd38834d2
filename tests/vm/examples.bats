#!/usr/bin/env bats
# The example for a kernel mount, as it stands, in one guest: the unit's
# environment, command and file are read from it and used as systemd would.
# tests/86-examples.bats has the others. tests/vm/run examples.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
}

setup() {
	UNIT=$BATS_TEST_DIRNAME/../../examples/systemd/myservice-mount.service
}

# The values of NAME= in the unit, one a line.
setting() {
	sed -n "s/^$1=//p" "$UNIT"
}

# The guest's root is a copy of its own: the library and the service lie where
# the unit has them.
install_all() {
	local library from
	from=$(find "$NFSAPPEND_PREFIX" -name libnfsappend.so)
	library=$(setting Environment | sed -n 's/^LD_PRELOAD=//p')
	mkdir -p "${library%/*}" /usr/local/bin
	cp "${from%/*}"/* "${library%/*}"
	printf '#!/bin/sh\nseq -f "record-%%06.0f" %s\n' "$N" >/usr/local/bin/myservice
	chmod 755 /usr/local/bin/myservice
}

kernel_writes() {
	awk '$1 == "WRITE:" { n += $2 } END { print n + 0 }' /proc/self/mountstats
}

# on_mount OPTIONS WHAT
on_mount() {
	local environment file before
	mkdir -p /mnt/logs /mnt/export/myservice
	mount -t nfs -o "$1" "$2" /mnt/logs
	mapfile -t environment < <(setting Environment)
	file=$(setting StandardOutput)
	[ "${file%%:*}" = append ]
	before=$(kernel_writes)
	echo "the kernel's, to see that it would be counted" >/mnt/logs/control
	[ "$(kernel_writes)" -gt "$before" ]
	before=$(kernel_writes)
	# Standard error goes there, too, as systemd has it.
	env -i PATH="$PATH" "${environment[@]}" "$(setting ExecStart)" \
		>>"${file#append:}" 2>&1
	# All of it went past the kernel's client.
	[ "$(kernel_writes)" = "$before" ]
	umount /mnt/logs
	file=/mnt/export/${file#append:/mnt/logs/}
	cat "$file"
	diff <(seq -f 'record-%06.0f' "$N") "$file"
	rm "$file"
}

@test "systemd: StandardOutput=append: on a mount, by v3 and v4.2" {
	N=50
	install_all
	on_mount vers=3,nolock 127.0.0.1:/mnt/export
	on_mount vers=4.2 127.0.0.1:/
}

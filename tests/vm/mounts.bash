# shellcheck shell=bash
# What mounts.bats needs: a folder for each test on both mounts of the guest,
# the statistics of the processes that ran, and what the kernel's client did.

# Sets SERVED (the folder in the server's file system), and for each of the two
# mounts in turn LOGS (the same folder there) and PROTOCOL (ours beside it).
begin() {
	FOLDER=$BATS_TEST_NUMBER
}

# on_both_mounts FUNCTION: calls it for NFSv3 and NFSv4.2.
on_both_mounts() {
	local version
	for version in 3 4; do
		MOUNT=/mnt/v$version
		LOGS=$MOUNT/$FOLDER.v$version
		SERVED=/mnt/export/$FOLDER.v$version
		PROTOCOL=v3
		[ "$version" = 3 ] || PROTOCOL=v4.0
		STATS=$BATS_TEST_TMPDIR/stats.v$version
		mkdir -p "$SERVED"
		chmod 1777 "$SERVED"
		KERNEL_WRITES=$(kernel_rpcs WRITE)
		echo "--- $MOUNT"
		"$1"
	done
}

# nfsappend_p [OPTION]... -- COMMAND...: with -p for the folder.
nfsappend_p() {
	timeout -k 5 "${SHIM_LIMIT:-120}" "$NFSAPPEND_PREFIX/bin/nfsappend" \
		--stats "$STATS" -p "$LOGS" "$@"
}

# kernel_rpcs NAME...: how many the kernel's client has sent on $MOUNT.
kernel_rpcs() {
	awk -v mount="$MOUNT" -v names=" $* " '
		$1 == "device" { on = $5 == mount }
		on && /^\t +[A-Z_]+: / {
			name = $1
			sub(":", "", name)
			if (names == " ALL " || index(names, " " name " "))
				n += $2
		}
		END { print n + 0 }' /proc/self/mountstats
}

# No WRITE of the kernel's client since the test began on this mount.
only_we_wrote() {
	local writes
	writes=$(($(kernel_rpcs WRITE) - KERNEL_WRITES))
	[ "$writes" = 0 ] || echo "kernel WRITEs: $writes"
	[ "$writes" = 0 ]
}

# stats_of FIELD: the sum of a number, or the different values of a text.
stats_of() {
	grep -o "\"$1\":[0-9]*" "$STATS" | grep -q ':[0-9]' || {
		grep -o "\"$1\":\"[^\"]*\"" "$STATS" | cut -d '"' -f 4 | sort -u
		return
	}
	grep -o "\"$1\":[0-9]*" "$STATS" |
		awk -F: '{ n += $2 } END { printf "%d\n", n }'
}

count() {
	if [ "${NFSAPPEND_FULL-}" = 1 ]; then
		echo "$1"
	else
		echo "$2"
	fi
}

# build NAME [OPTION]...: tests/programs/prog_NAME.c into $PROGRAMS; the name
# of the result may be another one (-o).
build() {
	local name=$1 out=$1
	shift
	[ "${1-}" != -o ] || { out=$2; shift 2; }
	[ -x "$PROGRAMS/prog_$out" ] ||
		cc -std=gnu11 -O1 "$@" -o "$PROGRAMS/prog_$out" \
			"$BATS_TEST_DIRNAME/../programs/prog_$name.c"
}

# census FILE: "records R torn T twice D" of prog_host's records of 100 bytes.
census() {
	LC_ALL=C awk '
		length($0) != 99 || NF != 3 || $2 !~ /^[0-9]+$/ ||
			$3 !~ /^[a-z]+$/ || $3 != substr($3, 1, 1) substr($3, 1, length($3) - 1) {
			torn++
			next
		}
		{ records++ }
		seen[$1, $2]++ { twice++ }
		END { printf "records %d torn %d twice %d\n", records, torn, twice }
	' "$1"
}

# each_once COUNT [FILE]: so many records are in it, whole and once.
each_once() {
	local found
	found=$(census "${2:-$SERVED/log}")
	echo "$found of $1"
	[ "$found" = "records $1 torn 0 twice 0" ]
}

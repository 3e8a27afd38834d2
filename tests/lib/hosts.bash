# shellcheck shell=bash
# Several hosts on one machine: a process with a host segment folder of its
# own shares nothing with the others but the server.
#
#   start_hosts 8 2000; wait_hosts      prog_host on $LOGS/x, named h1 to h8
#   each_once 8 2000                    each record of theirs once, whole
#
# HOSTS_FILE is another name than x. A file that is removed on the server's own
# file system is not gone for nfs-ganesha: the next one needs another name.

# on_host NUMBER COMMAND...: under the shim, as that host.
on_host() {
	local runtime=$BATS_TEST_TMPDIR/host.$1
	mkdir -p "$runtime" && chmod 700 "$runtime"
	NFSAPPEND_RUNTIME=$runtime shimmed "${@:2}"
}

# start_hosts HOSTS COUNT [NAME [SIZE]]: in the background; without NAME (or
# with "-") each has its own, h1 and so on.
start_hosts() {
	local i name
	HOST_PIDS=()
	for ((i = 1; i <= $1; i++)); do
		name=${3:--}
		[[ $name != - ]] || name=h$i
		on_host "$i" "$PROGRAMS/prog_host" "$LOGS/${HOSTS_FILE:-x}" "$2" "$name" \
			"${4:-100}" >"$BATS_TEST_TMPDIR/host.$i.out" \
			2>"$BATS_TEST_TMPDIR/host.$i.err" 3>&- 4>&- &
		HOST_PIDS+=("$!")
	done
}

# All of them ended well.
wait_hosts() {
	local pid status=0
	for pid in "${HOST_PIDS[@]}"; do
		wait "$pid" || status=1
	done
	[[ $status -eq 0 ]] || tail -n 5 "$BATS_TEST_TMPDIR"/host.*.{out,err}
	return "$status"
}

# acknowledged: the sum over all hosts.
acknowledged() {
	cat "$BATS_TEST_TMPDIR"/host.*.out | awk '
		$1 == "acknowledged" { n += $2 } END { print n + 0 }'
}

# census FILE [SIZE]: "records R torn T twice D", of lines NAME NUMBER
# letters; identical ones (NAME same) are never twice.
census() {
	LC_ALL=C awk -v size="${2:-100}" '
		length($0) != size - 1 || NF != 3 || $2 !~ /^[0-9]+$/ ||
			$3 !~ /^[a-z]+$/ || $3 != substr($3, 1, 1) substr($3, 1, length($3) - 1) {
			torn++
			next
		}
		{ records++ }
		$1 != "same" && seen[$1, $2]++ { twice++ }
		END { printf "records %d torn %d twice %d\n", records, torn, twice }
	' "$1"
}

# each_once HOSTS COUNT [SIZE]
each_once() {
	local found
	found=$(census "$SERVED/${HOSTS_FILE:-x}" "${3:-100}")
	echo "$found of $(($1 * $2))"
	[[ $found = "records $(($1 * $2)) torn 0 twice 0" ]]
}

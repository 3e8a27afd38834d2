#!/usr/bin/env bats
# NFSv4.0 against the kernel's server, in one guest: several hosts (processes
# with host segments of their own), leases, a restart. tests/vm/run v4.bats
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
	export PROGRAMS=$BATS_FILE_TMPDIR
	cc -std=gnu11 -O1 -o "$PROGRAMS/prog_host" \
		"$BATS_TEST_DIRNAME/../programs/prog_host.c"
}

setup() {
	# For the functions that count records.
	source "$BATS_TEST_DIRNAME/../lib/hosts.bash"
	SERVED=/mnt/export/$BATS_TEST_NUMBER
	LOGS=/logs
	SHARING=auto
	mkdir -p "$SERVED"
	STATS=$BATS_TEST_TMPDIR/stats
}

count() {
	if [ "${NFSAPPEND_FULL-}" = 1 ]; then
		echo "$1"
	else
		echo "$2"
	fi
}

# What hosts.bash calls: here there is no server of our own.
shimmed() {
	timeout -k 5 "${SHIM_LIMIT:-280}" "$NFSAPPEND_PREFIX/bin/nfsappend" \
		--sharing "$SHARING" --stats "$STATS" \
		-m "$LOGS=nfs://127.0.0.1/$BATS_TEST_NUMBER?version=4" -- "$@"
}

# stats_sum FIELD, without jq.
stats_sum() {
	grep -o "\"$1\":[0-9]*" "$STATS" | awk -F: '{ n += $2 } END { print n + 0 }'
}

@test "one host: one RPC an append, after the first" {
	shimmed "$PROGRAMS/prog_host" /logs/x 2 one
	local first
	first=$(stats_sum rpcs)
	rm "$STATS"
	shimmed "$PROGRAMS/prog_host" /logs/y "$(count 2000 200)" one
	echo "$first, then $(stats_sum rpcs)"
	[ "$(stats_sum write_rpcs)" -eq "$(count 2000 200)" ]
	[ $(($(stats_sum rpcs) - first)) -le "$(count 2000 200)" ]
	[ "$(census "$SERVED/y")" = "records $(count 2000 200) torn 0 twice 0" ]
}

@test "eight hosts at once: each record once, whole" {
	local n start
	n=$(count 2000 60)
	start=$EPOCHSECONDS
	start_hosts 8 "$n"
	wait_hosts
	echo "# $((EPOCHSECONDS - start)) s; $(census "$SERVED/x")" >&3
	each_once 8 "$n"
}

# So that the test before can fail at all.
@test "eight hosts without the lock lose records" {
	local round=0 found='records 1600 torn 0 twice 0'
	SHARING=guarded
	while [ "$found" = 'records 1600 torn 0 twice 0' ]; do
		[ $((++round)) -le 5 ]
		HOSTS_FILE=x$round
		start_hosts 8 200
		wait_hosts
		found=$(census "$SERVED/$HOSTS_FILE")
		echo "# $found of 1600" >&3
	done
}

@test "modes, long records, the kernel's client reads them" {
	(
		umask 027
		shimmed "$PROGRAMS/prog_host" /logs/x 3 one 3000000
	)
	[ "$(stat -c %a "$SERVED/x")" = 640 ]
	[ "$(census "/mnt/v4/$BATS_TEST_NUMBER/x" 3000000)" = 'records 3 torn 0 twice 0' ]
}

@test "flock on a kernel mount keeps us out, and we go on after it" {
	local pid
	shimmed "$PROGRAMS/prog_host" /logs/x 2 one
	exec 7>>"/mnt/v4/$BATS_TEST_NUMBER/x"
	flock 7
	shimmed "$PROGRAMS/prog_host" /logs/x 2 two 2>"$BATS_TEST_TMPDIR/err" 7>&- &
	pid=$!
	until grep -q N307 "$BATS_TEST_TMPDIR/err"; do
		sleep 0.1
	done
	[ "$(wc -l <"$SERVED/x")" -eq 2 ]
	flock -u 7
	wait "$pid"
	[ "$(census "$SERVED/x")" = 'records 4 torn 0 twice 0' ]
	[ "$(grep -c N307 "$BATS_TEST_TMPDIR/err")" -eq 1 ]
}

@test "a lock of the program's own: no wait for itself" {
	shimmed "$PROGRAMS/prog_host" /logs/x 2 one
	exec 7>>"/mnt/v4/$BATS_TEST_NUMBER/x"
	flock 7
	# Inherited, as under flock(1).
	SHIM_LIMIT=20 shimmed "$PROGRAMS/prog_host" /logs/x 3 two 2>"$BATS_TEST_TMPDIR/err"
	exec 7>&-
	SHIM_LIMIT=20 shimmed flock "/mnt/v4/$BATS_TEST_NUMBER/x" \
		"$PROGRAMS/prog_host" /logs/x 3 three 2>>"$BATS_TEST_TMPDIR/err"
	[ "$(census "$SERVED/x")" = 'records 8 torn 0 twice 0' ]
	[ ! -s "$BATS_TEST_TMPDIR/err" ]
}

@test "killed with -9 at random moments: no other record is harmed" {
	local round pid
	SHIM_LIMIT=$(count 2400 280)
	start_hosts 2 1000000
	# NFSAPPEND_KILLS: so that several guests can share the 200, most of
	# whose time is waiting for a lease of the dead.
	for ((round = 0; round < ${NFSAPPEND_KILLS:-$(count 200 8)}; round++)); do
		on_host 9 "$PROGRAMS/prog_host" /logs/x 1000000 "victim$round" \
			>/dev/null 2>&1 3>&- 4>&- &
		pid=$!
		sleep "0.$((RANDOM % 10))"
		until pkill -KILL -f "prog_host .* victim$round\$"; do
			sleep 0.02
		done
		wait "$pid" || :
	done
	pkill -TERM -x prog_host
	wait_hosts
	grep '^h' "$SERVED/x" >"$BATS_TEST_TMPDIR/others"
	echo "# $round killed; $(acknowledged) acknowledged; $(census "$SERVED/x")" >&3
	echo "# the others' longest append: $(grep -h longest "$BATS_TEST_TMPDIR"/host.*.out | paste -sd ' ')" >&3
	[ "$(census "$BATS_TEST_TMPDIR/others")" = \
		"records $(acknowledged) torn 0 twice 0" ]
	[[ $(census "$SERVED/x") = *' torn 0 twice 0' ]]
}

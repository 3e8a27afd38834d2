# shellcheck shell=bash
# What the files 61-*.bats share: faults by the thousand, from the scripted
# server. Each append that is acknowledged is in the file once, whole and in
# order; each that is refused is not; the errno is that of the write() that met
# the fault; and the next append works.

setup_file() {
	in_control && skip 'needs the shim: a local file meets none of these'
	start_server
	setup_shim
	build_scripted
}

setup() {
	new_case
	export NFSAPPEND_RUNTIME=$BATS_TEST_TMPDIR/runtime
	mkdir -m 700 "$NFSAPPEND_RUNTIME"
	start_scripted
	faults=$(count 1000 6)
	# All of it takes hours, most of them waiting: one mode may be named.
	read -r -a modes <<<"${NFSAPPEND_MODES:-single guarded locked}"
	# A guard against a hang, no verdict on speed.
	SHIM_LIMIT=$((600 + 2 * faults))
}

teardown() {
	stop_scripted
	nothing_local
}

# as_mode MODE: single or guarded by NFSv3, locked by NFSv4. What is not
# answered is asked again after a fifth of a second. Sets WRITE, the rules' word for
# a WRITE, and CALL, for the whole call that it is in.
as_mode() {
	local arguments="nfsport=$SCRIPTED_PORT&timeo=2"
	SHIM_OPTIONS=(--sharing "$1")
	if [[ $1 = locked ]]; then
		SHIM_URL="nfs://127.0.0.1/e?version=4&$arguments"
		WRITE='v4 WRITE' CALL='v4 COMPOUND with WRITE'
	else
		SHIM_URL="nfs://127.0.0.1/e?mountport=$SCRIPTED_PORT&$arguments"
		WRITE='v3 WRITE' CALL='v3 WRITE'
	fi
	mode=$1
	tell clear
	rm -f "$SERVED/x"
}

# What `prog_records FILE COUNT` writes, without the records that $2 (a list of
# numbers) names.
records() {
	awk -v count="$1" -v without=" $2 " 'BEGIN {
		for (i = 0; i < count; i++) {
			if (index(without, " " i " "))
				continue
			record = sprintf("r %08d ", i)
			letter = sprintf("%c", 97 + i % 26)
			while (length(record) < 99)
				record = record letter
			print record
		}
	}'
}

# How often the first of the present rules has fired.
fired() {
	tell status | sed -n "s/^rule [0-9]* seen [0-9]* fired \([0-9]*\):.*/\1/p" |
		head -n 1
}

# unharmed RULE...: twice as many appends as there shall be faults; the first
# rule strikes them, and the program sees nothing of it.
unharmed() {
	echo "$mode: $*"
	rm -f "$SERVED/x"
	tell clear "$@"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	[[ $status -eq 0 && $output = "acknowledged $((2 * faults))" ]]
	[[ -z $stderr ]]
	[[ $(fired) -ge $faults ]]
	records $((2 * faults)) | cmp - "$SERVED/x"
}

# refused ERRNO RULE: the rule strikes every second append: that one fails, and
# is not in the file.
refused() {
	local odd
	echo "$mode: $*"
	rm -f "$SERVED/x"
	tell clear "$2"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	mapfile -t odd < <(seq 1 2 $((2 * faults)))
	[[ $status -eq 0 && $(fired) -eq $faults ]]
	diff <(printf '%s\n' "${odd[@]/%/ $1}" "acknowledged $faults") <(echo "$output")
	records $((2 * faults)) "${odd[*]}" | cmp - "$SERVED/x"
	grep -q "$LOGS/x: an append failed .*: $1 .*\[N301\]" "$MESSAGES"
}

# lies FAULT: the reply says what is not so. Whatever it is taken for: no crash,
# no hang, and the records that were acknowledged are there once, in order.
lies() {
	echo "$mode: $1"
	rm -f "$SERVED/x"
	tell clear "on $CALL every 2 $1"
	run_shimmed "$PROGRAMS/prog_records" "$LOGS/x" $((2 * faults))
	[[ $status -eq 0 && $(fired) -ge $faults ]]
	[[ -z $(sort "$SERVED/x" | uniq -d) ]]
	awk -v n=$((2 * faults)) 'NF == 2 && $1 ~ /^[0-9]+$/ { bad[$1] }
		END { for (i = 0; i < n; i++)
			if (!(i in bad)) printf "r %08d\n", i }' \
		<<<"$output" >"$BATS_TEST_TMPDIR/acknowledged"
	cut -c1-10 "$SERVED/x" | grep -xFf "$BATS_TEST_TMPDIR/acknowledged" |
		cmp - "$BATS_TEST_TMPDIR/acknowledged"
}

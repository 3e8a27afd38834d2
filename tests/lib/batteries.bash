# shellcheck shell=bash
# Runs the programs of tests/programs/stdio and tests/programs/semantics on a
# local folder (the control) and under the shim, and compares what came of it.
# Comes after lib/load, whose setup_file must then be
#   setup_file() { start_server; setup_batteries; }

batteries_lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

setup_batteries() {
	setup_shim || return 1
	"${batteries_lib%/lib}/programs/make-batteries" "$PROGRAMS"
}

# both COMMAND...: runs COMMAND in both ways; @LOGS@ in its arguments stands for
# the folder. Leaves the folders' names in $CONTROL and $SERVED, exit status,
# output and standard error in $OUTCOME.control and $OUTCOME.shimmed. Lines that
# begin with "acked" or "unknown" are for check_records alone. Messages of ours
# are a failure, unless messages_expected is set.
both() {
	local argument arguments SHIM_LIMIT=${SHIM_LIMIT:-$(count 1800 120)}
	CONTROL=$BATS_TEST_TMPDIR/control
	OUTCOME=$BATS_TEST_TMPDIR/outcome
	mkdir -p "$CONTROL"
	chmod 1777 "$CONTROL"
	# Programs that are meant to abort leave nothing behind.
	ulimit -c 0
	arguments=("${@//@LOGS@/$CONTROL}")
	run --separate-stderr in_server timeout --foreground -k 5 \
		"$SHIM_LIMIT" "${arguments[@]}"
	last_run "$CONTROL" >"$OUTCOME.control"
	arguments=("${@//@LOGS@/$LOGS}")
	run --separate-stderr shimmed "${arguments[@]}"
	last_run "$LOGS" >"$OUTCOME.shimmed"
	# The control alone must make sense: a program that could not do what it
	# is for says 97, 98 or 99, a hanging one is killed (124).
	if grep -Eqx 'status (97|98|99|124|126|127)' "$OUTCOME.control"; then
		echo 'the control failed:' >&2
		cat "$OUTCOME.control" >&2
		return 1
	fi
	for argument in control shimmed; do
		grep -E '^(acked|unknown) ' "$OUTCOME.$argument" \
			>"$OUTCOME.$argument.records" || :
		sed -Ei '/^(acked|unknown) /d' "$OUTCOME.$argument"
	done
	# Ours are no part of what the program says; most programs get none.
	grep -a 'nfsappend:' "$OUTCOME.shimmed" >"$OUTCOME.messages" || :
	sed -i '/nfsappend:/d; /^$/d' "$OUTCOME.shimmed"
	sed -i '/^$/d' "$OUTCOME.control"
	if [[ -s $OUTCOME.messages && -z ${messages_expected-} ]]; then
		echo 'messages:' >&2
		cat "$OUTCOME.messages" >&2
		return 1
	fi
}

# What `run` left, with the folder's name made neutral.
last_run() {
	# shellcheck disable=SC2154 # bats sets them
	printf '%s\n' "status $status" output: "${output//$1/@LOGS@}" \
		'standard error:' "${stderr//$1/@LOGS@}"
}

# Names, types and modes of what lies in a folder.
entries() {
	(cd "$1" && find . -mindepth 1 -printf '%P %y %m %U:%G\n' | sort)
}

same_outcome() {
	diff -u "$OUTCOME.control" "$OUTCOME.shimmed" &&
		diff -u <(entries "$CONTROL") <(entries "$SERVED")
}

# same COMMAND...: exit status, output, and every file byte by byte.
same() {
	both "$@" && same_outcome && same_bytes
}

same_bytes() {
	local file
	while IFS= read -r -d '' file; do
		cmp "$CONTROL/$file" "$SERVED/$file" || {
			diff -u --label "local $file" --label "server $file" \
				<(head -c 4000 "$CONTROL/$file" | cat -v) \
				<(head -c 4000 "$SERVED/$file" | cat -v) | head -n 40
			return 1
		}
	done < <(cd "$CONTROL" && find . -type f -print0)
}

# same_lines COMMAND...: the same but for the order of the lines of a file.
same_lines() {
	local file
	both "$@" && same_outcome || return 1
	while IFS= read -r -d '' file; do
		diff -u <(sort "$CONTROL/$file") <(sort "$SERVED/$file") || return 1
	done < <(cd "$CONTROL" && find . -type f -print0)
}

# same_records COMMAND...: COMMAND says how many records each writer got
# acknowledged; every one of them is there, whole, once and in order.
same_records() {
	both "$@" && same_outcome || return 1
	check_records "$OUTCOME.control.records" "$CONTROL/log" || {
		echo 'the control failed' >&2
		return 1
	}
	check_records "$OUTCOME.shimmed.records" "$SERVED/log"
}

# check_records NOTES FILE. NOTES has lines
#   acked WRITER COUNT                numbers 0 to COUNT-1, and no more
#   acked WRITER COUNT or one more    the one that was being written, too
#   unknown WRITER NUMBER             this one may be missing
check_records() {
	awk '
	function complain(text) { print FILENAME ": " text; bad = 1 }
	FNR == NR && $1 == "acked" {
		acked[$2 + 0] = $3
		more[$2 + 0] = $4 == "or"
		next
	}
	FNR == NR { unknown[$2 + 0, $3 + 0] = 1; next }
	length($0) != 63 || $1 != "record" || NF != 4 || $4 !~ /^([a-z])+$/ {
		complain("line " FNR " is torn: " $0)
		next
	}
	{
		writer = $2 + 0
		number = $3 + 0
		if (!(writer in acked))
			complain("line " FNR ": writer " writer " is unknown")
		if ((writer, number) in seen)
			complain("record " writer " " number " stands twice")
		else if (writer in last && number < last[writer])
			complain("record " writer " " number " is late")
		seen[writer, number] = 1
		last[writer] = number
		if (number > acked[writer] - 1 + more[writer])
			complain("record " writer " " number " was never written")
	}
	END {
		for (writer in acked)
			for (number = 0; number < acked[writer]; number++)
				if (!((writer, number) in seen) &&
				    !((writer, number) in unknown))
					complain("record " writer " " number " is lost")
		exit bad
	}' "$1" "$2"
}

# semantics NAME [ARG]...: the program semantics-NAME, compared by $compare.
semantics() {
	local name=$1
	shift
	"${compare:-same}" "$PROGRAMS/semantics-$name" @LOGS@ "$@"
}

# The program closed or took the number of our socket: it was spared or moved.
kept_connection() {
	in_control || [[ $(stats_sum reconnects) -eq 0 && $(stats_sum appends) -gt 0 ]]
}

# battery CASE [PROGRAM]
battery() {
	"${compare:-same}" "$PROGRAMS/${2:-stdio-battery}" "$1" @LOGS@
}

# battery_exception CASE: libc writes one message of the case past every hook.
# The program's own lines around it arrive, and the message if anything.
battery_exception() {
	local file
	both "$PROGRAMS/stdio-battery" "$1" @LOGS@
	same_outcome
	# shellcheck disable=SC2154 # set by both
	if cmp -s "$CONTROL/log" "$SERVED/log"; then
		echo "# documented exception $1: arrived all the same" >&3
		return
	fi
	for file in "$CONTROL/log" "$SERVED/log"; do
		grep -Fx -e before -e after "$file" >"$BATS_TEST_TMPDIR/own" || :
		[[ $file = "$SERVED/log" ]] || mv "$BATS_TEST_TMPDIR"/{own,expected}
	done
	diff -u "$BATS_TEST_TMPDIR"/{expected,own}
	# Nothing but those lines, if not the whole message.
	cmp "$BATS_TEST_TMPDIR/own" "$SERVED/log"
	echo "# documented exception $1: the message is missing" >&3
}

# shellcheck shell=bash
# Writers that append until they are told to stop, while the test does things
# to the server: see prog_steady.
#
#   start_steady 8; round fault 8; stop_steady 8; all_there 8 FILE

# start_steady WRITERS [SIZE]: on $LOGS/x, named w1 and so on; all in one host
# segment.
start_steady() {
	local i
	STEADY=$BATS_TEST_TMPDIR/steady
	STEADY_PIDS=()
	mkdir -p "$STEADY"
	rm -f "$STEADY"/*
	for ((i = 1; i <= $1; i++)); do
		# shellcheck disable=SC2016 # sh expands it
		shimmed sh -c 'echo $$ >"$0"; exec "$@"' "$STEADY/pid.$i" \
			"$PROGRAMS/prog_steady" "$LOGS/x" "w$i" \
			"$STEADY/progress.$i" "$STEADY/stop" "${2:-100}" \
			>"$STEADY/out.$i" 2>"$STEADY/err.$i" 3>&- 4>&- &
		STEADY_PIDS+=("$!")
	done
	steady_advance "$1"
}

# steady_progress WRITERS: how many records each has been acknowledged.
steady_progress() {
	local i n
	for ((i = 1; i <= $1; i++)); do
		n=0
		read -r n 2>/dev/null <"$STEADY/progress.$i" || :
		echo "$((10#${n:-0}))"
	done
}

# steady_advance WRITERS: until each has written some more. Fails when one of
# them has ended, or makes no progress in two minutes.
steady_advance() {
	local before now i n
	mapfile -t before < <(steady_progress "$1")
	for ((n = 0; n < 2400; n++)); do
		mapfile -t now < <(steady_progress "$1")
		for ((i = 0; i < $1; i++)); do
			[[ ${now[i]} -gt $((before[i] + 1)) ]] || break
		done
		[[ $i -lt $1 ]] || return 0
		if ! kill -0 "${STEADY_PIDS[i]}" 2>/dev/null; then
			echo "writer $((i + 1)) has ended:" >&2
			cat "$STEADY/out.$((i + 1))" "$STEADY/err.$((i + 1))" >&2
			return 1
		fi
		sleep 0.05
	done
	echo "writer $((i + 1)) makes no progress: ${before[i]}, ${now[i]}" >&2
	cat "$STEADY/err.$((i + 1))" >&2
	return 1
}

# steady_round WRITERS COMMAND...: COMMAND while all of them are writing: each
# has written before it, none of them ends, and each goes on after it.
steady_round() {
	steady_advance "$1"
	# At any point of an append.
	sleep "0.0$((RANDOM % 100))"
	"${@:2}"
	steady_advance "$1"
}

# stop_steady WRITERS: all of them end well.
stop_steady() {
	local pid status=0
	: >"$STEADY/stop"
	for pid in "${STEADY_PIDS[@]}"; do
		wait "$pid" || status=1
	done
	[[ $status -eq 0 ]] || tail -n 5 "$STEADY"/{out,err}.*
	[[ $(cat "$STEADY"/out.* | grep -c '^acknowledged ') -eq $1 ]] || return 1
	return "$status"
}

steady_acknowledged() {
	awk '$1 == "acknowledged" { n += $2 } END { print n + 0 }' "$STEADY"/out.*
}

# all_there WRITERS FILE... [-- SIZE]: in these files, one after the other,
# each acknowledged record is there once, whole, in its writer's order, and
# nothing else.
all_there() {
	local i writers=$1
	shift
	for ((i = 1; i <= writers; i++)); do
		echo "w$i $(sed -n 's/^acknowledged //p' "$STEADY/out.$i")"
	done >"$STEADY/acknowledged"
	LC_ALL=C awk -v size="${STEADY_SIZE:-100}" '
		FILENAME == ARGV[1] { expected[$1] = $2; next }
		{ letter = substr("abcdefghijklmnopqrstuvwxyz", $2 % 26 + 1, 1) }
		length($0) != size - 1 || NF != 3 || !($1 in expected) ||
			$2 !~ /^[0-9]+$/ || $3 !~ "^" letter "+$" {
			print "torn: line " FNR ": " substr($0, 1, 60)
			bad++
			next
		}
		$2 + 0 != next_of[$1] + 0 {
			print $1 ": " $2 " where " next_of[$1] + 0 " should be"
			bad++
		}
		{ next_of[$1] = $2 + 1 }
		END {
			for (w in expected)
				if (next_of[w] + 0 != expected[w]) {
					print w ": " next_of[w] + 0 " of " expected[w]
					bad++
				}
			exit bad > 0
		}' "$STEADY/acknowledged" "$@" | head -n 20
	[[ ${PIPESTATUS[0]} -eq 0 ]]
}

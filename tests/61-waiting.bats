#!/usr/bin/env bats
# Answers of the scripted server that come late or never: asked again, waited
# for, or given up in time. See lib/injected.

load lib/load
load lib/scripted
load lib/programs
load lib/injected

@test "a reply that never comes: asked again on another connection" {
	local mode what
	faults=$(count 1000 3)
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		for what in drop ignore; do
			unharmed "on $CALL every 2 $what"
			[[ $(stats_sum reconnects) -ge $faults ]]
		done
	done
}

@test "a reply that comes late, after it was asked again" {
	local mode
	faults=$(count 1000 2)
	for mode in "${modes[@]}"; do
		as_mode "$mode"
		unharmed "on $CALL every 2 late 300ms"
		unharmed "on $CALL every 2 delay 300ms"
	done
}

@test "NFSAPPEND_TIMEOUT: EIO, told as in doubt, settled before the next" {
	local mode what
	for mode in $(count "${modes[*]}" 'guarded locked'); do
		for what in drop ignore 'cut after-execute' 'cut before' \
			'reply DELAY' 'late 3s'; do
			as_mode "$mode"
			SHIM_OPTIONS+=(--timeout 1)
			start_lines "$LOGS/x"
			append_line one
			echo "$mode: $what"
			tell "on $CALL $what" \
				"on v3 GETATTR nth 2 $what times 1000"
			write_line two
			line_answer
			[[ $REPLY = 'write EIO' ]]
			tell clear
			append_line three
			append_line four
			end_lines
			run paste -sd ' ' "$SERVED/x"
			echo "$output"
			case $what in
			'reply DELAY')
				[[ $output = 'one three four' ]]
				;;
			drop | 'cut after-execute' | late*)
				[[ $output = 'one two three four' ]]
				;;
			*)
				[[ $output = 'one three four' ||
					$output = 'one two three four' ]]
				;;
			esac
			case $what in
			drop | ignore | late*) grep -q 'may be in the file' "$MESSAGES" ;;
			esac
			: >"$MESSAGES"
		done
	done
}

@test "not responding is told once, OK once" {
	local mode
	for mode in $(count "${modes[*]}" 'guarded locked'); do
		as_mode "$mode"
		start_lines "$LOGS/x"
		append_line one
		tell "on $CALL cut before"
		write_line two
		until_true grep -q 'not responding' "$MESSAGES"
		# Not again: the server is asked many times meanwhile.
		sleep 2
		tell clear
		line_answer
		[[ $REPLY = 'write 4' ]]
		append_line three
		end_lines
		[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
		[[ $(grep -c 'not responding, still trying' "$MESSAGES") -eq 1 ]]
		[[ $(grep -c '127.0.0.1.* OK ' "$MESSAGES") -eq 1 ]]
		[[ $(wc -l <"$MESSAGES") -eq 2 ]]
		: >"$MESSAGES"
	done
}

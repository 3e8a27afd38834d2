#!/usr/bin/env bats
# Everything that reads bytes which we did not make, fed with what libFuzzer
# thinks of: tests/fuzz. From the seeds and the corpus on; ASan and UBSan watch,
# and each target checks what it was told.

bats_require_minimum_version 1.5.0
source "$BATS_TEST_DIRNAME/lib/shim.bash"

fuzz=$BATS_TEST_DIRNAME/fuzz

setup_file() {
	type -P clang >/dev/null ||
		skip 'clang is missing (Debian: clang, libclang-rt-14-dev)'
	export FUZZ_BUILT=$BATS_FILE_TMPDIR/built
	"$fuzz/build" "$FUZZ_BUILT" || return 1
	"$fuzz/seeds" "$FUZZ_BUILT/seeds"
}

# fuzzed TARGET SMALL: a million executions, or so many; a finding is printed,
# and what made it.
fuzzed() {
	local runs log=$BATS_TEST_TMPDIR/log found=$BATS_TEST_TMPDIR/found
	runs=$(count 1000000 "$2")
	mkdir "$found" "$found/corpus"
	if ! "$FUZZ_BUILT/$1" -runs="$runs" -timeout=60 -rss_limit_mb=2000 \
		-artifact_prefix="$found/" -print_final_stats=1 "$found/corpus" \
		"$FUZZ_BUILT/seeds/$1" "$fuzz/corpus/$1" >"$log" 2>&1; then
		grep -aE 'ERROR|runtime error|SUMMARY|^ +#[0-9]+ ' "$log" |
			head -n 40
		base64 "$found"/{crash,timeout,oom,leak}-* 2>/dev/null
		return 1
	fi
	sed -n 's/^stat::number_of_executed_units: */executed /p' "$log"
	[[ $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") -ge $runs ]]
}

@test "replies of a server, NFSv3, MOUNT, port mapper" {
	fuzzed fuzz_reply3 20000
}

@test "replies of a server, NFSv4.0, and the state kept between them" {
	fuzzed fuzz_reply4 20000
}

@test "record marks, in any portions" {
	fuzzed fuzz_fragments 20000
}

@test "URLs" {
	fuzzed fuzz_url 20000
}

@test "the environment" {
	fuzzed fuzz_env 5000
}

@test "placeholders of inherited descriptors" {
	fuzzed fuzz_placeholder 5000
}

@test "a host segment that somebody has scribbled on" {
	fuzzed fuzz_segment 1500
}

@test "the same, as nfsappend-status shows it" {
	fuzzed fuzz_status 10000
}

# Of all lines of the files that do nothing else.
@test "seeds and corpus reach four of five lines of each decoder" {
	[[ ${NFSAPPEND_FULL-} = 1 ]] || skip 'with --full only: another build'
	type -P llvm-cov llvm-profdata >/dev/null ||
		skip 'llvm is missing (Debian: llvm)'
	run "$fuzz/coverage" "$BATS_TEST_TMPDIR/coverage"
	echo "$output"
	[[ $status -eq 0 && ${#lines[@]} -ge 24 ]]
	[[ -z $(awk '$3 < 80' <<<"$output") ]]
}

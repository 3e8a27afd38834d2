#!/usr/bin/env bats
# The threaded tests of the commit queue under ThreadSanitizer.

bats_require_minimum_version 1.5.0

@test "make check-tsan: no data race" {
	local build=${NFSAPPEND_BUILD:-$BATS_TEST_DIRNAME/../build}
	[[ -z ${NFSAPPEND_SANITIZER-} ]] || skip 'a sanitizer of its own'
	[[ -f $build/Makefile ]] || skip 'there is no build folder'
	echo 'int main(void) { return 0; }' >"$BATS_TEST_TMPDIR/t.c"
	"${CC:-cc}" -fsanitize=thread -o "$BATS_TEST_TMPDIR/t" "$BATS_TEST_TMPDIR/t.c" &&
		"$BATS_TEST_TMPDIR/t" || skip 'the compiler has no ThreadSanitizer here'
	run -0 make -C "$build" check-tsan
	[[ $output != *'ThreadSanitizer'* || $output = *'fsanitize=thread'* ]]
	[[ $output != *'WARNING: ThreadSanitizer'* && $output != *'not ok'* ]]
}

#!/usr/bin/env bats
# Programs that people log with, unmodified. Each does the same to a local file
# and under the wrapper: bytes, modes, output and exit status must be the same.

load lib/load

@test "sh -c 'echo a >>': dash and bash" {
	local shell
	for shell in dash bash; do
		same_as_local "$shell" -c 'echo a >> @LOGS@/x'
		same_as_local "$shell" -c 'echo b >> @LOGS@/x'
	done
	[[ $(paste -sd ' ' "$SERVED/x") = 'a b a b' ]]
}

@test "a command that prints through stdio" {
	same_as_local sh -c "seq 1 5000 >> @LOGS@/x; $PROGRAMS/prog_print >> @LOGS@/x"
	[[ $(head -n 5000 "$SERVED/x" | tail -n 1) = 5000 ]]
}

@test "python3: open(..., 'a')" {
	same_as_local "$PYTHON" -c "f = open('@LOGS@/x', 'a')
f.write('one\n')
f.flush()
print('two', file=f)
print(f.tell())"
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two' ]]
}

@test "python3: unbuffered, text and binary, os.open" {
	same_as_local "$PYTHON" -c "import os
with open('@LOGS@/x', 'ab', buffering=0) as f:
    print(f.write(b'one\n'))
with open('@LOGS@/x', 'a', buffering=1) as f:
    print(f.write('two\n'))
fd = os.open('@LOGS@/x', os.O_WRONLY | os.O_APPEND)
print(os.write(fd, b'three\n'), os.writev(fd, [b'fo', b'ur\n']))
os.close(fd)"
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three four' ]]
}

@test "python3: logging.FileHandler" {
	same_as_local "$PYTHON" -c "import logging
logging.basicConfig(filename='@LOGS@/x', format='%(levelname)s %(message)s',
                    level=logging.INFO)
for i in range(50):
    logging.info('record %d', i)
try:
    1 / 0
except ZeroDivisionError:
    logging.exception('as it happens')"
	[[ $(grep -c '^INFO record' "$SERVED/x") -eq 50 ]]
}

@test "tee -a, one file and two" {
	same_as_local sh -c 'seq 1 1000 | tee -a @LOGS@/x'
	same_as_local sh -c 'echo more | tee -a @LOGS@/x @LOGS@/y'
	[[ $(wc -l <"$SERVED/x") -eq 1001 && $(cat "$SERVED/y") = more ]]
}

@test "perl: open with >>, print, syswrite" {
	same_as_local perl -e 'open F, ">>", "@LOGS@/x" or die;
		print F "one\n"; printf F "%s\n", "two"; print tell(F), "\n"; close F;
		open F, ">>", "@LOGS@/x" or die; syswrite F, "three\n";'
	[[ $(paste -sd ' ' "$SERVED/x") = 'one two three' ]]
}

@test "dd oflag=append conv=notrunc" {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip "ASan's allocator aborts dd for an aligned_alloc() of its own; the plain build shows it"
	same_as_local sh -c 'head -c 100000 /dev/zero | tr "\0" z |
		dd oflag=append conv=notrunc bs=1000 iflag=fullblock of=@LOGS@/x status=none
		echo end | dd oflag=append conv=notrunc of=@LOGS@/x status=none'
	[[ $(stat -c %s "$SERVED/x") -eq 100004 ]]
}

@test "cat, cp --append-like copies, head, sed into the file" {
	same_as_local sh -c 'cat /etc/passwd >>@LOGS@/x; cat /etc/passwd /etc/group >>@LOGS@/x
		head -c 10 /etc/passwd >>@LOGS@/x; sed -n 1p /etc/passwd >>@LOGS@/x'
}

@test "cat reads a large file into the log" {
	head -c 3000000 /dev/urandom >"$BATS_TEST_TMPDIR/large"
	same_as_local sh -c "cat '$BATS_TEST_TMPDIR/large' >>@LOGS@/x"
}

@test "a pipeline in a sub-shell, and one whose last command holds the file" {
	same_as_local bash -c '(seq 1 100 | grep 7 | sort -r) >>@LOGS@/x
		seq 1 10 | (while read -r n; do echo "n $n"; done >>@LOGS@/x)'
}

@test "a background child, then the parent" {
	same_as_local bash -c '(echo child; /bin/echo grandchild) >>@LOGS@/x &
		wait "$!"; echo parent >>@LOGS@/x'
	[[ $(paste -sd ' ' "$SERVED/x") = 'child grandchild parent' ]]
}

@test "awk and gzip, whose output is the log" {
	same_as_local sh -c 'awk "BEGIN { for (i = 0; i < 3000; i++) print i }" >>@LOGS@/x
		awk "BEGIN { print \"inner\" >> \"@LOGS@/y\" }"
		echo packed | gzip -n >>@LOGS@/z'
	[[ $(zcat "$SERVED/z") = packed && $(cat "$SERVED/y") = inner ]]
}

@test "nohup, env, nice, timeout and xargs in front" {
	same_as_local sh -c 'for front in env nice nohup "timeout 60" xargs; do
		$front echo "$front" </dev/null >>@LOGS@/x 2>/dev/null || exit; done'
	[[ $(wc -l <"$SERVED/x") -eq 5 ]]
}

@test "a script by its #! line" {
	printf '#!/bin/sh\necho script "$@" >>"$LOGS/x"\n' >"$BATS_TEST_TMPDIR/script"
	chmod +x "$BATS_TEST_TMPDIR/script"
	run_shimmed "$BATS_TEST_TMPDIR/script" a b
	[[ $status -eq 0 && $(cat "$SERVED/x") = 'script a b' ]]
}

@test "every program above left something behind only on the server" {
	in_control && skip 'needs the shim: the control leaves local files'
	run_shimmed sh -c 'echo a >>"$LOGS/x"; echo b | tee -a "$LOGS/x" >/dev/null'
	[[ $status -eq 0 && $(stats_sum bytes) -eq $(stat -c %s "$SERVED/x") ]]
	[[ $(stats_values server) = *127.0.0.1* ]]
}

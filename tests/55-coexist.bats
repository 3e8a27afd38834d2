#!/usr/bin/env bats
# Beside what else may be in a process: other preloads, allocators, sanitizers,
# sandboxes; and children that we cannot be in.

load lib/load

# Its own programs, compiled where this machine can.
# compile OUT FLAG... SOURCE
compile() {
	local out=$1
	shift
	"${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -pthread -o "$out" "$@" \
		2>"$BATS_TEST_TMPDIR/compiler" ||
		skip "cannot compile with $*: $(tail -n 1 "$BATS_TEST_TMPDIR/compiler")"
}

not_beside_a_sanitizer() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip "a sanitizer's runtime takes the place of the other preload"
}

counter() {
	not_beside_a_sanitizer
	in_control && skip 'needs the shim: it is about the order of preloads'
	COUNTER=$BATS_TEST_TMPDIR/counter.so
	compile "$COUNTER" -shared -fPIC \
		"$BATS_TEST_DIRNAME/programs/tools/preload-counter.c"
}

@test "another preload behind ours sees what is not ours, and only that" {
	counter
	run_shimmed env LD_PRELOAD="$SHIM_LIBRARY $COUNTER" \
		"$PROGRAMS/prog_append" "$BATS_TEST_TMPDIR/local" 7
	[[ $status -eq 0 && $output = *'COUNTER writes 7' && -z $stderr ]]
	run_shimmed env LD_PRELOAD="$SHIM_LIBRARY $COUNTER" \
		"$PROGRAMS/prog_append" "$LOGS/x" 7
	[[ $status -eq 0 && $output != *COUNTER* && -z $stderr ]]
	cmp "$BATS_TEST_TMPDIR/local" "$SERVED/x"
}

@test "another preload before ours sees everything" {
	counter
	run_shimmed env LD_PRELOAD="$COUNTER $SHIM_LIBRARY" \
		"$PROGRAMS/prog_append" "$LOGS/x" 7
	[[ $status -eq 0 && $output = *'COUNTER writes 7' && -z $stderr ]]
	[[ $(wc -l <"$SERVED/x") -eq 7 ]]
}

@test "another preload behind ours, with nothing mapped" {
	counter
	run --separate-stderr env LD_PRELOAD="$SHIM_LIBRARY $COUNTER" \
		"$PROGRAMS/prog_append" "$BATS_TEST_TMPDIR/local" 7
	[[ $status -eq 0 && $output = *'COUNTER writes 7' && -z $stderr ]]
}

# As they are found on Debian.
jemalloc() {
	not_beside_a_sanitizer
	in_control && skip 'needs the shim: it is about the order of preloads'
	JEMALLOC=$(ldconfig -p | sed -nE 's/.*libjemalloc\.so\.2 .*=> //p' | head -n 1)
	[[ -n $JEMALLOC ]] || skip 'no jemalloc (Debian: apt-get install libjemalloc2)'
}

with_preloads() {
	local records
	records=$(count 1000 100)
	mkdir -p "$SERVED/a"
	run_shimmed env LD_PRELOAD="$*" "$PYTHON" -c "import logging, threading
logging.basicConfig(filename='$LOGS/a/x', format='%(message)s', level=logging.INFO)
def work(n):
    for i in range($records // 4):
        logging.info('%d %s', n, 'x' * i)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads: t.start()
for t in threads: t.join()"
	[[ $status -eq 0 && -z $stderr ]]
	[[ $(wc -l <"$SERVED/a/x") -eq $records ]]
	[[ $(grep -cE '^[0-3] x*$' "$SERVED/a/x") -eq $records ]]
	run_shimmed env LD_PRELOAD="$*" bash -c 'for i in 1 2 3; do
		echo "$i"; /bin/echo "child $i"; done >>"$LOGS/y"'
	[[ $status -eq 0 && $(wc -l <"$SERVED/y") -eq 6 ]]
}

@test "jemalloc before ours" {
	jemalloc
	with_preloads "$JEMALLOC" "$SHIM_LIBRARY"
}

@test "jemalloc behind ours" {
	jemalloc
	with_preloads "$SHIM_LIBRARY" "$JEMALLOC"
}

# sanitized FLAG...: a program that writes in every way, built with them.
sanitized() {
	local program=$BATS_TEST_TMPDIR/sanitized
	not_beside_a_sanitizer
	compile "$program" "$@" -g "$BATS_TEST_DIRNAME/programs/prog_sandbox.c"
	export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
	export TSAN_OPTIONS=halt_on_error=1
	# Does it run here at all? Some kernels place memory where old runtimes
	# do not expect it.
	in_server "$program" before sched_yield "$BATS_TEST_TMPDIR/control" ||
		skip "a program built with $* does not run here without us either"
	run_shimmed "$program" before sched_yield "$LOGS/x"
	[[ $status -eq 0 && -z $output && -z $stderr ]]
	cmp "$BATS_TEST_TMPDIR/control" "$SERVED/x"
}

@test "ASan, gcc, its runtime linked statically" {
	sanitized -fsanitize=address -static-libasan
}

@test "ASan, gcc, its runtime a library" {
	sanitized -fsanitize=address
}

@test "ASan, clang" {
	CC=clang sanitized -fsanitize=address
}

@test "TSan, gcc" {
	sanitized -fsanitize=thread
}

@test "TSan, clang" {
	CC=clang sanitized -fsanitize=thread
}

@test "UBSan, clang" {
	CC=clang sanitized -fsanitize=undefined
}

# confined WHEN WHAT: every line arrives.
confined() {
	run_shimmed "$PROGRAMS/prog_sandbox" "$1" "$2" "$LOGS/$1-$2"
	[[ $status -ne 77 ]] || skip "this kernel cannot do that: $2"
	[[ $status -eq 0 && -z $output ]]
	[[ $(paste -sd ' ' "$SERVED/$1-$2") = 'line 1 line 2 line 3 line 4 line 5 line 6' ]]
}

@test "PR_SET_MDWE (MemoryDenyWriteExecute), before open and after" {
	confined before mdwe
	confined after mdwe
}

@test "seccomp filters: what we would like but can do without" {
	local name
	not_beside_a_sanitizer
	for name in statx process_vm_readv prlimit64 madvise flock fallocate \
		sched_yield kcmp,ptrace statx,process_vm_readv,prlimit64,madvise; do
		confined before "$name"
		confined after "$name"
	done
}

@test "seccomp filters: what we need: an error, and nothing lands elsewhere" {
	not_beside_a_sanitizer
	in_control && skip 'needs the shim: the kernel needs none of these'
	local name
	for name in memfd_create socket; do
		run_shimmed "$PROGRAMS/prog_sandbox" before "$name" "$LOGS/$name"
		[[ $status -eq 1 && $output = open\ * && -n $stderr ]]
		[[ ! -s $SERVED/$name ]]
	done
}

# static32 SOURCE: a program of 32 bits that knows no library.
static32() {
	printf '%s\n' '.globl _start' '_start: movl $4, %eax; movl $1, %ebx' \
		'movl $text, %ecx; movl $5, %edx; int $0x80' \
		'movl %eax, %ebx; shrl $31, %ebx; movl $1, %eax; int $0x80' \
		'.data' 'text: .ascii "lost\n"' >"$BATS_TEST_TMPDIR/32.s"
	[[ $(uname -m) = x86_64 ]] || skip 'for x86-64 only'
	compile "$BATS_TEST_TMPDIR/32" -m32 -nostdlib -static "$BATS_TEST_TMPDIR/32.s"
	[[ $(in_server "$BATS_TEST_TMPDIR/32") = lost ]] ||
		skip 'this kernel runs no programs of 32 bits'
}

@test "a child of 32 bits: its write fails, and harms nobody's" {
	in_control && skip 'needs the shim: the kernel serves them'
	static32
	run_shimmed bash -c 'exec >>"$LOGS/x"; echo before; "$1" ; echo "status $?"; echo after' \
		bash "$BATS_TEST_TMPDIR/32"
	[[ $status -eq 0 ]]
	[[ $(paste -sd , "$SERVED/x") = 'before,status 1,after' ]]
}

@test "a static child: its write fails, and harms nobody's" {
	in_control && skip 'needs the shim: the kernel serves them'
	printf '%s\n' 'int main(void) { return write(1, "lost\n", 5) != 5; }' >"$BATS_TEST_TMPDIR/s.c"
	compile "$BATS_TEST_TMPDIR/s" -static -include unistd.h "$BATS_TEST_TMPDIR/s.c"
	run_shimmed bash -c 'exec >>"$LOGS/x"; echo before; "$1" ; echo "status $?"; echo after' \
		bash "$BATS_TEST_TMPDIR/s"
	[[ $status -eq 0 ]]
	[[ $(paste -sd , "$SERVED/x") = 'before,status 1,after' ]]
}

# musl's loader would end it: it resolves glibc's names in our library.
@test "a child of another C library: runs, by every exec call, with one message" {
	in_control && skip 'needs the shim'
	not_beside_a_sanitizer
	type -P musl-gcc >/dev/null || skip 'no musl-gcc (Debian: apt-get install musl-tools)'
	echo 'int main(void) { puts("musl"); return 5; }' >"$BATS_TEST_TMPDIR/m.c"
	CC=musl-gcc compile "$BATS_TEST_TMPDIR/m" -include stdio.h "$BATS_TEST_TMPDIR/m.c"
	printf '#!%s\n' "$BATS_TEST_TMPDIR/m" >"$BATS_TEST_TMPDIR/script"
	chmod +x "$BATS_TEST_TMPDIR/script"
	local call
	for call in 'os.execv(p, [p])' 'os.execve(p, [p], os.environ)' \
		'os.execvp("m", ["m"])' 'os.execv(p[:-1] + "script", ["script"])' \
		'os.waitpid(os.posix_spawn(p, [p], os.environ), 0)' \
		'os.waitpid(os.posix_spawnp("m", ["m"], os.environ), 0)' \
		'subprocess.run([p])' 'os.system(p)'; do
		run_shimmed env PATH="$BATS_TEST_TMPDIR:$PATH" "$PYTHON" -c \
			"import os, subprocess; p = '$BATS_TEST_TMPDIR/m'; $call"
		[[ $output = musl ]]
		one_message N401 'another C library'
	done
}

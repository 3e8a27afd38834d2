# shellcheck shell=bash
# What readelf says of the defences of an ELF file.

# elf_lacks FILE: one word for each defence that FILE is without.
elf_lacks() {
	local dynamic segments
	dynamic=$(readelf -dW "$1") && segments=$(readelf -lW "$1") || return
	# Its relocations are done, and what they changed is read-only then.
	grep -q '^ *GNU_RELRO ' <<<"$segments" || echo relro
	grep -qE 'FLAGS_1\).* NOW|\(BIND_NOW\)|FLAGS\).* BIND_NOW' <<<"$dynamic" || echo now
	# Neither stack nor data is code, and code is never written to.
	grep -qE '^ *GNU_STACK .* RW +0x' <<<"$segments" || echo noexecstack
	! grep -qE '^ *LOAD .* RWE ' <<<"$segments" || echo wx
	! grep -qE '\(TEXTREL\)|FLAGS\).* TEXTREL' <<<"$dynamic" || echo textrel
	# It can lie anywhere.
	readelf -hW "$1" | grep -qE '^ *Type: +DYN ' || echo pie
	# Its libraries are those of the system.
	! grep -qE '\((RPATH|RUNPATH)\)' <<<"$dynamic" || echo rpath
	# Functions with buffers look at a canary.
	elf_imports "$1" | grep -q '^__stack_chk_' || echo canary
}

elf_imports() {
	nm -D --undefined-only --format=posix "$1" | sed 's/[@ ].*//'
}

# elf_fortified FILE: the checked functions of libc that it calls.
elf_fortified() {
	elf_imports "$1" | grep -E '^__.*_chk$' | grep -v '^__stack_chk'
}

# elf_landings FILE: instructions that an indirect jump may go to.
elf_landings() {
	objdump -d --no-show-raw-insn "$1" |
		grep -cE '\s(endbr64|paciasp|pacibsp|bti( c| j| jc)?|hint +#0x(19|1b|22|24|26))\s*$'
}

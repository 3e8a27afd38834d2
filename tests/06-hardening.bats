#!/usr/bin/env bats
# What is installed is built with the defences that compiler and linker know.

bats_require_minimum_version 1.5.0
load lib/shim
load lib/elf

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'a build with sanitizers has none of it; the plain run shows it'
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	folder=$(dirname "$(shim_library)")
	cd "$BATS_TEST_TMPDIR" || return 1
}

# The programs and shared objects of the installation.
elf_files() {
	local file
	for file in "$folder"/*; do
		! head -c 4 "$file" | grep -qaF $'\x7fELF' || echo "$file"
	done
}

@test "no file lacks relro, now, noexecstack, PIE or a canary" {
	local file lacks failed=0
	[[ $(elf_files | grep -cE '/(libnfsappend.so|nfsappend-nfs.so|nfsappend-exec)$') -eq 3 ]]
	while read -r file; do
		lacks=$(elf_lacks "$file")
		[[ -z $lacks ]] || {
			echo "$file lacks" "$lacks"
			failed=1
		}
	done < <(elf_files)
	[[ $failed -eq 0 ]]
}

@test "what is built without them is seen" {
	printf '%s\n' 'char t[9]; int main(int c, char **v) { return t[c]; }' >weak.c
	"${CC:-gcc}" -O1 -fno-stack-protector -no-pie -Wl,-z,norelro,-z,lazy \
		-Wl,-z,execstack -Wl,-rpath,/tmp -o weak weak.c
	run -0 elf_lacks weak
	echo "$output"
	[[ ${lines[*]} = 'relro now noexecstack pie rpath canary' ]]
}

@test "the hooks call no checked function that they are themselves" {
	local hooks
	hooks=$(sed -n 's/^HOOK(\([a-zA-Z0-9_]*\), \(hooked\|watched\),.*/\1/p' \
		"$shim_root/lib/preload/hooks.def" | sort)
	grep -qx __read_chk <<<"$hooks"
	run -0 comm -12 <(echo "$hooks") <(elf_imports "$(shim_library)" | sort)
	echo "$output"
	[[ -z $output ]]
}

@test "core and module are fortified" {
	run elf_fortified "$folder/nfsappend-nfs.so"
	[[ $output = *__memcpy_chk* ]]
	run elf_fortified "$(shim_library)"
	[[ $output = *__memcpy_chk* ]]
}

# Needed of every object that is linked, also those of libc: else the loader
# does not turn it on. Whether our part is done tells the code.
@test "indirect jumps land where they should, as far as the compiler knows that" {
	local file functions own
	printf '%s\n' '#if !defined(__CET__) && !defined(__ARM_FEATURE_BTI_DEFAULT)' \
		'#error none' '#endif' >cfi.c
	case $(uname -m) in
	x86_64) "${CC:-gcc}" -fcf-protection=full -c cfi.c ;;
	aarch64) "${CC:-gcc}" -mbranch-protection=standard -c cfi.c ;;
	esac || skip 'the compiler knows neither -fcf-protection nor -mbranch-protection'
	for file in "$(shim_library)" "$folder/nfsappend-nfs.so"; do
		functions=$(nm -D --defined-only --format=posix "$file" | grep -c ' [TW] ')
		own=$(elf_landings "$file")
		echo "$file: $functions exported functions, $own places to land"
		[[ $own -ge $functions && $own -gt 0 ]]
	done
}

#!/usr/bin/env bats
# Completion in an interactive bash with bash-completion's own functions.

bats_require_minimum_version 1.5.0
load lib/shim

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] ||
		skip 'nothing of it is compiled; the plain run shows it'
	[[ -e /usr/share/bash-completion/bash_completion ]] ||
		skip 'bash-completion is not installed'
	: "${NFSAPPEND_PREFIX:=$shim_root/build/root}"
	completion=$NFSAPPEND_PREFIX/share/bash-completion/completions/nfsappend
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir -p folder
	touch folder/file
}

# typed LINE WANTED: the line after a tab; typed_all: with all candidates in it.
typed() {
	run -0 "$shim_lib/complete" "$completion" "nfsappend $1"
	echo "typed: nfsappend $1; completed: $output"
	[[ $output = "nfsappend $2" ]]
}

typed_all() {
	run -0 "$shim_lib/complete" "$completion" "nfsappend $1" all
	echo "typed: nfsappend $1; candidates: $output"
	[[ $output = "nfsappend $2" ]]
}

@test "options, as many as the wrapper has" {
	typed '--sh' '--sharing '
	typed '--pri' '--print-env '
	run -0 "$shim_lib/complete" "$completion" 'nfsappend -' all
	diff -u <("$NFSAPPEND_PREFIX/bin/nfsappend" --help |
		grep -oE '^  (-[a-z]|--[a-z-]+)' | tr -d ' ' | sort) \
		<(tr ' ' '\n' <<<"${output#nfsappend }" | grep . | sort)
}

@test "values, behind a space and behind =" {
	typed '--sharing g' '--sharing guarded '
	typed '--sharing=l' '--sharing=locked '
	typed_all '--sharing ' '--sharing auto guarded locked single '
	typed_all '--fallback=' '--fallback=fail kernel '
	typed_all '--log ' '--log debug error info off warn '
	typed '--log warn:fold' '--log warn:folder/'
	typed '--log=warn:folder/fi' '--log=warn:folder/file '
	typed '--stats std' '--stats stderr '
	typed '--stats=folder/f' '--stats=folder/file '
	typed '--timeout ' '--timeout '
	typed '-p fold' '-p folder/'
	typed '-m /usr/share/bash-comp' '-m /usr/share/bash-completion/'
	typed '-m /logs=n' '-m /logs=nfs://'
}

@test "a mount of the kernel as the URL of -m" {
	printf '%s\n' 'nas:/export/logs /mnt/logs nfs4 rw 0 0' \
		'/dev/sda1 / ext4 rw 0 0' >mounts
	sed "s|/proc/self/mounts|$PWD/mounts|" "$completion" >with-mounts
	run -0 "$shim_lib/complete" "$PWD/with-mounts" \
		'nfsappend -m /logs=nfs://n'
	[[ $output = 'nfsappend -m /logs=nfs://nas/export/logs' ]]
}

@test "then the command, and what that completes itself" {
	typed '-p folder unshar' '-p folder unshare '
	typed '-- unshar' '-- unshare '
	typed '-p folder bash --norc folder/f' '-p folder bash --norc folder/file '
	cat >rc <<-'RC'
		_itself() { mapfile -t COMPREPLY < <(compgen -W 'alpha omega' -- "$2"); }
		complete -F _itself itself
		RC
	cat "$completion" rc >with-itself
	run -0 "$shim_lib/complete" "$PWD/with-itself" \
		'nfsappend --log=warn:folder/file -m /logs=nfs://nas/logs?version=4 -- itself al'
	[[ $output = *' -- itself alpha ' ]]
	# What comes behind the command is not ours.
	typed 'itself --sh' 'itself --sh'
}

@test "sub-commands, where no -- forbids it" {
	typed 'doct' 'doctor '
	typed '--log info doct' '--log info doctor '
	typed '-- doct' '-- doct'
	run -0 "$shim_lib/complete" "$completion" 'nfsappend ' all
	[[ " $output " = *' doctor '* && " $output " = *' status '* && " $output " = *' bench '* ]]
	typed 'status --js' 'status --json '
	typed 'doctor folder/f' 'doctor folder/file '
	typed 'doctor unshar' 'doctor unshare '
	typed 'doctor -' 'doctor -'
	typed_all 'doctor -' 'doctor --help -t '
	typed_all 'bench --' 'bench --help --seconds --timeout '
	typed 'bench fol' 'bench folder/'
	typed_all 'status --' 'status --help --json --watch '
}

@test "shellcheck finds nothing" {
	type -P shellcheck >/dev/null || skip 'shellcheck is not installed'
	shellcheck "$completion"
}

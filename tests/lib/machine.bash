# shellcheck shell=bash
# A machine of its own for the files of examples/: this system's root as a
# copy-on-write view, Debian's packages of the daemons laid over it, nfsappend
# under /usr, and systemd as process 1, in namespaces inside those of the
# private server, which is the host "nas" there. So the examples lie where they
# belong and are run as they stand, not a byte of them changed. Comes after
# lib/load and lib/programs.
#
# setup_file() { SERVER_NFS_PORT=2049 start_server; setup_shim; machine_start PACKAGE...; }
#
# Exports MACHINE, its folder, and MACHINE_INIT, the pid of its systemd, which
# ends with the server's namespaces. Where no systemd can be booted,
# MACHINE_INIT is empty, and MACHINE/why says why.

machine_lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# machine_files FOLDER: what the packages do not bring.
machine_files() {
	local units=$1/etc/systemd/system
	mkdir -p "$units/service.d" "$units/socket.d" "$1/usr/bin" "$1/usr/local/bin" \
		"$1$MACHINE_LIBRARY_DIR"
	sed "s,^pkglibdir=.*,pkglibdir='$MACHINE_LIBRARY_DIR'," "$SHIM_WRAPPER" \
		>"$1/usr/bin/nfsappend"
	chmod 755 "$1/usr/bin/nfsappend"
	printf '127.0.0.1 localhost nas\n' >"$1/etc/hosts"
	echo machine >"$1/etc/hostname"
	# Nothing but what a test starts: no boot before it.
	printf '[Unit]\nDefaultDependencies=no\n' |
		tee "$units/machine.target" "$units/service.d/test.conf" \
			>"$units/socket.d/test.conf"
}

# machine_start PACKAGE...: and once it has booted, the folder of the logs.
machine_start() {
	local package trees=() i
	MACHINE=$BATS_FILE_TMPDIR/machine
	MACHINE_LIBRARY_DIR=/usr/lib/$(gcc -print-multiarch)/nfsappend
	NFSAPPEND_LIBRARY_DIR=$(dirname "$SHIM_LIBRARY")
	export MACHINE MACHINE_INIT='' MACHINE_LIBRARY_DIR NFSAPPEND_LIBRARY_DIR
	mkdir -p "$MACHINE/files"
	for package; do
		trees+=("$("$machine_lib/../programs/unpack" "$package" 2>"$MACHINE/why")") ||
			return 0
	done
	machine_files "$MACHINE/files"
	mkdir -m 755 "$SERVER_EXPORT/logs"
	in_server unshare --mount --pid --fork --kill-child --cgroup --ipc --uts \
		--mount-proc --propagation private -- \
		"$machine_lib/machine-init" "$MACHINE" "${trees[@]}" \
		>"$MACHINE/console" 2>&1 </dev/null 3>&- 4>&- 5>&- &
	machine_pid "$!"
	for ((i = 0; i < 600; i++)); do
		[[ $(in_machine systemctl is-active machine.target 2>/dev/null) != active ]] ||
			return 0
		sleep 0.05
	done
	MACHINE_INIT=
	{ echo 'it is silent' && cat "$MACHINE/console"; } >"$MACHINE/why"
}

# machine_pid PID: sets MACHINE_INIT to the first descendant of PID that is
# process 1 of its namespace; empty if there is none.
machine_pid() {
	local pid=$1 i
	for ((i = 0; i < 600; i++)); do
		if [[ $(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status" 2>/dev/null) = 1 ]]; then
			MACHINE_INIT=$pid
			return
		fi
		# The kernel ends this list with a space, not with a newline.
		read -r -d ' ' pid <"/proc/$pid/task/$pid/children" || {
			pid=$1
			sleep 0.05
		}
	done 2>/dev/null
}

# in_machine COMMAND...: as root there; its exit status is COMMAND's.
in_machine() {
	[[ -n $MACHINE_INIT ]] || return 1
	nsenter --target "$MACHINE_INIT" --net --mount --pid --ipc --uts --cgroup -- \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# machine_write PATH [MODE]: standard input becomes that file.
machine_write() {
	# shellcheck disable=SC2016 # expanded inside
	in_machine sh -c 'mkdir -p "${1%/*}" && cat >"$1" && chmod "$2" "$1"' sh \
		"$1" "${2:-644}"
}

# shellcheck shell=bash
# A private NFS server for the tests of one bats file: nfs-ganesha on loopback,
# in network, mount and PID namespaces of its own, so that files run side by
# side without sharing a port, and nothing outlives the test run, kill -9
# included: the process that called start_server is the parent whose death ends
# the namespace (PR_SET_PDEATHSIG), and with it every client in it.
#
# setup_file() { start_server; }   teardown_file() { stop_server; }
#
# start_server reads SERVER_LEASE, SERVER_GRACE (seconds), SERVER_GRACELESS
# (true: no grace period after a restart), SERVER_SMALL_SIZE (tmpfs size of the
# export "small") and SERVER_NFS_PORT; SERVER_DIR says where it lives, by default
# in the file's temporary folder. It exports to the tests:
#   SERVER_DIR       the server's folder: export/ readonly/ forbidden/ small/
#   SERVER_EXPORT    $SERVER_DIR/export, what nearly all tests use
#   SERVER_INIT      pid (of the host) of process 1 of the namespaces
#   SERVER_PORTS     the URL arguments nfsport=...&mountport=...
# Exports: "export" (read-write, root not squashed), "readonly", "forbidden"
# (no client is admitted), "small" (its file system is a small tmpfs, to be
# seen through in_server only).

server_lib=$(cd "${BASH_SOURCE[0]%/*}" && pwd)

# What start_server needs and this machine lacks, as one line; nothing if all
# is there.
server_missing() {
	local tool missing=()
	[[ $(id -u) = 0 ]] || missing+=('root (namespaces and file handles)')
	for tool in ganesha.nfsd rpcbind ip unshare nsenter setpriv perl; do
		type -P "$tool" >/dev/null || missing+=("$tool")
	done
	# Where nfs-ganesha looks up what an export is on; some chroots lack it.
	[[ -e /etc/mtab ]] || missing+=('/etc/mtab (ln -s ../proc/self/mounts /etc/mtab)')
	[[ ${#missing[@]} -eq 0 ]] || (IFS=,; echo "${missing[*]}")
}

# nfs-ganesha 6 exports no tmpfs: there is no "small" then, and a test that
# needs it skips.
server_takes_tmpfs() {
	[[ $(ganesha.nfsd -v 2>&1 | sed -nE 's/.*Release = V?([0-9]+)\..*/\1/p') -lt 6 ]]
}

server_conf() {
	local name access id=0 newer=''
	# It wants to be an I/O flusher, which root in a container may not become.
	server_takes_tmpfs || newer='Allow_Set_Io_Flusher_Fail = true;'
	cat <<-CONF
	NFS_CORE_PARAM {
		NFS_Port = ${SERVER_NFS_PORT:-20490}; MNT_Port = 20491; NLM_Port = 20492;
		Rquota_Port = 20493; Protocols = 3,4;
		Enable_UDP = false; Enable_RQUOTA = false; Enable_NLM = false;
		fsid_device = true; $newer
	}
	NFSV4 {
		Lease_Lifetime = ${SERVER_LEASE:-60};
		Grace_Period = ${SERVER_GRACE:-1};
		Graceless = ${SERVER_GRACELESS:-true};
		RecoveryRoot = $SERVER_DIR/recovery; RecoveryBackend = fs;
		Minor_Versions = 0,1,2;
	}
	EXPORT_DEFAULTS {
		# Tests change files behind the server's back.
		Attr_Expiration_Time = 0;
		SecType = sys; Squash = No_Root_Squash; Protocols = 3,4;
		Transports = TCP;
	}
	LOG { Default_Log_Level = WARN; }
	CONF
	for name in export readonly forbidden small; do
		[[ $name != small ]] || server_takes_tmpfs || continue
		id=$((id + 1))
		access=RW
		case $name in
		readonly) access=RO ;;
		forbidden) access=None ;;
		esac
		cat <<-CONF
		EXPORT {
			Export_Id = $id; Path = $SERVER_DIR/$name;
			Pseudo = /$name; Access_Type = $access;
			FSAL { Name = VFS; }
		}
		CONF
	done
}

start_server() {
	local missing line fd
	missing=$(server_missing)
	if [[ -n $missing ]]; then
		echo "start_server: missing: $missing" >&2
		return 1
	fi
	: "${SERVER_DIR:=$BATS_FILE_TMPDIR/server}"
	SERVER_EXPORT=$SERVER_DIR/export
	export SERVER_NFS_PORT=${SERVER_NFS_PORT:-20490}
	SERVER_PORTS="nfsport=$SERVER_NFS_PORT&mountport=20491"
	mkdir -p "$SERVER_DIR"/{export,readonly,forbidden,small,recovery} || return 1
	chmod 1777 "$SERVER_DIR"/{export,readonly,forbidden} || return 1
	server_conf >"$SERVER_DIR/ganesha.conf" || return 1
	printf '%s\n' "$SERVER_DIR"/{export,readonly} >"$SERVER_DIR/exported"
	if server_takes_tmpfs; then
		echo "$SERVER_DIR/small" >>"$SERVER_DIR/exported"
	fi
	# The exec matters: the death signal counts for the direct parent.
	exec {fd}< <(
		exec 3>&- 4>&- 5>&-
		export SERVER_SMALL_SIZE=${SERVER_SMALL_SIZE:-256k}
		exec setpriv --pdeathsig KILL -- unshare --net --mount --pid --fork \
			--kill-child --mount-proc --propagation private -- \
			"$server_lib/server-init" "$SERVER_DIR" 2>>"$SERVER_DIR/server.log"
	)
	SERVER_UNSHARE=$!
	read -r -t 60 -u "$fd" line
	if [[ $line != ready ]]; then
		{
			echo "start_server: ${line:-no answer}"
			cat - "$SERVER_DIR/server.log" <&"$fd"
		} >&2
		exec {fd}<&-
		stop_server
		return 1
	fi
	exec {fd}<&-
	# The kernel ends this list with a space, not with a newline.
	read -r -d ' ' SERVER_INIT \
		<"/proc/$SERVER_UNSHARE/task/$SERVER_UNSHARE/children" || return 1
	export SERVER_DIR SERVER_EXPORT SERVER_PORTS SERVER_INIT SERVER_UNSHARE
}

stop_server() {
	[[ -n ${SERVER_UNSHARE-} ]] || return 0
	kill -KILL "$SERVER_UNSHARE" 2>/dev/null || :
	wait "$SERVER_UNSHARE" 2>/dev/null || :
	unset SERVER_UNSHARE SERVER_INIT
}

# in_server COMMAND...: runs COMMAND in the server's namespaces, in the present
# folder; its exit status is COMMAND's.
in_server() {
	# --root: of a chroot. Not --wdns, which util-linux before 2.38 has not.
	nsenter --target "$SERVER_INIT" --net --mount --pid --root -- env -C "$PWD" -- "$@"
}

# URL of an export by NFSv3 (MOUNT paths), with further URL arguments.
# server_url [EXPORT[/SUB]] [ARGS]
server_url() {
	echo "nfs://127.0.0.1$SERVER_DIR/${1:-export}?$SERVER_PORTS${2:+&$2}"
}

# The same by NFSv4 (pseudo root).
server_url_v4() {
	echo "nfs://127.0.0.1/${1:-export}?version=4&nfsport=$SERVER_NFS_PORT${2:+&$2}"
}

# nfs-ganesha's pid inside the server's PID namespace.
server_pid() {
	cat "$SERVER_DIR/ganesha.pid"
}

# server_signal SIGNAL: to nfs-ganesha. STOP makes it silent, CONT wakes it.
server_signal() {
	local pid i
	pid=$(server_pid)
	# Not kill(1), which a small system lacks.
	in_server sh -c 'kill -s "$1" "$2"' sh "$1" "$pid" || return
	[[ $1 = STOP ]] || return 0
	# A thread that runs at this moment stops a moment later.
	for ((i = 0; i < 200; i++)); do
		# shellcheck disable=SC2016 # expanded inside
		! in_server sh -c 'cat /proc/"$1"/task/*/status' sh "$pid" |
			grep '^State:' | grep -qv 'T (stopped)' || continue
		return 0
	done
	return 1
}

# The server is gone, its port refuses.
server_kill() {
	server_signal KILL
	server_wait_gone
}

server_wait_gone() {
	local i
	for ((i = 0; i < 500; i++)); do
		in_server test -e "/proc/$(server_pid)" || return 0
		sleep 0.02
	done
	echo 'nfs-ganesha does not die' >&2
	return 1
}

# The server runs and is awake, whatever an earlier test left behind.
server_ensure() {
	if in_server test -e "/proc/$(server_pid)"; then
		server_signal CONT
	else
		server_restart
	fi
}

# On the same port, after server_kill or while it runs (then killed first).
server_restart() {
	if in_server test -e "/proc/$(server_pid)"; then
		server_kill || return 1
	fi
	in_server "$server_lib/ganesha-up" "$SERVER_DIR" 3>&- 4>&- 5>&-
}

# shellcheck shell=bash
# guest.bash: User-Mode Linux guests and a network for them, for tests of
# several hosts and of power failure. Source it in what `contain` runs (a bats
# file: `contain bats hosts.bats`), which also takes care that nothing
# outlives the test. State is in files, so any shell of the test may use any
# guest that another one started. Network: 10.77.0.0/24, guests .1 to .9, the
# namespace's own processes .254.

VM_HERE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
VM_DIR=${VM_DIR:-${TMPDIR:-/tmp}/vm}

vm_say() { echo "vm: $*" >&2; }

# vm_check : says what is missing to boot a guest.
vm_check() {
	local program missing=
	[ -n "${VM_CONTAINED:-}" ] ||
		{ vm_say "must run inside tests/vm/contain"; return 1; }
	for program in linux.uml bats mkfs.ext4 modprobe rpc.nfsd mount.nfs \
		rpcbind tc unshare pgrep; do
		[ -n "$(PATH=$PATH:/usr/sbin:/sbin type -P $program)" ] ||
			missing+=" $program"
	done
	[ -z "$missing" ] || {
		vm_say "not installed:$missing; as root: apt-get install" \
			"$(tr '\n' ' ' <"$VM_HERE/packages")"
		return 1
	}
	case $VM_HERE in *[[:space:]]*)
		vm_say "no white space in $VM_HERE, please (kernel arguments)"
		return 1 ;;
	esac
}

# net_up : a bridge and one tap for each of nine guests, in this namespace.
net_up() {
	local i
	[ -n "${VM_CONTAINED:-}" ] ||
		{ vm_say "net_up must run inside tests/vm/contain"; return 1; }
	ip link add br0 type bridge forward_delay 0 &&
		ip addr add 10.77.0.254/24 dev br0 && ip link set br0 up &&
		ip route change 10.77.0.0/24 dev br0 proto kernel scope link \
			src 10.77.0.254 rto_min 2ms || return
	for i in {1..9}; do
		ip tuntap add dev "tp$i" mode tap &&
			ip link set "tp$i" up master br0 || return
	done
}

net_down() {
	local i
	for i in {1..9}; do ip link del "tp$i"; done
	ip link del br0
}

# The CPU for the next guest, in turn. A guest is a handful of processes that
# take turns; on one CPU an RPC takes a third of the time.
vm_next_cpu() {
	local list part cpu cpus=() n
	list=$(taskset -pc $BASHPID)
	for part in $(tr ',' ' ' <<<"${list##*: }"); do
		for ((cpu = ${part%-*}; cpu <= ${part#*-}; cpu++)); do
			cpus+=("$cpu")
		done
	done
	n=$(cat "$VM_DIR/cpu" 2>/dev/null || echo $RANDOM)
	echo $((n + 1)) >"$VM_DIR/cpu"
	echo "${cpus[n % ${#cpus[@]}]}"
}

guest_usage() {
	cat <<-'END'
		  --role ROLE        both (default), server or client
		  --ip N             address 10.77.0.N on the bridge (net_up; default: none)
		  --server N         client: the server is 10.77.0.N (default 1)
		  --delay TIME       netem on the interface in use, each way (0.5ms)
		  --lease S          NFSv4 lease, in seconds
		  --grace S          NFSv4 grace period, in seconds
		  --keep-grace       do not end the grace period at boot
		  --export OPTS      more export options: async, secure, ro, ...
		  --v3-options OPTS  more mount options of /mnt/v3
		  --v4-options OPTS  more mount options of /mnt/v4 (vers=4.1 too)
		  --disk FILE        the server's disk image, made if absent
		  --mem SIZE         memory (default 1G)
		  --cpu N            CPU to run on (default: in turn)
		  --boot-limit S     seconds to boot in (default 300)
	END
}
# guest_options ARG... : parses the leading guest options into the VM_ array
# and counts the arguments it took in VM_SHIFT. `run` takes the same ones.
guest_options() {
	declare -gA VM_=([role]=both [ip]='' [server]=1 [delay]='' [lease]=''
		[grace]='' [keep-grace]='' [export]='' [v3-options]=''
		[v4-options]='' [disk]='' [mem]=1G [cpu]='' [boot-limit]=300)
	VM_SHIFT=0
	local name
	while [[ ${1:-} == --?* ]]; do
		name=${1#--}
		[[ -v VM_[$name] ]] || return 0
		if [ "$name" = keep-grace ]; then
			VM_[$name]=1
		elif [ $# -lt 2 ] || [[ $2 == *[[:space:]]* ]]; then
			vm_say "$1 needs one word"
			return 1
		else
			VM_[$name]=$2
			shift
			((++VM_SHIFT))
		fi
		shift
		((++VM_SHIFT))
	done
	case ${VM_[role]} in both | server | client) ;; *)
		vm_say "no such role: ${VM_[role]}"
		return 1 ;;
	esac
}

# guest_start NAME [OPTION]... : boots a guest and returns when its server
# answers and its mounts are there; else non-zero, with the guest gone and
# the end of its console on stderr. The name of a guest that was stopped or
# lost its power may be used again, with the same disk if none is given.
guest_start() {
	local name=$1 dir=$VM_DIR/$1 ip='' server=127.0.0.1 cpu token args net
	shift
	guest_options "$@" || return
	[ "$VM_SHIFT" = $# ] ||
		{ vm_say "bad option ${*:VM_SHIFT + 1:1}"; return 1; }
	vm_check || return
	! guest_alive "$name" || { vm_say "$name runs already"; return 1; }
	mkdir -p "$dir" && rm -f "$dir"/{in,out,command.*} &&
		mkfifo "$dir/in" "$dir/out" || return
	cpu=${VM_[cpu]:-$(vm_next_cpu)}
	token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	echo "$token" >"$dir/token"
	args=(mem="${VM_[mem]}" init="$VM_HERE/init" VM_CTL="$dir")
	if [ -n "${VM_[ip]}" ]; then
		ip=10.77.0.${VM_[ip]} server=10.77.0.${VM_[server]}
		[ "${VM_[role]}" != both ] || server=127.0.0.1
		# Always the same MAC, or the others would not find a guest
		# that was booted again until their ARP entry has expired.
		net=vec0:transport=tap,ifname=tp${VM_[ip]},depth=128,gro=1
		args+=("$net,mac=52:54:00:00:00:0${VM_[ip]}")
	fi
	if [ "${VM_[role]}" = client ]; then
		VM_[disk]=
	else
		[ -n "${VM_[disk]}" ] || VM_[disk]=$dir/disk
		VM_[disk]=$(realpath -m "${VM_[disk]}")
		[ -e "${VM_[disk]}" ] || guest_disk "${VM_[disk]}" || return
	fi
	cat >"$dir/conf" <<-END || return
		NAME=$name TOKEN=$token ROLE=${VM_[role]} IP=$ip SERVER=$server
		DELAY=${VM_[delay]} LEASE=${VM_[lease]} GRACE=${VM_[grace]}
		KEEP_GRACE=${VM_[keep-grace]} EXPORT=${VM_[export]}
		V3=${VM_[v3-options]} V4=${VM_[v4-options]}
	END
	# Every process of the guest holds the lock, and nobody else.
	(
		exec 9>"$dir/alive"
		flock -n 9 || exit
		for fd in /proc/self/fd/*; do
			fd=${fd##*/}
			case $fd in
			0 | 1 | 2 | 9) ;;
			*) eval "exec $fd>&-" ;;
			esac
		done
		exec 10<>"$dir/in" 11<>"$dir/out" </dev/null \
			>"$dir/console" 2>&1
		echo "$BASHPID" >"$dir/pid"
		exec taskset -c "$cpu" unshare --mount --pid --fork \
			--kill-child --propagation private \
			"$VM_HERE/boot" "$dir" "${VM_[disk]}" "${args[@]}"
	) &
	disown $!
	guest_read "$name" boot "${VM_[boot-limit]}" && return
	if guest_alive "$name"; then
		vm_say "guest $name was not ready in ${VM_[boot-limit]} s:"
	else
		vm_say "guest $name ended while it booted:"
	fi
	guest_console "$name" >&2
	guest_power_off "$name"
	return 1
}

# guest_disk FILE [SIZE] : makes an empty disk image.
guest_disk() {
	truncate -s "${2:-512M}" "$1" &&
		PATH=$PATH:/usr/sbin:/sbin mkfs.ext4 -q -F "$1"
}

# guest_exec NAME [--limit S] SCRIPT : runs a bash script in the guest, prints
# its output (stderr too) as it comes, and returns its status; 124 when it did
# not end within S seconds (default 300), 125 when the guest froze or died.
# One at a time for each guest.
guest_exec() {
	local name=$1 dir=$VM_DIR/$1 limit=60 number
	shift
	[ "$1" != --limit ] || { limit=$2; shift 2; }
	number=$(find "$dir" -name 'command.*' | wc -l)
	printf '%s\n' "$1" >"$dir/command.$number"
	guest_alive "$name" || { vm_say "guest $name is not running"; return 125; }
	echo "$number $limit" 1<>"$dir/in"
	guest_read "$name" "$number" $((limit + 15))
}

# guest_read NAME NUMBER SECONDS : prints the output of that command, and
# returns its status, or 125. Drops what an earlier command left unread.
guest_read() {
	local name=$1 dir=$VM_DIR/$1 end=$((SECONDS + $3)) token part fd rc
	local line='' begun=''
	token="$(<"$dir/token") $2"
	exec {fd}<>"$dir/out"
	while :; do
		rc=0
		IFS= read -r -t 0.2 part <&"$fd" || rc=$?
		line+=$part
		if [ $rc = 0 ]; then
			if [[ $line == *"$token "+([0-9]) ]]; then
				part=${line%"$token "*}
				[ -z "$part" ] || printf '%s\n' "$part"
				rc=${line##* }
				break
			elif [[ $line == *"$token begins" ]]; then
				begun=1
			elif [ "$begun" ]; then
				printf '%s\n' "$line"
			fi
			line=''
		elif [ $rc -le 128 ] || [ $SECONDS -ge "$end" ] ||
			! guest_alive "$name"; then
			rc=125
			break
		fi
	done
	exec {fd}<&-
	return "$rc"
}

# guest_alive NAME : whether any process of the guest is there.
guest_alive() {
	[ -e "$VM_DIR/$1/alive" ] && ! flock -n "$VM_DIR/$1/alive" true
}

# guest_console NAME [LINES] : the end of what kernel and init said.
guest_console() {
	tail -n "${2:-30}" "$VM_DIR/$1/console" | tr -d '\r' | sed "s/^/# $1: /"
}

# guest_stop NAME : orderly end; a guest that takes over 20 s loses its power.
guest_stop() {
	guest_alive "$1" || return 0
	echo off 1<>"$VM_DIR/$1/in"
	flock -w 20 "$VM_DIR/$1/alive" true || {
		vm_say "guest $1 did not stop"
		guest_power_off "$1"
		return 1
	}
}

# guest_power_off NAME : pulls the plug, and returns when no process of the
# guest is left (one that is left would keep the disk locked).
guest_power_off() {
	guest_alive "$1" || return 0
	kill -KILL "$(<"$VM_DIR/$1/pid")" 2>/dev/null
	flock -w 20 "$VM_DIR/$1/alive" true
}

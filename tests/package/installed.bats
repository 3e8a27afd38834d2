#!/usr/bin/env bats
# The Debian package as its user meets it: installed by apt into a system that
# tests/distro has made, the demo, doctor, and what is left when it is purged.
# Not for a system that somebody uses: run it by tests/distro --package.
#
# NFSAPPEND_DEB    the package
# /tmp/transcript  gets what was typed, and what was answered, if it exists

bats_require_minimum_version 1.5.0

demo=/usr/share/doc/nfsappend/examples/demo

setup_file() {
	[[ -f ${NFSAPPEND_DEB-} && -d /nfsappend ]] || {
		echo 'run this by tests/distro --package' >&2
		return 1
	}
	export PATH=$PATH:/usr/sbin:/sbin
	if [[ -e /tmp/transcript ]]; then
		# shellcheck source=/etc/os-release
		(. /etc/os-release && echo "### $PRETTY_NAME, $(uname -m), $(ldd --version | head -n 1)") >>/tmp/transcript
	fi
}

teardown() {
	[[ -z ${SERVER_UNSHARE-} ]] || stop_server
}

# typed STATUS LINE: runs LINE in a shell of its own; its status has to be this.
# Where and as whom: by the words in BESIDE.
BESIDE=()
typed() {
	run "${BESIDE[@]}" bash -c "$2"
	printf '\n$ %s\n%s\n' "$2" "$output"
	if [[ -e /tmp/transcript ]]; then
		printf '\n$ %s\n%s\n' "$2" "$output" >>/tmp/transcript
		[[ $status -eq 0 ]] || echo "(exit status $status)" >>/tmp/transcript
	fi
	[[ $status -eq $1 ]]
}

remark() {
	[[ ! -e /tmp/transcript ]] || printf '\n# %s\n' "$1" >>/tmp/transcript
}

@test "apt installs it, with what it depends on" {
	run ! dpkg -s nfsappend
	typed 0 "apt-get install -qq -y --no-install-recommends $NFSAPPEND_DEB 2>/dev/null | tail -n 3"
	typed 0 'nfsappend --version'
	[[ $output = "nfsappend $(dpkg-query -W -f '${Version}' nfsappend)" ]]
	run -0 ldd /usr/lib/*/nfsappend/*.so
	[[ $output != *'not found'* ]]
}

@test "it runs a program, and loads libnfs for it" {
	typed 3 'nfsappend -p /mnt -- sh -c "exit 3"'
	typed 2 "nfsappend -m '/logs=nfs://127.0.0.1/export?nfsport=1&mountport=1' -- sh -c 'echo a line >>/logs/x'"
	[[ $output = *N201*ECONNREFUSED* || $output = *N201*refused* ]]
}

@test "the demo names the packages that it needs, and runs" {
	run "$demo/demo"
	if [[ $status -ne 0 ]]; then
		typed 1 "$demo/demo"
		[[ $output = *'packages are missing; as root, run: apt-get install '* ]]
		typed 0 "${output##*run: } -qq -y >/dev/null 2>&1; dpkg -s jq | grep Status"
	fi
	typed 0 "$demo/demo"
	[[ $output = *$'\na line of bash\nINFO line 1 of Python logging\n'* ]]
	[[ $output = *$'\ndemo: done, '* ]]
}

# A server with an export more: "secure" takes privileged ports only.
serve() {
	# shellcheck source=tests/lib/server.bash
	source "$demo/server.bash"
	eval "plain_$(declare -f server_conf)"
	server_conf() {
		plain_server_conf
		cat <<-CONF
		EXPORT {
			Export_Id = 77; Path = $SERVER_DIR/secure; Pseudo = /secure;
			Access_Type = RW; PrivilegedPort = true; FSAL { Name = VFS; }
		}
		CONF
	}
	export SERVER_DIR=$BATS_FILE_TMPDIR/server
	mkdir -p "$SERVER_DIR/secure" && chmod 1777 "$SERVER_DIR/secure"
	start_server
	# An ordinary user beside the server.
	BESIDE=(nsenter --target "$SERVER_INIT" --net --mount --pid -- setpriv
		--reuid 65534 --regid 65534 --clear-groups --inh-caps=-all)
}

# tells CAUSE CURE: a line that says FAIL has the one, and the next the other.
tells() {
	grep -A 1 -E "^ *FAIL .*$1" <<<"$output" | grep -E "^ *cure: .*$2"
}

@test "doctor: a good path, a secure export, a static program, a stopped server" {
	local url
	[[ -x $(echo /usr/lib/*/nfsappend/nfsappend-doctor) ]] ||
		skip 'this version has no doctor'
	serve
	url=$(server_url_v4 export)
	remark 'As user 65534, beside an NFS server. A good path:'
	typed 0 "nfsappend doctor '$url'"
	[[ ${lines[-1]} = 'doctor: all well' ]]
	remark 'An export that takes requests from ports below 1024 only:'
	typed 2 "nfsappend doctor '$(server_url secure)'"
	tells "'?secure'?" "add 'insecure' to the export"
	remark 'A program that is linked statically:'
	typed 2 'nfsappend doctor /sbin/ldconfig'
	tells 'statically linked' 'dynamically linked build'
	remark 'The server stops (SIGSTOP):'
	server_signal STOP
	typed 2 "nfsappend doctor -t 2 '$url'"
	tells 'nothing answers' 'look at the NFS server'
	server_signal CONT
	remark 'The server is gone:'
	server_kill
	typed 2 "nfsappend doctor '$url'"
	tells 'refuses connections' 'start the NFS server'
}

@test "completion, with the bash-completion of this system" {
	typed 0 'apt-get install -qq -y --no-install-recommends bash-completion python3 >/dev/null 2>&1; dpkg -s bash-completion | grep Status'
	run -0 /nfsappend/tests/lib/complete \
		/usr/share/bash-completion/completions/nfsappend \
		'nfsappend --sharing=l'
	[[ $output = 'nfsappend --sharing=locked ' ]]
	# Loaded by name, as for a person.
	run -0 /nfsappend/tests/lib/complete /dev/null \
		'nfsappend -m /logs=nfs://nas/logs?version=4 -- ls --almost-a'
	echo "$output"
	[[ $output = 'nfsappend -m /logs=nfs://nas/logs?version=4 -- ls --almost-all ' ]]
}

@test "purged, it leaves nothing" {
	typed 0 'apt-get purge -qq -y nfsappend 2>/dev/null | tail -n 1'
	# What the server has noted of its clients is the server's.
	run -0 find /etc /usr /var -xdev -name '*nfsappend*' \
		-not -path '/var/cache/*' -not -path '/var/tmp/*' \
		-not -path '/var/lib/nfs/*'
	echo "$output"
	[[ -z $output ]]
}

#!/usr/bin/env bats
# The files of examples/, each where its first line says, as it stands, on a
# machine with a systemd of its own (lib/machine.bash).

# Programs expand what stands in single quotes.
# shellcheck disable=SC2016

load lib/load
load lib/programs
load lib/machine

LIBRARY=/usr/lib/x86_64-linux-gnu/nfsappend/libnfsappend.so
MAP='/logs=nfs://nas/export/logs?version=4'

setup_file() {
	[[ -z ${NFSAPPEND_SANITIZER-} && ${NFSAPPEND_CONTROL-} != 1 ]] || return 0
	export SERVER_NFS_PORT=2049
	start_server
	setup_shim
	machine_start systemd rsyslog syslog-ng-core nginx apache2-bin apache2 \
		supervisor cron logrotate
}

setup() {
	EXAMPLES=$shim_root/examples
	[[ -z ${NFSAPPEND_SANITIZER-} ]] || skip 'daemons are not built for it; the plain run shows it'
	[[ ${NFSAPPEND_CONTROL-} != 1 ]] || skip 'needs the shim: the examples are about it'
	N=$(count 1000 50)
}

# The next test finds the machine as this one did.
teardown() {
	[[ -z ${MACHINE_INIT-} || -z ${UNIT-} ]] || in_machine systemctl stop "$UNIT" || :
}

needs_machine() {
	[[ -n ${MACHINE_INIT-} ]] ||
		skip "no systemd can be booted here: $(tail -n 1 "$MACHINE/why")"
}

# example NAME: its files in their places, and the folder for its logs on the
# server, made as examples/README.md says.
example() {
	local file place folder
	needs_machine
	folder=$(grep -rhoE --exclude=README.md '/logs/[a-z0-9-]+/' "$EXAMPLES/$1" | sort -u)
	LOGGED=$SERVER_EXPORT${folder%/}
	for file in "$EXAMPLES/$1"/*; do
		[[ $file != */README.md ]] || continue
		place=$(sed -nE '1s,^[#;] (/.*),\1,p' "$file")
		# What is for an engine has a command there.
		[[ -n $place ]] || {
			[[ $(head -n 1 "$file") =~ ^#\ (docker|kubectl)\  ]]
			continue
		}
		machine_write "$place" <"$file"
	done
	in_machine systemctl daemon-reload
	in_machine nfsappend -m "$MAP" -- mkdir -p "$folder"
}

# start_unit UNIT: verified first; without a word.
start_unit() {
	UNIT=$1
	run -0 in_machine systemd-analyze verify --man=no "/lib/systemd/system/$UNIT"
	[[ -z $output ]]
	in_machine systemctl start "$UNIT" || {
		in_machine systemctl status "$UNIT" >&2 || :
		return 1
	}
}

# records_in FILE...: the lines of FILEs hold record 1 to N once each, in order;
# nothing of it is on the machine.
records_in() {
	diff -u <(seq -f 'record-%06.0f' "$N") \
		<(cd "$LOGGED" && zcat -f -- "$@" |
			sed -nE 's/^.*(record-[0-9]{6}).*/\1/p')
	run ! in_machine test -e /logs
}

lines_there() {
	[[ $(cat -- "$LOGGED/$1" 2>/dev/null | grep -c record-) -ge $2 ]]
}

# wait_for COMMAND...: or what systemd has to say.
wait_for() {
	until_true "$@" || {
		[[ -z ${UNIT-} ]] || in_machine systemctl status "$UNIT" >&2
		tail -n 20 "$MACHINE/console" >&2
		return 1
	}
}

# The administrator's own program, of which the examples know the name alone.
own_program() {
	printf '#!/bin/sh\nseq -f "record-%%06.0f" %s\n' "$N" |
		machine_write "/usr/local/bin/$1" 755
}

@test "every example has a test, and every file of it a place" {
	local name
	for name in "$EXAMPLES"/*/; do
		name=$(basename "$name")
		echo "$name"
		grep -q "^@test \"$name: " "$BATS_TEST_FILENAME"
		[[ -s $EXAMPLES/$name/README.md ]]
		grep -qF "]($name/" "$EXAMPLES/README.md"
	done
	# They name one server, one folder, one library, and nothing else of ours.
	[[ $(grep -rohE --exclude='*.md' 'nfs://[^ "]*' "$EXAMPLES" | sort -u) = "${MAP#*=}" ]]
	[[ $(grep -rohE --exclude='*.md' '[^ =]*libnfsappend.so' "$EXAMPLES" | sort -u) = "$LIBRARY" ]]
	# And all are installed.
	diff <(cd "$shim_root" && find examples -type f | sort) \
		<(sed -nE 's,^\t(examples/[^ ]*).*,\1,p' "$shim_root/Makefile.am" | sort)
}

@test "systemd: a service whose output the shell appends" {
	example systemd
	own_program myservice
	run -0 in_machine systemd-analyze verify --man=no /etc/systemd/system/myservice.service
	[[ -z $output ]]
	in_machine systemctl start myservice.service
	wait_for lines_there out.log "$N"
	records_in out.log
}

@test "systemd: the unit with StandardOutput=append: of a mount" {
	example systemd
	own_program myservice
	run -0 in_machine systemd-analyze verify --man=no /etc/systemd/system/myservice-mount.service
	[[ -z $output ]]
	# No kernel mount here; the one of tests/vm/examples.bats runs it on one.
	[[ $(in_machine systemctl show -P StandardOutput myservice-mount.service) = append ]]
}

# journal LINES: to the socket that journald hands messages on by.
journal() {
	in_machine perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(
			Type => SOCK_DGRAM, Peer => shift) or die "$!";
		while (<STDIN>) { chomp; defined $s->send("<14>tag: $_") or die }' \
		/run/systemd/journal/syslog
}

@test "rsyslog: all messages, and again after a rotation and HUP" {
	example rsyslog
	# As its package does: it is syslog.service.
	in_machine systemctl -q enable rsyslog.service
	start_unit rsyslog.service
	seq -f 'record-%06.0f' "$((N / 2))" | journal
	wait_for lines_there all.log "$((N / 2))"
	in_machine nfsappend -m "$MAP" -- mv /logs/rsyslog/all.log /logs/rsyslog/all.log.1
	in_machine systemctl kill -s HUP rsyslog.service
	seq -f 'record-%06.0f' "$((N / 2 + 1))" "$N" | journal
	wait_for lines_there all.log "$((N - N / 2))"
	records_in all.log.1 all.log
}

@test "syslog-ng: all messages of the journal" {
	example syslog-ng
	in_machine systemctl start systemd-journald.service
	start_unit syslog-ng.service
	in_machine sh -c 'seq -f "record-%06.0f" "$1" | logger --socket-errors=on -u /run/systemd/journal/dev-log' sh "$N"
	wait_for lines_there all.log "$N"
	in_machine systemctl reload syslog-ng.service
	records_in all.log
}

# get PORT FROM TO
get() {
	in_machine perl -MIO::Socket::INET -e 'my ($port, $from, $to) = @ARGV;
		for ($from .. $to) {
			my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $port)
				or die "connect: $!";
			printf $s "GET /record-%06d HTTP/1.0\r\n\r\n", $_;
			my $answer = do { local $/; <$s> };
			die "no answer\n" unless $answer =~ m{^HTTP/1.[01] 404};
		}' "$@"
}

nginx_site() {
	printf 'server { listen 127.0.0.1:8080; root /var/www; }\n' |
		machine_write /etc/nginx/sites-enabled/site
}

@test "nginx: access_log and error_log, and a reload" {
	example nginx
	nginx_site
	start_unit nginx.service
	get 8080 1 "$((N / 2))"
	in_machine systemctl reload nginx.service
	get 8080 "$((N / 2 + 1))" "$N"
	wait_for lines_there access.log "$N"
	records_in access.log
	records_in error.log
	run ! grep -v ' 404 ' "$LOGGED/access.log"
}

@test "logrotate: the logs of nginx, compressed, and nginx goes on" {
	example nginx
	nginx_site
	example logrotate
	# Through NFS: the server knows of it at once.
	in_machine nfsappend -m "$MAP" -- sh -c 'rm -f /logs/nginx/*'
	# Not what packages of other daemons bring.
	in_machine sh -c 'find /etc/logrotate.d -type f ! -name nas -delete'
	start_unit nginx.service
	get 8080 1 "$((N / 2))"
	# Every day; not that a day has to pass.
	in_machine sed -i 's/daily/size 1/' /etc/logrotate.d/nas
	in_machine systemctl start logrotate.service
	get 8080 "$((N / 2 + 1))" "$N"
	wait_for lines_there access.log "$((N - N / 2))"
	records_in access.log.1 access.log
	in_machine systemctl start logrotate.service
	records_in access.log.2.gz access.log.1
}

@test "apache2: GlobalLog, and a graceful reload" {
	example apache2
	in_machine sh -c 'a2enmod -q mpm_event authz_core >/dev/null
		mkdir -p /var/log/apache2
		echo "Listen 127.0.0.1:8081" >/etc/apache2/ports.conf
		echo "ServerName machine" >/etc/apache2/conf-enabled/name.conf'
	start_unit apache2.service
	get 8081 1 "$((N / 2))"
	in_machine systemctl reload apache2.service
	get 8081 "$((N / 2 + 1))" "$N"
	wait_for lines_there access.log "$N"
	records_in access.log
}

@test "supervisord: what a program says, from there" {
	example supervisord
	# It ends at once, and is not to be started again and again.
	printf '#!/bin/sh\nseq -f "record-%%06.0f" %s\nexec sleep 1000\n' "$N" |
		machine_write /usr/local/bin/myservice 755
	start_unit supervisor.service
	wait_for lines_there myservice.log "$N"
	records_in myservice.log
}

@test "cron: a job of the crontab" {
	example cron
	own_program nightly
	in_machine rm -f /run/crond.reboot
	# The nightly job is made the one of the boot: nobody waits for the night.
	in_machine sed -i 's/^17 3 \* \* \* /@reboot /' /etc/cron.d/nas
	start_unit cron.service
	wait_for lines_there nightly.log "$N"
	records_in nightly.log
	wait_for grep -qE '^booted at [-0-9]+ [0-9:]+$' "$LOGGED/boots.log"
}

# The program of a container says who it is, and whether it has a privilege; each
# line is a write of its own, and not cut where a buffer is full.
container_program() {
	printf '%s\n' '#!/bin/sh' 'grep "^CapEff:.*[1-9a-f]" /proc/self/status' \
		'name=$(hostname) i=0' "while [ \$((i += 1)) -le $N ]; do" \
		'	printf "%s record-%06d\n" "$name" "$i"' 'done' |
		machine_write /usr/local/bin/myservice 755
}

# container NAME COMMAND...: as an engine would run it, without one: of nobody,
# without a capability, in a user namespace; root read-only, with process
# numbers, a name and a /dev/shm of its own.
container() {
	in_machine unshare --mount --pid --fork --kill-child --mount-proc --uts --ipc -- sh -c '
		hostname "$1" && shift && mount -t tmpfs -o mode=1777 shm /dev/shm &&
			mount -o remount,bind,ro / && exec "$@"' sh "$1" \
		setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all \
		--inh-caps=-all --no-new-privs unshare --user --map-current-user -- "${@:2}"
}

# Each of the containers NAME wrote all its records, in its order, to FILE.
containers_wrote() {
	local name
	for name in "${@:2}"; do
		diff -u <(seq -f "$name record-%06.0f" "$N") <(grep "^$name " "$LOGGED/$1")
	done
	[[ $(wc -l <"$LOGGED/$1") -eq $((N * ($# - 1))) ]]
}

@test "docker: entry point and command of the image, without a capability" {
	local words
	example docker
	container_program
	chown 65534:65534 "$LOGGED"
	run ! grep -vP '^(#|FROM debian:12-slim$|COPY |RUN |USER 65534:65534$|ENTRYPOINT \[|CMD \[|\t)' \
		"$EXAMPLES/docker/Dockerfile"
	mapfile -d '' words < <("$PYTHON" -c 'import json, sys
lines = dict(line.split(" ", 1) for line in open(sys.argv[1]) if line[0].isupper())
for word in json.loads(lines["ENTRYPOINT"]) + json.loads(lines["CMD"]):
    print(word, end="\0")' "$EXAMPLES/docker/Dockerfile")
	container box "${words[@]}"
	containers_wrote box.log box
}

@test "kubernetes: three pods of the deployment append to one log" {
	local words i pids=()
	"$PYTHON" -c 'import yaml' || skip 'no yaml for Python (Debian: apt-get install python3-yaml)'
	example kubernetes
	container_program
	chown 65534:65534 "$LOGGED"
	mapfile -d '' words < <("$PYTHON" - "$EXAMPLES/kubernetes/deployment.yaml" <<-'PYTHON'
	import sys, yaml
	d = yaml.safe_load(open(sys.argv[1]))
	assert (d["apiVersion"], d["kind"]) == ("apps/v1", "Deployment")
	spec, pod = d["spec"], d["spec"]["template"]
	assert spec["selector"]["matchLabels"] == pod["metadata"]["labels"]
	[c] = pod["spec"]["containers"]
	assert spec["replicas"] == 3
	who = pod["spec"]["securityContext"]
	assert (who["runAsNonRoot"], who["runAsUser"], who["runAsGroup"]) == (True, 65534, 65534)
	how = c["securityContext"]
	assert how["readOnlyRootFilesystem"] and not how["allowPrivilegeEscalation"]
	assert how["capabilities"]["drop"] == ["ALL"]
	for word in ["env"] + [e["name"] + "=" + e["value"] for e in c["env"]] + c["command"] + c["args"]:
	    print(word, end="\0")
	PYTHON
	)
	[[ ${words[0]} = env ]]
	for i in 1 2 3; do
		container "pod-$i" "${words[@]}" &
		pids+=("$!")
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	containers_wrote myservice.log pod-1 pod-2 pod-3
}

#!/usr/bin/env bats
# Servers that start as root and log as another user, to files on kernel NFS
# mounts. In one guest: tests/vm/run mounts-daemons.bats
# Their packages are unpacked before (tests/programs/unpack): a guest has no
# way to a mirror.
bats_require_minimum_version 1.7.0

setup_file() {
	[ -x "${NFSAPPEND_PREFIX:-}/bin/nfsappend" ] ||
		skip 'NFSAPPEND_PREFIX names no installed nfsappend'
}

setup() {
	source "$BATS_TEST_DIRNAME/../lib/programs.bash"
	# Its count and SHIM_LIMIT.
	source "$BATS_TEST_DIRNAME/mounts.bash"
	begin
	PORT=$((8000 + BATS_TEST_NUMBER))
	# To be had by nobody.
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/*/ "$BATS_FILE_TMPDIR"
	chmod 755 "$BATS_TEST_TMPDIR"
	umask 022
}

teardown() {
	exportfs -o 'rw,no_root_squash,fsid=0,no_subtree_check,sync,insecure' \
		'*:/mnt/export'
	kill_daemon
}

# What lib/programs.bash calls.
in_server() {
	"$@"
}
shimmed() {
	nfsappend_p -- "$@"
}

# Statistics of workers who are nobody, too.
for_nobody() {
	new_program "$1" 1000 40
	: >"$STATS"
	chmod 666 "$STATS"
}

# The records, in any order, are in that file, with this before each.
all_there() {
	diff <(sed "s,^,$2," "$RECORDS") <(sort "$SERVED/$1")
}

messages() {
	grep -c '\[N' "$PRIVATE/daemon.log" || :
}

port_open() {
	(exec 3<>"/dev/tcp/127.0.0.1/$PORT") 2>/dev/null
}

get_all() {
	perl -MIO::Socket::INET -e 'my $port = shift;
		while (my $line = <STDIN>) {
			chomp $line;
			my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1",
				PeerPort => $port) or die "connect: $!";
			print $s "GET /$line HTTP/1.0\r\n\r\n";
			my $answer = do { local $/; <$s> };
			die "no answer\n" unless $answer =~ m{^HTTP/1.[01] 404};
		}' "$PORT" <"$RECORDS"
}

# Its workers cannot open the files of root that they write to.
nginx() {
	needs_unpacked nginx usr/sbin/nginx
	for_nobody nginx
	cat >"$PRIVATE/conf" <<-CONF
	user nobody nogroup;
	daemon off;
	worker_processes 2;
	pid $PRIVATE/pid;
	error_log $LOGS/error;
	events { worker_connections 64; }
	http {
		client_body_temp_path $PRIVATE/body;
		proxy_temp_path $PRIVATE/proxy;
		fastcgi_temp_path $PRIVATE/fastcgi;
		uwsgi_temp_path $PRIVATE/uwsgi;
		scgi_temp_path $PRIVATE/scgi;
		log_format bare '\$uri';
		access_log $LOGS/access bare;
		server {
			listen 127.0.0.1:$PORT;
			root $PRIVATE;
		}
	}
	CONF
	rm -f "$PRIVATE/pid"
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/nginx" -p "$PRIVATE" -c "$PRIVATE/conf"
	until_true port_open
	until_true test -s "$PRIVATE/pid"
	get_all
	end_daemon QUIT "$PRIVATE/pid"
	cat "$PRIVATE/daemon.log"
	all_there access /
	[ "$(grep -cE '\[error\] .*open\(\) .*/record-[0-9]{6}" failed' \
		"$SERVED/error")" = "$N" ]
	[ "$(stat -c '%u %a' "$SERVED/access")" = '0 644' ]
	[ "$(stats_of appends)" -ge $((2 * N)) ]
}

nginx_insecure() {
	nginx
	[ "$(messages)" = 0 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	only_we_wrote
}
@test "nginx: access_log and error_log that root opened, written by nobody" {
	on_both_mounts nginx_insecure
}

nginx_secure() {
	exportfs -o 'rw,no_root_squash,fsid=0,no_subtree_check,sync,secure' \
		'*:/mnt/export'
	nginx
	# The message goes to syslog: descriptor 2 is the error log.
	stats_of protocol
	[[ $(stats_of protocol) = kernel* ]]
}
@test "nginx against a 'secure' export: the kernel's from its setuid() on" {
	on_both_mounts nginx_secure
}

# It takes its sockets as root, and opens its files as the user that it becomes.
rsyslog() {
	needs_unpacked rsyslog usr/sbin/rsyslogd
	for_nobody rsyslog
	cat >"$PRIVATE/conf" <<-CONF
	global(workDirectory="$PRIVATE" privdrop.user.name="nobody"
		privdrop.group.name="nogroup")
	module(load="imuxsock" SysSock.Use="off")
	input(type="imuxsock" Socket="$PRIVATE/socket" RateLimit.Interval="0")
	template(name="bare" type="string" string="%msg:2:\$%\n")
	if (\$syslogtag contains "tag") then
		action(type="omfile" file="$LOGS/syslog" template="bare"
			flushOnTXEnd="on" createDirs="off")
	CONF
	rm -f "$PRIVATE/pid" "$PRIVATE/socket"
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/rsyslogd" -n -f "$PRIVATE/conf" -i "$PRIVATE/pid" \
		-M "$(dirname "$(find "$UNPACKED/usr/lib" -name imuxsock.so)")"
	until_true test -S "$PRIVATE/socket" -a -s "$PRIVATE/pid"
	perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(
			Type => SOCK_DGRAM, Peer => shift) or die;
		while (<STDIN>) { chomp; defined $s->send("<14>tag: $_") or die }' \
		"$PRIVATE/socket" <"$RECORDS"
	until_true cmp "$RECORDS" "$SERVED/syslog"
	end_daemon TERM "$PRIVATE/pid"
	cat "$PRIVATE/daemon.log"
	all_there syslog ''
	[ "$(stat -c %U "$SERVED/syslog")" = nobody ]
	[ "$(stats_of appends)" -gt 0 ]
}

rsyslog_insecure() {
	rsyslog
	[ "$(messages)" = 0 ]
	[ "$(stats_of protocol)" = "$PROTOCOL" ]
	only_we_wrote
}
@test "rsyslog, which becomes nobody" {
	on_both_mounts rsyslog_insecure
}

rsyslog_secure() {
	exportfs -o 'rw,no_root_squash,fsid=0,no_subtree_check,sync,secure' \
		'*:/mnt/export'
	rsyslog
	[ "$(grep -c N406 "$PRIVATE/daemon.log")" = 1 ]
	[ "$(stats_of protocol)" = kernel ]
}
@test "rsyslog, which becomes nobody, against a 'secure' export: the kernel's" {
	on_both_mounts rsyslog_secure
}

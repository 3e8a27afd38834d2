#!/usr/bin/env bats
# Servers that log, with configuration, sockets and pid files of their own in
# the test's folder; rotation is a rename on the server, then their signal.

# Their programs expand what stands in single quotes.
# shellcheck disable=SC2016

load lib/load
load lib/batteries
load lib/programs

setup_file() {
	start_server
	setup_batteries
}

# These look at the folder of their logs before they open any: it exists, and
# stays empty.
setup() {
	new_case
	if ! in_control; then
		LOGS=$BATS_TEST_TMPDIR/logs
		mkdir "$LOGS"
	fi
}

teardown() {
	kill_daemon
	in_control || [[ -z $(ls -A "$LOGS") ]]
}

lines_in() {
	local lines
	[[ -e $SERVED/$1 ]] || return 1
	lines=$(wc -l <"$SERVED/$1")
	[[ $lines -ge $2 ]]
}

# send SOCKET: standard input, line by line, to a syslog socket, from outside the shim.
send() {
	in_server perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(
			Type => SOCK_DGRAM, Peer => shift) or die;
		while (<STDIN>) { chomp; defined $s->send("<14>tag: $_") or die }' \
		"$1"
}

first_half() {
	head -n "$((N / 2))" "$RECORDS"
}

second_half() {
	tail -n "+$((N / 2 + 1))" "$RECORDS"
}

# rsyslog_start FILE
rsyslog_start() {
	cat >"$PRIVATE/conf" <<-CONF
	global(workDirectory="$PRIVATE")
	module(load="imuxsock" SysSock.Use="off")
	input(type="imuxsock" Socket="$PRIVATE/socket" RateLimit.Interval="0")
	template(name="bare" type="string" string="%msg:2:\$%\n")
	action(type="omfile" file="$1" template="bare" flushOnTXEnd="on"
		createDirs="off")
	CONF
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		sh -c 'exec "$@" >>"$LOGS/log"' sh \
		"$UNPACKED/usr/sbin/rsyslogd" -n -f "$PRIVATE/conf" -i "$PRIVATE/pid" \
		-M "$(dirname "$(find "$UNPACKED/usr/lib" -name imuxsock.so)")"
	until_true test -S "$PRIVATE/socket" -a -s "$PRIVATE/pid"
}

@test "rsyslog: omfile, HUP" {
	needs_unpacked rsyslog usr/sbin/rsyslogd
	new_program 'rsyslog omfile, HUP'
	rsyslog_start "$LOGS/log"
	first_half | send "$PRIVATE/socket"
	until_true lines_in log "$((N / 2))"
	rotate log log.1
	signal_daemon HUP "$PRIVATE/pid"
	second_half | send "$PRIVATE/socket"
	until_true lines_in log "$((N - N / 2))"
	end_daemon TERM "$PRIVATE/pid"
	served log.1 log
}

@test "rsyslog: omfile on the /dev/stdout that it was given" {
	needs_unpacked rsyslog usr/sbin/rsyslogd
	new_program 'rsyslog omfile, /dev/stdout, HUP'
	rsyslog_start /dev/stdout
	first_half | send "$PRIVATE/socket"
	until_true lines_in log "$((N / 2))"
	signal_daemon HUP "$PRIVATE/pid"
	second_half | send "$PRIVATE/socket"
	until_true lines_in log "$N"
	end_daemon TERM "$PRIVATE/pid"
	served log
}

@test "syslog-ng: file(), HUP" {
	needs_unpacked syslog-ng-core usr/sbin/syslog-ng
	new_program 'syslog-ng file(), HUP'
	cat >"$PRIVATE/conf" <<-CONF
	@version: $(LD_LIBRARY_PATH=$UNPACKED_LIBRARIES "$UNPACKED/usr/sbin/syslog-ng" --version |
		sed -nE 's/^(Config version: |syslog-ng [0-9]+ \()([0-9]+\.[0-9]+).*/\2/p' | tail -n 1)
	source in { unix-dgram("$PRIVATE/socket"); };
	destination out { file("$LOGS/log" template("\$MSG\n") create-dirs(no)); };
	log { source(in); destination(out); };
	CONF
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/syslog-ng" -F --no-caps -f "$PRIVATE/conf" \
		-R "$PRIVATE/persist" -p "$PRIVATE/pid" -c "$PRIVATE/control" \
		--module-path="$(find "$UNPACKED/usr/lib" -name libaffile.so -printf '%h\n')"
	until_true test -S "$PRIVATE/socket" -a -s "$PRIVATE/pid"
	first_half | send "$PRIVATE/socket"
	until_true lines_in log "$((N / 2))"
	rotate log log.1
	signal_daemon HUP "$PRIVATE/pid"
	second_half | send "$PRIVATE/socket"
	until_true lines_in log "$((N - N / 2))"
	end_daemon TERM "$PRIVATE/pid"
	served log.1 log
}

# get PORT: asks for /LINE for each line on standard input; with 4 clients.
get() {
	in_server perl -MIO::Socket::INET -e 'my $port = shift; my @lines = <STDIN>;
		my @children;
		for my $part (0 .. 3) {
			my $pid = fork() // die;
			if ($pid) { push @children, $pid; next }
			for my $i (0 .. $#lines) {
				next if $i % 4 != $part;
				chomp $lines[$i];
				my $s = IO::Socket::INET->new(PeerAddr => "127.0.0.1",
					PeerPort => $port) or die "connect: $!";
				print $s "GET /$lines[$i] HTTP/1.0\r\n\r\n";
				my $answer = do { local $/; <$s> };
				die "no answer\n" unless $answer =~ m{^HTTP/1.[01] 404};
			}
			exit 0;
		}
		my $bad = 0;
		for (@children) { waitpid $_, 0; $bad |= $? }
		exit($bad ? 1 : 0)' "$1"
}

port_open() {
	in_server bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"
}

# nginx_conf USER
nginx_conf() {
	PORT=$((8000 + BATS_TEST_NUMBER))
	cat >"$PRIVATE/conf" <<-CONF
	user $1;
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
		access_log $LOGS/log bare;
		server {
			listen 127.0.0.1:$PORT;
			root $PRIVATE;
		}
	}
	CONF
}

# nginx_case USER
nginx_case() {
	local errors
	needs_unpacked nginx usr/sbin/nginx
	new_program "nginx access_log, USR1, user ${1%% *}"
	nginx_conf "$1"
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/nginx" -p "$PRIVATE" -c "$PRIVATE/conf"
	until_true port_open "$PORT"
	until_true test -s "$PRIVATE/pid"
	first_half | get "$PORT"
	rotate log log.1
	rotate error error.1
	signal_daemon USR1 "$PRIVATE/pid"
	until_true test -e "$SERVED/log" -a -e "$SERVED/error"
	second_half | get "$PORT"
	end_daemon QUIT "$PRIVATE/pid"
	served -m -s 's,^/,,' log.1 log
	# Each request was refused, with a line: none is missing, none is torn.
	errors=$(cat "$SERVED/error.1" "$SERVED/error" |
		grep -cE '^[^ ]+ [^ ]+ \[error\] .*open\(\) .*/record-[0-9]{6}" failed')
	[[ $errors -eq $N ]]
}

@test "nginx: access_log and error_log, USR1, workers as root" {
	nginx_case root
}

@test "nginx: access_log and error_log, USR1, workers as nobody" {
	chmod 711 "$BATS_RUN_TMPDIR"
	nginx_case 'nobody nogroup'
}

@test "nginx: workers as nobody, with descriptors that root opened" {
	needs_unpacked nginx usr/sbin/nginx
	new_program 'nginx access_log, user nobody'
	chmod 711 "$BATS_RUN_TMPDIR"
	nginx_conf 'nobody nogroup'
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/nginx" -p "$PRIVATE" -c "$PRIVATE/conf"
	until_true port_open "$PORT"
	until_true test -s "$PRIVATE/pid"
	get "$PORT" <"$RECORDS"
	end_daemon QUIT "$PRIVATE/pid"
	served -m -s 's,^/,,' log
}

# apache_case MPM
apache_case() {
	local modules
	needs_unpacked apache2-bin usr/sbin/apache2
	new_program "apache2 $1, CustomLog, graceful"
	modules=$UNPACKED/usr/lib/apache2/modules
	PORT=$((8000 + BATS_TEST_NUMBER))
	mkdir "$PRIVATE/htdocs"
	cat >"$PRIVATE/conf" <<-CONF
	LoadModule mpm_$1_module $modules/mod_mpm_$1.so
	LoadModule authz_core_module $modules/mod_authz_core.so
	ServerRoot $PRIVATE
	ServerName localhost
	DefaultRuntimeDir $PRIVATE
	PidFile $PRIVATE/pid
	Listen 127.0.0.1:$PORT
	User nobody
	Group nogroup
	DocumentRoot $PRIVATE/htdocs
	StartServers 2
	ErrorLog $LOGS/error
	LogLevel info
	CustomLog $LOGS/log "%U"
	CONF
	chmod 711 "$BATS_RUN_TMPDIR"
	start_daemon env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/apache2" -d "$PRIVATE" -f "$PRIVATE/conf" -DFOREGROUND
	until_true port_open "$PORT"
	until_true test -s "$PRIVATE/pid"
	first_half | get "$PORT"
	rotate log log.1
	rotate error error.1
	signal_daemon USR1 "$PRIVATE/pid"
	until_true grep -q 'resuming normal operations' "$SERVED/error"
	second_half | get "$PORT"
	end_daemon TERM "$PRIVATE/pid"
	# port_open is a request without a line, which is logged as "-".
	served -m -s '/^-$/d; s,^/,,' log.1 log
	# The server's own messages: at the end of the old log and in the new.
	grep -qE 'AH00171|AH00493' "$SERVED/error.1"
	grep -q 'caught SIGTERM, shutting down' "$SERVED/error"
	run ! grep -vE '^\[' "$SERVED/error.1" "$SERVED/error"
}

@test "apache2 prefork: CustomLog and ErrorLog, graceful" {
	apache_case prefork
}

@test "apache2 event: CustomLog and ErrorLog, graceful" {
	apache_case event
}

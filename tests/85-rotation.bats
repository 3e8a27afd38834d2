#!/usr/bin/env bats
# Rotated logs: what a program leaves behind on the server is what it leaves
# behind in a local directory.

# The programs expand what stands in single quotes.
# shellcheck disable=SC2016

load lib/load
load lib/programs

@test "make, list, read, move and remove, by a shell and its children" {
	same_as_local sh -c 'for i in $(seq 10); do echo "line $i" >>@LOGS@/x; done
		mkdir -p @LOGS@/a/b; cd /tmp; ls -l @LOGS@/a | grep -c " b$"
		tail -n 3 @LOGS@/x; wc -l @LOGS@/* 2>&1; grep 10 @LOGS@/x
		mv @LOGS@/x @LOGS@/y; ls @LOGS@; rm @LOGS@/y; ls @LOGS@'
	[[ $status -eq 0 && ! -e $SERVED/y ]]
}

# rotating HANDLER-EXPRESSION [STATEMENT]: 100 records through it.
rotating() {
	same_as_local "$PYTHON" -c "import logging, logging.handlers, os, time
path = '@LOGS@/log'
handler = $1
log = logging.getLogger('x')
log.addHandler(handler)
log.setLevel(logging.INFO)
for i in range(100):
    log.info('record %03d', i)
    ${2:-pass}
print(sorted(os.listdir('@LOGS@')))
for name in sorted(os.listdir('@LOGS@')):
    print(name, os.path.getsize('@LOGS@/' + name))"
	[[ $status -eq 0 && -z $stderr ]]
}

@test "python: RotatingFileHandler" {
	rotating "logging.handlers.RotatingFileHandler(path, maxBytes=300, backupCount=3)"
	[[ $output = *"['log', 'log.1', 'log.2', 'log.3']"* ]]
}

@test "python: TimedRotatingFileHandler" {
	# The time in the names is not that of the run.
	rotating "logging.handlers.TimedRotatingFileHandler(path, when='S', backupCount=4, utc=True)
handler.suffix = 'x'
handler.extMatch = __import__('re').compile('^[xyz]+\$')
names = iter('xyz' * 100)
handler.namer = lambda name: path + '.' + next(names)" \
		'handler.rolloverAt = 0 if i % 20 == 19 else time.time() + 1000'
	[[ $output = *"log.x"* ]]
}

@test "python: WatchedFileHandler, moved and removed by the program itself" {
	rotating "logging.handlers.WatchedFileHandler(path)" \
		"if i == 33: os.rename(path, path + '.1')
    if i == 66: os.remove(path)"
	[[ $(wc -l <"$SERVED/log.1") -eq 34 && $(head -n 1 "$SERVED/log") = 'record 067' ]]
}

@test "python: WatchedFileHandler, rotated on the server" {
	new_program 'Python WatchedFileHandler, other host' 200 40
	writes "$PYTHON" -c 'import logging, logging.handlers, os
log = logging.getLogger("x")
log.addHandler(logging.handlers.WatchedFileHandler(os.environ["LOGS"] + "/log"))
lines = open(os.environ["RECORDS"]).read().split()
for i, line in enumerate(lines):
    log.warning(line)
    if i == len(lines) // 2:
        os.rename(os.environ["SERVED"] + "/log", os.environ["SERVED"] + "/log.1")'
	served log.1 log
	[[ -s $SERVED/log ]]
}

@test "ruby: Logger with shift_age and shift_size" {
	needs ruby ruby
	# Its header has a date: without.
	same_as_local ruby -e 'require "logger"
		class Logger::LogDevice; def add_log_header(file); end; end
		log = Logger.new("@LOGS@/log", 3, 500)
		log.formatter = proc { |_, _, _, text| text + "\n" }
		100.times { |i| log.info("record %03d" % i) }
		puts Dir.children("@LOGS@").sort'
	[[ $output = $'log\nlog.0\nlog.1' ]]
}

# rotate_with DIRECTIVES [TIMES]: logrotate, forced, after more lines each time.
rotate_with() {
	needs_unpacked logrotate usr/sbin/logrotate
	same_as_local sh -c 'printf "%s {\nsu root root\n%s\n}\n" @LOGS@/log "$2" >"$1/conf"
		for i in $(seq "$5"); do
			seq "$i" 100 >>@LOGS@/log
			LD_LIBRARY_PATH=$4 "$3/usr/sbin/logrotate" -f -s "$1/state" \
				"$1/conf" 2>&1 || exit
		done
		rm "$1/conf" "$1/state"; ls @LOGS@ | sed "s/$(date +%Y%m%d)/DATE/"' sh \
		"$BATS_TEST_TMPDIR" "$1" "$UNPACKED" "$UNPACKED_LIBRARIES" "${2:-3}"
	[[ $status -eq 0 && -z $stderr ]]
}

@test "logrotate: create" {
	rotate_with 'rotate 2
create 0640 root root'
	[[ $output = $'log\nlog.1\nlog.2' && $(stat -c %a "$SERVED/log") = 640 ]]
}

@test "logrotate: copytruncate" {
	rotate_with 'rotate 2
copytruncate'
	[[ $output = $'log\nlog.1\nlog.2' && ! -s $SERVED/log ]]
}

@test "logrotate: compress and delaycompress" {
	rotate_with 'rotate 3
create
compress
delaycompress'
	[[ $output = $'log\nlog.1\nlog.2.gz\nlog.3.gz' ]]
	[[ $(zcat "$SERVED/log.2.gz" | wc -l) -eq 99 ]]
}

@test "logrotate: dateext and nocreate" {
	rotate_with 'rotate 3
dateext
dateformat -%Y%m%d-x
nocreate' 1
	[[ $output = log-DATE-x ]]
}

@test "logrotate while a program holds the log, with copytruncate" {
	needs_unpacked logrotate usr/sbin/logrotate
	in_control && skip 'needs the shim: prog_lines is started under it'
	start_lines "$LOGS/log"
	append_line one
	append_line two
	printf '%s {\nsu root root\nrotate 2\ncopytruncate\n}\n' "$LOGS/log" \
		>"$BATS_TEST_TMPDIR/conf"
	run_shimmed env LD_LIBRARY_PATH="$UNPACKED_LIBRARIES" \
		"$UNPACKED/usr/sbin/logrotate" -f -s "$BATS_TEST_TMPDIR/state" "$BATS_TEST_TMPDIR/conf"
	[[ $status -eq 0 && -z $output ]]
	append_line three
	end_lines
	[[ $(paste -sd ' ' "$SERVED/log.1") = 'one two' ]]
	# At the new end: no hole where the old lines were.
	[[ $(cat "$SERVED/log") = three ]]
}

@test "java: java.util.logging FileHandler, rotated by size" {
	needs java default-jdk-headless
	cat >"$BATS_TEST_TMPDIR/Rotate.java" <<-'JAVA'
	import java.util.logging.*;
	public class Rotate {
		public static void main(String[] a) throws Exception {
			FileHandler handler = new FileHandler(a[0] + "/log%g", 200, 3, true);
			handler.setFormatter(new Formatter() {
				public String format(LogRecord r) { return r.getMessage() + "\n"; }
			});
			Logger log = Logger.getLogger("x");
			log.setUseParentHandlers(false);
			log.addHandler(handler);
			for (int i = 0; i < 100; i++)
				log.info("record " + i);
			handler.close();
		}
	}
	JAVA
	same_as_local java -XX:TieredStopAtLevel=1 "$BATS_TEST_TMPDIR/Rotate.java" @LOGS@
	[[ $status -eq 0 && -z $stderr ]]
	[[ $(ls "$SERVED") = $'log0\nlog1\nlog2' ]]
}

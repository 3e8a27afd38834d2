#!/usr/bin/env bats
# Shells, tools and languages, by the ways in which people log with them. Every
# recipe writes the lines of $RECORDS to $LOGS/log.

# The programs expand what stands in single quotes.
# shellcheck disable=SC2016

load lib/load
load lib/batteries
load lib/programs

setup_file() {
	start_server
	setup_batteries
}

@test "bash" {
	new_program 'bash, echo >>'
	writes bash -c 'while read -r line; do echo "$line" >>"$LOGS/log"; done <"$RECORDS"'
	served log
}

@test "bash, exec >>" {
	new_program 'bash, exec >>, printf'
	writes bash -c 'exec >>"$LOGS/log" 2>&1
		while read -r line; do printf "%s\n" "$line"; done <"$RECORDS"'
	served log
}

@test "bash, children and standard error" {
	new_program 'bash, children, 2>>' 200 20
	writes bash -c 'exec 2>>"$LOGS/log"
		while read -r line; do /bin/echo "$line" >&2; done <"$RECORDS"'
	served log
}

@test "dash" {
	new_program 'dash, echo >>'
	writes dash -c 'while read -r line; do echo "$line" >>"$LOGS/log"; done <"$RECORDS"'
	served log
}

@test "tee -a" {
	new_program 'coreutils tee -a'
	writes sh -c 'while read -r line; do echo "$line"; done <"$RECORDS" |
		tee -a "$LOGS/log" >/dev/null'
	served log
}

@test "dd" {
	new_program 'coreutils dd oflag=append' 10000 500
	writes dd if="$RECORDS" of="$LOGS/log" oflag=append conv=notrunc bs=14 status=none
	served log
}

@test "cat" {
	new_program 'coreutils cat >>' 100000 20000
	writes sh -c 'cat "$RECORDS" >>"$LOGS/log"'
	served log
}

# Started by something that opens the log and makes it 1 and 2, as supervisors
# do for what they run.
@test "supervised: a program whose output was redirected for it" {
	new_program 'redirected by a supervisor'
	cat >"$PRIVATE/supervisor.py" <<-'PYTHON'
	import os, subprocess
	log = os.open(os.environ["LOGS"] + "/log",
	              os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
	half = int(os.environ["N"]) // 2
	for part in (f"1,{half}p", f"{half + 1},$p"):
	    subprocess.run(["sed", "-n", "-u", part, os.environ["RECORDS"]],
	                   stdout=log, stderr=subprocess.STDOUT, check=True)
	PYTHON
	writes "$PYTHON" "$PRIVATE/supervisor.py"
	served log
}

@test "logger" {
	needs logger bsdutils
	new_program 'logger -s' 100 10
	writes sh -c 'logger --no-act --socket-errors=off -s -t tag <"$RECORDS" 2>>"$LOGS/log"'
	served -s 's/^<[0-9]+>.*tag: //' log
}

# python CODE: lines is the list of records, path the log's.
python() {
	writes "$PYTHON" -c "import logging, logging.handlers, os, sys
path = os.environ['LOGS'] + '/log'
lines = open(os.environ['RECORDS']).read().split()
logging.basicConfig(handlers=[])
log = logging.getLogger()
log.setLevel(logging.INFO)
$1"
}

@test "python: FileHandler" {
	new_program 'Python FileHandler'
	python 'log.addHandler(logging.FileHandler(path))
for line in lines: log.info(line)'
	served log
}

@test "python: RotatingFileHandler that never rotates" {
	new_program 'Python RotatingFileHandler'
	python 'log.addHandler(logging.handlers.RotatingFileHandler(path, maxBytes=10**9))
for line in lines: log.info(line)'
	served log
}

@test "python: RotatingFileHandler" {
	new_program 'Python RotatingFileHandler, rotating'
	python 'log.addHandler(logging.handlers.RotatingFileHandler(
    path, maxBytes=len(lines) * 4, backupCount=9))
for line in lines: log.info(line)'
	[[ $(find "$SERVED" -name 'log*' | wc -l) -gt 2 ]]
	served log.3 log.2 log.1 log
}

@test "python: WatchedFileHandler, rotated from outside" {
	new_program 'Python WatchedFileHandler'
	python 'import subprocess
log.addHandler(logging.handlers.WatchedFileHandler(path))
for i, line in enumerate(lines):
    log.info(line)
    if i == len(lines) // 2:
        subprocess.run([os.environ["PROGRAMS"] + "/nfs-rename",
                        os.environ["SHIM_URL"], "log", "log.1"], env={}, check=True)'
	served log.1 log
}

@test "python: print(file=)" {
	new_program 'Python print(file=)'
	python 'with open(path, "a") as f:
    for line in lines: print(line, file=f, flush=True)'
	served log
}

@test "python: print to a redirected standard output" {
	new_program 'Python print, redirected'
	writes sh -c '"$PYTHON" -c "import sys
for line in open(\"$RECORDS\"): print(line, end=\"\")" >>"$LOGS/log"'
	served log
}

@test "python: 4 processes with a FileHandler" {
	new_program 'Python FileHandler, 4 processes'
	python 'log.addHandler(logging.FileHandler(path))
children = []
for part in range(4):
    pid = os.fork()
    if pid == 0:
        for line in lines[part::4]: log.info(line)
        os._exit(0)
    children.append(pid)
sys.exit(max(os.waitpid(pid, 0)[1] for pid in children))'
	served -m log
}

@test "perl" {
	new_program 'perl, open >>'
	writes perl -MIO::Handle -e 'open my $in, "<", $ENV{RECORDS} or die;
		open my $log, ">>", "$ENV{LOGS}/log" or die; $log->autoflush(1);
		while (<$in>) { print $log $_ } close $log or die'
	served log
}

@test "perl: syswrite and standard error" {
	new_program 'perl, syswrite, warn'
	writes perl -e 'open my $in, "<", $ENV{RECORDS} or die;
		open STDERR, ">>", "$ENV{LOGS}/log" or die;
		while (<$in>) { $. % 2 ? warn $_ : syswrite STDERR, $_ }'
	served log
}

@test "ruby: Logger" {
	needs ruby ruby
	new_program 'ruby Logger'
	writes ruby -rlogger -e 'log = Logger.new(ENV["LOGS"] + "/log")
		log.formatter = proc { |_, _, _, text| text + "\n" }
		File.foreach(ENV["RECORDS"], chomp: true) { |line| log.info(line) }'
	# It begins the file with a comment.
	served -s '/^# Logfile created/d' log
}

@test "ruby: File a, and a reopened standard output" {
	needs ruby ruby
	new_program 'ruby File, $stdout.reopen'
	writes ruby -e 'lines = File.readlines(ENV["RECORDS"]); half = lines.size / 2
		File.open(ENV["LOGS"] + "/log", "a") { |f| f.sync = true
			lines[0, half].each { |line| f.write(line) } }
		$stdout.reopen(ENV["LOGS"] + "/log", "a")
		lines[half..-1].each { |line| puts line }'
	served log
}

@test "php: error_log" {
	needs php php-cli
	new_program 'php error_log'
	writes php -n -d log_errors=1 -r 'foreach (file(getenv("RECORDS")) as $line)
		error_log($line, 3, getenv("LOGS") . "/log");'
	served log
}

@test "php: file_put_contents, fopen" {
	needs php php-cli
	new_program 'php file_put_contents, fopen'
	writes php -n -r '$log = getenv("LOGS") . "/log"; $f = fopen($log, "a");
		foreach (file(getenv("RECORDS")) as $i => $line)
			if ($i % 2) fwrite($f, $line);
			else file_put_contents($log, $line, FILE_APPEND | LOCK_EX);'
	served log
}

@test "lua" {
	needs lua5.4 lua5.4
	new_program 'lua io.open'
	writes lua5.4 -e 'local f = assert(io.open(os.getenv("LOGS") .. "/log", "a"))
		f:setvbuf("line")
		for line in io.lines(os.getenv("RECORDS")) do assert(f:write(line, "\n")) end
		assert(f:close())'
	served log
}

@test "gawk" {
	needs gawk gawk
	new_program 'gawk print >>'
	writes sh -c 'gawk -v out="$LOGS/log" \
		"{ print >> out; if (NR % 10 == 0) fflush(out); if (NR % 25 == 0) close(out) }" \
		"$RECORDS"'
	served log
}

@test "tcl" {
	needs tclsh tcl
	new_program 'tcl open a'
	cat >"$PRIVATE/log.tcl" <<-'TCL'
	set in [open $env(RECORDS)]
	set log [open $env(LOGS)/log a]
	fconfigure $log -buffering line
	while {[gets $in line] >= 0} {puts $log $line}
	close $log
	TCL
	writes tclsh "$PRIVATE/log.tcl"
	served log
}

@test "node: appendFile and appendFileSync" {
	needs_full
	needs node nodejs
	new_program 'node appendFile'
	writes node -e 'const fs = require("fs"), log = process.env.LOGS + "/log";
		const lines = fs.readFileSync(process.env.RECORDS, "utf8").split(/(?<=\n)/);
		(async () => {
			for (const [i, line] of lines.entries())
				if (i % 2) fs.appendFileSync(log, line);
				else await fs.promises.appendFile(log, line);
		})();'
	served log
}

@test "node: a stream, a Console" {
	needs_full
	needs node nodejs
	new_program 'node stream, Console'
	writes node -e 'const fs = require("fs"), log = process.env.LOGS + "/log";
		const lines = fs.readFileSync(process.env.RECORDS, "utf8").trim().split("\n");
		const stream = fs.createWriteStream(log, { flags: "a" });
		const out = new console.Console(stream);
		lines.forEach((line, i) => i % 2 ? out.log(line) : stream.write(line + "\n"));
		stream.end();'
	served log
}

@test "node: console to a redirected standard output" {
	needs_full
	needs node nodejs
	new_program 'node console, redirected'
	writes sh -c 'node -e "require(\"fs\").readFileSync(process.env.RECORDS, \"utf8\")
		.trim().split(\"\\n\").forEach(l => console.log(l))" >>"$LOGS/log"'
	served log
}

# java_program CODE: lines is the list of records, path the log's.
java_program() {
	cat >"$PRIVATE/Log.java" <<-JAVA
	import java.io.*;
	import java.nio.file.*;
	import java.util.*;
	import java.util.logging.*;

	public class Log {
		public static void main(String[] args) throws Exception {
			List<String> lines = Files.readAllLines(Path.of(System.getenv("RECORDS")));
			String path = System.getenv("LOGS") + "/log";
			$1
		}
	}
	JAVA
	javac -d "$PRIVATE" "$PRIVATE/Log.java"
	writes java -cp "$PRIVATE" Log
}

@test "java: FileOutputStream" {
	needs_full
	needs javac default-jdk-headless
	new_program 'java FileOutputStream'
	java_program 'try (FileOutputStream out = new FileOutputStream(path, true)) {
		for (String line : lines) out.write((line + "\n").getBytes());
		out.getFD().sync();
	}'
	served log
}

@test "java: Files.newBufferedWriter" {
	needs_full
	needs javac default-jdk-headless
	new_program 'java Files.newBufferedWriter'
	java_program 'try (BufferedWriter out = Files.newBufferedWriter(Path.of(path),
			StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
		for (String line : lines) { out.write(line); out.newLine(); out.flush(); }
	}'
	served log
}

@test "java: java.util.logging" {
	needs_full
	needs javac default-jdk-headless
	new_program 'java.util.logging FileHandler'
	java_program 'FileHandler handler = new FileHandler(path, true);
		handler.setFormatter(new SimpleFormatter() {
			public String format(LogRecord r) { return r.getMessage() + "\n"; }
		});
		Logger log = Logger.getLogger("test");
		log.setUseParentHandlers(false);
		log.addHandler(handler);
		for (String line : lines) log.info(line);
		handler.close();'
	served log
}

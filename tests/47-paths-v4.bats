#!/usr/bin/env bats
# Paths below a directory that is mapped over NFSv4.0: the same as over NFSv3.

load lib/load

setup() {
	new_case
	SHIM_URL=$(server_url_v4 "export/$BATS_TEST_NUMBER")
}

@test "make, stat, list, link, move, change and remove" {
	same_as_local sh -c 'umask 022; echo 1 >>@LOGS@/a; mkdir @LOGS@/d @LOGS@/e
		"$1" stat @LOGS@/a + mkdir @LOGS@/d 755 + link @LOGS@/a @LOGS@/d/b \
		+ symlink ../a @LOGS@/d/s + readlink @LOGS@/d/s + lstat @LOGS@/d/s \
		+ rename @LOGS@/a @LOGS@/d/c + rename @LOGS@/e @LOGS@/d + rename @LOGS@/d/c @LOGS@/e \
		+ stat @LOGS@/d/c + chmod @LOGS@/d/b 600 + chown @LOGS@/d/b 1 2 \
		+ truncate @LOGS@/d/b 1 + stat @LOGS@/d/b + times @LOGS@/d/b \
		+ access @LOGS@/d/b rw + identity @LOGS@/d/b + space @LOGS@/d \
		+ unlink @LOGS@/d/b + unlink @LOGS@/d/b + rmdir @LOGS@/d + rmdir @LOGS@/e' \
		sh "$PROGRAMS/prog_path"
	[[ $output = *'identity 1 1 1'*'space 1 255 255'* ]]
}

@test "directories: listed, walked, as the working directory" {
	same_as_local sh -c 'mkdir -p @LOGS@/a/b; for i in $(seq 200); do : >>@LOGS@/a/file$i; done
		"$1" list @LOGS@ + list @LOGS@/a + seek @LOGS@/a + scandir @LOGS@/a \
		+ nftw @LOGS@ + glob "@LOGS@/a/*9" + cd @LOGS@/a + append x + cd b + list . \
		+ temporary @LOGS@/a; cd @LOGS@ && find . | sort && rm -r a' sh \
		"$PROGRAMS/prog_tree"
	[[ $status -eq 0 && -z $stderr && -z $(ls -A "$SERVED") ]]
}

@test "python: RotatingFileHandler" {
	same_as_local "$PYTHON" -c "import logging, logging.handlers
log = logging.getLogger('x')
log.addHandler(logging.handlers.RotatingFileHandler('@LOGS@/log', maxBytes=300, backupCount=3))
for i in range(100):
    log.warning('record %03d', i)"
	[[ $(ls "$SERVED") = $'log\nlog.1\nlog.2\nlog.3' ]]
}

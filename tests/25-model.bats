#!/usr/bin/env bats
# The commit queue's protocol explored by spin: without an error as it is, and
# with one where a step is left out.

bats_require_minimum_version 1.5.0

setup() {
	[[ -z ${NFSAPPEND_SANITIZER-} ]] || skip 'once is enough'
	type -P spin >/dev/null || skip 'spin is not installed (Debian: apt-get install spin)'
	model=$BATS_TEST_DIRNAME/model/run
}

# Big ones take minutes and gigabytes.
full() {
	[[ ${NFSAPPEND_FULL-} = 1 ]] || skip 'only with the full counts'
}

@test "two writers: a crash, a lost answer, a short WRITE, a time-out" {
	run -0 "$model" WRITERS=2
}

@test "two writers and two crashes" {
	run -0 "$model" WRITERS=2 CRASHES=2 SHORTS=0 GIVEUPS=0
}

@test "three writers and a crash" {
	run -0 "$model" WRITERS=3 LOSSES=0 SHORTS=0 GIVEUPS=0
}

@test "two writers, a leader that is deposed while it waits for an answer" {
	run -0 "$model" WRITERS=2 DEPOSALS=1 CRASHES=0 SHORTS=0 GIVEUPS=0
}

@test "the same and a crash" {
	full
	run -0 "$model" WRITERS=2 DEPOSALS=1 LOSSES=0 SHORTS=0 GIVEUPS=0
}

@test "two writers with two records each: everything" {
	full
	run -0 "$model" WRITERS=2 RECORDS=2
}

@test "three writers, a crash and a lost answer" {
	full
	MODEL_MEMORY=12000 MODEL_LIMIT=3600 run -0 "$model" WRITERS=3 SHORTS=0 GIVEUPS=0
}

# wrong MUTATION [DEFINE]...: there is a counter-example.
wrong() {
	run -1 "$model" WRITERS=2 "$@"
	[[ $output = *'assertion violated'* || $output = *'invalid end state'* ]]
}

@test "without the settle step" {
	wrong NO_SETTLE
}

@test "without the owner-died step" {
	wrong NO_OWNER_DIED
}

@test "waking before the lock is free" {
	wrong WAKE_EARLY CRASHES=0
}

@test "a deposed leader that does not look whether it leads still" {
	wrong DEPOSALS=1 LOSSES=0 SHORTS=0 GIVEUPS=0 CRASHES=0 NO_MARK
}

@test "a deposed leader that does not ask what became of its record" {
	wrong DEPOSALS=1 LOSSES=0 SHORTS=0 GIVEUPS=0 CRASHES=0 NO_OUTCOME
}

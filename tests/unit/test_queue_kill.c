/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many writers of one file, and any of them killed at any moment: what was
 * acknowledged is there once and whole, the rest at most once and whole, each
 * writer's records in order. Counts grow with NFSAPPEND_FULL=1.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/process.h"
#include "core/queue.h"
#include "rig.h"

#define WRITERS 64
#define LONGEST 9000
#define DEADLINE 60 /* s, then something hangs */

/* In shared memory: how many records each writer has begun and ended. */
static struct {
	struct {
		_Atomic unsigned begun, ended;
		_Atomic size_t cut; /* of the last one only so much is in */
	} of[WRITERS + 1];	    /* the last one writes when all is over */
	_Atomic unsigned stop, failed;
	unsigned records;
	bool longs;	/* some records are longer than a slot */
	bool identical; /* all the same: only their number tells */
	bool victims;	/* every other one writes until it is killed */
} * notes;

static bool full(void)
{
	const char *s = getenv("NFSAPPEND_FULL");

	return s != NULL && !strcmp(s, "1");
}

static void start(enum nfsappend_sharing sharing)
{
	rig_start_large(sharing, 64 << 20);
	if (notes == NULL)
		notes = mmap(NULL, sizeof *notes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(notes != MAP_FAILED);
	memset(notes, 0, sizeof *notes);
	notes->records = full() ? 500 : 60;
	alarm(DEADLINE * (full() ? 10 : 1));
}

/* The record as it must be: its length. */
static size_t record(unsigned writer, unsigned number, char *out)
{
	unsigned x = writer * 7919 + number * 104729;
	size_t len = 24 + x % 90;
	int n;

	if (notes->identical)
		return (size_t)sprintf(out, "the same for all\n");
	if (notes->longs && x % 7 == 0)
		len = NFSAPPEND_SLOT_DATA - 2 + x % (LONGEST - 2100);
	n = sprintf(out, "%02u %06u ", writer, number);
	for (size_t i = (size_t)n; i < len - 1; i++)
		out[i] = (char)('a' + (writer + number + i) % 26);
	out[len - 1] = '\n';
	return len;
}

static void write_records(unsigned writer)
{
	char buf[LONGEST + 1];

	for (unsigned i = 0; !notes->stop && (i < notes->records ||
			(notes->victims && writer % 2 == 0 && writer < WRITERS));
		i++) {
		size_t len = record(writer, i, buf);
		ssize_t r;

		notes->of[writer].begun = i + 1;
		r = rig_append_bytes(buf, len);
		if (r > 0 && r < (ssize_t)len) {
			/* Its leader died behind a short WRITE. */
			notes->of[writer].cut = (size_t)r;
			return;
		}
		if (r != (ssize_t)len) {
			notes->failed++;
			return;
		}
		notes->of[writer].ended = i + 1;
	}
}

static void *thread(void *arg)
{
	write_records((unsigned)(uintptr_t)arg);
	return NULL;
}

static void process(void *arg)
{
	write_records((unsigned)(uintptr_t)arg);
}

/* Several threads each. */
static void process_of_threads(void *arg)
{
	unsigned first = (unsigned)(uintptr_t)arg;
	pthread_t threads[4];

	for (unsigned i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, thread,
				  (void *)(uintptr_t)(first + i)),
			0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
}

static void check_identical(const char *p, size_t len)
{
	size_t one = strlen("the same for all\n");
	unsigned begun = 0, ended = 0;

	for (unsigned w = 0; w <= WRITERS; w++) {
		begun += notes->of[w].begun;
		ended += notes->of[w].ended;
	}
	CHECK_INT(len % one, 0);
	for (size_t at = 0; at < len; at += one)
		CHECK(memcmp(p + at, "the same for all\n", one) == 0);
	CHECK(len / one >= ended);
	CHECK(len / one <= begun);
}

/* A record that its writer knows to be cut: its length there, or 0. */
static size_t cut_record(const char *p, size_t left)
{
	char want[LONGEST + 1];

	for (unsigned w = 0; w < WRITERS; w++) {
		size_t n = notes->of[w].cut;

		if (n == 0 || n > left)
			continue;
		record(w, notes->of[w].begun - 1, want);
		if (memcmp(p, want, n) == 0) {
			notes->of[w].cut = 0;
			return n;
		}
	}
	return 0;
}

static void check(void)
{
	size_t len;
	const char *p = (const char *)fake_content(rig_node, &len);
	const char *end = p + len;
	unsigned next[WRITERS + 1] = {0}, seen[WRITERS + 1] = {0};
	char want[LONGEST + 1];

	CHECK_INT(notes->failed, 0);
	if (notes->identical) {
		check_identical(p, len);
		return;
	}
	while (p < end) {
		unsigned writer, number;
		size_t n;

		n = sscanf(p, "%2u %6u ", &writer, &number) == 2 &&
				    writer <= WRITERS
			    ? record(writer, number, want)
			    : 0;
		if (n == 0 || (size_t)(end - p) < n ||
			memcmp(p, want, n) != 0) {
			n = cut_record(p, (size_t)(end - p));
			if (n == 0)
				unit_fail(__FILE__, __LINE__,
					"torn at %zu: %.40s",
					(size_t)(p + len - end), p);
			p += n;
			continue;
		}
		if (number < next[writer])
			unit_fail(__FILE__, __LINE__,
				"%u %u stands twice or late", writer, number);
		if (number != next[writer])
			unit_fail(__FILE__, __LINE__, "%u %u is lost", writer,
				next[writer]);
		next[writer] = number + 1;
		seen[writer]++;
		p += n;
	}
	for (unsigned w = 0; w <= WRITERS; w++) {
		if (seen[w] < notes->of[w].ended)
			unit_fail(__FILE__, __LINE__, "%u %u is lost", w,
				seen[w]);
		if (seen[w] > notes->of[w].begun)
			unit_fail(__FILE__, __LINE__, "%u %u: never written", w,
				seen[w]);
	}
	CHECK_INT(fake_stable(rig_node), len);
}

/* At rest: nothing that a death has left behind. */
static void check_at_rest(void)
{
	struct nfsappend_segment *s = rig_file->segment.shared;

	/* One more, by a lone writer, sweeps up what can be. */
	notes->stop = 0;
	notes->records = 1;
	write_records(WRITERS);
	CHECK_INT(s->orphaned, 0);
	CHECK_INT(s->pending, NFSAPPEND_SETTLED);
	CHECK_INT(pthread_mutex_trylock(
			  &s->leaders[s->reign % NFSAPPEND_LEADS]), 0);
	pthread_mutex_unlock(&s->leaders[s->reign % NFSAPPEND_LEADS]);
	check();
}

static unsigned long long batched_max(void)
{
	return rig_file->stats.batched_max;
}

static void threads(enum nfsappend_sharing sharing, unsigned latency)
{
	pthread_t ids[16];

	start(sharing);
	fake_latency(latency);
	for (unsigned i = 0; i < 16; i++)
		CHECK_INT(pthread_create(
				  &ids[i], NULL, thread, (void *)(uintptr_t)i),
			0);
	for (unsigned i = 0; i < 16; i++)
		pthread_join(ids[i], NULL);
	check_at_rest();
	if (latency != 0)
		CHECK(batched_max() >= 8);
}

static void threads_single(void)
{
	threads(NFSAPPEND_SINGLE, 0);
}

static void threads_guarded(void)
{
	threads(NFSAPPEND_GUARDED, 200);
}

/* Long records take their turn among short ones, and those among them. */
static void threads_long_and_short(void)
{
	pthread_t ids[16];

	start(NFSAPPEND_GUARDED);
	notes->longs = true;
	fake_latency(200);
	for (unsigned i = 0; i < 16; i++)
		pthread_create(&ids[i], NULL, thread, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < 16; i++)
		pthread_join(ids[i], NULL);
	check_at_rest();
}

static void *only_long(void *arg)
{
	char buf[5000];

	(void)arg;
	memset(buf, 'L', sizeof buf - 1);
	buf[sizeof buf - 1] = '\n';
	for (int i = 0; i < 20; i++)
		CHECK_INT(rig_append_bytes(buf, sizeof buf), sizeof buf);
	return NULL;
}

static void *short_until_stopped(void *arg)
{
	while (!notes->stop) {
		CHECK_INT(rig_append("short\n"), 6);
		notes->of[(uintptr_t)arg].ended++;
	}
	return NULL;
}

/* A writer of long records among many that keep the queue busy. */
static void long_records_do_not_starve(void)
{
	pthread_t ids[16], one;
	int64_t began = nfsappend_now();

	start(NFSAPPEND_SINGLE);
	fake_latency(500);
	for (unsigned i = 0; i < 16; i++)
		pthread_create(&ids[i], NULL, short_until_stopped,
			(void *)(uintptr_t)i);
	usleep(20000);
	pthread_create(&one, NULL, only_long, NULL);
	pthread_join(one, NULL);
	notes->stop = 1;
	for (unsigned i = 0; i < 16; i++)
		pthread_join(ids[i], NULL);
	/* 20 turns of a server that takes half a millisecond. */
	printf("# 20 long records among 16 writers: %lld ms\n",
		(long long)(nfsappend_now() - began) / 1000000);
	CHECK(nfsappend_now() - began < INT64_C(2000000000));
}

/* And the other way round. */
static void short_records_do_not_starve(void)
{
	pthread_t ids[4], one;

	start(NFSAPPEND_SINGLE);
	fake_latency(500);
	pthread_create(&one, NULL, short_until_stopped, NULL);
	for (unsigned i = 0; i < 4; i++)
		pthread_create(&ids[i], NULL, only_long, NULL);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(ids[i], NULL);
	notes->stop = 1;
	pthread_join(one, NULL);
	printf("# %u short records among 80 long ones\n", notes->of[0].ended);
	CHECK(notes->of[0].ended >= 10);
}

/* Should a check fail, nobody goes on writing. */
static void (*child_fn)(void *);

static void child(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	child_fn(arg);
}

static pid_t spawn(void (*fn)(void *), unsigned first)
{
	child_fn = fn;
	return unit_fork(child, (void *)(uintptr_t)first);
}

/* Each in a process of its own: core starts once in a process's life. */
static void rounds(void (*fn)(void *), unsigned most, unsigned few)
{
	unsigned n = full() ? most : few;

	for (unsigned i = 0; i < n; i++) {
		pid_t pid = spawn(fn, i);

		if (unit_wait(pid) != 0)
			unit_fail(__FILE__, __LINE__, "round %u", i);
	}
}

/* Kills every other process, at random times while all write. How many did
 * fall in the middle. */
static unsigned kill_half(pid_t *pids, unsigned n)
{
	unsigned killed = 0;

	for (unsigned i = 0; i < n; i += 2) {
		usleep((unsigned)random() % 3000);
		kill(pids[i], SIGKILL);
	}
	for (unsigned i = 0; i < n; i++) {
		int status = unit_wait(pids[i]);

		if (WIFSIGNALED(status)) {
			CHECK_INT(WTERMSIG(status), SIGKILL);
			killed += i % 2 == 0;
		} else {
			CHECK_INT(status, 0);
		}
	}
	return killed;
}

static void processes(enum nfsappend_sharing sharing, bool longs,
	bool identical, unsigned seed)
{
	pid_t pids[WRITERS];
	unsigned killed;

	srandom(seed);
	start(sharing);
	notes->longs = longs;
	notes->identical = identical;
	notes->victims = true;
	fake_latency(300);
	for (unsigned i = 0; i < WRITERS; i++)
		pids[i] = spawn(process, i);
	killed = kill_half(pids, WRITERS);
	printf("# %u killed in the middle, %u WRITEs\n", killed,
		fake_calls(FAKE_WRITE));
	check_at_rest();
	CHECK_INT(killed, WRITERS / 2);
}

static void kills_guarded(void *round)
{
	processes(NFSAPPEND_GUARDED, false, false,
		1 + (unsigned)(uintptr_t)round);
}

static void kills_single(void *round)
{
	processes(NFSAPPEND_SINGLE, false, false,
		100 + (unsigned)(uintptr_t)round);
}

static void kills_long(void *round)
{
	processes(rig_sharings[(uintptr_t)round % 2], true, false,
		200 + (unsigned)(uintptr_t)round);
}

static void kills_identical(void *round)
{
	processes(rig_sharings[(uintptr_t)round % 2], false, true,
		300 + (unsigned)(uintptr_t)round);
}

static void kills(void)
{
	rounds(kills_guarded, 20, 2);
	rounds(kills_single, 20, 2);
}

static void kills_among_long_records(void)
{
	rounds(kills_long, 20, 2);
}

static void kills_among_identical_records(void)
{
	rounds(kills_identical, 20, 2);
}

/* Leaders die at their WRITE, before or after it was executed. */
static void leaders_die_once(void *round)
{
	pid_t pids[WRITERS / 4];
	unsigned killed = 0;

	start(rig_sharings[(uintptr_t)round % 2]);
	fake_latency(200);
	for (unsigned k = 0; k < 8; k++)
		FAKE(.op = FAKE_WRITE, .at = 7 + 9 * k,
			.death = k % 2 ? FAKE_DIE_BEFORE : FAKE_DIE_AFTER);
	for (unsigned k = 0; k < WRITERS / 4; k++)
		pids[k] = spawn(process_of_threads, 4 * k);
	for (unsigned k = 0; k < WRITERS / 4; k++) {
		int status = unit_wait(pids[k]);

		CHECK(WIFSIGNALED(status) || status == 0);
		killed += WIFSIGNALED(status);
	}
	fake_rules_clear();
	check_at_rest();
	CHECK(killed >= 2);
}

static void leaders_die(void)
{
	rounds(leaders_die_once, 40, 4);
}

/* ... and successors while they settle. */
static void successors_die_once(void *round)
{
	static const enum fake_op ops[] = {
		FAKE_GETATTR, FAKE_READ, FAKE_COMMIT, FAKE_WRITE};
	enum fake_op op = ops[(uintptr_t)round / 2];
	pid_t pids[16];

	start(NFSAPPEND_GUARDED);
	fake_latency(200);
	notes->records = 20;
	FAKE(.op = FAKE_WRITE, .at = 5, .death = FAKE_DIE_AFTER);
	FAKE(.op = FAKE_WRITE, .at = 9, .death = FAKE_DIE_BEFORE);
	FAKE(.op = op, .at = op == FAKE_READ || op == FAKE_COMMIT ? 1 : 6,
		.death = (uintptr_t)round % 2 ? FAKE_DIE_BEFORE
					      : FAKE_DIE_AFTER);
	for (unsigned k = 0; k < 16; k++)
		pids[k] = spawn(process, k);
	for (unsigned k = 0; k < 16; k++)
		unit_wait(pids[k]);
	fake_rules_clear();
	check_at_rest();
}

static void successors_die(void)
{
	rounds(successors_die_once, 8, 8);
}

/* Answers are lost, WRITEs fall short, or are not stable. */
static void faults_and_kills_once(void *round)
{
	unsigned i = (unsigned)(uintptr_t)round;
	pid_t pids[32];

	srandom(400 + i);
	start(rig_sharings[i % 2]);
	notes->longs = i % 4 >= 2;
	fake_latency(200);
	for (unsigned k = 0; k < 8; k++)
		FAKE(.op = FAKE_WRITE, .at = 3 + 5 * k,
			.result = k % 3 == 0   ? NFSAPPEND_LOST
				  : k % 3 == 1 ? NFSAPPEND_UNSENT
					       : NFSAPPEND_DELAY,
			.executed = k % 3 == 0 && k % 2);
	for (unsigned k = 0; k < 8; k++)
		FAKE(.op = FAKE_WRITE, .at = 5 + 7 * k,
			.count = 1 + (unsigned)random() % 300);
	for (unsigned k = 0; k < 4; k++)
		FAKE(.op = FAKE_WRITE, .at = 9 + 6 * k, .lesser = 1 + k % 2);
	for (unsigned k = 0; k < 32; k++)
		pids[k] = spawn(process, k);
	kill_half(pids, 32);
	fake_rules_clear();
	check_at_rest();
}

static void faults_and_kills(void)
{
	rounds(faults_and_kills_once, 40, 4);
}

static const struct unit_test tests[] = {
	UNIT_TEST(threads_single),
	UNIT_TEST(threads_guarded),
	UNIT_TEST(threads_long_and_short),
	UNIT_TEST(long_records_do_not_starve),
	UNIT_TEST(short_records_do_not_starve),
	UNIT_TEST(kills),
	UNIT_TEST(kills_among_long_records),
	UNIT_TEST(kills_among_identical_records),
	UNIT_TEST(leaders_die),
	UNIT_TEST(successors_die),
	UNIT_TEST(faults_and_kills),
};
UNIT_MAIN(tests)

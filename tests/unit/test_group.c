/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Batches made on purpose: what each writer of one is told, when the batch
 * falls short, its leader runs out of time, is stopped, or dies. */
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

#define FOLLOWERS 4

/* In shared memory. */
static struct {
	const char *record[FOLLOWERS];
	pid_t pid[FOLLOWERS];
	_Atomic ssize_t result[FOLLOWERS];
	unsigned timeout_s[FOLLOWERS];
	unsigned n;
} * f;

static struct nfsappend_segment *seg;
static struct nfsappend_queue *q;

static void start(enum nfsappend_sharing sharing)
{
	rig_start_large(sharing, 1 << 20);
	seg = rig_file->segment.shared;
	q = nfsappend_segment_queue(&rig_file->segment, true);
	CHECK(q != NULL);
	f = mmap(NULL, sizeof *f, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(f != MAP_FAILED);
	alarm(60);
}

static void lead(void)
{
	CHECK_INT(pthread_mutex_lock(
			  &seg->leaders[seg->reign % NFSAPPEND_LEADS]),
		0);
}

/* Without waking those who sleep: the next is us. */
static void unlead(void)
{
	pthread_mutex_unlock(&seg->leaders[seg->reign % NFSAPPEND_LEADS]);
}

static void follower(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rig_file->timeout_s = f->timeout_s[i];
	f->result[i] = rig_append(f->record[i]);
}

/* Records that are all there, and not yet told of what became of them. */
static unsigned queued_records(void)
{
	unsigned n = 0;

	for (int i = 0; i < NFSAPPEND_SLOTS; i++) {
		uint64_t state = q->records[i].word & 0xff;

		n += state == NFSAPPEND_SLOT_QUEUED ||
			state == NFSAPPEND_SLOT_TAKEN;
	}
	return n;
}

static bool sleeps(pid_t pid)
{
	char path[64], state = '?';
	FILE *stat;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return false;
	if (fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	fclose(stat);
	return state == 'S';
}

/* While somebody leads: a process that queues the record, and sleeps when this
 * returns, for before that it would try to lead; or has given up again. */
static unsigned follow(const char *record, unsigned timeout_s)
{
	unsigned i = f->n++, queued = queued_records();

	f->record[i] = record;
	f->timeout_s[i] = timeout_s;
	f->result[i] = -1000;
	f->pid[i] = unit_fork(follower, (void *)(uintptr_t)i);
	while ((queued_records() == queued || !sleeps(f->pid[i])) &&
		f->result[i] == -1000)
		usleep(200);
	return i;
}

static ssize_t result(unsigned i)
{
	unit_wait(f->pid[i]);
	return f->result[i];
}

static void check_slots_free(void)
{
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		CHECK_INT(q->records[i].word & 0xff, NFSAPPEND_SLOT_FREE);
}

static void one_batch(void)
{
	unsigned a, b;

	start(NFSAPPEND_GUARDED);
	lead();
	a = follow("first\n", 0);
	b = follow("second\n", 0);
	unlead();
	CHECK_INT(rig_append("own\n"), 4);
	CHECK_INT(result(a), 6);
	CHECK_INT(result(b), 7);
	CHECK_INT(fake_calls(FAKE_WRITE), 1);
	CHECK_INT(rig_file->stats.batched_max, 3);
	CHECK_FILE("first\nsecond\nown\n");
	check_slots_free();
}

/* The disk is full in the middle of a batch. */
static void no_space(void)
{
	unsigned a, b, c;

	start(NFSAPPEND_SINGLE);
	lead();
	a = follow("aaa\n", 0);
	b = follow("bbb\n", 0);
	c = follow("ccc\n", 0);
	FAKE(.op = FAKE_WRITE, .count = 5);
	FAKE(.op = FAKE_WRITE, .at = 2, .result = -ENOSPC);
	unlead();
	CHECK_INT(rig_append("own\n"), -ENOSPC);
	CHECK_INT(result(a), 4);
	CHECK_INT(result(b), 1);
	CHECK_INT(result(c), -ENOSPC);
	CHECK_FILE("aaa\nb");
	check_slots_free();
}

/* The answer for the rest of a short WRITE is lost, and nothing more can be
 * learnt: who has a part in the file is told the error. Told the part, it
 * would send the rest, which may be in. */
static void in_doubt_behind_a_part(void)
{
	unsigned a, b;

	start(NFSAPPEND_GUARDED);
	lead();
	a = follow("aaaaaa\n", 0);
	b = follow("bbbbbb\n", 0);
	FAKE(.op = FAKE_WRITE, .count = 10);
	FAKE(.op = FAKE_WRITE, .at = 2, .result = NFSAPPEND_LOST,
		.executed = true);
	FAKE(.op = FAKE_GETATTR, .at = 3, .result = -ESTALE);
	unlead();
	CHECK_INT(rig_append("own\n"), -ESTALE);
	CHECK_INT(result(a), 7);
	CHECK_INT(result(b), -ESTALE);
	CHECK_HAS(rig_log(), "may be in the file");
	CHECK_FILE("aaaaaa\nbbbbbb\nown\n");
	check_slots_free();
}

/* Another host's record is what our batch begins with: it stays. */
static void same_as_the_first_of_the_batch(void)
{
	unsigned a;

	start(NFSAPPEND_GUARDED);
	lead();
	a = follow("aaaa", 0);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_LOST, .after = "aaaa");
	unlead();
	CHECK_INT(rig_append("own"), 3);
	CHECK_INT(result(a), 4);
	CHECK_HAS(rig_log(), "[N303]");
	CHECK_FILE("aaaaaaaaown");
	check_slots_free();
}

/* A short WRITE, and another host's record behind it: only the record that
 * was cut is short, those not begun go behind the other's. */
static void other_host_in_the_middle(void)
{
	unsigned a, b, c;

	start(NFSAPPEND_GUARDED);
	lead();
	a = follow("aaa\n", 0);
	b = follow("bbb\n", 0);
	c = follow("ccc\n", 0);
	FAKE(.op = FAKE_WRITE, .count = 5, .after = "other\n");
	unlead();
	CHECK_INT(rig_append("own\n"), 4);
	CHECK_INT(result(a), 4);
	CHECK_INT(result(b), 1);
	CHECK_INT(result(c), 4);
	CHECK_FILE("aaa\nbother\nccc\nown\n");
	check_slots_free();
}

/* The leader gives up; who has more time, or all of it, is told what became
 * of his record. */
static void deadline_of_the_leader(void)
{
	for (int executed = 0; executed < 2; executed++) {
		unsigned a, b;
		pid_t pid = fork();

		if (pid != 0) {
			CHECK_INT(unit_wait(pid), 0);
			continue;
		}
		unit_case("executed %d", executed);
		start(NFSAPPEND_GUARDED);
		lead();
		a = follow("aaa\n", 0);
		b = follow("bbb\n", 30);
		FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_TIMED_OUT,
			.executed = executed);
		rig_file->timeout_s = 1;
		unlead();
		CHECK_INT(rig_append("own\n"), -EIO);
		CHECK_INT(result(a), 4);
		CHECK_INT(result(b), 4);
		/* The leader's own is in doubt, and stands at most once. */
		rig_file->timeout_s = 0;
		CHECK_INT(rig_append("next\n"), 5);
		CHECK_FILE("aaa\nbbb\nown\nnext\n");
		check_slots_free();
		exit(0);
	}
}

/* It gives up before anything was sent. */
static void deadline_before_the_write(void)
{
	unsigned a;

	start(NFSAPPEND_GUARDED);
	lead();
	a = follow("aaa\n", 0);
	FAKE(.op = FAKE_GETATTR, .result = NFSAPPEND_TIMED_OUT);
	rig_file->timeout_s = 1;
	unlead();
	CHECK_INT(rig_append("own\n"), -EIO);
	CHECK_INT(result(a), 4);
	CHECK_FILE("aaa\n");
	check_slots_free();
}

/* A long record's leader serves the queue first, and gives up on that: then
 * nothing else may be sent. */
static void deadline_while_serving(void)
{
	char longer[NFSAPPEND_SLOT_DATA + 100];
	unsigned a;

	start(NFSAPPEND_GUARDED);
	memset(longer, 'x', sizeof longer);
	lead();
	a = follow("aaa\n", 0);
	FAKE(.op = FAKE_WRITE, .result = NFSAPPEND_TIMED_OUT, .executed = true);
	rig_file->timeout_s = 1;
	unlead();
	CHECK_INT(rig_append_bytes(longer, sizeof longer), -EIO);
	CHECK_INT(result(a), 4);
	CHECK_FILE("aaa\n");
	check_slots_free();
}

static void long_one(void *arg)
{
	char longer[NFSAPPEND_SLOT_DATA + 100];

	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(longer, 'x', sizeof longer);
	longer[sizeof longer - 1] = '\n';
	CHECK_INT(rig_append_bytes(longer, sizeof longer), sizeof longer);
}

static int told[2];

/* Collects one follower's record, and is stopped in the middle of its WRITE. */
static void stops_in_write(void *arg)
{
	(void)arg;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lead();
	CHECK_INT(write(told[1], "", 1), 1);
	while (queued_records() == 0 || !sleeps(f->pid[0]))
		usleep(200);
	unlead();
	CHECK_INT(rig_append("stopped\n"), 8);
}

static pid_t stopped_leader(unsigned *taken, unsigned timeout_s)
{
	pid_t pid;
	char c;

	CHECK_INT(pipe(told), 0);
	FAKE(.op = FAKE_WRITE, .reached = &told[1]);
	pid = unit_fork(stops_in_write, NULL);
	CHECK_INT(read(told[0], &c, 1), 1);
	*taken = follow("taken\n", timeout_s);
	CHECK_INT(read(told[0], &c, 1), 1);
	return pid;
}

/* Others report and wait, or end by their time-out; when it wakes up nothing
 * is lost, doubled or overwritten. */
static void leader_stopped(void)
{
	unsigned taken, queued, patient;
	pid_t pid;

	start(NFSAPPEND_GUARDED);
	pid = stopped_leader(&taken, 1);
	queued = follow("queued\n", 1);
	patient = follow("patient\n", 0);
	CHECK_INT(result(taken), -EIO);
	CHECK_INT(result(queued), -EIO);
	rig_file->timeout_s = 1;
	CHECK_INT(rig_append("direct\n"), -EIO);
	CHECK_HAS(rig_log(), "may be in the file");
	kill(pid, SIGCONT);
	CHECK_INT(unit_wait(pid), 0);
	CHECK_INT(result(patient), 8);
	rig_file->timeout_s = 0;
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("taken\nstopped\npatient\nnext\n");
	check_slots_free();
}

/* Who waits for it can be killed as on a hard mount, and hears of it. */
static void followers_of_a_stopped_leader_die(void)
{
	unsigned taken, direct;
	int status;
	pid_t pid;

	start(NFSAPPEND_GUARDED);
	pid = stopped_leader(&taken, 0);
	direct = (unsigned)unit_fork(long_one, NULL);
	while (seg->heir == 0)
		usleep(200);
	kill(f->pid[taken], SIGTERM);
	kill((pid_t)direct, SIGTERM);
	for (int i = 0; i < 2; i++) {
		int64_t began = nfsappend_now();

		status = unit_wait(i == 0 ? f->pid[taken] : (pid_t)direct);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
		CHECK(nfsappend_now() - began < INT64_C(3000000000));
	}
	kill(pid, SIGCONT);
	CHECK_INT(unit_wait(pid), 0);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("taken\nstopped\nnext\n");
}

/* A stopped leader that is killed: the same, and its record may be in. */
static void leader_stopped_and_killed(void)
{
	unsigned taken, queued;
	pid_t pid;

	start(NFSAPPEND_GUARDED);
	pid = stopped_leader(&taken, 0);
	queued = follow("queued\n", 0);
	kill(pid, SIGKILL);
	unit_wait(pid);
	CHECK_INT(result(taken), 6);
	CHECK_INT(result(queued), 7);
	CHECK_INT(rig_append("next\n"), 5);
	CHECK_FILE("taken\nstopped\nqueued\nnext\n");
	check_slots_free();
}

/* The successor runs out of time while it settles; the next one does it. */
static void successor_gives_up(void)
{
	unsigned taken, patient;
	pid_t pid;

	start(NFSAPPEND_GUARDED);
	pid = stopped_leader(&taken, 1);
	FAKE(.op = FAKE_GETATTR, .result = NFSAPPEND_TIMED_OUT);
	kill(pid, SIGKILL);
	unit_wait(pid);
	CHECK_INT(result(taken), -EIO); /* it was the successor */
	CHECK_INT(seg->orphaned, 1);
	CHECK_INT(seg->pending, NFSAPPEND_IN_FLIGHT);
	lead();
	patient = follow("patient\n", 0);
	unlead();
	CHECK_INT(result(patient), 8);
	CHECK_FILE("taken\nstopped\npatient\n");
	CHECK_INT(seg->orphaned, 0);
	check_slots_free();
}

/* Who waits for the lead itself has its turn before others; stopped or dead,
 * it holds nobody up for long. */
static void heir_stopped(void)
{
	for (int killed = 0; killed < 2; killed++) {
		pid_t round = fork(), pid;
		int64_t began;

		if (round != 0) {
			CHECK_INT(unit_wait(round), 0);
			continue;
		}
		unit_case("killed %d", killed);
		start(NFSAPPEND_GUARDED);
		lead();
		pid = unit_fork(long_one, NULL);
		while (seg->heir == 0)
			usleep(200);
		kill(pid, killed ? SIGKILL : SIGSTOP);
		if (killed)
			unit_wait(pid);
		unlead();
		began = nfsappend_now();
		CHECK_INT(rig_append("one\n"), 4);
		CHECK_INT(rig_append("two\n"), 4);
		CHECK(nfsappend_now() - began < INT64_C(1000000000));
		CHECK_FILE("one\ntwo\n");
		if (!killed) {
			kill(pid, SIGCONT);
			CHECK_INT(unit_wait(pid), 0);
			CHECK_INT(fake_attr(rig_node)->size,
				8 + NFSAPPEND_SLOT_DATA + 100);
		}
		CHECK_INT(seg->heir, 0);
		exit(0);
	}
}

static void *busy(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++)
		CHECK_INT(rig_append("0123456789abcdef\n"), 17);
	return NULL;
}

/* More writers than slots: none goes alone. */
static void more_writers_than_slots(void)
{
	pthread_t ids[200];
	unsigned writes;

	start(NFSAPPEND_SINGLE);
	fake_latency(2000);
	for (unsigned i = 0; i < UNIT_COUNT(ids); i++)
		CHECK_INT(pthread_create(&ids[i], NULL, busy, NULL), 0);
	for (unsigned i = 0; i < UNIT_COUNT(ids); i++)
		pthread_join(ids[i], NULL);
	writes = fake_calls(FAKE_WRITE);
	printf("# 4,000 records of 200 writers in %u WRITEs\n", writes);
	CHECK(writes < 400);
	CHECK_INT(fake_attr(rig_node)->size, 200 * 20 * 17);
	check_slots_free();
}

static void alone(void *arg)
{
	(void)arg;
	lead();
	usleep(300000);
	unlead();
}

/* Sleepers that are killed leave nothing behind that a lone writer pays. */
static void dead_sleepers(void)
{
	start(NFSAPPEND_SINGLE);
	for (int i = 0; i < 3; i++) {
		pid_t leader = unit_fork(alone, NULL);

		usleep(20000);
		for (int k = 0; k < 3; k++) {
			pid_t pid;

			f->n = 0;
			pid = f->pid[follow("killed\n", 0)];
			usleep(2000);
			kill(pid, SIGKILL);
			unit_wait(pid);
		}
		unit_wait(leader);
	}
	CHECK_INT(rig_append("one\n"), 4);
	CHECK_INT(rig_append("two\n"), 4);
	CHECK_INT(seg->turns & 1, 0); /* nobody to be woken */
	CHECK_INT(q->seen, q->tickets);
	CHECK_INT(q->left, 0); /* nor any slot to be looked at */
}

static const struct unit_test tests[] = {
	UNIT_TEST(one_batch),
	UNIT_TEST(no_space),
	UNIT_TEST(in_doubt_behind_a_part),
	UNIT_TEST(same_as_the_first_of_the_batch),
	UNIT_TEST(other_host_in_the_middle),
	UNIT_TEST(deadline_of_the_leader),
	UNIT_TEST(deadline_before_the_write),
	UNIT_TEST(deadline_while_serving),
	UNIT_TEST(leader_stopped),
	UNIT_TEST(followers_of_a_stopped_leader_die),
	UNIT_TEST(leader_stopped_and_killed),
	UNIT_TEST(successor_gives_up),
	UNIT_TEST(heir_stopped),
	UNIT_TEST(more_writers_than_slots),
	UNIT_TEST(dead_sleepers),
};
UNIT_MAIN(tests)

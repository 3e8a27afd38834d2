/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The commit queue alone: slots, order, outcomes, and what a death leaves. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/queue.h"
#include "rig.h"

static struct nfsappend_queue *q;
static uint8_t stage[NFSAPPEND_SLOTS * NFSAPPEND_SLOT_DATA + 1];

static void start(void)
{
	rig_core();
	q = mmap(NULL, sizeof *q, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(q != MAP_FAILED);
}

static int enter(const char *record)
{
	struct iovec iov = {(void *)record, strlen(record)};
	struct nfsappend_guard guard;
	int slot;

	nfsappend_guard_enter(&guard); /* a new child learns its pid */
	slot = nfsappend_queue_enter(q, &iov, 1, iov.iov_len);
	nfsappend_guard_leave(&guard);
	return slot;
}

#define CHECK_COLLECTED(room, want)                                            \
	check_collected(__FILE__, __LINE__, room, want)
static void check_collected(
	const char *file, int line, uint32_t room, const char *want)
{
	unsigned records;
	uint32_t len = nfsappend_queue_collect(q, stage, room, false, &records);

	unit_mem(file, line, "the batch", stage, len, want, strlen(want));
}

#define CHECK_RESULT(slot, want, want_end)                                     \
	check_result(__FILE__, __LINE__, slot, want, want_end)
static void check_result(
	const char *file, int line, int slot, int64_t want, uint64_t want_end)
{
	int64_t result = -1;
	uint64_t end = 0;

	if (!nfsappend_queue_result(q, slot, &result, &end))
		unit_fail(file, line, "no result in slot %d", slot);
	unit_int(file, line, "the result", result, want);
	if (want > 0)
		unit_int(file, line, "the end", (long long)end,
			(long long)want_end);
}

static bool has_result(int slot)
{
	int64_t result;
	uint64_t end;

	return nfsappend_queue_result(q, slot, &result, &end);
}

static unsigned slots_in_use(void)
{
	unsigned n = 0;

	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		n += (q->records[i].word & 0xff) != NFSAPPEND_SLOT_FREE;
	return n;
}

static void order_and_results(void)
{
	int a, b, c;

	start();
	CHECK_COLLECTED(100, "");
	a = enter("one\n");
	b = enter("second\n");
	c = enter("3\n");
	CHECK_COLLECTED(100, "one\nsecond\n3\n");
	CHECK(!has_result(a));
	nfsappend_queue_publish(q, 13, 0, 1013, false);
	CHECK_RESULT(b, 7, 1011);
	CHECK_RESULT(a, 4, 1004);
	CHECK_RESULT(c, 2, 1013);
	CHECK_INT(slots_in_use(), 0);
	CHECK_COLLECTED(100, "");
}

/* Each its own share; what was not begun at all keeps its place. */
static void short_batches(void)
{
	static const struct {
		uint64_t done;
		int64_t error;
		int64_t a, b, c;
		const char *again;
	} cases[] = {
		{0, -ENOSPC, -ENOSPC, -ENOSPC, -ENOSPC, ""},
		{2, -ENOSPC, 2, -ENOSPC, -ENOSPC, ""},
		{4, -EDQUOT, 4, -EDQUOT, -EDQUOT, ""},
		{8, -EIO, 4, 4, -EIO, ""},
		{12, 0, 4, 4, 4, ""},
		{9, 0, 4, 4, 1, ""},
		{8, 0, 4, 4, 0, "ccc\n"},
		{5, 0, 4, 1, 0, "ccc\n"},
		{4, 0, 4, 0, 0, "bbb\nccc\n"},
		{0, 0, 0, 0, 0, "aaa\nbbb\nccc\n"},
	};

	start();
	for (unsigned i = 0; i < UNIT_COUNT(cases); i++) {
		int a = enter("aaa\n"), b = enter("bbb\n"), c = enter("ccc\n");
		uint64_t end = 100 + cases[i].done;

		unit_case("%d done, error %d", (int)cases[i].done,
			(int)cases[i].error);
		CHECK_COLLECTED(100, "aaa\nbbb\nccc\n");
		nfsappend_queue_publish(q, cases[i].done, cases[i].error, end, false);
		if (cases[i].a != 0)
			CHECK_RESULT(a, cases[i].a, end < 104 ? end : 104);
		if (cases[i].b != 0)
			CHECK_RESULT(b, cases[i].b, end < 108 ? end : 108);
		if (cases[i].c != 0)
			CHECK_RESULT(c, cases[i].c, end);
		CHECK_COLLECTED(100, cases[i].again);
		nfsappend_queue_publish(q, 12, 0, 200, false);
		if (cases[i].a == 0)
			CHECK(has_result(a));
		if (cases[i].b == 0)
			CHECK(has_result(b));
		if (cases[i].c == 0)
			CHECK(has_result(c));
		CHECK_INT(slots_in_use(), 0);
	}
}

static void no_room(void)
{
	int a, b, c;

	start();
	a = enter("aaaa");
	b = enter("bbbbbb");
	c = enter("c");
	CHECK_COLLECTED(7, "aaaa"); /* c does not overtake b */
	nfsappend_queue_publish(q, 4, 0, 4, false);
	CHECK_RESULT(a, 4, 4);
	CHECK_COLLECTED(7, "bbbbbbc");
	nfsappend_queue_publish(q, 7, 0, 11, false);
	CHECK_RESULT(b, 6, 10);
	CHECK_RESULT(c, 1, 11);
	CHECK_INT(slots_in_use(), 0);
}

static void bad_buffer(void)
{
	struct iovec iov = {(void *)8, 100};

	start();
	CHECK_INT(nfsappend_queue_enter(q, &iov, 1, 100), -EFAULT);
	CHECK_INT(slots_in_use(), 0);
	CHECK_COLLECTED(100, "");
}

static void withdrawal(void)
{
	int a, b, c;

	start();
	a = enter("aaaa\n");
	b = enter("bbbb\n");
	CHECK_INT(nfsappend_queue_withdraw(q, a), NFSAPPEND_WITHDRAWN);
	CHECK_COLLECTED(100, "bbbb\n");
	c = enter("cccc\n");
	CHECK_INT(nfsappend_queue_withdraw(q, b), NFSAPPEND_ABANDONED);
	nfsappend_queue_publish(q, 5, 0, 5, false);
	CHECK_COLLECTED(100, "cccc\n");
	nfsappend_queue_publish(q, 5, 0, 10, false);
	CHECK_INT(nfsappend_queue_withdraw(q, c), NFSAPPEND_COMMITTED);
	CHECK_RESULT(c, 5, 10);
	CHECK_INT(slots_in_use(), 0);
}

/* The leader died with landed bytes of the batch in the file. */
static void recovery(void)
{
	start();
	for (unsigned landed = 0; landed <= 12; landed++) {
		int a = enter("aaa\n"), b = enter("bbb\n"), c = enter("ccc\n");
		char again[13] = "";

		unit_case("%u landed", landed);
		CHECK_COLLECTED(100, "aaa\nbbb\nccc\n");
		nfsappend_queue_recover(q, landed, 100 + landed);
		if (landed > 0)
			CHECK_RESULT(a, landed < 4 ? landed : 4,
				landed < 4 ? 100 + landed : 104);
		else
			strcat(again, "aaa\n");
		if (landed > 4)
			CHECK_RESULT(b, landed < 8 ? landed - 4 : 4,
				landed < 8 ? 100 + landed : 108);
		else
			strcat(again, "bbb\n");
		if (landed > 8)
			CHECK_RESULT(c, landed - 8, 100 + landed);
		else
			strcat(again, "ccc\n");
		CHECK_COLLECTED(100, again);
		nfsappend_queue_publish(q, 12, 0, 12, false);
		if (landed == 0)
			CHECK(has_result(a));
		if (landed <= 4)
			CHECK(has_result(b));
		if (landed <= 8)
			CHECK(has_result(c));
		CHECK_INT(slots_in_use(), 0);
	}
}

/* It had noted the outcome, and told some: the others are told the same. */
static void death_while_publishing(void)
{
	int a, b;

	start();
	a = enter("aaa\n");
	b = enter("bbb\n");
	CHECK_COLLECTED(100, "aaa\nbbb\n");
	q->done = 4;
	q->error = -ENOSPC;
	q->end = 104;
	q->known = 1;
	nfsappend_queue_recover(q, 0, 0);
	CHECK_INT(q->known, 0);
	CHECK_RESULT(a, 4, 104);
	CHECK_RESULT(b, -ENOSPC, 0);
}

static void death_and_withdrawal(void)
{
	int a, b;

	start();
	a = enter("aaa\n");
	b = enter("bbb\n");
	CHECK_COLLECTED(100, "aaa\nbbb\n");
	CHECK_INT(nfsappend_queue_withdraw(q, a), NFSAPPEND_ABANDONED);
	nfsappend_queue_recover(q, 0, 0);
	CHECK_INT(slots_in_use(), 1);
	CHECK_INT(nfsappend_queue_withdraw(q, b), NFSAPPEND_WITHDRAWN);
	CHECK_COLLECTED(100, "");
	CHECK_INT(slots_in_use(), 0);
}

static void dies_queued(void *arg)
{
	CHECK(enter(arg) >= 0);
	raise(SIGKILL);
}

static void dies_copying(void *arg)
{
	int slot = enter(arg);

	CHECK(slot >= 0);
	/* As it stands before the record is there. */
	q->records[slot].word = (q->records[slot].word & ~UINT64_C(0xff)) |
				NFSAPPEND_SLOT_CLAIMED;
	raise(SIGKILL);
}

/* Every slot is some dead writer's; it is found, and blocks nobody. */
static void dead_writers(void)
{
	int slot;

	start();
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		unit_wait(unit_fork(dies_copying, "x"));
	CHECK_INT(slots_in_use(), NFSAPPEND_SLOTS);
	CHECK_COLLECTED(sizeof stage, "");
	for (int i = 0; i < 3; i++) {
		slot = enter("alive\n");
		CHECK(slot >= 0);
		CHECK_COLLECTED(100, "alive\n");
		nfsappend_queue_publish(q, 6, 0, 6, false);
		CHECK_RESULT(slot, 6, 6);
	}
	/* A record of one that died waiting is sent; its slot comes back. */
	for (int i = 0; i < 2 * NFSAPPEND_SLOTS; i++) {
		unit_wait(unit_fork(dies_queued, "dead\n"));
		CHECK_COLLECTED(100, "dead\n");
		nfsappend_queue_publish(q, 5, 0, 5, false);
	}
}

static void *enter_in_thread(void *arg)
{
	*(int *)arg = enter("of a thread\n");
	return NULL;
}

/* A thread that ended in the middle, as by an exec of another one, while its
 * process goes on. */
static void dead_threads(void)
{
	start();
	for (int i = 0; i < 2 * NFSAPPEND_SLOTS; i++) {
		pthread_t thread;
		int slot;

		pthread_create(&thread, NULL, enter_in_thread, &slot);
		pthread_join(thread, NULL);
		CHECK(slot >= 0);
		CHECK_COLLECTED(100, "of a thread\n");
		nfsappend_queue_publish(q, 12, 0, 12, false);
	}
}

static void full(void)
{
	static char all[NFSAPPEND_SLOTS + 1];
	int64_t result;
	uint64_t end;

	start();
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		CHECK(enter("x") >= 0);
	CHECK_INT(enter("x"), -ENOBUFS);
	memset(stage + 1, 'x', NFSAPPEND_SLOTS);
	stage[NFSAPPEND_SLOTS + 1] = '\0';
	memcpy(all, stage + 1, sizeof all);
	CHECK_COLLECTED(sizeof stage, all);
	CHECK_INT(enter("x"), -ENOBUFS);
	nfsappend_queue_publish(q, NFSAPPEND_SLOTS, 0, NFSAPPEND_SLOTS, false);
	/* All ours, from before an exec as it were. */
	CHECK(enter("x") >= 0);
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		nfsappend_queue_result(q, i, &result, &end);
}

/* Somebody scribbles over the records: nothing of ours is overrun. */
static void hostile(void)
{
	int slot;
	unsigned records;

	start();
	slot = enter("fine\n");
	CHECK(slot >= 0);
	q->records[slot].len = UINT32_MAX;
	CHECK_INT(nfsappend_queue_collect(
			  q, stage, sizeof stage, false, &records),
		0);
	q->records[slot].len = NFSAPPEND_SLOT_DATA + 1;
	CHECK_INT(nfsappend_queue_collect(
			  q, stage, sizeof stage, false, &records),
		0);
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		q->records[i].word = UINT64_MAX;
	CHECK_INT(nfsappend_queue_collect(
			  q, stage, sizeof stage, false, &records),
		0);
	nfsappend_queue_publish(q, 100, 0, 0, false);
	CHECK_INT(enter("x"), -ENOBUFS);
}

/* Many processes fight for slots that dead ones hold: none has two owners. */
#define CLAIMERS 6
static struct {
	_Atomic unsigned owners[NFSAPPEND_SLOTS];
	_Atomic unsigned clashes, claims;
} * fight;

static void claim_and_let_go(void *arg)
{
	for (int i = 0; i < 3000; i++) {
		int slot = enter("x");

		if (slot < 0)
			continue;
		if (fight->owners[slot]++ != 0)
			fight->clashes++;
		fight->claims++;
		fight->owners[slot]--;
		/* As a dead one's, now and then. */
		q->records[slot].word = i % 2 ? (uint64_t)NFSAPPEND_SLOT_FREE
					      : UINT64_C(0x3fffff) << 32 |
							0x3fffff00 |
							NFSAPPEND_SLOT_DONE;
	}
}

static void fight_for_slots(void)
{
	pid_t pids[CLAIMERS];

	start();
	fight = mmap(NULL, sizeof *fight, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < NFSAPPEND_SLOTS; i++)
		q->records[i].word = UINT64_C(0x3fffff) << 32 | 0x3fffff00 |
				     NFSAPPEND_SLOT_DONE;
	for (int i = 0; i < CLAIMERS; i++)
		pids[i] = unit_fork(claim_and_let_go, NULL);
	for (int i = 0; i < CLAIMERS; i++)
		CHECK_INT(unit_wait(pids[i]), 0);
	CHECK_INT(fight->clashes, 0);
	CHECK_INT(fight->claims, CLAIMERS * 3000);
}

static const struct unit_test tests[] = {
	UNIT_TEST(order_and_results),
	UNIT_TEST(short_batches),
	UNIT_TEST(no_room),
	UNIT_TEST(bad_buffer),
	UNIT_TEST(withdrawal),
	UNIT_TEST(recovery),
	UNIT_TEST(death_while_publishing),
	UNIT_TEST(death_and_withdrawal),
	UNIT_TEST(dead_writers),
	UNIT_TEST(dead_threads),
	UNIT_TEST(full),
	UNIT_TEST(hostile),
	UNIT_TEST(fight_for_slots),
};
UNIT_MAIN(tests)

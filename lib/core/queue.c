/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>

#include "core/queue.h"
#include "core/usercopy.h"

#define GATHER_MAX INT64_C(100000) /* ns */
#define SLICE INT64_C(200000000)   /* ns; then fatal signals get a chance */

_Static_assert(sizeof(struct nfsappend_queued) == NFSAPPEND_SLOT_BYTES,
	"a record fills its slot");

static bool gone(int32_t pid)
{
	return pid > 0 && sys_kill(pid, 0) == -ESRCH;
}

static bool claim(struct nfsappend_queued *r, uint32_t was)
{
	if (!atomic_compare_exchange_strong(&r->state, &was,
		    NFSAPPEND_SLOT_CLAIMED))
		return false;
	atomic_store(&r->owner, nfsappend_process->pid);
	return true;
}

/* FREE ones first; then those whose writer died while it copied, or before
 * it fetched its result. Each thread begins elsewhere. */
static int find_slot(struct nfsappend_queue *q)
{
	unsigned start = (unsigned)sys_gettid();

	for (unsigned i = 0; i < NFSAPPEND_SLOTS; i++) {
		int slot = (int)((start + i) % NFSAPPEND_SLOTS);

		if (atomic_load_explicit(&q->records[slot].state,
			    memory_order_relaxed) == NFSAPPEND_SLOT_FREE &&
			claim(&q->records[slot], NFSAPPEND_SLOT_FREE))
			return slot;
	}
	for (int slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		uint32_t state = atomic_load(&r->state);
		int32_t owner = atomic_load(&r->owner);

		if ((state != NFSAPPEND_SLOT_CLAIMED &&
			    state != NFSAPPEND_SLOT_DONE) ||
			!gone(owner))
			continue;
		/* By its owner first, so that only one of us gets it. */
		if (!atomic_compare_exchange_strong(&r->owner, &owner, 0))
			continue;
		if (claim(r, state))
			return slot;
	}
	return -1;
}

int nfsappend_queue_enter(struct nfsappend_queue *q, const struct iovec *iov,
	int iovcnt, size_t total)
{
	struct nfsappend_queued *r;
	int slot;

	if (total > NFSAPPEND_SLOT_DATA)
		return -1;
	slot = find_slot(q);
	if (slot < 0)
		return -1;
	r = &q->records[slot];
	if (nfsappend_copy_in(iov, iovcnt, 0, r->data, total) !=
		(ssize_t)total) {
		/* The direct way tells how far the buffer goes. */
		atomic_store(&r->state, NFSAPPEND_SLOT_FREE);
		return -1;
	}
	r->len = (uint32_t)total;
	r->ticket = atomic_fetch_add(&q->tickets, 1);
	atomic_fetch_add(&q->queued, 1);
	atomic_store(&r->state, NFSAPPEND_SLOT_QUEUED);
	return slot;
}

bool nfsappend_queue_result(struct nfsappend_queue *q, int slot,
	int64_t *result, uint64_t *end)
{
	struct nfsappend_queued *r = &q->records[slot];

	if (atomic_load(&r->state) != NFSAPPEND_SLOT_DONE)
		return false;
	*result = r->result;
	*end = r->end;
	atomic_store(&r->state, NFSAPPEND_SLOT_FREE);
	return true;
}

int nfsappend_queue_sleep(struct nfsappend_queue *q, uint32_t seen,
	struct nfsappend_waiting *w)
{
	struct timespec t = {0, SLICE};
	long r;

	atomic_fetch_add(&q->sleepers, 1);
	r = nfsappend_sys(SYS_futex, (long)&q->completions, FUTEX_WAIT, seen,
		(long)&t, 0, 0);
	atomic_fetch_sub(&q->sleepers, 1);
	/* Fatal signals, "not responding", the deadline. */
	return r == -ETIMEDOUT && nfsappend_wait_sleep(w, 1) != 0 ? -ETIMEDOUT
								   : 0;
}

bool nfsappend_queue_withdraw(struct nfsappend_queue *q, int slot)
{
	struct nfsappend_queued *r = &q->records[slot];
	uint32_t state = NFSAPPEND_SLOT_QUEUED;

	if (atomic_compare_exchange_strong(&r->state, &state,
		    NFSAPPEND_SLOT_FREE)) {
		atomic_fetch_sub(&q->queued, 1);
		return true;
	}
	state = NFSAPPEND_SLOT_TAKEN;
	if (!atomic_compare_exchange_strong(&r->state, &state,
		    NFSAPPEND_SLOT_ABANDONED))
		atomic_store(&r->state, NFSAPPEND_SLOT_FREE); /* DONE */
	return false;
}

/* Groups that alternate would cap a batch at half the writers: those of the
 * last batch come back while the leader is about to send. */
static void gather(struct nfsappend_queue *q)
{
	int64_t patience = q->commit_ns / 16;
	int64_t until;

	if (q->last_batch < 2)
		return;
	if (patience > GATHER_MAX)
		patience = GATHER_MAX;
	until = nfsappend_now() + patience;
	while (atomic_load(&q->queued) + 1 < q->last_batch &&
		nfsappend_now() < until)
		nfsappend_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Indexes of the queued records, by ticket. */
static unsigned in_order(struct nfsappend_queue *q, uint8_t *order)
{
	unsigned n = 0;

	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		unsigned at = n;

		if (atomic_load(&r->state) != NFSAPPEND_SLOT_QUEUED ||
			r->len > NFSAPPEND_SLOT_DATA)
			continue;
		while (at > 0 && q->records[order[at - 1]].ticket > r->ticket) {
			order[at] = order[at - 1];
			at--;
		}
		order[at] = (uint8_t)slot;
		n++;
	}
	return n;
}

uint32_t nfsappend_queue_collect(struct nfsappend_queue *q, uint8_t *stage,
	uint32_t room, unsigned *records)
{
	uint8_t order[NFSAPPEND_SLOTS];
	uint32_t len = 0;
	unsigned n;

	*records = 0;
	gather(q);
	if (atomic_load(&q->queued) == 0)
		return 0;
	n = in_order(q, order);
	for (unsigned i = 0; i < n; i++) {
		struct nfsappend_queued *r = &q->records[order[i]];
		uint32_t state = NFSAPPEND_SLOT_QUEUED;

		if (r->len > room - len)
			break; /* the rest keeps its order */
		r->at = len;
		if (!atomic_compare_exchange_strong(&r->state, &state,
			    NFSAPPEND_SLOT_TAKEN))
			continue; /* withdrawn */
		atomic_fetch_sub(&q->queued, 1);
		memcpy(stage + len, r->data, r->len);
		len += r->len;
		++*records;
	}
	return len;
}

/* The record's own share of what became of the batch. */
static void settle_record(struct nfsappend_queue *q, struct nfsappend_queued *r)
{
	uint32_t state = NFSAPPEND_SLOT_TAKEN;
	uint64_t there = q->done > r->at ? q->done - r->at : 0;

	if (there >= r->len)
		r->result = r->len;
	else if (there > 0)
		r->result = (int64_t)there; /* a short write */
	else
		r->result = q->error != 0 ? q->error : -EIO;
	r->end = q->end - (there > r->len ? there - r->len : 0);
	if (!atomic_compare_exchange_strong(&r->state, &state,
		    NFSAPPEND_SLOT_DONE))
		atomic_store(&r->state, NFSAPPEND_SLOT_FREE); /* ABANDONED */
}

static void settle_taken(struct nfsappend_queue *q)
{
	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		uint32_t state = atomic_load(&r->state);

		if (state == NFSAPPEND_SLOT_TAKEN ||
			state == NFSAPPEND_SLOT_ABANDONED)
			settle_record(q, r);
	}
}

void nfsappend_queue_publish(struct nfsappend_queue *q, uint64_t done,
	int64_t error, uint64_t end)
{
	q->done = done;
	q->error = error;
	q->end = end;
	/* Noted before the first record is told: should we die on the way,
	 * the others are told the same. */
	__atomic_store_n(&q->known, 1, __ATOMIC_RELEASE);
	settle_taken(q);
	__atomic_store_n(&q->known, 0, __ATOMIC_RELEASE);
}

void nfsappend_queue_recover(struct nfsappend_queue *q, uint64_t landed,
	uint64_t end)
{
	if (__atomic_load_n(&q->known, __ATOMIC_ACQUIRE)) {
		settle_taken(q);
		__atomic_store_n(&q->known, 0, __ATOMIC_RELEASE);
		return;
	}
	q->done = landed;
	q->error = 0;
	q->end = end;
	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		uint32_t state = atomic_load(&r->state);

		if (state != NFSAPPEND_SLOT_TAKEN &&
			state != NFSAPPEND_SLOT_ABANDONED)
			continue;
		if (r->at < landed) {
			settle_record(q, r);
			continue;
		}
		/* Not in the file: its writer still waits, or has gone. */
		if (state == NFSAPPEND_SLOT_ABANDONED) {
			atomic_store(&r->state, NFSAPPEND_SLOT_FREE);
			continue;
		}
		atomic_fetch_add(&q->queued, 1);
		if (!atomic_compare_exchange_strong(&r->state, &state,
			    NFSAPPEND_SLOT_QUEUED)) {
			atomic_fetch_sub(&q->queued, 1);
			atomic_store(&r->state, NFSAPPEND_SLOT_FREE);
		}
	}
}

void nfsappend_queue_wake(struct nfsappend_queue *q)
{
	atomic_fetch_add(&q->completions, 1);
	if (atomic_load(&q->sleepers) != 0)
		nfsappend_sys(SYS_futex, (long)&q->completions, FUTEX_WAKE,
			INT_MAX, 0, 0, 0);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/queue.h"
#include "core/usercopy.h"

#define GATHER_MAX INT64_C(100000) /* ns */

/* A slot's word: the state in the low byte, above it the thread, 24 bits, and
 * the process. (PID_MAX_LIMIT is 2^22, include/linux/threads.h.) */
#define STATE(word) ((enum nfsappend_slot_state)((word)&0xff))
#define OWNER(word) ((word) & ~UINT64_C(0xff))

_Static_assert(sizeof(struct nfsappend_queued) == NFSAPPEND_SLOT_BYTES,
	"a record fills its slot");

static uint64_t me(void)
{
	return (uint64_t)(uint32_t)nfsappend_process->pid << 32 |
	       (uint64_t)(uint32_t)nfsappend_tid() << 8;
}

/* The thread, not only its process: exec ends the others of a process. */
static bool gone(uint64_t word)
{
	long pid = (long)(word >> 32), tid = (long)(word >> 8 & 0xffffff);

	return pid > 0 &&
	       nfsappend_sys(SYS_tgkill, pid, tid, 0, 0, 0, 0) == -ESRCH;
}

static bool step(
	struct nfsappend_queued *r, uint64_t word, enum nfsappend_slot_state to)
{
	return atomic_compare_exchange_strong(
		&r->word, &word, OWNER(word) | (uint64_t)to);
}

/* FREE ones first; then those whose writer died while it copied, or before
 * it fetched its result. What has our own name on it is from before an exec.
 * Each thread begins elsewhere. */
static int find_slot(struct nfsappend_queue *q)
{
	uint64_t self = me();
	unsigned start = (unsigned)(self >> 8);

	for (unsigned i = 0; i < NFSAPPEND_SLOTS; i++) {
		unsigned slot = (start + i) % NFSAPPEND_SLOTS;
		uint64_t word = atomic_load_explicit(
			&q->records[slot].word, memory_order_relaxed);

		if (STATE(word) == NFSAPPEND_SLOT_FREE &&
			atomic_compare_exchange_strong(&q->records[slot].word,
				&word, self | NFSAPPEND_SLOT_CLAIMED))
			return (int)slot;
	}
	for (int slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		uint64_t word = atomic_load(&q->records[slot].word);

		if ((STATE(word) == NFSAPPEND_SLOT_CLAIMED ||
			    STATE(word) == NFSAPPEND_SLOT_DONE) &&
			(OWNER(word) == self || gone(word)) &&
			atomic_compare_exchange_strong(&q->records[slot].word,
				&word, self | NFSAPPEND_SLOT_CLAIMED))
			return slot;
	}
	return -ENOBUFS;
}

int nfsappend_queue_enter(struct nfsappend_queue *q, const struct iovec *iov,
	int iovcnt, size_t total)
{
	struct nfsappend_queued *r;
	int slot = find_slot(q);

	if (slot < 0)
		return slot;
	r = &q->records[slot];
	if (nfsappend_copy_in(iov, iovcnt, 0, r->data, total) !=
		(ssize_t)total) {
		atomic_store(&r->word, NFSAPPEND_SLOT_FREE);
		return -EFAULT;
	}
	atomic_store_explicit(&r->len, (uint32_t)total, memory_order_relaxed);
	atomic_store_explicit(&r->ticket, atomic_fetch_add(&q->tickets, 1),
		memory_order_relaxed);
	atomic_store(&r->word, me() | NFSAPPEND_SLOT_QUEUED);
	return slot;
}

bool nfsappend_queue_result(
	struct nfsappend_queue *q, int slot, int64_t *result, uint64_t *end)
{
	struct nfsappend_queued *r = &q->records[slot];

	if (STATE(atomic_load(&r->word)) != NFSAPPEND_SLOT_DONE)
		return false;
	*result = r->result;
	*end = r->end;
	atomic_store(&r->word, NFSAPPEND_SLOT_FREE);
	return true;
}

enum nfsappend_withdrawal nfsappend_queue_withdraw(
	struct nfsappend_queue *q, int slot)
{
	struct nfsappend_queued *r = &q->records[slot];

	/* A leader that recovers may step between TAKEN and QUEUED. */
	for (;;) {
		uint64_t word = atomic_load(&r->word);

		if (STATE(word) == NFSAPPEND_SLOT_QUEUED &&
			step(r, word, NFSAPPEND_SLOT_FREE))
			return NFSAPPEND_WITHDRAWN;
		if (STATE(word) == NFSAPPEND_SLOT_TAKEN &&
			step(r, word, NFSAPPEND_SLOT_ABANDONED))
			return NFSAPPEND_ABANDONED;
		if (STATE(word) != NFSAPPEND_SLOT_QUEUED &&
			STATE(word) != NFSAPPEND_SLOT_TAKEN)
			return NFSAPPEND_COMMITTED;
	}
}

/* Groups that alternate would cap a batch at half the writers: those of the
 * last batch come back while the leader is about to send. */
static void gather(struct nfsappend_queue *q, bool own)
{
	int64_t patience = q->commit_ns / 16;
	int64_t until;

	if (q->last_batch < 2)
		return;
	if (patience > GATHER_MAX)
		patience = GATHER_MAX;
	until = nfsappend_now() + patience;
	while (atomic_load(&q->tickets) - q->seen + own < q->last_batch &&
		nfsappend_now() < until)
		nfsappend_sys(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* Indexes of the queued records, by ticket. *claimed: one that is still being
 * queued, or -1. */
static unsigned in_order(
	struct nfsappend_queue *q, uint8_t *order, int *claimed)
{
	uint64_t tickets[NFSAPPEND_SLOTS];
	unsigned n = 0;

	*claimed = -1;
	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		enum nfsappend_slot_state state = STATE(atomic_load(&r->word));
		uint64_t ticket;
		unsigned at = n;

		if (state == NFSAPPEND_SLOT_CLAIMED)
			*claimed = (int)slot;
		if (state != NFSAPPEND_SLOT_QUEUED)
			continue;
		ticket = atomic_load_explicit(&r->ticket, memory_order_relaxed);
		while (at > 0 && tickets[at - 1] > ticket) {
			order[at] = order[at - 1];
			tickets[at] = tickets[at - 1];
			at--;
		}
		order[at] = (uint8_t)slot;
		tickets[at] = ticket;
		n++;
	}
	return n;
}

/* Copies the record behind len bytes: its length, 0 when it was withdrawn, or
 * -1 when it does not fit. */
static int take(
	struct nfsappend_queued *r, uint8_t *stage, uint32_t len, uint32_t room)
{
	uint64_t word = atomic_load(&r->word);
	uint32_t n;

	if (STATE(word) != NFSAPPEND_SLOT_QUEUED)
		return 0;
	r->at = len;
	if (!step(r, word, NFSAPPEND_SLOT_TAKEN))
		return 0;
	/* Read once: whoever scribbles on the segment harms no more than
	 * what he can see. */
	n = atomic_load_explicit(&r->len, memory_order_relaxed);
	if (n <= NFSAPPEND_SLOT_DATA && n <= room - len) {
		memcpy(stage + len, r->data, n);
		return (int)n;
	}
	word = OWNER(word) | NFSAPPEND_SLOT_TAKEN;
	if (!step(r, word, NFSAPPEND_SLOT_QUEUED))
		atomic_store(&r->word, NFSAPPEND_SLOT_FREE); /* ABANDONED */
	return -1;
}

uint32_t nfsappend_queue_collect(struct nfsappend_queue *q, uint8_t *stage,
	uint32_t room, bool own, unsigned *records)
{
	uint8_t order[NFSAPPEND_SLOTS];
	uint32_t len = 0;
	uint64_t tickets;
	bool left = false;
	int claimed, n = 0;
	unsigned count;

	*records = 0;
	gather(q, own);
	/* Before the slots: who draws one later is seen next time. */
	tickets = atomic_load(&q->tickets);
	if (tickets == q->seen && !q->left)
		return 0;
	q->left = 1;
	count = in_order(q, order, &claimed);
	for (unsigned i = 0; i < count && n >= 0; i++) {
		n = take(&q->records[order[i]], stage, len, room);
		if (n > 0) {
			len += (uint32_t)n;
			++*records;
		}
		left = n < 0; /* the rest keeps its order */
	}
	if (claimed >= 0) {
		uint64_t word = atomic_load(&q->records[claimed].word);

		if (count == 0 && STATE(word) == NFSAPPEND_SLOT_CLAIMED &&
			gone(word))
			step(&q->records[claimed], word, NFSAPPEND_SLOT_FREE);
		left = true;
	}
	q->seen = tickets;
	q->left = left;
	return len;
}

/* The record's own share of what became of the batch. */
static void settle_record(struct nfsappend_queue *q, struct nfsappend_queued *r)
{
	uint32_t len = atomic_load_explicit(&r->len, memory_order_relaxed);
	uint64_t there = q->done > r->at ? q->done - r->at : 0;
	uint64_t word = atomic_load(&r->word);

	if (there >= len)
		r->result = len;
	else if (there > 0 && !q->in_doubt)
		r->result = (int64_t)there; /* a short write */
	else
		r->result = q->error;
	r->end = q->end - (there > len ? there - len : 0);
	if (STATE(word) != NFSAPPEND_SLOT_TAKEN ||
		!step(r, word, NFSAPPEND_SLOT_DONE))
		atomic_store(&r->word, NFSAPPEND_SLOT_FREE); /* ABANDONED */
}

/* Not in the file: its writer waits still, or has gone. */
static void queue_again(struct nfsappend_queue *q, struct nfsappend_queued *r)
{
	uint64_t word = atomic_load(&r->word);

	q->left = 1;
	if (STATE(word) != NFSAPPEND_SLOT_TAKEN ||
		!step(r, word, NFSAPPEND_SLOT_QUEUED))
		atomic_store(&r->word, NFSAPPEND_SLOT_FREE); /* ABANDONED */
}

static bool in_batch(const struct nfsappend_queued *r)
{
	enum nfsappend_slot_state state = STATE(atomic_load(&r->word));

	return state == NFSAPPEND_SLOT_TAKEN ||
	       state == NFSAPPEND_SLOT_ABANDONED;
}

static void settle_taken(struct nfsappend_queue *q)
{
	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];

		if (!in_batch(r))
			continue;
		if (q->error == 0 && r->at >= q->done)
			queue_again(q, r);
		else
			settle_record(q, r);
	}
}

bool nfsappend_queue_ends(struct nfsappend_queue *q, uint64_t upto)
{
	for (unsigned slot = 0; slot < NFSAPPEND_SLOTS; slot++) {
		struct nfsappend_queued *r = &q->records[slot];
		uint32_t len =
			atomic_load_explicit(&r->len, memory_order_relaxed);

		if (in_batch(r) && (uint64_t)r->at + len == upto)
			return true;
	}
	return false;
}

void nfsappend_queue_publish(struct nfsappend_queue *q, uint64_t done,
	int64_t error, uint64_t end, bool in_doubt)
{
	q->done = done;
	q->error = error;
	q->end = end;
	q->in_doubt = in_doubt;
	/* Noted before the first record is told: should we die on the way,
	 * the others are told the same. */
	__atomic_store_n(&q->known, 1, __ATOMIC_RELEASE);
	settle_taken(q);
	__atomic_store_n(&q->known, 0, __ATOMIC_RELEASE);
}

void nfsappend_queue_recover(
	struct nfsappend_queue *q, uint64_t landed, uint64_t end)
{
	q->left = 1; /* it may have died while it looked */
	if (__atomic_load_n(&q->known, __ATOMIC_ACQUIRE)) {
		settle_taken(q);
		__atomic_store_n(&q->known, 0, __ATOMIC_RELEASE);
		return;
	}
	nfsappend_queue_publish(q, landed, 0, end, false);
}

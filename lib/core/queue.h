/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Commit queue: how the writers of a host share one server write. It lies in
 * the host segment. A writer that finds the leader lock taken leaves its
 * record in a slot and sleeps on the completion word; the leader takes what
 * is queued, sends it as one WRITE, and gives every record its own result.
 *
 *   FREE -> CLAIMED -> QUEUED -> TAKEN -> DONE -> FREE
 *                        |         `-> ABANDONED (the writer gave up) -> FREE
 *                        `-> FREE (withdrawn by the writer)
 *
 * CLAIMED, the step to QUEUED and the step from DONE are the writer's; TAKEN
 * and DONE are the leader's, under the leader lock. State and owner are one
 * word, so a slot never has two owners. A writer that dies leaves its slot to
 * whoever finds its thread gone; a leader that dies leaves TAKEN slots, which
 * its successor publishes or queues again. No count is kept that a death
 * could leave wrong.
 */
#ifndef NFSAPPEND_CORE_QUEUE_H
#define NFSAPPEND_CORE_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/process.h"

#define NFSAPPEND_SLOTS 128
#define NFSAPPEND_SLOT_BYTES 2048
#define NFSAPPEND_SLOT_DATA (NFSAPPEND_SLOT_BYTES - 40)

enum nfsappend_slot_state {
	NFSAPPEND_SLOT_FREE,
	NFSAPPEND_SLOT_CLAIMED,
	NFSAPPEND_SLOT_QUEUED,
	NFSAPPEND_SLOT_TAKEN,
	NFSAPPEND_SLOT_DONE,
	NFSAPPEND_SLOT_ABANDONED,
};

struct nfsappend_queued {
	_Atomic uint64_t word;	 /* nfsappend_slot_state, pid and tid */
	_Atomic uint64_t ticket; /* order of commits */
	_Atomic uint32_t len;
	uint32_t at;	/* in the batch, while TAKEN */
	int64_t result; /* bytes on stable storage, or -errno; when DONE */
	uint64_t end;	/* of the file behind the record; when DONE */
	uint8_t data[NFSAPPEND_SLOT_DATA];
};

struct nfsappend_queue {
	_Atomic uint64_t tickets; /* drawn so far */
	/* Under the leader lock. */
	uint64_t seen	     /* tickets, when the slots were last looked at */
		__attribute__((aligned(64)));
	uint32_t left;	     /* some were not taken then */
	uint32_t last_batch; /* records in it */
	uint32_t known;	     /* the outcome below stands */
	uint32_t in_doubt;   /* it may not be the end: more may be in */
	int64_t commit_ns;   /* smoothed time of a commit */
	uint64_t done;	     /* bytes of the batch on stable storage */
	int64_t error;	     /* what ended it, 0 or -errno */
	uint64_t end;	     /* of the file behind done */
	struct nfsappend_queued records[NFSAPPEND_SLOTS]
		__attribute__((aligned(64)));
};

/* A slot with the record (at most NFSAPPEND_SLOT_DATA) copied in; -ENOBUFS
 * when all are taken; -EFAULT: go the direct way, which tells how far the
 * buffer goes. */
int nfsappend_queue_enter(struct nfsappend_queue *, const struct iovec *,
	int iovcnt, size_t total);

/* The result if there is one; frees the slot then. */
bool nfsappend_queue_result(struct nfsappend_queue *, int slot,
	int64_t *result, uint64_t *end);

enum nfsappend_withdrawal {
	NFSAPPEND_WITHDRAWN, /* nobody had taken it: not in the file */
	NFSAPPEND_ABANDONED, /* it may be; the slot is the leader's to free */
	NFSAPPEND_COMMITTED, /* too late: there is a result to fetch */
};
/* Gives up. */
enum nfsappend_withdrawal nfsappend_queue_withdraw(
	struct nfsappend_queue *, int slot);

/* As leader: waits a moment for as many as came last time (own: the leader
 * has a record of its own besides), then copies what is queued into the stage
 * in the order of the tickets, up to room bytes. How many bytes; *records how
 * many. */
uint32_t nfsappend_queue_collect(struct nfsappend_queue *, uint8_t *stage,
	uint32_t room, bool own, unsigned *records);
/* As leader, when the outcome of the batch is known: bytes of it on stable
 * storage, what ended it, the file's end behind them. With error 0 what is
 * not there is queued again. in_doubt: more than done may be in, so that a
 * record of which a part is there has error for a result, not the count, which
 * would make its writer send the rest. */
void nfsappend_queue_publish(struct nfsappend_queue *, uint64_t done,
	int64_t error, uint64_t end, bool in_doubt);
/* Does a record of the batch end, or the leader's own begin, behind so many
 * bytes of it? */
bool nfsappend_queue_ends(struct nfsappend_queue *, uint64_t upto);
/* As leader after one that died or ran out of time: landed bytes of its batch
 * are in the file, unless it had got as far as to note the outcome itself. */
void nfsappend_queue_recover(struct nfsappend_queue *, uint64_t landed,
	uint64_t end);

#endif

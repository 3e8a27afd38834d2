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
 * and DONE are the leader's, under the leader lock. A writer that dies leaves
 * its slot to whoever finds its pid gone; a leader that dies leaves TAKEN
 * slots, which its successor publishes or queues again.
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
	_Atomic uint32_t state;
	_Atomic int32_t owner; /* pid of the writer */
	uint64_t ticket;       /* order of commits */
	uint32_t len;
	uint32_t at;	/* in the batch, while TAKEN */
	int64_t result; /* bytes on stable storage, or -errno; when DONE */
	uint64_t end;	/* of the file behind the record; when DONE */
	uint8_t data[NFSAPPEND_SLOT_DATA];
};

struct nfsappend_queue {
	_Atomic uint32_t completions; /* futex: bumped when a leader ends */
	_Atomic uint32_t sleepers;
	_Atomic uint32_t queued;
	_Atomic uint64_t tickets;
	/* Under the leader lock. */
	uint32_t last_batch; /* records in it */
	uint32_t known;	     /* the outcome below stands */
	int64_t commit_ns;   /* smoothed time of a commit */
	uint64_t done;	     /* bytes of the batch on stable storage */
	int64_t error;	     /* what ended it, 0 or -errno */
	uint64_t end;	     /* of the file behind done */
	struct nfsappend_queued records[NFSAPPEND_SLOTS]
		__attribute__((aligned(64)));
};

/* A slot with the record copied in, or -1: no slot, too long or a bad
 * buffer: go the direct way. */
int nfsappend_queue_enter(struct nfsappend_queue *, const struct iovec *,
	int iovcnt, size_t total);

/* The result if there is one; frees the slot then. */
bool nfsappend_queue_result(struct nfsappend_queue *, int slot,
	int64_t *result, uint64_t *end);
/* Sleeps until a leader ends after `seen` was read from completions. 0 or
 * -ETIMEDOUT at the deadline. */
int nfsappend_queue_sleep(struct nfsappend_queue *, uint32_t seen,
	struct nfsappend_waiting *);
/* Gives up: true when nobody has taken the record; else it may be in the
 * file, and the slot is the leader's to free. */
bool nfsappend_queue_withdraw(struct nfsappend_queue *, int slot);

/* As leader: waits a moment for as many as came last time, then copies what
 * is queued into the stage in the order of the tickets, up to room bytes.
 * How many bytes; *records how many. */
uint32_t nfsappend_queue_collect(struct nfsappend_queue *, uint8_t *stage,
	uint32_t room, unsigned *records);
/* As leader, when the outcome of the batch is known: bytes of it on stable
 * storage, what ended it, the file's end behind them. */
void nfsappend_queue_publish(struct nfsappend_queue *, uint64_t done,
	int64_t error, uint64_t end);
/* As leader after one that died: landed bytes of its batch are in the file,
 * unless it had got as far as to note the outcome itself. */
void nfsappend_queue_recover(struct nfsappend_queue *, uint64_t landed,
	uint64_t end);
/* After the leader lock was released: wakes the sleepers, if any. */
void nfsappend_queue_wake(struct nfsappend_queue *);

#endif

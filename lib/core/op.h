/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One operation of a leader: what the files below share, and who has to do
 * with locks and state.
 */
#ifndef NFSAPPEND_CORE_OP_H
#define NFSAPPEND_CORE_OP_H

#include "core/file.h"
#include "core/process.h"

#define NFSAPPEND_ANY_END UINT64_MAX

struct nfsappend_op {
	struct nfsappend_file *file;
	struct nfsappend_segment *seg;
	struct nfsappend_waiting w;
	bool mine; /* the staged record is this call's, not a predecessor's */

	/* Of an append: no byte at or behind limit; not elsewhere than at
	 * expected (a record goes on there), if that is an offset; and
	 * another piece of the record follows. */
	uint64_t limit;
	uint64_t expected;
	bool more;

	uint64_t base; /* where in the stage that begins which is being sent */
	uint64_t own;  /* where in the batch the caller's record begins */

	int error;	 /* what came behind a part of what was sent last */
	bool in_doubt;	 /* what was sent last may be in the file, or not */
	bool over_limit; /* it is the limit alone that ended it */
};

/* Of a leader that was deposed (segment.h): it is none any more, and others
 * settle what it had sent. */
#define NFSAPPEND_DEPOSED (-ECONNABORTED)

/* What became of a record in doubt. */
/* Apart from enum nfsappend_outcome: both pass through one variable. */
enum nfsappend_verdict {
	NFSAPPEND_IS_IN = 0x100,
	NFSAPPEND_SEND_AGAIN,
	NFSAPPEND_IS_NOT_THERE,
};

/* settle.c. All as leader; results are verdicts or -errno. */
int nfsappend_op_size(struct nfsappend_op *, uint64_t *size);
/* Are the upto bytes staged behind the first from at that offset? */
int nfsappend_op_read_back(struct nfsappend_op *, uint64_t offset,
	uint32_t from, uint32_t upto);
/* What became of the pending record, but for its first from bytes, which are
 * in. */
int nfsappend_op_settle(struct nfsappend_op *, uint32_t from);
/* How much of the staged bytes is there, and on stable storage. 0 or -errno. */
int nfsappend_op_landed(struct nfsappend_op *, uint64_t offset, uint32_t len,
	uint32_t *landed);
/* What was written less than FILE_SYNC: COMMIT it. 0, NFSAPPEND_LOST when the
 * server has restarted in between (RFC 1813 3.3.7; its answer to the WRITE is
 * worth nothing then), or -errno. */
int nfsappend_op_make_stable(struct nfsappend_op *, uint64_t offset,
	const struct nfsappend_written *);
/* The record is given up without an answer: noted, and told. error: what the
 * program gets. */
void nfsappend_op_in_doubt(struct nfsappend_op *, ssize_t error);

/* locked.c. Sends the staged record under the mutex byte: the count of bytes
 * on stable storage; 0 when another writer came between (op->expected);
 * -errno; -EINPROGRESS when the deadline has passed with the record in doubt,
 * which stays so in the segment.
 * one that waits for it, covers the file (nothing is under way). */
ssize_t nfsappend_locked_send(struct nfsappend_op *);
/* What a dead leader, or a call that gave up, left. 0 or -EIO. */
int nfsappend_locked_settle(struct nfsappend_op *);
/* How much of what was last sent under the mutex byte, and of what nobody has
 * noted the outcome, is on stable storage, now that it is settled. 0 or
 * -EIO. */
int nfsappend_locked_landed(struct nfsappend_op *, uint32_t *landed);
/* Gives the mutex byte back, where a call that failed half-way holds it. */
void nfsappend_locked_release(struct nfsappend_op *);

/* predecessor.c: settles what a dead leader, or a call that gave up, left. 0
 * or -EIO. */
int nfsappend_predecessor_settle(struct nfsappend_op *);

/* op.c: takes the leader lock, settles what is in doubt. 0 or -errno. */
int nfsappend_op_begin(struct nfsappend_op *, struct nfsappend_file *);
/* Its parts: before the lock; with it, just taken (0 or -errno, and then the
 * lock is given back; -EBUSY: it is lost); the message for that, -EIO. */
void nfsappend_op_start(struct nfsappend_op *, struct nfsappend_file *);
int nfsappend_op_settle_lead(struct nfsappend_op *);
int nfsappend_op_unsettled(struct nfsappend_op *);
/* Gives the lock back and counts; and of an append tells the error, too. */
void nfsappend_op_finish(struct nfsappend_op *);
void nfsappend_op_end(struct nfsappend_op *, ssize_t result);
/* In place of end(), after NFSAPPEND_DEPOSED. */
void nfsappend_op_deposed(struct nfsappend_op *);
/* And then: how many bytes of its batch have landed, the first ones, as those
 * found out who lead now, or this call in their place. 0, or -EIO when it
 * is not known (told). */
int nfsappend_op_outcome(
	struct nfsappend_op *, uint64_t *landed, uint64_t *end);
bool nfsappend_op_out_of_time(const struct nfsappend_op *);
/* How many bytes can be staged, at most want. */
uint32_t nfsappend_op_room(struct nfsappend_op *, size_t want);

/* send.c: sends len staged bytes to the end of the file, however many WRITEs
 * that takes: how many are on stable storage, *error what ended it (0 or
 * -errno), *end the end of the file behind them. */
size_t nfsappend_op_send(struct nfsappend_op *, uint32_t len, ssize_t *error,
	uint64_t *end);
/* A piece of it at offset, with the segment told before and after. */
ssize_t nfsappend_op_send_recorded(struct nfsappend_op *, uint64_t offset,
	uint32_t len, enum nfsappend_pending);
/* What the segment says is in flight, by a predecessor. */
ssize_t nfsappend_op_send_pending(struct nfsappend_op *);
/* r bytes of the pending ones are in. */
void nfsappend_op_note_landed(struct nfsappend_op *, ssize_t r);
/* The file does not end where the pending record was to go, but at size. 1:
 * it goes there, else the result. */
ssize_t nfsappend_op_new_end(struct nfsappend_op *, uint64_t size);

/* group.c. As leader: sends what is queued, if anything. An error of it is
 * told to those who queued it; -EIO when its outcome is not known, and nothing
 * else may be sent. */
int nfsappend_group_serve(struct nfsappend_op *);
/* A record that fits a slot of the commit queue. As
 * nfsappend_file_append(); -ENOBUFS: by the direct way. */
ssize_t nfsappend_group_append(struct nfsappend_op *, const struct iovec *,
	int iovcnt, size_t total, uint64_t *end);

#endif

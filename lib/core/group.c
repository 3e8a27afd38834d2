/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Group commit: a record goes out by its own writer if nobody leads, with all
 * that is queued before it; else its writer queues it and sleeps until some
 * leader has sent it, or becomes the leader itself.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/log.h"
#include "core/op.h"
#include "core/queue.h"
#include "core/usercopy.h"

/* Of one batch: large enough for all slots, small enough to be one WRITE. */
#define BATCH_MAX (NFSAPPEND_SLOTS * NFSAPPEND_SLOT_DATA)
#define COMMIT_MAX INT64_C(10000000000) /* ns */

static void note_batch(struct nfsappend_op *op, struct nfsappend_queue *q,
	unsigned records, int64_t began)
{
	_Atomic uint64_t *most = &op->file->stats.batched_max;
	uint64_t seen = atomic_load(most);
	int64_t now = nfsappend_now(), took = now - began;

	while (records > seen &&
		!atomic_compare_exchange_weak(most, &seen, records))
		;
	nfsappend_figures_batch(&op->seg->figures, records, began, now);
	if (q == NULL)
		return;
	q->last_batch = records;
	if (q->commit_ns < 0 || q->commit_ns > COMMIT_MAX)
		q->commit_ns = 0; /* somebody scribbled on it */
	q->commit_ns += ((took < COMMIT_MAX ? took : COMMIT_MAX) -
				q->commit_ns) /
			8;
}

/*
 * As leader: all that is queued, then the caller's own record (total may be
 * 0), in one WRITE. The caller's result; the others find theirs in the queue;
 * *error: what ended it, 0 or -errno. -EAGAIN: another host's writer came
 * between, in the middle of the batch, and the caller's record is yet to be
 * sent.
 */
static ssize_t lead_once(struct nfsappend_op *op, struct nfsappend_queue *q,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t *end,
	ssize_t *error)
{
	uint32_t room = nfsappend_op_room(
		op, q != NULL ? BATCH_MAX + NFSAPPEND_SLOT_DATA : total);
	uint32_t len = 0;
	unsigned records = 0;
	ssize_t own = 0;
	int64_t began;
	size_t done;

	op->seg->landed = 0; /* before the first record is taken */
	if (q != NULL && room > total)
		len = nfsappend_queue_collect(q, op->seg->stage,
			room - (uint32_t)total, total > 0, &records);
	*error = 0;
	if (total > 0)
		own = nfsappend_copy_in(
			iov, iovcnt, 0, op->seg->stage + len, total);
	began = nfsappend_now();
	done = len + (own > 0 ? (uint32_t)own : 0);
	if (done == 0)
		return own;
	op->expected = NFSAPPEND_ANY_END;
	op->own = len;
	done = nfsappend_op_send(op, (uint32_t)done, error, end);
	if (*error == NFSAPPEND_DEPOSED)
		return *error;
	/* Our deadline is not the others': whoever leads next finds out what
	 * became of their records. */
	if (records > 0 && *error == -EIO && nfsappend_op_out_of_time(op))
		op->seg->orphaned = 1;
	else if (records > 0)
		nfsappend_queue_publish(
			q, done, *error, *end, op->in_doubt);
	note_batch(op, q, records + (own > 0), began);
	if (own <= 0)
		return own;
	/* The count of a part tells the program to send the rest, which would
	 * stand twice if it is in, or yet to come. */
	if (done > len && !op->in_doubt)
		return (ssize_t)(done - len);
	return *error != 0 ? *error : -EAGAIN;
}

static ssize_t lead(struct nfsappend_op *op, struct nfsappend_queue *q,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t *end,
	ssize_t *error)
{
	ssize_t own;

	do
		own = lead_once(op, q, iov, iovcnt, total, end, error);
	while (own == -EAGAIN && *error == 0);
	return own;
}

static ssize_t late(struct nfsappend_op *op, bool sent)
{
	NFSAPPEND_COUNT(op->file, errors, 1);
	nfsappend_log(NFSAPPEND_ERROR,
		sent ? NFSAPPEND_MSG_IN_DOUBT : NFSAPPEND_MSG_APPEND_FAILED,
		sent ? "%s: another process has sent a record of this one, "
		       "and no answer came in time; the program gets EIO, but "
		       "the record may be in the file"
		     : "%s: another process that is appending to it did not "
		       "finish in time (stopped?); EIO to the program, nothing "
		       "of its record was sent",
		op->file->path);
	return -EIO;
}

/* The record lies in the slot; until it has a result, wait or lead. */
static ssize_t wait_or_lead(struct nfsappend_op *op, struct nfsappend_queue *q,
	int slot, uint64_t *end)
{
	struct nfsappend_segment_view *view = &op->file->segment;
	enum nfsappend_withdrawal w;
	int64_t result;
	bool led = false;

	for (;;) {
		uint32_t turn = nfsappend_segment_turn(view);

		if (nfsappend_queue_result(q, slot, &result, end)) {
			nfsappend_wait_over(&op->w);
			if (result < 0 && !led) /* its leader's is its own */
				NFSAPPEND_COUNT(op->file, errors, 1);
			return result;
		}
		int r = nfsappend_segment_trylead(view);

		if (r >= 0 && (r = nfsappend_op_settle_lead(op)) == 0) {
			ssize_t error;
			uint64_t ignored;

			led = true;
			lead(op, q, NULL, 0, 0, &ignored, &error);
			if (error == NFSAPPEND_DEPOSED) {
				nfsappend_op_deposed(op);
				continue;
			}
			nfsappend_op_end(op, error);
			/* Counted: the next turn begins at nothing. */
			op->w.wait.rpcs = op->w.wait.write_rpcs = 0;
			op->w.wait.reconnects = 0;
			if (!nfsappend_op_out_of_time(op))
				continue;
			r = -ETIMEDOUT;
		}
		if (r == -EBUSY)
			r = nfsappend_segment_sleep(view, turn, &op->w);
		if (r == 0)
			continue;
		w = nfsappend_queue_withdraw(q, slot);
		if (w != NFSAPPEND_COMMITTED)
			return late(op, w == NFSAPPEND_ABANDONED);
	}
}

int nfsappend_group_serve(struct nfsappend_op *op)
{
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&op->file->segment, false);
	ssize_t error = 0;
	uint64_t end;

	if (q != NULL)
		lead(op, q, NULL, 0, 0, &end, &error);
	if (error == NFSAPPEND_DEPOSED)
		return (int)error;
	return op->seg->orphaned ? -EIO : 0;
}

/* Leads: 0, -EBUSY, or -EIO. */
static int try_to_lead(struct nfsappend_op *op)
{
	int r = nfsappend_segment_trylead(&op->file->segment);

	if (r >= 0)
		r = nfsappend_op_settle_lead(op);
	if (r == 0 || r == -EBUSY)
		return r;
	NFSAPPEND_COUNT(op->file, errors, 1);
	return nfsappend_op_unsettled(op);
}

/* The leader was deposed while it sent its own record too: -EAGAIN when that
 * is not in the file. */
static ssize_t outcome(struct nfsappend_op *op, size_t total, uint64_t *end)
{
	uint64_t landed;
	int r;

	nfsappend_op_deposed(op);
	r = nfsappend_op_outcome(op, &landed, end);
	if (r != 0)
		NFSAPPEND_COUNT(op->file, errors, 1);
	if (r != 0 || landed <= op->own)
		return r != 0 ? r : -EAGAIN;
	landed -= op->own;
	return (ssize_t)(landed < total ? landed : total);
}

static ssize_t append_once(struct nfsappend_op *op, const struct iovec *iov,
	int iovcnt, size_t total, uint64_t *end)
{
	struct nfsappend_segment_view *view = &op->file->segment;
	struct nfsappend_queue *q;
	ssize_t own, error;

	for (;;) {
		uint32_t turn = nfsappend_segment_turn(view);
		int r = try_to_lead(op), slot;

		if (r == 0)
			break;
		if (r != -EBUSY)
			return r;
		q = nfsappend_segment_queue(view, true);
		slot = q != NULL ? nfsappend_queue_enter(q, iov, iovcnt, total)
				 : -EFAULT;
		if (slot >= 0)
			return wait_or_lead(op, q, slot, end);
		if (slot == -EFAULT)
			return -ENOBUFS;
		/* More writers than slots: it goes with a later batch. */
		if (nfsappend_segment_sleep(view, turn, &op->w) != 0)
			return late(op, false);
	}
	q = nfsappend_segment_queue(view, false);
	own = lead(op, q, iov, iovcnt, total, end, &error);
	if (error == NFSAPPEND_DEPOSED)
		return outcome(op, total, end);
	nfsappend_op_end(op, own == -EFAULT ? own : error);
	return own;
}

ssize_t nfsappend_group_append(struct nfsappend_op *op, const struct iovec *iov,
	int iovcnt, size_t total, uint64_t *end)
{
	ssize_t r;

	do
		r = append_once(op, iov, iovcnt, total, end);
	while (r == -EAGAIN);
	return r;
}

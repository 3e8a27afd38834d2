/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a leader that died, or a call that gave up, left behind: it is settled
 * before anything else is sent for the file, as if that one did it itself. Its
 * program got no result, or EIO.
 */
#include "config.h"

#include <errno.h>

#include "core/log.h"
#include "core/op.h"
#include "core/queue.h"

/* The segment's word on what is staged, checked: anybody of our uid may have
 * scribbled on it. */
static bool sane(const struct nfsappend_segment *s, uint64_t at, uint64_t len)
{
	return at <= NFSAPPEND_STAGE_MAX && len <= NFSAPPEND_STAGE_MAX &&
	       at + len <= s->allocated && at + len <= NFSAPPEND_STAGE_MAX;
}

/* What was sent under the mutex byte. 0 or -EIO. */
static int settle_locked(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	uint32_t landed = 0;

	if (nfsappend_locked_settle(op) != 0)
		return -EIO;
	if (!s->under_lock)
		return 0;
	if (nfsappend_locked_landed(op, &landed) != 0)
		return -EIO;
	nfsappend_op_note_landed(op, landed);
	return 0;
}

static int settle_pending(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

	if (s->pending == NFSAPPEND_SETTLED)
		return 0;
	if ((s->pending != NFSAPPEND_IN_FLIGHT &&
		    s->pending != NFSAPPEND_IN_FLIGHT_AT) ||
		s->pending_len == 0 || !sane(s, op->base, s->pending_len)) {
		s->pending = NFSAPPEND_SETTLED; /* nonsense: drop it */
		return 0;
	}
	nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_PREDECESSOR,
		"%s: settling a WRITE of %u bytes at %llu that another writer "
		"left without an answer",
		op->file->path, s->pending_len,
		(unsigned long long)s->pending_offset);
	r = nfsappend_op_send_pending(op);
	if (s->pending == NFSAPPEND_IN_FLIGHT_AT)
		s->size_known = 0; /* its end is not the file's */
	if (r == -EINPROGRESS)
		return -EIO;
	nfsappend_op_note_landed(op, r);
	s->pending = NFSAPPEND_SETTLED;
	return 0;
}

/* A part of a record, or of a batch, is in the file (a short WRITE), and
 * nothing of it is in flight: the rest follows, if nobody has come between.
 * 0 or -EIO. */
static int send_rest(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size = s->landed_end;
	ssize_t r = 0;

	if (s->landed == 0 || s->landed >= s->staged ||
		!sane(s, s->landed, s->staged - s->landed)) {
		s->staged = 0;
		return 0;
	}
	if (op->file->sharing != NFSAPPEND_LOCKED)
		r = nfsappend_op_size(op, &size);
	if (r == 0 && size == s->landed_end) {
		op->base = s->landed;
		op->expected = size;
		r = nfsappend_op_send_recorded(op, size,
			(uint32_t)(s->staged - s->landed), NFSAPPEND_IN_FLIGHT);
	}
	if (r == NFSAPPEND_DEPOSED)
		return -EIO;
	if (nfsappend_op_out_of_time(op) && r < 0)
		return -EIO;
	s->staged = 0;
	return 0;
}

/* The records that it had taken from the queue: those that are not in the
 * file are queued again. */
static void settle_orphans(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&op->file->segment, false);

	if (q != NULL)
		nfsappend_queue_recover(q, s->landed, s->landed_end);
	s->orphaned = 0;
}

int nfsappend_predecessor_settle(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	int r = 0;

	op->mine = false;
	op->base = sane(s, s->batch_base, 0) ? s->batch_base : 0;
	/* Whatever the mode of this process: another one's may be locked. */
	if (op->file->key.server->target.version == 4)
		r = settle_locked(op);
	if (r == 0)
		r = settle_pending(op);
	if (r == 0 && s->staged != 0)
		r = send_rest(op);
	if (r == 0 && s->orphaned)
		settle_orphans(op);
	op->mine = true;
	op->base = 0;
	op->expected = NFSAPPEND_ANY_END;
	op->in_doubt = false;
	return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a predecessor sent under the mutex byte and had no answer to: its
 * record is not sent anew, only what is under way ends.
 */
#include "config.h"

#include <errno.h>

#include "core/errname.h"
#include "core/locked.h"
#include "core/log.h"
#include "core/served.h"
#include "core/state.h"

#define MS INT64_C(1000000)

/* The state is gone, and with it the seqid that would tell: is it there? A
 * late WRITE under that state is refused. 0 or -EIO. */
static int look_for_it(struct nfsappend_sending *x)
{
	struct nfsappend_op *op = x->op;
	struct nfsappend_state st = nfsappend_slot_get(x->slot);
	uint32_t landed = 0;
	int r = 0;

	if (st.in_doubt) {
		r = nfsappend_op_landed(op, st.offset, st.len, &landed);
		if (r == -EIO)
			return r;
		if (r != 0)
			nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_MAYBE_TWICE,
				"%s: the answer to a WRITE of %u bytes at %llu "
				"was lost and the file cannot be read back "
				"(%s); the record may stand twice",
				op->file->path, st.len,
				(unsigned long long)st.offset,
				nfsappend_strerror(-r));
		nfsappend_locked_note(x, landed);
	}
	return 0;
}

/* Refused, and would be for ever: the lock ends with the lease. As leader one
 * must not ask on and on, nor keep from the file a kernel that may write it. */
static int drop_it(struct nfsappend_sending *x)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	st.in_doubt = nfsappend_locked_unanswered(x);
	st.in_flight = NFSAPPEND_NOTHING;
	st.held = 0;
	st.lost = 1;
	nfsappend_slot_set(x->slot, &st);
	return look_for_it(x);
}

int nfsappend_locked_settle(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_state st = nfsappend_slot_get(&s->slot);
	struct nfsappend_sending x;
	int r = 0;

	if (st.in_flight < NFSAPPEND_LOCK_NEW && !st.held && !st.in_doubt)
		return 0;
	nfsappend_locked_start(&x, op);
	s->size_known = 0;
	if (op->base + st.len > s->allocated ||
		op->base + st.len > NFSAPPEND_STAGE_MAX) {
		st.lost = 1; /* nonsense: nothing of it can be used */
		st.in_flight = NFSAPPEND_NOTHING;
		st.held = st.in_doubt = 0;
		nfsappend_slot_set(&s->slot, &st);
		return 0;
	}
	nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_PREDECESSOR,
		"%s: settling what another writer left without an answer",
		op->file->path);
	s->pending_offset = st.offset;
	s->pending_len = st.len;
	x.rec.data = s->stage + op->base;
	x.rec.offset = st.offset;
	/* Its record is not sent anew: only what is under way ends, and the
	 * lock is given back. */
	while (nfsappend_locked_unanswered(&x) || nfsappend_locked_held(&x)) {
		st = nfsappend_slot_get(x.slot);
		if (st.in_doubt && st.in_flight < NFSAPPEND_LOCK_NEW)
			r = NFSAPPEND_STATE_LOST; /* made anew meanwhile */
		else
			r = nfsappend_locked_step(&x);
		if (r == NFSAPPEND_LANDED)
			nfsappend_locked_note(&x, nfsappend_locked_count(op, st.offset, st.len));
		switch (r) {
		case NFSAPPEND_DEPOSED:
			return -EIO;
		case NFSAPPEND_STATE_LOST:
			return look_for_it(&x);
		case NFSAPPEND_NOT_END_OR_IN:
			if (nfsappend_locked_twin(&x) != 0)
				return -EIO;
			break;
		case NFSAPPEND_CONTINUE:
			if (++x.repeats > 4 && nfsappend_wait_sleep(&op->w,
						       x.repeats * MS) != 0)
				return -EIO;
			break;
		case NFSAPPEND_UNSENT:
		case NFSAPPEND_LOST:
		case NFSAPPEND_DELAY:
		case NFSAPPEND_TIMED_OUT:
		case NFSAPPEND_GRACE:
			if (!nfsappend_locked_again(&x, &r))
				return -EIO;
			break;
		default:
			if (r < 0 && nfsappend_locked_unanswered(&x) &&
				!((r == -EPERM || r == -EACCES) &&
					nfsappend_file_by_kernel(op->file)))
				return -EIO;
			if (r < 0 && (nfsappend_locked_unanswered(&x) || nfsappend_locked_held(&x)))
				return drop_it(&x);
			break;
		}
	}
	return 0;
}

int nfsappend_locked_landed(struct nfsappend_op *op, uint32_t *landed)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_state st = nfsappend_slot_get(&s->slot);
	uint32_t there;
	int r;

	*landed = 0;
	if (st.wrote == 0 || st.wrote > s->pending_len)
		return 0;
	s->pending_offset = st.offset;
	/* Whoever got the answer may not have come to its COMMIT. */
	r = nfsappend_op_landed(op, st.offset, st.wrote, &there);
	if (r == -EIO)
		return r;
	/* What cannot be read is as the server said. */
	*landed = r == 0 ? there : st.wrote;
	return 0;
}

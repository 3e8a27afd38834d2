/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sharing mode locked: an append under a lock on the server, one round trip
 * while nobody else appends. The module takes one step at a time and keeps
 * seqids and stateids; here is decided how long to wait, what to do when the
 * state is lost, and what the program gets.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/applock.h"
#include "core/heldlock.h"
#include "core/locked.h"
#include "core/log.h"
#include "core/rivals.h"
#include "core/state.h"

#define MS INT64_C(1000000)
#define TOLD_NS (1000 * MS) /* until a wait for an application is told */

/* An application on some host has locked the file, and not this process.
 * Waiting for it is what the application meant. */
static int wait_for_application(struct nfsappend_sending *x)
{
	struct nfsappend_file *f = x->op->file;
	int64_t now = nfsappend_now();
	int r;

	if (x->app_since == 0)
		x->app_since = now;
	if (!x->told && now - x->app_since > TOLD_NS) {
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_APP_LOCK,
			"%s: a program has locked the file (flock or fcntl); "
			"the append waits until it is unlocked",
			f->path);
		x->told = true;
	}
	nfsappend_segment_may_depose(&f->segment, &x->op->w);
	r = nfsappend_wait_sleep(
		&x->op->w, 10 * MS + nfsappend_jitter(90 * MS));
	nfsappend_segment_stay(&x->op->w);
	return r;
}

static int back_off(struct nfsappend_sending *x)
{
	struct nfsappend_op *op = x->op;
	int r;

	nfsappend_segment_may_depose(&op->file->segment, &op->w);
	r = nfsappend_rivals_back_off(
		&op->seg->rivals, &op->w, x->busy++ > 0, x->took);
	nfsappend_segment_stay(&op->w);
	return r;
}

void nfsappend_locked_release(struct nfsappend_op *op)
{
	struct nfsappend_sending x;
	int r;

	nfsappend_locked_start(&x, op);
	x.rec.data = op->seg->stage + op->base;
	while (nfsappend_locked_held(&x) ||
		nfsappend_slot_get(x.slot).in_flight == NFSAPPEND_UNLOCK) {
		r = nfsappend_locked_step(&x);
		if (r == NFSAPPEND_STATE_LOST || r < 0)
			break;
		if (r > 0 && r != NFSAPPEND_CONTINUE && !nfsappend_locked_again(&x, &r))
			break;
	}
}

/* The state is gone. A record in doubt can't land late any more, since the
 * new client id has ended all that was under the old one. A verdict (SEND_
 * AGAIN when there is no doubt), or -errno. */
static int recover(struct nfsappend_sending *x)
{
	struct nfsappend_op *op = x->op;
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_state st;
	int renewed = nfsappend_state_renew(op), r;

	/* ESTALE: renamed, and so not to be opened. The handle still serves to
	 * find out about this record, or the program would write it again. */
	if (renewed != 0 && renewed != -ESTALE)
		return renewed;
	st = nfsappend_slot_get(x->slot);
	if (!st.in_doubt)
		return renewed != 0 ? renewed : NFSAPPEND_SEND_AGAIN;
	s->pending_offset = st.offset;
	s->pending_len = st.len;
	r = nfsappend_op_settle(op, 0);
	if (r > 0)
		nfsappend_locked_note(x, r == NFSAPPEND_IS_IN ? s->pending_len : 0);
	return r > 0 && r != NFSAPPEND_IS_IN && renewed != 0 ? renewed : r;
}

/* The record is in, count bytes of it. */
static ssize_t finish(struct nfsappend_sending *x, uint32_t count)
{
	struct nfsappend_op *op = x->op;
	struct nfsappend_segment *s = op->seg;

	nfsappend_wait_over(&op->w);
	nfsappend_rivals_note(&s->rivals, x->met, x->took);
	if (!op->more && nfsappend_locked_held(x))
		nfsappend_locked_release(op);
	if (op->w.wait.deposed) /* the slot says that it was written */
		return NFSAPPEND_DEPOSED;
	s->size = s->pending_offset + count;
	s->size_known = 1;
	return count;
}

static ssize_t give_up(struct nfsappend_sending *x, ssize_t r)
{
	struct nfsappend_op *op = x->op;

	if (op->w.wait.deposed)
		return NFSAPPEND_DEPOSED;
	op->seg->size_known = 0;
	if (nfsappend_locked_unanswered(x)) {
		nfsappend_op_in_doubt(op, r);
		if (nfsappend_op_out_of_time(op))
			return -EINPROGRESS;
	}
	nfsappend_locked_release(op);
	return op->w.wait.deposed ? NFSAPPEND_DEPOSED : r;
}

/*
 * The file is locked by this process, so no other host appends, and we need
 * no lock of our own: the size is verified, and the WRITE goes under the open
 * stateid. In doubt the bytes decide, since that stateid ends with no lock.
 */
static ssize_t send_under_app_lock(struct nfsappend_sending *x)
{
	struct nfsappend_op *op = x->op;
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_file *f = op->file;
	struct nfsappend_written written;
	bool doubt = false;
	ssize_t go;
	int r;

	__atomic_store_n(&s->pending, NFSAPPEND_IN_FLIGHT, __ATOMIC_RELEASE);
	for (;;) {
		struct nfsappend_state st = nfsappend_slot_get(x->slot);

		r = doubt ? nfsappend_op_settle(op, 0) : NFSAPPEND_SEND_AGAIN;
		if (r == NFSAPPEND_IS_NOT_THERE)
			r = nfsappend_op_size(op, &s->pending_offset);
		if (r == NFSAPPEND_IS_IN || r < 0)
			break;
		doubt = false;
		r = nfsappend_backend->write_at_end(f->key.server->session,
			&op->w.wait, &f->key.fh, &st.open, s->pending_offset,
			s->stage + op->base, s->pending_len, &written);
		if (r == 0)
			r = nfsappend_op_make_stable(
				op, s->pending_offset, &written);
		if (r == 0) {
			s->pending_len = written.count;
			break;
		}
		if (r == NFSAPPEND_NOT_END) {
			go = nfsappend_op_new_end(op, written.size);
			if (go == 1)
				continue;
			s->pending = NFSAPPEND_SETTLED;
			return go;
		}
		if (r == NFSAPPEND_STATE_LOST) {
			r = recover(x);
			if (r < 0)
				break;
			continue;
		}
		doubt = r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT;
		if (!nfsappend_locked_again(x, &r))
			break;
	}
	if (r < 0 && doubt) {
		nfsappend_op_in_doubt(op, r);
		if (nfsappend_op_out_of_time(op))
			return -EINPROGRESS;
	}
	__atomic_store_n(&s->pending, NFSAPPEND_SETTLED, __ATOMIC_RELEASE);
	if (r < 0) {
		s->size_known = 0;
		return r;
	}
	return finish(x, s->pending_len);
}

ssize_t nfsappend_locked_send(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_sending x;
	ssize_t go;
	int r;

	nfsappend_locked_start(&x, op);
	if (!nfsappend_locked_held(&x) && nfsappend_rivals_let(&s->rivals, &op->w) != 0)
		return give_up(&x, -EIO);
	for (;;) {
		x.rec.data = s->stage + op->base;
		x.rec.offset = s->pending_offset;
		x.rec.len = s->pending_len;
		x.rec.more = op->more;
		r = nfsappend_locked_step(&x);
		if (r != NFSAPPEND_CONTINUE)
			x.repeats = 0;
		switch (r) {
		case 0:
			r = nfsappend_op_make_stable(
				op, s->pending_offset, &x.rec.written);
			if (r == 0)
				return finish(&x, x.rec.written.count);
			op->in_doubt |= r < 0; /* it may be there */
			if (r < 0)
				return give_up(&x, r);
			/* A server that restarted before the COMMIT. */
			r = nfsappend_op_settle(op, 0);
			if (r == NFSAPPEND_IS_IN)
				return finish(&x, s->pending_len);
			if (r < 0)
				return give_up(&x, r);
			nfsappend_locked_note(&x, 0);
			continue;
		case NFSAPPEND_CONTINUE:
			/* Twice in a row is normal, a server that never
			 * comes to an end is not. */
			if (++x.repeats > 4 && nfsappend_wait_sleep(&op->w,
						       x.repeats * MS) != 0)
				return give_up(&x, -EIO);
			continue;
		case NFSAPPEND_LANDED:
			return finish(&x, nfsappend_locked_count(op, s->pending_offset,
						  s->pending_len));
		case NFSAPPEND_DEPOSED:
			return r;
		case NFSAPPEND_NOT_END:
			x.rec.not_in = false;
			x.twin_since = 0;
			/* Else it was a guess of nothing. */
			x.met |= s->size_known;
			go = nfsappend_op_new_end(op, x.rec.size);
			if (go != 1)
				return give_up(&x, go);
			continue;
		case NFSAPPEND_NOT_END_OR_IN:
			if (nfsappend_locked_twin(&x) != 0)
				return give_up(&x, -EIO);
			continue;
		case NFSAPPEND_BUSY:
			NFSAPPEND_COUNT(op->file, conflicts, 1);
			x.met = true;
			if (back_off(&x) != 0)
				return give_up(&x, -EIO);
			continue;
		case NFSAPPEND_APP_LOCK:
			if (nfsappend_applock_ours(op->file) ||
				(nfsappend_file_mounted(op->file) &&
					nfsappend_lock_of_ancestor(op->file)))
				return send_under_app_lock(&x);
			if (wait_for_application(&x) != 0)
				return give_up(&x, -EIO);
			continue;
		case NFSAPPEND_STATE_LOST:
			r = recover(&x);
			if (r < 0)
				return give_up(&x, r);
			if (r == NFSAPPEND_IS_IN)
				return finish(&x, s->pending_len);
			continue;
		default:
			if (!nfsappend_locked_again(&x, &r))
				return give_up(&x, r);
			continue;
		}
	}
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sharing mode locked: an append under a lock on the server, one round trip
 * while nobody else appends. The module takes one step at a time and keeps
 * seqids and stateids; here is decided how long to wait, what to do when the
 * state is lost, and whether a record is in.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/applock.h"
#include "core/errname.h"
#include "core/heldlock.h"
#include "core/log.h"
#include "core/op.h"
#include "core/rivals.h"
#include "core/state.h"

#define MS INT64_C(1000000)
/* How long an identical record at our offset is taken for our own, whose
 * first request is still at work, before it is taken for another host's. */
#define TWIN_NS (1000 * MS)
#define TOLD_NS (1000 * MS) /* until a wait for an application is told */

struct sending {
	struct nfsappend_op *op;
	struct nfsappend_slot *slot;
	struct nfsappend_record rec;
	int64_t took;	  /* the last step, ns */
	bool met;	  /* another host's appends on the way */
	unsigned busy;	  /* refusals in a row */
	unsigned tries;	  /* for nfsappend_server_again() */
	unsigned repeats; /* steps in a row without an answer that counts */
	int64_t twin_since;
	int64_t app_since; /* an application's lock is in the way, ns */
	bool told; /* of it */
};

static void start(struct sending *x, struct nfsappend_op *op)
{
	*x = (struct sending){.op = op, .slot = &op->seg->slot};
}

/* An application on some host has locked the file, and not this process.
 * Waiting for it is what the application meant. */
static int wait_for_application(struct sending *x)
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

static int step(struct sending *x)
{
	struct nfsappend_file *f = x->op->file;
	int64_t start = nfsappend_now();
	int r;

	nfsappend_segment_may_depose(&f->segment, &x->op->w);
	r = nfsappend_backend->append(f->key.server->session, &x->op->w.wait,
		x->slot, &f->key.fh, &x->rec);
	nfsappend_segment_stay(&x->op->w);
	x->took = nfsappend_now() - start;
	return x->op->w.wait.deposed ? NFSAPPEND_DEPOSED : r;
}

static int back_off(struct sending *x)
{
	struct nfsappend_op *op = x->op;
	int r;

	nfsappend_segment_may_depose(&op->file->segment, &op->w);
	r = nfsappend_rivals_back_off(
		&op->seg->rivals, &op->w, x->busy++ > 0, x->took);
	nfsappend_segment_stay(&op->w);
	return r;
}

static bool held(const struct sending *x)
{
	return nfsappend_slot_get(x->slot).held;
}

static bool unanswered(const struct sending *x)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	return st.in_flight >= NFSAPPEND_LOCK_NEW || st.in_doubt;
}

/* Outcomes that mean: the same again, in a while. False: over, *r is it. */
static bool again(struct sending *x, int *r)
{
	NFSAPPEND_COUNT(x->op->file, retries, 1);
	return nfsappend_server_again(
		x->op->file->key.server, &x->op->w, r, &x->tries);
}

void nfsappend_locked_release(struct nfsappend_op *op)
{
	struct sending x;
	int r;

	start(&x, op);
	x.rec.data = op->seg->stage + op->base;
	while (held(&x) ||
		nfsappend_slot_get(x.slot).in_flight == NFSAPPEND_UNLOCK) {
		r = step(&x);
		if (r == NFSAPPEND_STATE_LOST || r < 0)
			break;
		if (r > 0 && r != NFSAPPEND_CONTINUE && !again(&x, &r))
			break;
	}
}

/*
 * LANDED: the request was executed to its end, its reply is lost, and with it
 * the count. A short WRITE shows in the file, if it can be read. No COMMIT:
 * LOCKU follows a WRITE that was asked to be FILE_SYNC, and a server may not
 * do less (RFC 7530 section 16.36.4).
 */
static uint32_t landed_count(
	struct nfsappend_op *op, uint64_t offset, uint32_t len)
{
	uint64_t size;

	if (nfsappend_op_size(op, &size) != 0 || size >= offset + len ||
		size <= offset)
		return len; /* whole, or truncated since */
	/* A part of it, and nothing behind: WRITE was cut short there. */
	if (nfsappend_op_read_back(op, offset, 0, (uint32_t)(size - offset)) !=
		NFSAPPEND_IS_IN)
		return len;
	return (uint32_t)(size - offset);
}

/* NOT_END_OR_IN: are they our bytes? Others' bytes answer that at once; the
 * same ones only after a while in which the first request would have come to
 * its end. */
static int look_at_twin(struct sending *x)
{
	struct nfsappend_op *op = x->op;
	int64_t now = nfsappend_now();

	if (x->twin_since == 0)
		x->twin_since = now;
	if (nfsappend_op_read_back(op, op->seg->pending_offset, 0,
		    op->seg->pending_len) == NFSAPPEND_IS_NOT_THERE) {
		x->rec.not_in = true;
		return 0;
	}
	if (now - x->twin_since > TWIN_NS) {
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_MAYBE_TWICE,
			"%s: the answer to a WRITE of %u bytes at %llu was "
			"lost, and another host seems to have written the "
			"same bytes there; if it has not, the record stands "
			"twice",
			op->file->path, op->seg->pending_len,
			(unsigned long long)op->seg->pending_offset);
		x->rec.not_in = true;
		return 0;
	}
	return nfsappend_wait_sleep(&op->w, 2 * MS + (now - x->twin_since) / 4);
}

/* No doubt any more: so much of the record was written. In one step, for a
 * successor. */
static void note(struct sending *x, uint32_t wrote)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	st.in_doubt = 0;
	st.wrote = wrote;
	nfsappend_slot_set(x->slot, &st);
}

/* The state is gone. A record in doubt can't land late any more, since the
 * new client id has ended all that was under the old one. A verdict (SEND_
 * AGAIN when there is no doubt), or -errno. */
static int recover(struct sending *x)
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
		note(x, r == NFSAPPEND_IS_IN ? s->pending_len : 0);
	return r > 0 && r != NFSAPPEND_IS_IN && renewed != 0 ? renewed : r;
}

/* The record is in, count bytes of it. */
static ssize_t finish(struct sending *x, uint32_t count)
{
	struct nfsappend_op *op = x->op;
	struct nfsappend_segment *s = op->seg;

	nfsappend_wait_over(&op->w);
	nfsappend_rivals_note(&s->rivals, x->met, x->took);
	if (!op->more && held(x))
		nfsappend_locked_release(op);
	if (op->w.wait.deposed) /* the slot says that it was written */
		return NFSAPPEND_DEPOSED;
	s->size = s->pending_offset + count;
	s->size_known = 1;
	return count;
}

static ssize_t give_up(struct sending *x, ssize_t r)
{
	struct nfsappend_op *op = x->op;

	if (op->w.wait.deposed)
		return NFSAPPEND_DEPOSED;
	op->seg->size_known = 0;
	if (unanswered(x)) {
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
static ssize_t send_under_app_lock(struct sending *x)
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
		if (!again(x, &r))
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
	struct sending x;
	ssize_t go;
	int r;

	start(&x, op);
	if (!held(&x) && nfsappend_rivals_let(&s->rivals, &op->w) != 0)
		return give_up(&x, -EIO);
	for (;;) {
		x.rec.data = s->stage + op->base;
		x.rec.offset = s->pending_offset;
		x.rec.len = s->pending_len;
		x.rec.more = op->more;
		r = step(&x);
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
			note(&x, 0);
			continue;
		case NFSAPPEND_CONTINUE:
			/* Twice in a row is normal, a server that never
			 * comes to an end is not. */
			if (++x.repeats > 4 && nfsappend_wait_sleep(&op->w,
						       x.repeats * MS) != 0)
				return give_up(&x, -EIO);
			continue;
		case NFSAPPEND_LANDED:
			return finish(&x, landed_count(op, s->pending_offset,
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
			if (look_at_twin(&x) != 0)
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
			if (!again(&x, &r))
				return give_up(&x, r);
			continue;
		}
	}
}

/* The state is gone, and with it the seqid that would tell: is it there? A
 * late WRITE under that state is refused. 0 or -EIO. */
static int look_for_it(struct sending *x)
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
		note(x, landed);
	}
	return 0;
}

/* Refused, and would be for ever: the lock ends with the lease. As leader one
 * must not ask on and on, nor keep from the file a kernel that may write it. */
static int drop_it(struct sending *x)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	st.in_doubt = unanswered(x);
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
	struct sending x;
	int r = 0;

	if (st.in_flight < NFSAPPEND_LOCK_NEW && !st.held && !st.in_doubt)
		return 0;
	start(&x, op);
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
	while (unanswered(&x) || held(&x)) {
		st = nfsappend_slot_get(x.slot);
		if (st.in_doubt && st.in_flight < NFSAPPEND_LOCK_NEW)
			r = NFSAPPEND_STATE_LOST; /* made anew meanwhile */
		else
			r = step(&x);
		if (r == NFSAPPEND_LANDED)
			note(&x, landed_count(op, st.offset, st.len));
		switch (r) {
		case NFSAPPEND_DEPOSED:
			return -EIO;
		case NFSAPPEND_STATE_LOST:
			return look_for_it(&x);
		case NFSAPPEND_NOT_END_OR_IN:
			if (look_at_twin(&x) != 0)
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
			if (!again(&x, &r))
				return -EIO;
			break;
		default:
			if (r < 0 && unanswered(&x) &&
				!((r == -EPERM || r == -EACCES) &&
					nfsappend_file_by_kernel(op->file)))
				return -EIO;
			if (r < 0 && (unanswered(&x) || held(&x)))
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

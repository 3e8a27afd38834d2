/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An append under a lock, in one round trip:
 *
 *   PUTFH, LOCK, GETATTR(size), VERIFY(size), WRITE, LOCKU
 *
 * A compound is not atomic (RFC 7530 section 15.2.3), the lock makes it so
 * for all who take it. It is a write lock on one byte past any data. WRITE
 * goes under the stateid that LOCK is going to return (the one before with
 * its seqid increased, section 9.1.4.2): under the open stateid it could
 * still be executed late, after the lock has gone to somebody else.
 *
 * A compound ends at the first operation that fails. At LOCK: nothing was
 * done. Behind it: the lock is held, and what follows goes under the stateid
 * that came back.
 *
 * A request without an answer is repeated to the last bit. The seqid of the
 * lock owner tells what became of the first one: LOCK with a seqid that is
 * one too old (BAD_SEQID, or OLD_STATEID where the stateid is looked at
 * first) can only be met by a request whose LOCKU has been executed, and so
 * its WRITE. LOCK with the current one is answered from the server's cache
 * (section 9.1.9), and its lock is held still.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfs/errors.h"
#include "nfs/nfs4.h"
#include "nfs/nfs4_append.h"
#include "nfs/nfs4_seqid.h"

static enum nfsappend_in_flight choose(
	const struct nfsappend_state *st, const struct nfsappend_record *rec)
{
	if (st->held && (st->error != 0 || rec->len == 0))
		return NFSAPPEND_UNLOCK;
	if (st->held)
		return rec->more ? NFSAPPEND_WRITE_HELD
				 : NFSAPPEND_WRITE_UNLOCK;
	if (!st->has_lock)
		return NFSAPPEND_LOCK_NEW;
	/* The last stateids before their seqid wraps (section 9.1.4.2 leaves
	 * open to what) are not predicted. */
	if (rec->more || st->two_steps || st->lock.seqid >= UINT32_MAX - 2)
		return NFSAPPEND_LOCK;
	return NFSAPPEND_LOCK_AND_WRITE;
}

/* How the call goes on. */
struct step {
	struct nfsappend_slot *slot;
	struct nfsappend_state st;
	struct nfsappend_record *rec;
	bool repeated; /* the request had been sent before */
};

static int settled(struct step *s, int result)
{
	s->st.in_flight = NFSAPPEND_NOTHING;
	nfsappend_slot_set(s->slot, &s->st);
	return result;
}

static bool writes(uint32_t in_flight)
{
	return in_flight == NFSAPPEND_LOCK_AND_WRITE ||
	       in_flight == NFSAPPEND_WRITE_UNLOCK ||
	       in_flight == NFSAPPEND_WRITE_HELD;
}

/* The state is of no use any more. This request was refused, so only an
 * earlier sending of it can have put the record in. */
static int lost(struct step *s, uint32_t status)
{
	s->st.lost = 1;
	s->st.restarted = status == NFS4ERR_STALE_STATEID ||
			  status == NFS4ERR_STALE_CLIENTID;
	s->st.was_held = s->st.restarted && s->st.held;
	s->st.held = 0;
	s->st.in_doubt = s->repeated && writes(s->st.in_flight);
	return settled(s, NFSAPPEND_STATE_LOST);
}

/* The lock is held and must be given back before the error is returned. */
static int release(struct step *s, int error)
{
	s->st.held = 1;
	s->st.error = error;
	return settled(s, NFSAPPEND_CONTINUE);
}

/* The server's word on a failed operation other than LOCK. */
static int failed(struct step *s, const struct nfsappend_append_answer *a)
{
	int r = nfsappend_errno4(a->status);

	switch (r) {
	case NFSAPPEND_DELAY: /* the lock stays; WRITE goes on its own */
	case NFSAPPEND_GRACE:
		s->st.held = 1;
		return settled(s, r);
	case NFSAPPEND_STATE_LOST:
		return lost(s, a->status);
	default:
		return release(s, r < 0 ? r : -EIO);
	}
}

/* WRITE is done, LOCKU is not: the record is in whatever becomes of it. */
static int written_but_held(
	struct step *s, const struct nfsappend_append_answer *a)
{
	int r = nfsappend_errno4(a->status);

	s->rec->written = a->written;
	s->st.wrote = a->written.count;
	s->st.held = 1;
	if (a->op == NFSAPPEND_OP_LOCKU && nfsappend_seqid_used(a->status))
		s->st.lock_seqid++;
	if (r == NFSAPPEND_STATE_LOST) {
		s->repeated = false; /* no doubt: it is in */
		lost(s, a->status);
		return 0;
	}
	return settled(s, 0);
}

static int unlocked(struct step *s, const struct nfsappend_append_answer *a)
{
	s->st.held = 0;
	s->st.lock_seqid++;
	s->st.lock = a->unlock;
	if (a->wrote) {
		s->rec->written = a->written;
		s->st.wrote = a->written.count;
	}
	return settled(s, 0);
}

/* LOCK was refused, so nothing was done by this request. */
static int lock_refused(struct step *s, const struct nfsappend_append_answer *a)
{
	struct nfsappend_state *st = &s->st;
	bool of_open = st->in_flight == NFSAPPEND_LOCK_NEW;
	int r = nfsappend_errno4(a->status);

	/* Not even looked at: what an earlier sending did is as open as
	 * before. */
	if (s->repeated && r > 0 && r != NFSAPPEND_STATE_LOST &&
		(a->op != NFSAPPEND_OP_LOCK ||
			!nfsappend_seqid_used(a->status)))
		return r;
	/* Nor is this one of who may not ask any more: its connection is a new
	 * one, from a port that the server refuses. */
	if (s->repeated && a->op != NFSAPPEND_OP_LOCK && r == -EPERM)
		st->in_doubt = writes(st->in_flight);
	if (a->op != NFSAPPEND_OP_LOCK) /* PUTFH, or the whole compound */
		return settled(
			s, r == NFSAPPEND_STATE_LOST || r == 0 ? -EIO : r);
	if (s->repeated && st->in_flight == NFSAPPEND_LOCK_AND_WRITE &&
		(a->status == NFS4ERR_BAD_SEQID ||
			a->status == NFS4ERR_OLD_STATEID)) {
		st->lock_seqid += 2;
		st->lock.seqid += 2;
		st->wrote = st->len;
		return settled(s, NFSAPPEND_LANDED);
	}
	if (r == NFSAPPEND_STATE_LOST)
		return lost(s, a->status);
	if (r == NFSAPPEND_NO_RECLAIM && st->was_held) {
		st->was_held = 0;
		if (nfsappend_seqid_used(a->status))
			st->open_seqid++;
		return settled(s, NFSAPPEND_CONTINUE);
	}
	if (nfsappend_seqid_used(a->status)) {
		/* Of a new lock owner the open owner's counts (16.10.5). */
		if (of_open)
			st->open_seqid++;
		else
			st->lock_seqid++;
	}
	if (a->status != NFS4ERR_DENIED)
		return settled(s, r != 0 ? r : -EIO);
	return settled(s, a->denied_offset == NFSAPPEND_MUTEX_OFFSET &&
					  a->denied_length == 1
				  ? NFSAPPEND_BUSY
				  : NFSAPPEND_APP_LOCK);
}

/* The lock is held, but GETATTR failed: without the size nothing is written. */
static int no_size(struct step *s, const struct nfsappend_append_answer *a)
{
	int r = nfsappend_errno4(a->status);

	return release(s, r < 0 ? r : r > 0 ? -EAGAIN : -EIO);
}

/* The lock is held under the stateid in the answer. */
static int lock_granted(struct step *s, const struct nfsappend_append_answer *a)
{
	struct nfsappend_state *st = &s->st;

	if (st->in_flight == NFSAPPEND_LOCK_NEW) {
		st->open_seqid++;
		st->has_lock = 1;
		st->was_held = 0;
	}
	st->lock_seqid++;
	st->lock = a->lock;
	st->held = 1;
	if (!a->has_size)
		return no_size(s, a);
	s->rec->size = a->size;
	return settled(s, a->size == s->rec->offset ? NFSAPPEND_CONTINUE
						    : NFSAPPEND_NOT_END);
}

/* LOCK_AND_WRITE came past LOCK. */
static int answered_one_shot(
	struct step *s, const struct nfsappend_append_answer *a)
{
	struct nfsappend_state *st = &s->st;
	struct nfsappend_stateid predicted = nfsappend_stateid_next(&st->lock);
	bool as_predicted = memcmp(&predicted, &a->lock, sizeof predicted) == 0;
	bool same_end = a->has_size && a->size == st->offset;

	if (!as_predicted)
		st->two_steps = 1;
	if (a->unlocked) {
		st->lock_seqid++;
		return unlocked(s, a);
	}
	if (a->wrote) {
		st->lock_seqid++;
		st->lock = a->lock;
		return written_but_held(s, a);
	}
	if (a->op == NFSAPPEND_OP_WRITE && a->status == NFS4ERR_OLD_STATEID &&
		s->repeated && as_predicted)
		/* The first sending has just reached its LOCKU. The next one
		 * will hear so from LOCK. */
		return NFSAPPEND_CONTINUE;
	if (a->op == NFSAPPEND_OP_VERIFY && a->status == NFS4ERR_NOT_SAME &&
		a->has_size) {
		s->rec->size = a->size;
		/* Is that our own record, and the first sending on its way
		 * to LOCKU? Nothing may be concluded from the lock then. */
		if (s->repeated && a->size == st->offset + st->len &&
			!s->rec->not_in)
			return NFSAPPEND_NOT_END_OR_IN;
		st->lock_seqid++;
		st->lock = a->lock;
		st->held = 1;
		return settled(s, NFSAPPEND_NOT_END);
	}
	st->lock_seqid++;
	st->lock = a->lock;
	if (a->op == NFSAPPEND_OP_WRITE && !as_predicted && same_end &&
		nfsappend_errno4(a->status) == NFSAPPEND_STATE_LOST) {
		st->held = 1; /* and so WRITE under the right one */
		return settled(s, NFSAPPEND_CONTINUE);
	}
	if (!a->has_size)
		return no_size(s, a);
	if (!same_end) { /* VERIFY failed for another reason */
		st->held = 1;
		s->rec->size = a->size;
		return settled(s, NFSAPPEND_NOT_END);
	}
	return failed(s, a);
}

/* WRITE_UNLOCK and WRITE_HELD. */
static int answered_write(
	struct step *s, const struct nfsappend_append_answer *a)
{
	struct nfsappend_state *st = &s->st;

	if (a->unlocked)
		return unlocked(s, a);
	if (a->wrote && st->in_flight == NFSAPPEND_WRITE_UNLOCK)
		return written_but_held(s, a);
	if (a->wrote) {
		s->rec->written = a->written;
		st->wrote = a->written.count;
		return settled(s, 0);
	}
	/* Only our own LOCKU, behind the WRITE, makes the stateid old. */
	if (s->repeated && st->in_flight == NFSAPPEND_WRITE_UNLOCK &&
		a->op == NFSAPPEND_OP_WRITE &&
		a->status == NFS4ERR_OLD_STATEID) {
		st->held = 0;
		st->lock_seqid++;
		st->lock.seqid++;
		st->wrote = st->len;
		return settled(s, NFSAPPEND_LANDED);
	}
	return failed(s, a);
}

static int answered_unlock(
	struct step *s, const struct nfsappend_append_answer *a)
{
	int error = s->st.error, r = nfsappend_errno4(a->status);

	if (a->unlocked) {
		s->st.error = 0;
		unlocked(s, a);
		return error == -EAGAIN ? NFSAPPEND_DELAY : error;
	}
	if (a->op == NFSAPPEND_OP_LOCKU && nfsappend_seqid_used(a->status))
		s->st.lock_seqid++;
	if (r == NFSAPPEND_DELAY || r == NFSAPPEND_GRACE)
		return settled(s, r);
	/* Whatever it is: a new client id frees the lock. */
	s->st.error = 0;
	lost(s, a->status);
	return error == -EAGAIN ? NFSAPPEND_DELAY : error;
}

int nfsappend_nfs4_append(struct nfsappend_session *session,
	struct nfsappend_wait *wait, struct nfsappend_slot *slot,
	const struct nfsappend_fh *fh, struct nfsappend_record *rec)
{
	struct step s = {
		.slot = slot, .st = nfsappend_slot_get(slot), .rec = rec};
	struct nfsappend_state *st = &s.st;
	struct nfsappend_append_answer a = {.op = 0};
	struct nfsappend_ops *o; /* not on a signal handler's stack */
	int r;

	if (!st->confirmed || st->lost)
		return NFSAPPEND_STATE_LOST;
	s.repeated = st->in_flight != NFSAPPEND_NOTHING;
	if (!s.repeated && !st->held && rec->len == 0)
		return 0;
	o = malloc(sizeof *o);
	if (o == NULL)
		return NFSAPPEND_UNSENT;
	if (!s.repeated) {
		st->in_flight = choose(st, rec);
		st->offset = rec->offset;
		st->len = rec->len;
		nfsappend_slot_set(slot, st);
	}
	nfsappend_append_put(o, st, fh, rec->data);
	a.len = st->len;
	r = nfsappend_compound(session, wait, o, nfsappend_append_decode, &a);
	free(o);
	if (wait->deposed)
		return NFSAPPEND_TIMED_OUT;
	if (writes(st->in_flight) && r != NFSAPPEND_UNSENT)
		wait->write_rpcs++;
	if ((r == NFSAPPEND_UNSENT || r < 0) && !s.repeated)
		return settled(&s, r); /* not executed */
	if (r != 0)
		return r;
	switch (st->in_flight) {
	case NFSAPPEND_LOCK_NEW:
	case NFSAPPEND_LOCK:
		return a.locked ? lock_granted(&s, &a) : lock_refused(&s, &a);
	case NFSAPPEND_LOCK_AND_WRITE:
		return a.locked ? answered_one_shot(&s, &a)
				: lock_refused(&s, &a);
	case NFSAPPEND_WRITE_UNLOCK:
	case NFSAPPEND_WRITE_HELD:
		return answered_write(&s, &a);
	default:
		return answered_unlock(&s, &a);
	}
}

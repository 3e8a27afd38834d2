/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sending what is staged: under the leader lock find the end, send, and find
 * out what became of it before anything else is sent for the file.
 *
 * Order matters for a death at any point: the record's bytes and offset are
 * in the segment before the WRITE leaves, and the segment says "in flight"
 * until an answer came. Whoever leads next finds it so (predecessor.c).
 */
#include "config.h"

#include <errno.h>

#include "core/log.h"
#include "core/op.h"
#include "core/served.h"

#define OPENED_NS INT64_C(100000000)

/* Does the WRITE itself say where it thinks the file ends? */
static bool verifies(const struct nfsappend_op *op)
{
	return op->file->sharing != NFSAPPEND_SINGLE &&
	       op->seg->pending == NFSAPPEND_IN_FLIGHT &&
	       op->file->key.server->target.version == 4;
}

/* One attempt with the staged record, without its first sent bytes. */
static int send_once(struct nfsappend_op *op, uint32_t sent,
	struct nfsappend_written *written)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_segment *s = op->seg;

	const uint8_t *data = s->stage + op->base + sent;
	uint64_t offset = s->pending_offset + sent;
	uint32_t len = s->pending_len - sent;

	if (verifies(op))
		return nfsappend_backend->write_at_end(f->key.server->session,
			&op->w.wait, &f->key.fh, NULL, offset, data, len,
			written);
	return nfsappend_backend->write(f->key.server->session, &op->w.wait,
		&f->key.fh, offset, data, len, written);
}

ssize_t nfsappend_op_new_end(struct nfsappend_op *op, uint64_t size)
{
	struct nfsappend_segment *s = op->seg;

	NFSAPPEND_COUNT(op->file, conflicts, 1);
	if (op->expected != NFSAPPEND_ANY_END && size != op->expected)
		return 0;
	if (size >= op->limit) {
		s->size = size;
		op->over_limit = op->expected == NFSAPPEND_ANY_END;
		return -EFBIG;
	}
	s->pending_offset = size;
	if (s->pending_len > op->limit - size)
		s->pending_len = (uint32_t)(op->limit - size);
	return 1;
}

/* A WRITE took only the first sent bytes: does the file end behind them? 0,
 * 1 when it does not, or -errno. */
static int still_the_end(struct nfsappend_op *op, uint32_t sent)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size;
	int r;

	if (op->file->sharing == NFSAPPEND_SINGLE ||
		s->pending == NFSAPPEND_IN_FLIGHT_AT || verifies(op))
		return 0;
	r = nfsappend_op_size(op, &size);
	if (r != 0 || size == s->pending_offset + sent)
		return r;
	NFSAPPEND_COUNT(op->file, conflicts, 1);
	return 1;
}

/* What one sending of the staged record has come to. */
struct sending {
	uint32_t sent; /* bytes of it on stable storage */
	/* Some WRITE has gone and may yet be executed. */
	bool unanswered;
	/* ... and nothing has been found out of it since. */
	bool in_doubt;
};

/* In doubt: what became of it. 1: (go on) sending; else *result is that of
 * the whole. */
static int settle(struct nfsappend_op *op, struct sending *x, int *result)
{
	struct nfsappend_segment *s = op->seg;
	int r = nfsappend_op_settle(op, x->sent);

	*result = r;
	if (r < 0)
		return 0;
	x->in_doubt = false;
	if (r == NFSAPPEND_SEND_AGAIN)
		return 1;
	*result = 0;
	if (r == NFSAPPEND_IS_IN) {
		x->sent = s->pending_len;
		return 0;
	}
	x->unanswered = false; /* of the place it goes to now */
	if (!op->mine || x->sent > 0) {
		*result = x->sent > 0 ? 0 : -ECANCELED;
		return 0;
	}
	NFSAPPEND_COUNT(op->file, conflicts, 1);
	*result = nfsappend_op_size(op, &s->pending_offset);
	return *result == 0;
}

/*
 * Sends the staged record until it is known to be in the file, or known not
 * to be. Returns the bytes on stable storage: fewer than all where an error
 * or another writer came behind a part of it; or -errno.
 */
static ssize_t send_staged(struct nfsappend_op *op, bool doubt)
{
	struct nfsappend_segment *s = op->seg;
	struct sending x = {.unanswered = doubt, .in_doubt = doubt};
	struct nfsappend_written written;
	unsigned tries = 0;
	int r = 0;

	for (;;) {
		if (doubt && !settle(op, &x, &r))
			break;
		doubt = false;
		r = send_once(op, x.sent, &written);
		if (r == NFSAPPEND_NOT_END && x.unanswered) {
			/* It may be our own first sending that came late. */
			doubt = x.in_doubt = true;
			continue;
		}
		if (r == NFSAPPEND_NOT_END) {
			ssize_t go = -ECANCELED;

			if (op->mine)
				go = x.sent == 0 ? nfsappend_op_new_end(
							   op, written.size)
						 : 0;
			if (go == 1)
				continue;
			s->size = written.size;
			s->size_known = 1;
			return x.sent > 0 ? (ssize_t)x.sent : go;
		}
		if (r == 0) {
			r = nfsappend_op_make_stable(
				op, s->pending_offset + x.sent, &written);
			x.unanswered |= r != 0;
			x.in_doubt |= r > 0;
			op->in_doubt |= r < 0; /* it may be there */
		}
		if (r == 0) {
			/* A short WRITE: the whole stays "in flight" until
			 * the rest has followed, should we die. */
			x.sent += written.count;
			x.unanswered = x.in_doubt = false;
			if (x.sent >= s->pending_len)
				break;
			r = still_the_end(op, x.sent);
			if (r == 0)
				continue;
			break;
		}
		if (r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT)
			doubt = x.unanswered = x.in_doubt = true;
		if (r > 0)
			NFSAPPEND_COUNT(op->file, retries, 1);
		if (!nfsappend_server_again(
			    op->file->key.server, &op->w, &r, &tries))
			break;
	}
	if (r >= 0) {
		nfsappend_wait_over(&op->w);
		s->size = s->pending_offset + x.sent;
		s->size_known = r == 0;
		return x.sent;
	}
	s->size_known = 0;
	if (x.unanswered && nfsappend_op_out_of_time(op)) {
		nfsappend_op_in_doubt(op, -EIO);
		return -EINPROGRESS; /* stays pending; the caller's EIO */
	}
	/* Who is refused from now on can't look whether it came late. */
	x.in_doubt |= x.unanswered && r == -EPERM;
	if (x.in_doubt && r != -ECANCELED)
		nfsappend_op_in_doubt(op, r);
	op->error = r;
	return x.sent > 0 ? (ssize_t)x.sent : r;
}

/* For a successor, should we die: how far the batch has come. Before the
 * record is settled, so that at no point it looks as if it was not sent. */
void nfsappend_op_note_landed(struct nfsappend_op *op, ssize_t r)
{
	struct nfsappend_segment *s = op->seg;

	if (r == -EINPROGRESS)
		return; /* it is not known */
	if (r > 0) {
		s->landed_end = s->pending_offset + (uint64_t)r;
		s->landed = op->base + (uint64_t)r;
	}
	__atomic_store_n(&s->under_lock, 0, __ATOMIC_RELEASE);
}

/* What the slot says of an earlier record must not be taken for this one. */
static ssize_t send_under_lock(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_state st = nfsappend_slot_get(&s->slot);

	if (st.wrote != 0) {
		st.wrote = 0;
		nfsappend_slot_set(&s->slot, &st);
	}
	__atomic_store_n(&s->under_lock, 1, __ATOMIC_RELEASE);
	return nfsappend_locked_send(op);
}

ssize_t nfsappend_op_send_recorded(struct nfsappend_op *op, uint64_t offset,
	uint32_t len, enum nfsappend_pending how)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

	op->error = 0;
	s->touched = 1;
	if (nfsappend_file_by_kernel(op->file))
		return how == NFSAPPEND_IN_FLIGHT
			? nfsappend_kernel_send(op, len)
			: nfsappend_kernel_send_at(op, offset, len);
	s->pending_offset = offset;
	s->pending_len = len;
	s->batch_base = op->base;
	if (how == NFSAPPEND_IN_FLIGHT &&
		op->file->sharing == NFSAPPEND_LOCKED) {
		r = send_under_lock(op);
		if (r == NFSAPPEND_DEPOSED)
			return r;
		nfsappend_op_note_landed(op, r);
		return r == -EINPROGRESS ? -EIO : r;
	}
	__atomic_store_n(&s->pending, how, __ATOMIC_RELEASE);
	r = send_staged(op, false);
	nfsappend_op_note_landed(op, r);
	if (r != -EINPROGRESS)
		__atomic_store_n(
			&s->pending, NFSAPPEND_SETTLED, __ATOMIC_RELEASE);
	return r == -EINPROGRESS ? -EIO : r;
}

ssize_t nfsappend_op_send_pending(struct nfsappend_op *op)
{
	return send_staged(op, true);
}

/* Has the kernel's client asked for the size a moment ago, for the program's
 * open(), and is it the one that the segment knows? What this host has
 * appended since would have changed the segment's. */
static bool opened_there(struct nfsappend_op *op)
{
	struct nfsappend_file *f = op->file;
	int64_t at = atomic_exchange(&f->open_time, 0);

	return at != 0 && nfsappend_now() - at < OPENED_NS &&
	       op->seg->size_known &&
	       op->seg->size == atomic_load(&f->open_size) &&
	       op->seg->size < op->limit;
}

/* Where the next bytes go. 0, -errno, or 1 when the record goes on behind
 * op->expected and another writer came between. */
static int find_end(struct nfsappend_op *op, uint64_t *offset)
{
	struct nfsappend_segment *s = op->seg;
	bool goes_on = op->expected != NFSAPPEND_ANY_END;
	uint64_t size;
	int r;

	if (nfsappend_file_by_kernel(op->file)) {
		*offset = goes_on ? op->expected : 0; /* the kernel finds it */
		return 0;
	}
	/* With NFSv4 the server compares: a guess will do, but not for the
	 * limit. */
	if ((op->file->sharing == NFSAPPEND_SINGLE && s->size_known) ||
		op->file->sharing == NFSAPPEND_LOCKED ||
		(op->file->key.server->target.version == 4 && s->size_known)) {
		*offset = goes_on ? op->expected : s->size;
		if (*offset < op->limit ||
			op->file->sharing == NFSAPPEND_SINGLE)
			return 0;
	}
	if (!goes_on && atomic_load(&op->file->open_time) != 0 &&
		opened_there(op)) {
		*offset = s->size;
		return 0;
	}
	r = nfsappend_op_size(op, &size);
	if (r != 0)
		return r;
	if (s->size_known && size != s->size)
		NFSAPPEND_COUNT(op->file, conflicts, 1);
	s->size = size;
	s->size_known = 1;
	*offset = size;
	return goes_on && size != op->expected ? 1 : 0;
}

/* No byte at or behind the limit: *len as it allows. 0, -EFBIG, or 1: behind
 * a part of the record it is no error, but a short write. */
static int obey_limit(struct nfsappend_op *op, uint64_t offset, uint32_t *len)
{
	if (offset < op->limit) {
		if (*len > op->limit - offset)
			*len = (uint32_t)(op->limit - offset);
		return 0;
	}
	if (op->expected != NFSAPPEND_ANY_END)
		return 1;
	op->over_limit = true;
	return -EFBIG;
}

/* The next best way, for this process's time. */
static void no_locks(struct nfsappend_file *f)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_NO_LOCKS,
		"%s: the server %s has no locks for it; sharing mode guarded "
		"is used, which does not keep appends of several hosts apart",
		f->path, f->key.server->name);
	f->sharing = NFSAPPEND_GUARDED;
	atomic_store(&f->segment.shared->sharing, NFSAPPEND_GUARDED);
}

size_t nfsappend_op_send(
	struct nfsappend_op *op, uint32_t len, ssize_t *error, uint64_t *end)
{
	struct nfsappend_segment *s = op->seg;
	uint32_t done = 0, piece;
	uint64_t offset;
	ssize_t r = 0;

	op->in_doubt = false;
	s->landed = 0;
	s->staged = len;
	while (done < len) {
		piece = len - done;
		r = find_end(op, &offset);
		if (r == -EPERM && nfsappend_kernel_takes_over(op))
			continue;
		if (r == 0)
			r = obey_limit(op, offset, &piece);
		if (r != 0)
			break;
		s->staged = len = done + piece;
		op->base = done;
		r = nfsappend_op_send_recorded(
			op, offset, piece, NFSAPPEND_IN_FLIGHT);
		if (r == -EOPNOTSUPP && op->file->sharing == NFSAPPEND_LOCKED) {
			no_locks(op->file);
			continue;
		}
		/* Not the record in doubt: a new connection is what is refused,
		 * and the lost one may have carried it to the file. */
		if (r == -EPERM && nfsappend_kernel_takes_over(op) &&
			!op->in_doubt)
			continue;
		if (r == NFSAPPEND_DEPOSED) {
			*error = r;
			return done;
		}
		if (r <= 0)
			break;
		done += (uint32_t)r;
		/* A record in doubt may have gone to a new end. */
		op->expected = *end = s->size;
		r = op->error;
		if (r != 0)
			break;
	}
	op->base = 0;
	/* Whoever settles what is in doubt sends the rest of it, too. */
	if (!op->in_doubt)
		s->staged = 0;
	*error = done < len && r < 0 ? r : 0;
	return done;
}

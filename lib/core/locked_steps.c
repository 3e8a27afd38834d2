/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>

#include "core/locked.h"
#include "core/log.h"
#include "core/state.h"

#define MS INT64_C(1000000)
/* How long an identical record at our offset is taken for our own, whose
 * first request is still at work, before it is taken for another host's. */
#define TWIN_NS (1000 * MS)

void nfsappend_locked_start(struct nfsappend_sending *x, struct nfsappend_op *op)
{
	*x = (struct nfsappend_sending){.op = op, .slot = &op->seg->slot};
}

int nfsappend_locked_step(struct nfsappend_sending *x)
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

bool nfsappend_locked_held(const struct nfsappend_sending *x)
{
	return nfsappend_slot_get(x->slot).held;
}

bool nfsappend_locked_unanswered(const struct nfsappend_sending *x)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	return st.in_flight >= NFSAPPEND_LOCK_NEW || st.in_doubt;
}

/* Outcomes that mean: the same again, in a while. False: over, *r is it. */
bool nfsappend_locked_again(struct nfsappend_sending *x, int *r)
{
	NFSAPPEND_COUNT(x->op->file, retries, 1);
	return nfsappend_server_again(
		x->op->file->key.server, &x->op->w, r, &x->tries);
}

/*
 * LANDED: the request was executed to its end, its reply is lost, and with it
 * the count. A short WRITE shows in the file, if it can be read. No COMMIT:
 * LOCKU follows a WRITE that was asked to be FILE_SYNC, and a server may not
 * do less (RFC 7530 section 16.36.4).
 */
uint32_t nfsappend_locked_count(
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
int nfsappend_locked_twin(struct nfsappend_sending *x)
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
void nfsappend_locked_note(struct nfsappend_sending *x, uint32_t wrote)
{
	struct nfsappend_state st = nfsappend_slot_get(x->slot);

	st.in_doubt = 0;
	st.wrote = wrote;
	nfsappend_slot_set(x->slot, &st);
}

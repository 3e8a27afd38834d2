/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frame of an operation: before it the leader lock, and what a
 * predecessor left in doubt settled; after it what it cost.
 */
#include "config.h"

#include <errno.h>

#include "core/errname.h"
#include "core/log.h"
#include "core/op.h"
#include "core/readers.h"
#include "core/served.h"

static void count_rpcs(struct nfsappend_op *op)
{
	NFSAPPEND_COUNT(op->file, rpcs, op->w.wait.rpcs);
	NFSAPPEND_COUNT(op->file, write_rpcs, op->w.wait.write_rpcs);
	if (op->w.wait.reconnects > 0)
		NFSAPPEND_COUNT(op->file, reconnects, op->w.wait.reconnects);
}

bool nfsappend_op_out_of_time(const struct nfsappend_op *op)
{
	return op->w.wait.deadline != 0 &&
	       nfsappend_now() >= op->w.wait.deadline;
}

void nfsappend_op_start(struct nfsappend_op *op, struct nfsappend_file *f)
{
	nfsappend_attr_forget(f);
	op->file = f;
	op->seg = f->segment.shared;
	op->mine = true;
	op->limit = INT64_MAX;
	op->expected = NFSAPPEND_ANY_END;
	op->more = false;
	op->error = 0;
	op->in_doubt = false;
	op->over_limit = false;
	op->base = 0;
	nfsappend_wait_start(&op->w, f->key.server->name, f->timeout_s);
	op->w.steps = true;
}

int nfsappend_op_settle_lead(struct nfsappend_op *op)
{
	int r = nfsappend_predecessor_settle(op);

	if (op->w.wait.deposed) {
		nfsappend_op_deposed(op);
		return -EBUSY;
	}
	if (r == 0) {
		nfsappend_segment_settled(&op->file->segment);
		nfsappend_file_agree(op->file);
		return 0;
	}
	nfsappend_segment_unlead(&op->file->segment);
	count_rpcs(op);
	return r;
}

void nfsappend_op_deposed(struct nfsappend_op *op)
{
	nfsappend_segment_abdicate(&op->file->segment, &op->w);
	count_rpcs(op);
	op->w.wait.rpcs = op->w.wait.write_rpcs = op->w.wait.reconnects = 0;
	op->w.wait.deposed = false;
}

int nfsappend_op_outcome(
	struct nfsappend_op *op, uint64_t *landed, uint64_t *end)
{
	struct nfsappend_segment_view *v = &op->file->segment;
	uint32_t reign = op->w.reign;
	int r;

	for (;;) {
		uint32_t turn = nfsappend_segment_turn(v);

		r = nfsappend_segment_outcome(v, reign, landed, end);
		if (r != -EAGAIN)
			break;
		r = nfsappend_segment_trylead(v);
		if (r >= 0) {
			r = nfsappend_op_settle_lead(op);
			if (r == 0)
				nfsappend_op_finish(op);
		}
		if (r == -EBUSY)
			r = nfsappend_segment_sleep(v, turn, &op->w);
		if (r != 0)
			break;
	}
	if (r == 0)
		return 0;
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_IN_DOUBT,
		"%s: while this process was stopped another one went on in "
		"its place, and what became of a record of it is not known "
		"any more; the program gets EIO, but the record may be in the "
		"file",
		op->file->path);
	return -EIO;
}

int nfsappend_op_unsettled(struct nfsappend_op *op)
{
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
		"%s: what became of an earlier WRITE could not be found out in "
		"time; EIO to the program, nothing of its record was sent",
		op->file->path);
	return -EIO;
}

int nfsappend_op_begin(struct nfsappend_op *op, struct nfsappend_file *f)
{
	int r;

	nfsappend_op_start(op, f);
	for (;;) { /* again when deposed while it settled */
		r = nfsappend_segment_lead(&f->segment, &op->w);
		if (r < 0)
			break;
		r = nfsappend_op_settle_lead(op);
		if (r == 0)
			return 0;
		if (r != -EBUSY)
			return nfsappend_op_unsettled(op);
	}
	if (r == -ETIMEDOUT)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
			"%s: another process that is appending to it did not "
			"finish in time (stopped?); EIO to the program, "
			"nothing of its record was sent",
			f->path);
	return -EIO;
}

void nfsappend_op_finish(struct nfsappend_op *op)
{
	if (nfsappend_file_mounted(op->file) && op->w.wait.write_rpcs > 0 &&
		!nfsappend_file_by_kernel(op->file))
		nfsappend_readers_tell(op);
	nfsappend_segment_unlead(&op->file->segment);
	count_rpcs(op);
	if (!nfsappend_op_out_of_time(op))
		nfsappend_wait_over(&op->w);
}

void nfsappend_op_end(struct nfsappend_op *op, ssize_t result)
{
	nfsappend_op_finish(op);
	if (result == -EFAULT)
		return;
	if (result < 0)
		NFSAPPEND_COUNT(op->file, errors, 1);
	/* Once until something else happens: a full disk meets every append. */
	if (atomic_exchange(&op->file->last_error, (int)result) == result ||
		result >= 0)
		return;
	if (result == -EIO && nfsappend_op_out_of_time(op)) {
		if (op->in_doubt) /* N302 has told */
			return;
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
			"%s: an append failed: %s did not answer in the time "
			"of NFSAPPEND_TIMEOUT; EIO to the program, nothing of "
			"its record is in the file",
			op->file->path, op->file->key.server->name);
		return;
	}
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
		"%s: an append failed on %s: %s; the program was "
		"told; %s",
		op->file->path, op->file->key.server->name,
		nfsappend_strerror((int)-result), nfsappend_cure((int)-result));
}

uint32_t nfsappend_op_room(struct nfsappend_op *op, size_t left)
{
	uint32_t max = op->file->key.server->contact.wtmax;

	if (left < max)
		max = (uint32_t)left;
	return nfsappend_segment_stage(&op->file->segment, max);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An append of the program: by the commit queue, or piece by piece. */
#include "config.h"

#include <errno.h>

#include "core/op.h"
#include "core/queue.h"
#include "core/usercopy.h"

static void count_append(struct nfsappend_op *op, size_t bytes)
{
	struct nfsappend_stats *stats = &op->file->stats;
	uint64_t none = 0;

	NFSAPPEND_COUNT(op->file, appends, 1);
	NFSAPPEND_COUNT(op->file, bytes, bytes);
	if (bytes > 0)
		atomic_compare_exchange_strong(&stats->batched_max, &none, 1);
	nfsappend_stats_latency(
		stats, (uint64_t)(nfsappend_now() - op->w.start) / 1000);
}

/* With the leader lock, piece by piece: whatever does not fit a slot. */
static ssize_t append_alone(struct nfsappend_file *f, const struct iovec *iov,
	int iovcnt, size_t total, uint64_t limit, uint64_t *fileend,
	bool *over_limit)
{
	struct nfsappend_op op;
	size_t done = 0, sent = 0;
	ssize_t r = nfsappend_op_begin(&op, f), error;
	uint64_t landed;
	int64_t began;

	if (r != 0) {
		NFSAPPEND_COUNT(f, errors, 1);
		return r;
	}
	/* Whoever leads sends what is queued: none waits behind many long
	 * records. */
	r = nfsappend_group_serve(&op);
	if (r == NFSAPPEND_DEPOSED) {
		nfsappend_op_deposed(&op);
		return -EAGAIN;
	}
	op.limit = limit;
	op.expected = NFSAPPEND_ANY_END;
	began = nfsappend_now();
	while (r >= 0 && done < total) {
		r = nfsappend_copy_in(iov, iovcnt, done, op.seg->stage,
			nfsappend_op_room(&op, total - done));
		if (r < 0)
			break;
		op.more = done + (size_t)r < total;
		sent = nfsappend_op_send(&op, (uint32_t)r, &error, fileend);
		done += sent;
		if (error != 0 || sent < (size_t)r) {
			r = error;
			break;
		}
	}
	if (r == NFSAPPEND_DEPOSED) {
		/* What of the piece has landed is not in done. */
		done -= sent;
		nfsappend_op_deposed(&op);
		r = nfsappend_op_outcome(&op, &landed, fileend);
		if (r == 0 && done + landed == 0)
			return -EAGAIN;
		done = r == 0 ? done + landed : 0;
		count_append(&op, done);
		return done > 0 ? (ssize_t)done : r;
	}
	if (op.more)
		nfsappend_locked_release(&op); /* a record cut short */
	if (done > 0 && !op.w.wait.deposed)
		nfsappend_figures_batch(
			&op.seg->figures, 1, began, nfsappend_now());
	*over_limit = op.over_limit;
	/* The count of a part tells the program to send the rest, which would
	 * stand twice if it is in, or yet to come. */
	if (op.in_doubt)
		done = 0;
	count_append(&op, done);
	if (op.w.wait.deposed)
		nfsappend_op_deposed(&op);
	else
		nfsappend_op_end(&op, r > 0 || op.over_limit ? 0 : r);
	return done > 0 ? (ssize_t)done : r < 0 ? r : 0;
}

ssize_t nfsappend_file_append(struct nfsappend_file *f, const struct iovec *iov,
	int iovcnt, size_t total, uint64_t limit, uint64_t *fileend,
	bool *over_limit)
{
	struct nfsappend_op op;
	ssize_t r;

	*fileend = 0;
	/* A limit of this process is none of the others' business. */
	r = -ENOBUFS;
	if (total <= NFSAPPEND_SLOT_DATA && limit == INT64_MAX &&
		total <= f->key.server->contact.wtmax) {
		nfsappend_op_start(&op, f);
		r = nfsappend_group_append(&op, iov, iovcnt, total, fileend);
		if (r != -ENOBUFS) {
			count_append(&op, r > 0 ? (size_t)r : 0);
			return r;
		}
	}
	do
		r = append_alone(
			f, iov, iovcnt, total, limit, fileend, over_limit);
	while (r == -EAGAIN);
	return r;
}

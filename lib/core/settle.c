/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is it in? What can be found out about a record whose answer was lost.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/errname.h"
#include "core/log.h"
#include "core/op.h"
#include "core/queue.h"

int nfsappend_op_size(struct nfsappend_op *op, uint64_t *size)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_attr attr;
	int r;

	NFSAPPEND_CALL(f->key.server, &op->w, r, getattr, &f->key.fh, &attr);
	if (r == 0)
		*size = attr.size;
	return r;
}

int nfsappend_op_read_back(struct nfsappend_op *op, uint64_t offset,
	uint32_t from, uint32_t upto)
{
	struct nfsappend_file *f = op->file;
	const uint8_t *staged = op->seg->stage + op->base + from;
	uint8_t *buf = nfsappend_pages(upto);
	uint32_t done = 0;
	int r = buf != NULL ? NFSAPPEND_IS_IN : -ENOMEM;

	while (r == NFSAPPEND_IS_IN && done < upto) {
		uint32_t len = upto - done;
		bool eof = false;
		int got;

		if (len > f->key.server->contact.rtmax)
			len = f->key.server->contact.rtmax;
		NFSAPPEND_CALL(f->key.server, &op->w, got, read, &f->key.fh,
			offset + done, buf + done, &len, &eof);
		if (got != 0)
			r = got;
		else if (len == 0 ||
			 memcmp(buf + done, staged + done, len) != 0)
			r = NFSAPPEND_IS_NOT_THERE;
		done += len;
	}
	if (buf != NULL)
		sys_munmap(buf, upto);
	return r;
}

static int commit(struct nfsappend_op *op, uint64_t offset, uint32_t len,
	uint64_t *verifier)
{
	struct nfsappend_file *f = op->file;
	int r;

	NFSAPPEND_CALL(f->key.server, &op->w, r, commit, &f->key.fh, offset,
		len, verifier);
	return r;
}

/* As read_back(), and IS_IN means stable storage: what a READ shows of a
 * WRITE without an answer may be in the server's memory only. The same
 * verifier before and after says that what was read is what was committed. */
static int read_back_stable(struct nfsappend_op *op, uint64_t offset,
	uint32_t from, uint32_t len)
{
	uint64_t before = 0, after = 0;
	int r;

	r = commit(op, offset, len, &before);
	while (r == 0) {
		r = nfsappend_op_read_back(op, offset, from, len);
		if (r != NFSAPPEND_IS_IN)
			return r;
		r = commit(op, offset, len, &after);
		if (r == 0 && before == after)
			return NFSAPPEND_IS_IN;
		before = after;
	}
	return r;
}

int nfsappend_op_landed(struct nfsappend_op *op, uint64_t offset, uint32_t len,
	uint32_t *landed)
{
	uint64_t size;
	int r = nfsappend_op_size(op, &size);

	*landed = 0;
	if (r != 0 || size <= offset)
		return r;
	if (size - offset < len)
		len = (uint32_t)(size - offset); /* if it was cut short */
	r = read_back_stable(op, offset, 0, len);
	if (r == NFSAPPEND_IS_IN)
		*landed = len;
	return r < 0 ? r : 0;
}

static void maybe_twice(const struct nfsappend_op *op, uint64_t offset,
	uint32_t len, const char *why)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_MAYBE_TWICE,
		"%s: the answer to a WRITE of %u bytes at %llu was lost, and "
		"%s; the record may stand twice",
		op->file->path, len, (unsigned long long)offset, why);
}

/* Do the first len staged bytes end as a record does? Then another host may
 * have written the same; whoever writes half a line is ourselves. */
static bool ends_a_record(const struct nfsappend_op *op, uint32_t len)
{
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&op->file->segment, false);

	return op->seg->stage[op->base + len - 1] == '\n' ||
	       (q != NULL && nfsappend_queue_ends(q, op->base + len));
}

/* What lies at its place is the first part of what was sent, and no more. */
static int settle_part(struct nfsappend_op *op, uint32_t from, uint32_t part)
{
	struct nfsappend_segment *s = op->seg;

	if (ends_a_record(op, from + part)) {
		/* Sent over it, or counted as ours, a record of another host
		 * that is the same would be lost. */
		maybe_twice(op, s->pending_offset + from,
			s->pending_len - from,
			"what lies there can be a part of it or another "
			"host's");
		return NFSAPPEND_IS_NOT_THERE;
	}
	/* The whole goes over it. Not where the size is verified under a
	 * lock: there the part counts. */
	if (op->file->sharing != NFSAPPEND_LOCKED)
		return NFSAPPEND_SEND_AGAIN;
	s->pending_len = from + part;
	return NFSAPPEND_IS_IN;
}

/*
 * The answer to a WRITE was lost: is it in? As the only writer (single), and
 * for a write at a given offset, the same bytes at the same place can be
 * sent again. Else the size and then the bytes decide.
 */
int nfsappend_op_settle(struct nfsappend_op *op, uint32_t from)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size, offset = s->pending_offset + from;
	uint32_t len = s->pending_len - from;
	bool part;
	int r;

	if (op->file->sharing == NFSAPPEND_SINGLE ||
		s->pending == NFSAPPEND_IN_FLIGHT_AT)
		return NFSAPPEND_SEND_AGAIN;
	r = nfsappend_op_size(op, &size);
	if (r != 0)
		return r;
	if (size == offset)
		return NFSAPPEND_SEND_AGAIN;
	if (size < offset) /* truncated since: it went with the rest, or
			    * never was */
		return NFSAPPEND_IS_NOT_THERE;
	part = size - offset < len;
	if (part)
		len = (uint32_t)(size - offset);
	/* A part that is going to be sent again need not be stable yet. */
	r = part && op->file->sharing != NFSAPPEND_LOCKED
		    ? nfsappend_op_read_back(op, offset, from, len)
		    : read_back_stable(op, offset, from, len);
	if (r == NFSAPPEND_IS_IN && part)
		return settle_part(op, from, len);
	if (r < 0 && r != -ESTALE && r != -EIO) {
		char why[120];

		snprintf(why, sizeof why, "the file cannot be read back (%s)",
			nfsappend_strerror(-r));
		maybe_twice(op, offset, s->pending_len - from, why);
		return NFSAPPEND_IS_NOT_THERE;
	}
	return r;
}

int nfsappend_op_make_stable(struct nfsappend_op *op, uint64_t offset,
	const struct nfsappend_written *written)
{
	uint64_t verifier = 0;
	int r;

	if (written->committed == NFSAPPEND_FILE_SYNC)
		return 0;
	r = commit(op, offset, written->count, &verifier);
	if (r != 0)
		return r;
	return verifier == written->verifier ? 0 : NFSAPPEND_LOST;
}

void nfsappend_op_in_doubt(struct nfsappend_op *op, ssize_t error)
{
	struct nfsappend_segment *s = op->seg;

	op->in_doubt = true;
	s->size_known = 0;
	if (!op->mine) /* told when it was given up */
		return;
	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_IN_DOUBT,
		"%s: no answer%s to a WRITE of %u bytes at %llu; the program "
		"gets %s, but the record may be in the file",
		op->file->path,
		nfsappend_op_out_of_time(op) ? " in time" : "",
		s->pending_len, (unsigned long long)s->pending_offset,
		nfsappend_strerror((int)-error));
}

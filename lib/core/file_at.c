/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What else is done with an append file: reads and writes at an offset, and
 * its attributes. */
#include "config.h"

#include <errno.h>

#include "core/op.h"
#include "core/usercopy.h"

ssize_t nfsappend_file_write_at(struct nfsappend_file *f,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t offset)
{
	struct nfsappend_op op;
	size_t done = 0;
	ssize_t r = nfsappend_op_begin(&op, f);

	if (r != 0)
		return r;
	while (done < total) {
		bool known = op.seg->size_known;
		uint64_t size = op.seg->size;

		r = nfsappend_copy_in(iov, iovcnt, done, op.seg->stage,
			nfsappend_op_room(&op, total - done));
		if (r < 0)
			break;
		r = nfsappend_op_send_recorded(&op, offset + done, (uint32_t)r,
			NFSAPPEND_IN_FLIGHT_AT);
		if (r < 0)
			break;
		done += (size_t)r;
		op.seg->size_known = known;
		op.seg->size = size > offset + done ? size : offset + done;
		r = op.error;
		if (r != 0)
			break;
	}
	nfsappend_op_end(&op, r > 0 ? 0 : r);
	return done > 0 ? (ssize_t)done : r < 0 ? r : 0;
}

ssize_t nfsappend_file_read_at(struct nfsappend_file *f,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t offset)
{
	struct nfsappend_server *server = f->key.server;
	struct nfsappend_waiting w;
	uint32_t room = total < server->contact.rtmax ? (uint32_t)total
						      : server->contact.rtmax;
	uint8_t *buf = total > 0 ? nfsappend_pages(room) : NULL;
	size_t done = 0;
	bool eof = false;
	ssize_t r = total > 0 && buf == NULL ? -ENOMEM : 0;

	nfsappend_wait_start(&w, server->name, f->timeout_s);
	while (r == 0 && !eof && done < total) {
		uint32_t len =
			total - done < room ? (uint32_t)(total - done) : room;
		int got;

		NFSAPPEND_CALL(server, &w, got, read, &f->key.fh, offset + done,
			buf, &len, &eof);
		r = got;
		if (r != 0 || len == 0)
			break;
		r = nfsappend_copy_out(iov, iovcnt, done, buf, len);
		if (r > 0)
			done += (size_t)r;
		r = r == (ssize_t)len ? 0 : -EFAULT;
	}
	if (buf != NULL)
		sys_munmap(buf, room);
	NFSAPPEND_COUNT(f, rpcs, w.wait.rpcs);
	return done > 0 ? (ssize_t)done : r;
}

int nfsappend_file_getattr(
	struct nfsappend_file *f, struct nfsappend_attr *attr)
{
	struct nfsappend_waiting w;
	int r;

	if (nfsappend_attr_recall(f, attr))
		return 0;
	nfsappend_wait_start(&w, f->key.server->name, f->timeout_s);
	NFSAPPEND_CALL(f->key.server, &w, r, getattr, &f->key.fh, attr);
	NFSAPPEND_COUNT(f, rpcs, w.wait.rpcs);
	return r;
}

/*
 * The answer to a SETATTR of the size was lost. Sent again blindly it could
 * take away what other hosts have appended since it was executed: whatever
 * shows that it was, or makes it needless, ends it. before: the size before
 * it was first sent. 1: send it again, 0: done, or -errno.
 */
static int look_at_size(
	struct nfsappend_op *op, uint64_t before, uint64_t wanted)
{
	uint64_t size;
	int r = nfsappend_op_size(op, &size);

	if (r != 0)
		return r;
	if (size == wanted)
		return 0;
	if (wanted > before) /* it was to grow */
		return size < wanted;
	/* Appends of others never make it shorter than it was. */
	return size >= before || size < wanted;
}

static int set_size(struct nfsappend_op *op, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct nfsappend_file *f = op->file;
	uint64_t before;
	unsigned tries = 0;
	bool lost = false;
	int r = nfsappend_op_size(op, &before);

	if (r != 0)
		return r;
	do {
		r = nfsappend_backend->setattr(f->key.server->session,
			&op->w.wait, &f->key.fh, set, attr);
		lost |= r == NFSAPPEND_LOST;
		if (!nfsappend_server_again(f->key.server, &op->w, &r, &tries))
			break;
		r = lost ? look_at_size(op, before, attr->size) : 1;
	} while (r > 0);
	op->seg->size = attr->size;
	op->seg->size_known = r == 0 && !lost;
	return r;
}

int nfsappend_file_setattr(struct nfsappend_file *f, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct nfsappend_op op;
	int r = nfsappend_op_begin(&op, f);

	if (r != 0)
		return r;
	if (set & NFSAPPEND_SET_SIZE)
		r = set_size(&op, set, attr);
	else
		NFSAPPEND_CALL(f->key.server, &op.w, r, setattr, &f->key.fh,
			set, attr);
	nfsappend_op_finish(&op);
	return r;
}

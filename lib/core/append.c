/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The append itself: under the leader lock find the end, stage, send, and
 * settle what is in doubt before anything else is sent for the file.
 *
 * Order matters for a death at any point: the record's bytes and offset are
 * in the segment before the WRITE leaves, and the segment says "in flight"
 * until an answer came. Whoever leads next finds it so.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/errname.h"
#include "core/log.h"
#include "core/op.h"
#include "core/queue.h"
#include "core/served.h"
#include "core/usercopy.h"

/* Does the WRITE itself say where it thinks the file ends? */
static bool verifies(const struct nfsappend_op *op)
{
	return op->file->sharing != NFSAPPEND_SINGLE &&
	       op->seg->pending == NFSAPPEND_IN_FLIGHT &&
	       op->file->key.server->target.version == 4;
}

/*
 * Sends the staged record (s->pending_offset, s->pending_len) until it is
 * known to be in the file, or known not to be. The count of bytes on stable
 * storage, or -errno. doubt: somebody has sent it before.
 */
static int send_once(struct nfsappend_op *op, struct nfsappend_written *written)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_segment *s = op->seg;

	return (verifies(op) ? nfsappend_backend->write_at_end
			     : nfsappend_backend->write)(f->key.server->session,
		&op->w.wait, &f->key.fh, s->pending_offset, s->stage,
		s->pending_len, written);
}

/* The file does not end where we thought. 1: go on there, else the result. */
static ssize_t new_end(struct nfsappend_op *op, uint64_t size)
{
	struct nfsappend_segment *s = op->seg;

	nfsappend_count(&op->file->stats.conflicts, 1);
	if (op->expected != NFSAPPEND_ANY_END && size != op->expected)
		return 0;
	if (size >= op->limit) {
		s->size = size;
		return -EFBIG;
	}
	s->pending_offset = size;
	if (s->pending_len > op->limit - size)
		s->pending_len = (uint32_t)(op->limit - size);
	return 1;
}

static ssize_t send_staged(struct nfsappend_op *op, bool doubt)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_written written;
	unsigned tries = 0;
	/* Some WRITE of it has gone and may yet be executed. */
	bool unanswered = doubt;
	int r;

	for (;;) {
		if (doubt) {
			r = nfsappend_op_settle(op);
			if (r == NFSAPPEND_IS_IN) {
				written.count = s->pending_len;
				break;
			}
			if (r == NFSAPPEND_IS_NOT_THERE && !op->mine)
				return -ECANCELED;
			if (r == NFSAPPEND_IS_NOT_THERE) {
				r = nfsappend_op_size(op, &s->pending_offset);
				nfsappend_count(&f->stats.conflicts, 1);
			}
			if (r < 0)
				goto failed;
			doubt = false;
		}
		r = send_once(op, &written);
		if (r == NFSAPPEND_NOT_END) {
			ssize_t go = op->mine ? new_end(op, written.size)
					      : -ECANCELED;

			if (go == 1)
				continue;
			s->size = written.size;
			s->size_known = 1;
			return go;
		}
		if (r == 0) {
			r = nfsappend_op_make_stable(op, &written);
			if (r == 0)
				break;
			unanswered = true;
		}
		if (r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT)
			doubt = unanswered = true;
		if (r > 0)
			nfsappend_count(&f->stats.retries, 1);
		if (!nfsappend_server_again(f->key.server, &op->w, &r, &tries))
			goto failed;
	}
	nfsappend_wait_over(&op->w);
	s->size = s->pending_offset + written.count;
	s->size_known = 1;
	return written.count;
failed:
	if (unanswered && op->w.wait.deadline != 0 &&
		nfsappend_now() >= op->w.wait.deadline) {
		nfsappend_op_in_doubt(op);
		return -EINPROGRESS; /* stays pending; the caller's EIO */
	}
	s->size_known = 0;
	return r;
}

/* For a successor, should we die: how far the batch has come. Before the
 * record is settled, so that at no point it looks as if it was not sent. */
static void note_landed(struct nfsappend_op *op, ssize_t r)
{
	struct nfsappend_segment *s = op->seg;

	if (r == -EINPROGRESS)
		return; /* it is not known */
	if (r > 0) {
		s->landed_end = s->pending_offset + (uint64_t)r;
		s->landed = s->batch_base + (uint64_t)r;
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

/* send_staged() with the segment told before and after. */
static ssize_t send_recorded(struct nfsappend_op *op, uint64_t offset,
	uint32_t len, enum nfsappend_pending how)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

	if (nfsappend_file_by_kernel(op->file))
		return nfsappend_kernel_send(op, len);
	s->touched = 1;
	s->pending_offset = offset;
	s->pending_len = len;
	s->batch_base = op->base;
	if (how == NFSAPPEND_IN_FLIGHT &&
		op->file->sharing == NFSAPPEND_LOCKED) {
		r = send_under_lock(op);
		if (r != -EDEADLK) {
			note_landed(op, r);
			return r == -EINPROGRESS ? -EIO : r;
		}
		/* The program's own lock keeps the other hosts away: the
		 * server compares the size, as without locks. */
		__atomic_store_n(&s->under_lock, 0, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&s->pending, how, __ATOMIC_RELEASE);
	r = send_staged(op, false);
	note_landed(op, r);
	if (r != -EINPROGRESS)
		__atomic_store_n(
			&s->pending, NFSAPPEND_SETTLED, __ATOMIC_RELEASE);
	return r == -EINPROGRESS ? -EIO : r;
}

/* The same of what was sent under the mutex byte. */
static int settle_locked(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	uint32_t landed = 0;

	if (nfsappend_locked_settle(op) != 0)
		return -EIO;
	if (!s->under_lock)
		return 0;
	if (nfsappend_locked_landed(op, &landed) != 0)
		return -EIO;
	note_landed(op, landed);
	return 0;
}

/* What a dead leader, or a call that gave up, left in flight. 0 or -EIO. */
static int settle_predecessor(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

	/* Whatever the mode of this process: another one's may be locked. */
	if (op->file->key.server->target.version == 4 &&
		settle_locked(op) != 0)
		return -EIO;
	if (s->pending == NFSAPPEND_SETTLED)
		return 0;
	if ((s->pending != NFSAPPEND_IN_FLIGHT &&
		    s->pending != NFSAPPEND_IN_FLIGHT_AT) ||
		s->pending_len == 0 || s->pending_len > s->allocated ||
		s->pending_len > NFSAPPEND_STAGE_MAX) {
		s->pending = NFSAPPEND_SETTLED; /* nonsense: drop it */
		return 0;
	}
	nfsappend_log(NFSAPPEND_INFO, NFSAPPEND_MSG_PREDECESSOR,
		"%s: settling a WRITE of %u bytes at %llu that another writer "
		"left without an answer",
		op->file->path, s->pending_len,
		(unsigned long long)s->pending_offset);
	op->mine = false;
	r = send_staged(op, true);
	op->mine = true;
	if (s->pending == NFSAPPEND_IN_FLIGHT_AT)
		s->size_known = 0; /* its end is not the file's */
	if (r == -EINPROGRESS)
		return -EIO;
	note_landed(op, r);
	s->pending = NFSAPPEND_SETTLED;
	return 0;
}

/* The records that a leader had taken from the queue when it died, or when
 * its time was over: those that are not in the file are queued again. */
static void settle_orphans(struct nfsappend_op *op)
{
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&op->file->segment, false);

	if (q != NULL)
		nfsappend_queue_recover(q, s->landed, s->landed_end);
	s->orphaned = 0;
}

/* Where the next bytes go. done: of this record so far, expected: the end
 * that it left. 0, -errno, or 1 when another writer came between. */
static int find_end(struct nfsappend_op *op, size_t done, uint64_t expected,
	uint64_t *offset)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size;
	int r;

	if (nfsappend_file_by_kernel(op->file)) {
		*offset = done > 0 ? expected : 0; /* the kernel finds it */
		return 0;
	}
	/* With NFSv4 the server compares: a guess will do, but not for the
	 * limit. */
	if ((op->file->sharing == NFSAPPEND_SINGLE && s->size_known) ||
		op->file->sharing == NFSAPPEND_LOCKED ||
		(op->file->key.server->target.version == 4 && s->size_known)) {
		*offset = done > 0 ? expected : s->size;
		if (*offset < op->limit ||
			op->file->sharing == NFSAPPEND_SINGLE)
			return 0;
	}
	r = nfsappend_op_size(op, &size);
	if (r != 0)
		return r;
	if (s->size_known && size != s->size)
		nfsappend_count(&op->file->stats.conflicts, 1);
	s->size = size;
	s->size_known = 1;
	*offset = size;
	return done > 0 && size != expected ? 1 : 0;
}

static void count_rpcs(struct nfsappend_op *op)
{
	struct nfsappend_stats *stats = &op->file->stats;

	nfsappend_count(&stats->rpcs, op->w.wait.rpcs);
	nfsappend_count(&stats->write_rpcs, op->w.wait.write_rpcs);
	nfsappend_count(&stats->reconnects, op->w.wait.reconnects);
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
	op->base = 0;
	nfsappend_wait_start(&op->w, f->key.server->name, f->timeout_s);
	op->w.steps = true;
}

int nfsappend_op_settle_lead(struct nfsappend_op *op)
{
	int r = settle_predecessor(op);

	if (r == 0 && op->seg->orphaned)
		settle_orphans(op);
	if (r != 0) {
		nfsappend_segment_unlead(&op->file->segment);
		count_rpcs(op);
	}
	return r;
}

int nfsappend_op_begin(struct nfsappend_op *op, struct nfsappend_file *f)
{
	int r;

	nfsappend_op_start(op, f);
	r = nfsappend_segment_lead(&f->segment, &op->w);
	if (r == -ETIMEDOUT)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
			"%s: another process that is appending to it did not "
			"finish in time (stopped?); EIO to the program, "
			"nothing of its record was sent",
			f->path);
	if (r < 0)
		return -EIO;
	return nfsappend_op_settle_lead(op);
}

void nfsappend_op_end(struct nfsappend_op *op, ssize_t result)
{
	struct nfsappend_stats *stats = &op->file->stats;

	if (nfsappend_file_mounted(op->file) && op->w.wait.write_rpcs > 0 &&
		!nfsappend_file_by_kernel(op->file))
		nfsappend_kernel_poke(op);
	nfsappend_segment_unlead(&op->file->segment);
	count_rpcs(op);
	if (op->w.wait.deadline == 0 ||
		nfsappend_now() < op->w.wait.deadline)
		nfsappend_wait_over(&op->w);
	if (result == -EFAULT)
		return;
	if (result < 0)
		nfsappend_count(&stats->errors, 1);
	/* Once until something else happens: a full disk meets every append. */
	if (atomic_exchange(&op->file->last_error, (int)result) != result &&
		result < 0)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
			"%s: an append failed on %s: %s; the program was "
			"told; %s",
			op->file->path, op->file->key.server->name,
			nfsappend_strerror((int)-result),
			nfsappend_cure((int)-result));
}

uint32_t nfsappend_op_room(struct nfsappend_op *op, size_t left)
{
	uint32_t max = op->file->key.server->contact.wtmax;

	if (left < max)
		max = (uint32_t)left;
	return nfsappend_segment_stage(&op->file->segment, max);
}

void nfsappend_file_hint(
	struct nfsappend_file *f, const struct nfsappend_attr *attr)
{
	struct nfsappend_op op;

	if (f->sharing == NFSAPPEND_SINGLE && !f->segment.shared->touched &&
		nfsappend_op_begin(&op, f) == 0) {
		/* From before somebody's append they would be a lie. */
		if (!op.seg->touched && !op.seg->size_known) {
			op.seg->size = attr->size;
			op.seg->size_known = 1;
		}
		nfsappend_op_end(&op, 0);
	}
	nfsappend_attr_remember(f, attr);
}

/* The next best way, for this process's time. */
static void no_locks(struct nfsappend_file *f)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_NO_LOCKS,
		"%s: the server %s has no locks for it; sharing mode guarded "
		"is used, which does not keep appends of several hosts apart",
		f->path, f->key.server->name);
	f->sharing = NFSAPPEND_GUARDED;
}

size_t nfsappend_op_send(struct nfsappend_op *op, uint32_t len, ssize_t *error,
	uint64_t *end)
{
	struct nfsappend_segment *s = op->seg;
	size_t done = 0;
	uint64_t offset;
	ssize_t r = 0;

	*end = 0;
	s->landed = 0;
	while (done < len) {
		r = find_end(op, done, *end, &offset);
		if (r != 0)
			break;
		op->expected = done > 0 ? offset : NFSAPPEND_ANY_END;
		op->base = done;
		r = send_recorded(op, offset, len - (uint32_t)done,
			NFSAPPEND_IN_FLIGHT);
		if (r == -EOPNOTSUPP && op->file->sharing == NFSAPPEND_LOCKED) {
			no_locks(op->file);
			continue;
		}
		if (r <= 0)
			break;
		done += (size_t)r;
		*end = s->size;
		if (done < len) /* a short WRITE: the rest moves up */
			memmove(s->stage, s->stage + r, len - done);
	}
	op->base = 0;
	*error = done < len && r < 0 ? r : 0;
	return done;
}

static void count_append(struct nfsappend_op *op, size_t bytes)
{
	struct nfsappend_stats *stats = &op->file->stats;
	uint64_t none = 0;

	nfsappend_count(&stats->appends, 1);
	nfsappend_count(&stats->bytes, bytes);
	if (bytes > 0)
		atomic_compare_exchange_strong(&stats->batched_max, &none, 1);
	nfsappend_stats_latency(stats,
		(uint64_t)(nfsappend_now() - op->w.start) / 1000);
}

/* With the leader lock, piece by piece: whatever does not fit a slot. */
static ssize_t append_alone(struct nfsappend_file *f, const struct iovec *iov,
	int iovcnt, size_t total, uint64_t limit, uint64_t *fileend,
	bool *over_limit)
{
	struct nfsappend_op op;
	size_t done = 0;
	uint64_t offset;
	ssize_t r = nfsappend_op_begin(&op, f);

	if (r != 0) {
		nfsappend_count(&f->stats.errors, 1);
		return r;
	}
	/* Whoever leads sends what is queued: none waits behind many long
	 * records. */
	r = nfsappend_group_serve(&op);
	op.limit = limit;
	while (r >= 0 && done < total) {
		r = nfsappend_copy_in(iov, iovcnt, done, op.seg->stage,
			nfsappend_op_room(&op, total - done));
		if (r < 0)
			break;
		uint32_t len = (uint32_t)r;

		r = find_end(&op, done, *fileend, &offset);
		if (r != 0)
			break;
		if (offset >= limit) {
			/* Behind a part it is no error, but a short write. */
			*over_limit = done == 0;
			r = done == 0 ? -EFBIG : 0;
			break;
		}
		if (len > limit - offset) {
			len = (uint32_t)(limit - offset);
			total = done + len;
		}
		op.expected = done > 0 ? offset : NFSAPPEND_ANY_END;
		op.more = done + len < total;
		r = send_recorded(&op, offset, len, NFSAPPEND_IN_FLIGHT);
		if (r == -EOPNOTSUPP && f->sharing == NFSAPPEND_LOCKED) {
			no_locks(f);
			continue;
		}
		*over_limit = r == -EFBIG && done == 0 && op.seg->size >= limit;
		if (r <= 0)
			break;
		done += (size_t)r;
		/* A record in doubt may have gone to a new end. */
		*fileend = op.seg->size;
	}
	if (op.more)
		nfsappend_locked_release(&op); /* a record cut short */
	count_append(&op, done);
	nfsappend_op_end(&op, r > 0 || *over_limit ? 0 : r);
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
	if (total > NFSAPPEND_SLOT_DATA || limit != INT64_MAX ||
		total > f->key.server->contact.wtmax)
		return append_alone(f, iov, iovcnt, total, limit, fileend,
			over_limit);
	nfsappend_op_start(&op, f);
	r = nfsappend_group_append(&op, iov, iovcnt, total, fileend);
	if (r == -ENOBUFS)
		return append_alone(f, iov, iovcnt, total, limit, fileend,
			over_limit);
	count_append(&op, r > 0 ? (size_t)r : 0);
	return r;
}

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
		r = send_recorded(&op, offset + done, (uint32_t)r,
			NFSAPPEND_IN_FLIGHT_AT);
		if (r < 0)
			break;
		done += (size_t)r;
		op.seg->size_known = known;
		op.seg->size = size > offset + done ? size : offset + done;
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
	nfsappend_count(&f->stats.rpcs, w.wait.rpcs);
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
	nfsappend_count(&f->stats.rpcs, w.wait.rpcs);
	return r;
}

int nfsappend_file_setattr(struct nfsappend_file *f, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct nfsappend_op op;
	int r = nfsappend_op_begin(&op, f);

	if (r != 0)
		return r;
	NFSAPPEND_CALL(f->key.server, &op.w, r, setattr, &f->key.fh, set, attr);
	if (set & NFSAPPEND_SET_SIZE) {
		op.seg->size = attr->size;
		op.seg->size_known = r == 0;
	}
	nfsappend_op_end(&op, r);
	return r;
}

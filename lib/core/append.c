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
#include "core/file.h"
#include "core/log.h"
#include "core/process.h"
#include "core/usercopy.h"

/* How long attributes from an open stand for fstat(): less than the least
 * that a kernel client keeps them (acregmin, 3 s). */
#define ATTR_FRESH INT64_C(1000000000)

struct op {
	struct nfsappend_file *file;
	struct nfsappend_segment *seg;
	struct nfsappend_waiting w;
	bool mine; /* the staged record is this call's, not a predecessor's */
};

enum verdict { LANDED = 1, AGAIN, ELSEWHERE };

static int get_size(struct op *op, uint64_t *size)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_attr attr;
	int r;

	NFSAPPEND_CALL(f->key.server, &op->w, r, getattr, &f->key.fh, &attr);
	if (r == 0)
		*size = attr.size;
	return r;
}

/* Are the staged bytes in the file at that offset? LANDED, ELSEWHERE (not
 * they), or -errno when the file cannot be read. upto: how far to look. */
static int read_back(struct op *op, uint64_t offset, uint32_t upto)
{
	struct nfsappend_file *f = op->file;
	uint8_t *buf = nfsappend_pages(upto);
	uint32_t done = 0;
	int r = buf != NULL ? LANDED : -ENOMEM;

	while (r == LANDED && done < upto) {
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
			memcmp(buf + done, op->seg->stage + done, len) != 0)
			r = ELSEWHERE;
		done += len;
	}
	if (buf != NULL)
		sys_munmap(buf, upto);
	return r;
}

/*
 * The answer to a WRITE was lost: is it in? As the only writer (single), and
 * for a write at a given offset, the same bytes at the same place can be
 * sent again. Else the size and then the bytes decide.
 */
static int settle(struct op *op)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size, offset = s->pending_offset;
	uint32_t len = s->pending_len;
	int r;

	if (op->file->sharing == NFSAPPEND_SINGLE ||
		s->pending == NFSAPPEND_IN_FLIGHT_AT)
		return AGAIN;
	r = get_size(op, &size);
	if (r != 0)
		return r;
	if (size == offset)
		return AGAIN;
	if (size < offset) /* truncated since: it went with the rest, or
			    * never was */
		return ELSEWHERE;
	r = read_back(op, offset,
		size - offset < len ? (uint32_t)(size - offset) : len);
	if (r == LANDED && size - offset < len)
		return AGAIN; /* a part of it; the whole goes over it */
	if (r < 0 && r != -ESTALE && r != -EIO) {
		nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_MAYBE_TWICE,
			"%s: the answer to a WRITE of %u bytes at %llu was "
			"lost and the file cannot be read back (%s); the "
			"record may stand twice",
			op->file->path, len, (unsigned long long)offset,
			nfsappend_strerror(-r));
		return ELSEWHERE;
	}
	return r;
}

/* What was written less than FILE_SYNC: COMMIT it. 0, AGAIN when the server
 * has restarted in between (RFC 1813 3.3.7), or -errno. */
static int make_stable(struct op *op, const struct nfsappend_written *written)
{
	struct nfsappend_file *f = op->file;
	uint64_t verifier = 0;
	int r;

	if (written->committed == NFSAPPEND_FILE_SYNC)
		return 0;
	NFSAPPEND_CALL(f->key.server, &op->w, r, commit, &f->key.fh,
		op->seg->pending_offset, written->count, &verifier);
	if (r != 0)
		return r;
	return verifier == written->verifier ? 0 : AGAIN;
}

static void in_doubt(struct op *op)
{
	struct nfsappend_segment *s = op->seg;

	nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_IN_DOUBT,
		"%s: no answer in time to a WRITE of %u bytes at %llu; the "
		"program gets EIO, but the record may be in the file",
		op->file->path, s->pending_len,
		(unsigned long long)s->pending_offset);
	s->size_known = 0;
}

/*
 * Sends the staged record (s->pending_offset, s->pending_len) until it is
 * known to be in the file, or known not to be. The count of bytes on stable
 * storage, or -errno. doubt: somebody has sent it before.
 */
static ssize_t send_staged(struct op *op, bool doubt)
{
	struct nfsappend_file *f = op->file;
	struct nfsappend_segment *s = op->seg;
	struct nfsappend_written written;
	unsigned tries = 0;
	int r;

	for (;;) {
		if (doubt) {
			r = settle(op);
			if (r == LANDED) {
				written.count = s->pending_len;
				break;
			}
			if (r == ELSEWHERE && !op->mine)
				return -ECANCELED;
			if (r == ELSEWHERE) {
				r = get_size(op, &s->pending_offset);
				nfsappend_count(&f->stats.conflicts, 1);
			}
			if (r < 0)
				goto failed;
			doubt = false;
		}
		r = nfsappend_backend->write(f->key.server->session,
			&op->w.wait, &f->key.fh, s->pending_offset, s->stage,
			s->pending_len, &written);
		if (r == 0)
			r = make_stable(op, &written);
		if (r == 0)
			break;
		if (r == AGAIN) { /* a new write verifier */
			nfsappend_count(&f->stats.retries, 1);
			continue;
		}
		if (r == NFSAPPEND_LOST || r == NFSAPPEND_TIMED_OUT)
			doubt = true;
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
	if (op->w.wait.deadline != 0 &&
		nfsappend_now() >= op->w.wait.deadline) {
		in_doubt(op);
		return -EINPROGRESS; /* stays pending; the caller's EIO */
	}
	s->size_known = 0;
	return r;
}

/* send_staged() with the segment told before and after. */
static ssize_t send_recorded(struct op *op, uint64_t offset, uint32_t len,
	enum nfsappend_pending how)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

	s->touched = 1;
	s->pending_offset = offset;
	s->pending_len = len;
	__atomic_store_n(&s->pending, how, __ATOMIC_RELEASE);
	r = send_staged(op, false);
	if (r != -EINPROGRESS)
		__atomic_store_n(&s->pending, NFSAPPEND_SETTLED,
			__ATOMIC_RELEASE);
	return r == -EINPROGRESS ? -EIO : r;
}

/* What a dead leader, or a call that gave up, left in flight. 0 or -EIO. */
static int settle_predecessor(struct op *op)
{
	struct nfsappend_segment *s = op->seg;
	ssize_t r;

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
	if (r == -EINPROGRESS)
		return -EIO;
	s->pending = NFSAPPEND_SETTLED;
	return 0;
}

/* Where the next bytes go. done: of this record so far, expected: the end
 * that it left. 0, -errno, or 1 when another writer came between. */
static int find_end(struct op *op, size_t done, uint64_t expected,
	uint64_t *offset)
{
	struct nfsappend_segment *s = op->seg;
	uint64_t size;
	int r;

	if (op->file->sharing == NFSAPPEND_SINGLE && s->size_known) {
		*offset = s->size;
		return 0;
	}
	r = get_size(op, &size);
	if (r != 0)
		return r;
	if (s->size_known && size != s->size)
		nfsappend_count(&op->file->stats.conflicts, 1);
	s->size = size;
	s->size_known = 1;
	*offset = size;
	return done > 0 && size != expected ? 1 : 0;
}

static int begin(struct op *op, struct nfsappend_file *f)
{
	int r;

	atomic_store(&f->attr_time, 0);
	op->file = f;
	op->seg = f->segment.shared;
	op->mine = true;
	nfsappend_wait_start(&op->w, f->key.server->name, f->timeout_s);
	r = nfsappend_segment_lead(&f->segment, &op->w);
	if (r == -ETIMEDOUT)
		nfsappend_log(NFSAPPEND_ERROR, NFSAPPEND_MSG_APPEND_FAILED,
			"%s: another process that is appending to it did not "
			"finish in time (stopped?); EIO to the program, "
			"nothing of its record was sent",
			f->path);
	if (r < 0)
		return -EIO;
	r = settle_predecessor(op);
	if (r != 0)
		nfsappend_segment_unlead(&f->segment);
	return r;
}

static void end(struct op *op, ssize_t result)
{
	struct nfsappend_stats *stats = &op->file->stats;

	nfsappend_segment_unlead(&op->file->segment);
	nfsappend_count(&stats->rpcs, op->w.wait.rpcs);
	nfsappend_count(&stats->write_rpcs, op->w.wait.write_rpcs);
	nfsappend_count(&stats->reconnects, op->w.wait.reconnects);
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

static uint32_t chunk_max(struct op *op, size_t left)
{
	uint32_t max = op->file->key.server->contact.wtmax;

	if (left < max)
		max = (uint32_t)left;
	return nfsappend_segment_stage(&op->file->segment, max);
}

static void remember(struct nfsappend_file *f,
	const struct nfsappend_attr *attr)
{
	uint32_t seq = atomic_load(&f->attr_seq);

	if (seq & 1 || !atomic_compare_exchange_strong(&f->attr_seq, &seq,
			       seq + 1))
		return; /* somebody else is at it: as good */
	f->attr = *attr;
	atomic_store(&f->attr_time, nfsappend_now());
	atomic_store(&f->attr_seq, seq + 2);
}

static bool recall(struct nfsappend_file *f, struct nfsappend_attr *attr)
{
	uint32_t seq = atomic_load(&f->attr_seq);
	int64_t seen = atomic_load(&f->attr_time);

	if (seq & 1 || seen == 0 || nfsappend_now() - seen > ATTR_FRESH)
		return false;
	/* Nor after an append of another process of this host. */
	if (__atomic_load_n(&f->segment.shared->size_known,
		    __ATOMIC_RELAXED) &&
		__atomic_load_n(&f->segment.shared->size, __ATOMIC_RELAXED) !=
			f->attr.size)
		return false;
	*attr = f->attr;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load(&f->attr_seq) == seq;
}

void nfsappend_file_hint(struct nfsappend_file *f,
	const struct nfsappend_attr *attr)
{
	struct op op;


	if (f->sharing == NFSAPPEND_SINGLE && !f->segment.shared->touched &&
		begin(&op, f) == 0) {
		/* From before somebody's append they would be a lie. */
		if (!op.seg->touched && !op.seg->size_known) {
			op.seg->size = attr->size;
			op.seg->size_known = 1;
		}
		end(&op, 0);
	}
	remember(f, attr);
}

ssize_t nfsappend_file_append(struct nfsappend_file *f,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t limit,
	uint64_t *fileend, bool *over_limit)
{
	struct op op;
	size_t done = 0;
	uint64_t offset = 0;
	ssize_t r = begin(&op, f);

	if (r != 0) {
		nfsappend_count(&f->stats.errors, 1);
		return r;
	}
	while (done < total) {
		r = nfsappend_copy_in(iov, iovcnt, done, op.seg->stage,
			chunk_max(&op, total - done));
		if (r < 0)
			break;
		uint32_t len = (uint32_t)r;

		r = find_end(&op, done, offset, &offset);
		if (r != 0)
			break;
		if (offset >= limit) {
			*over_limit = done == 0;
			r = -EFBIG;
			break;
		}
		if (len > limit - offset)
			len = (uint32_t)(limit - offset);
		r = send_recorded(&op, offset, len, NFSAPPEND_IN_FLIGHT);
		if (r < 0)
			break;
		done += (size_t)r;
		/* A record in doubt may have gone to a new end. */
		offset = op.seg->size;
	}
	*fileend = offset;
	nfsappend_count(&f->stats.appends, 1);
	nfsappend_count(&f->stats.bytes, done);
	if (done > 0)
		atomic_store(&f->stats.batched_max, 1);
	nfsappend_stats_latency(&f->stats,
		(uint64_t)(nfsappend_now() - op.w.start) / 1000);
	end(&op, r > 0 || *over_limit ? 0 : r);
	return done > 0 ? (ssize_t)done : r < 0 ? r : 0;
}

ssize_t nfsappend_file_write_at(struct nfsappend_file *f,
	const struct iovec *iov, int iovcnt, size_t total, uint64_t offset)
{
	struct op op;
	size_t done = 0;
	ssize_t r = begin(&op, f);

	if (r != 0)
		return r;
	while (done < total) {
		bool known = op.seg->size_known;
		uint64_t size = op.seg->size;

		r = nfsappend_copy_in(iov, iovcnt, done, op.seg->stage,
			chunk_max(&op, total - done));
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
	end(&op, r > 0 ? 0 : r);
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
		uint32_t len = total - done < room ? (uint32_t)(total - done)
						   : room;
		int got;

		NFSAPPEND_CALL(server, &w, got, read, &f->key.fh,
			offset + done, buf, &len, &eof);
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

int nfsappend_file_getattr(struct nfsappend_file *f,
	struct nfsappend_attr *attr)
{
	struct nfsappend_waiting w;
	int r;

	if (recall(f, attr))
		return 0;
	nfsappend_wait_start(&w, f->key.server->name, f->timeout_s);
	NFSAPPEND_CALL(f->key.server, &w, r, getattr, &f->key.fh, attr);
	nfsappend_count(&f->stats.rpcs, w.wait.rpcs);
	return r;
}

int nfsappend_file_setattr(struct nfsappend_file *f, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct op op;
	int r = begin(&op, f);

	if (r != 0)
		return r;
	NFSAPPEND_CALL(f->key.server, &op.w, r, setattr, &f->key.fh, set,
		attr);
	if (set & NFSAPPEND_SET_SIZE) {
		op.seg->size = attr->size;
		op.seg->size_known = r == 0;
	}
	end(&op, r);
	return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host segment as another process has left it, or damaged it: opened, and
 * appended through. Everything but the mutex, which is glibc's to check.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/segment_file.h"
#include "rig.h"

/* By NFSv3, guarded, and by NFSv4, locked. */
static struct subject {
	struct nfsappend_file *file;
	int node;
	uint8_t clean[HEAD_BYTES], key[400];
	size_t keylen;
} subjects[2];

static void take(struct subject *s)
{
	s->file = rig_file;
	s->node = rig_node;
	if (rig_append("to have all that it takes\n") < 0)
		abort();
	memcpy(s->clean, rig_file->segment.shared, HEAD_BYTES);
	s->keylen = nfsappend_server_key(rig_file->key.server, s->key);
	memcpy(s->key + s->keylen, rig_file->key.fh.data, rig_file->key.fh.len);
	s->keylen += rig_file->key.fh.len;
}

static void start(void)
{
	strcpy(unit_dir, "/dev/shm/fuzz-XXXXXX");
	if (mkdtemp(unit_dir) == NULL)
		abort();
	rig_start_large(NFSAPPEND_GUARDED, 1 << 21);
	take(&subjects[0]);
	rig_file_now(NFSAPPEND_LOCKED);
	take(&subjects[1]);
	nfsappend_log_configure(NFSAPPEND_OFF, NULL);
}

/* Values that could be true, or nearly so: any others are dropped at once. */
static void tame(struct nfsappend_segment *s)
{
	s->pending %= 4;
	s->pending_len %= 70;
	s->pending_offset %= 70;
	s->staged %= 140;
	s->landed %= 70;
	s->landed_end %= 70;
	s->batch_base %= 70;
	s->size %= 70;
	s->deposed %= 3;
	s->reign %= 8;
	for (int i = 0; i < 2; i++) {
		struct nfsappend_state *st = &s->slot.copy[i];

		st->in_flight %= 2 * (NFSAPPEND_UNLOCK + 1);
		st->len %= 70;
		st->offset %= 70;
		st->wrote %= 70;
		st->lost %= 2;
		st->held %= 2;
		st->in_doubt %= 2;
		st->lock_seqid %= 4;
		st->generation %= 4;
	}
}

/* The input: which part of the header it begins at, then bytes for it. */
static void damage(const struct subject *s, const uint8_t *data, size_t size,
	uint8_t *page)
{
	const size_t mutex = offsetof(struct nfsappend_segment, leaders);
	const size_t behind = offsetof(struct nfsappend_segment, reign);
	struct nfsappend_segment *segment = (struct nfsappend_segment *)page;
	size_t n;

	memcpy(page, s->clean, HEAD_BYTES);
	if (data[1] & 1) {
		n = size - 2 < mutex ? size - 2 : mutex;
		for (size_t i = 0; i < n; i++)
			page[i] ^= data[2 + i];
		return;
	}
	n = size - 2 < HEAD_BYTES - behind ? size - 2 : HEAD_BYTES - behind;
	for (size_t i = 0; i < n; i++)
		page[behind + i] ^= data[2 + i];
	if (data[1] & 2)
		tame(segment);
	/* Who is said to be waiting is waited for. */
	if (data[1] != 64)
		segment->heir = segment->asleep = 0;
	/* Else the segment is found bad, and replaced. */
	if (data[1] & 4)
		segment->allocated = HEAD_BYTES - sizeof(struct nfsappend_segment);
}

/* As it is found by the next that opens it, or by one that has it open. */
static void put(const struct subject *s, const uint8_t *data, uint8_t *page)
{
	const size_t behind = offsetof(struct nfsappend_segment, reign);
	int fd;

	if (!(data[1] & 1) && data[1] < 16) {
		memcpy((uint8_t *)rig_file->segment.shared + behind,
			page + behind, HEAD_BYTES - behind);
		return;
	}
	nfsappend_segment_close(&rig_file->segment);
	fd = open(s->file->segment.path, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, SEGMENT_BYTES - (data[1] == 16)) ||
		fchmod(fd, data[1] == 32 ? 0644 : 0600) ||
		pwrite(fd, page, HEAD_BYTES, 0) != HEAD_BYTES)
		abort();
	close(fd);
	if (nfsappend_segment_open(&rig_file->segment, s->key, s->keylen) != 0)
		abort();
}

/* The queue, in the mapping: the input over and over. */
static void damage_queue(const uint8_t *data, size_t size, bool tamed)
{
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&rig_file->segment, true);
	const size_t head = offsetof(struct nfsappend_queue, records);

	if (q == NULL || size < 8)
		return;
	memcpy(q, data, size < head ? size : head);
	for (unsigned i = 0; i < 8; i++) {
		struct nfsappend_queued *r = &q->records[i];
		size_t from = i * 40 % size, n = size - from;

		memcpy(r, data + from, n < 40 ? n : 40);
		if (!tamed)
			continue;
		/* Of a process that is gone, for there is none so high. */
		r->word = (UINT64_C(0x7ffffff0) << 32) | (r->word % 8);
		r->len %= 70;
		r->at %= 70;
	}
	if (!tamed)
		return;
	q->done %= 140;
	q->known %= 2;
	q->in_doubt %= 2;
	q->error = -(q->error & 3);
	rig_file->segment.shared->orphaned = 1;
}

/* Leaves a record in the damaged queue, as a writer that does not lead. */
static void follow(void)
{
	struct iovec iov = {"queued\n", 7};
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&rig_file->segment, false);
	int slot = q != NULL ? nfsappend_queue_enter(q, &iov, 1, 7) : -1;
	int64_t result;
	uint64_t end;

	if (slot >= NFSAPPEND_SLOTS)
		abort();
	if (slot < 0)
		return;
	rig_append("leader\n");
	if (!nfsappend_queue_result(q, slot, &result, &end))
		nfsappend_queue_withdraw(q, slot);
	else if (result > 7)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t page[HEAD_BYTES] __attribute__((aligned(64)));
	struct nfsappend_guard guard;
	struct subject *s;

	if (rig_file == NULL)
		start();
	if (size < 2)
		return 0;
	s = &subjects[data[0] & 1];
	rig_file = s->file;
	rig_node = s->node;
	nfsappend_guard_enter(&guard);
	damage(s, data, size, page);
	put(s, data, page);
	fake_truncate(rig_node, 0);
	fake_append(rig_node, s->clean + HEAD_BYTES - 100, data[0] >> 4);
	rig_file->timeout_s = 1;
	if (data[0] & 4)
		rig_file->sharing = NFSAPPEND_SINGLE;
	else
		rig_file->sharing =
			s == subjects ? NFSAPPEND_GUARDED : NFSAPPEND_LOCKED;
	if (data[0] & 2)
		damage_queue(data + 2, size - 2, data[0] & 8);
	nfsappend_guard_leave(&guard);
	if (data[0] & 2)
		follow();
	rig_append("record\n");
	rig_append("another\n");
	return 0;
}

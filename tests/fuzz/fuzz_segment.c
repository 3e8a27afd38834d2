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
#include <unistd.h>

#include "core/log.h"
#include "core/queue.h"
#include "rig.h"

#define PAGE 4096
#define QUEUE (PAGE + NFSAPPEND_STAGE_MAX)

static uint8_t clean[PAGE], key[400];
static size_t keylen;
static char path[300];

static void start(void)
{
	strcpy(unit_dir, "/dev/shm/fuzz-XXXXXX");
	if (mkdtemp(unit_dir) == NULL)
		abort();
	rig_start_large(NFSAPPEND_GUARDED, 1 << 16);
	nfsappend_log_configure(NFSAPPEND_OFF, NULL);
	memcpy(clean, rig_file->segment.shared, PAGE);
	strcpy(path, rig_file->segment.path);
	keylen = nfsappend_server_key(rig_file->key.server, key);
	memcpy(key + keylen, rig_file->key.fh.data, rig_file->key.fh.len);
	keylen += rig_file->key.fh.len;
}

/* The input: which part of the header it begins at, then bytes for it, then
 * the first slots of the queue. */
static void damage(const uint8_t *data, size_t size)
{
	const size_t mutex = offsetof(struct nfsappend_segment, leader);
	const size_t behind = offsetof(struct nfsappend_segment, size);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	uint8_t page[PAGE];
	size_t at = data[1] & 1 ? 0 : behind, n;

	memcpy(page, clean, PAGE);
	data += 2;
	size -= 2;
	if (at == 0) {
		n = size < mutex ? size : mutex;
		for (size_t i = 0; i < n; i++)
			page[i] ^= data[i];
	} else {
		n = size < PAGE - behind ? size : PAGE - behind;
		memcpy(page + behind, data, n);
	}
	if (fd < 0 || ftruncate(fd, QUEUE + sizeof(struct nfsappend_queue)) ||
		pwrite(fd, page, PAGE, 0) != PAGE)
		abort();
	close(fd);
}

/* The queue, in the mapping: the rest of the input over and over. */
static void damage_queue(const uint8_t *data, size_t size)
{
	struct nfsappend_queue *q =
		nfsappend_segment_queue(&rig_file->segment, true);

	if (q == NULL || size < 8)
		return;
	memcpy(q, data, size < offsetof(struct nfsappend_queue, records)
				? size
				: offsetof(struct nfsappend_queue, records));
	for (unsigned i = 0; i < 8; i++) {
		size_t from = i * 40 % size, n = size - from;

		memcpy(&q->records[i], data + from, n < 40 ? n : 40);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfsappend_attr empty = {.size = 0};
	struct nfsappend_wait wait = {0};
	struct nfsappend_guard guard;

	if (rig_file == NULL)
		start();
	if (size < 2)
		return 0;
	nfsappend_guard_enter(&guard);
	nfsappend_segment_close(&rig_file->segment);
	damage(data, size);
	fake_backend.setattr(rig_file->key.server->session, &wait,
		&rig_file->key.fh, NFSAPPEND_SET_SIZE, &empty);
	rig_file->sharing = data[0] & 1 ? NFSAPPEND_SINGLE : NFSAPPEND_GUARDED;
	rig_file->timeout_s = 1;
	if (nfsappend_segment_open(&rig_file->segment, key, keylen) != 0)
		abort();
	if (data[0] & 2)
		damage_queue(data + 2, size - 2);
	nfsappend_guard_leave(&guard);
	rig_append("record\n");
	rig_append("another\n");
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file behind a host segment: what segment.c, segment_open.c and
 * segment_sweep.c share, and nobody else. */
#ifndef NFSAPPEND_CORE_SEGMENT_FILE_H
#define NFSAPPEND_CORE_SEGMENT_FILE_H

#include "core/queue.h"
#include "core/segment.h"

#define NFSAPPEND_SEGMENT_MAGIC                                                \
	(UINT64_C(0x3530676573616e) + sizeof(pthread_mutex_t) +                \
		(sizeof(struct nfsappend_segment) << 16) +                     \
		(sizeof(struct nfsappend_queue) << 32))
#define PAGE 4096
/* Header and the first of the stage, the rest of the stage, the queue. */
#define HEAD_BYTES (2 * PAGE)
#define STAGE_END (HEAD_BYTES + NFSAPPEND_STAGE_MAX)
#define QUEUE_BYTES ((sizeof(struct nfsappend_queue) + PAGE - 1) / PAGE * PAGE)
#define SEGMENT_BYTES (STAGE_END + QUEUE_BYTES)
#define FIRST_STAGE (HEAD_BYTES - sizeof(struct nfsappend_segment))
#define DIRECTORY_MAX 256

long nfsappend_segment_open_file(const char *path, int flags);
/* Boot, pid namespace, word size: what keys begin with. */
const char *nfsappend_segment_host(void);
/* Whoever makes a new segment looks at some of the old ones. */
void nfsappend_segment_sweep(const char *directory);

#endif

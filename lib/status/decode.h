/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A host segment's bytes as what can be shown of them. They are whatever
 * somebody has left there: every length, index and text is checked.
 */
#ifndef NFSAPPEND_STATUS_DECODE_H
#define NFSAPPEND_STATUS_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/figures.h"
#include "core/queue.h"
#include "core/segment.h"

enum nfsappend_decoded {
	NFSAPPEND_DECODED_FILE,
	/* Of no file: an NFSv4 client's, or one that is just being made. */
	NFSAPPEND_DECODED_OTHER,
	/* Of another version or word size, of a boot before this one, or
	 * damaged. */
	NFSAPPEND_DECODED_STRANGE,
};

struct nfsappend_shown {
	char path[NFSAPPEND_FIGURES_PATH];
	char server[NFSAPPEND_FIGURES_SERVER];
	const char *protocol, *sharing; /* as in the statistics */
	bool here; /* of our PID namespace: its numbers are processes */
	bool size_known;
	uint64_t size; /* bytes */
	/* Something sent has no answer yet, and nobody leads who waits for
	 * it: the next one settles it. */
	bool in_doubt;
	int32_t leader; /* thread that leads, 0: none */
	int32_t users[NFSAPPEND_USERS];
	unsigned user_count;
	bool crowded; /* more than fit */
	unsigned queued, sending; /* records */
	int64_t age_ns, last_ns;  /* ago; last_ns -1: no append yet */
	uint64_t appends, bytes, rpcs, write_rpcs, lookup_rpcs;
	uint64_t batches, batched_max, retries, conflicts, reconnects, errors;
	uint64_t mean_us, max_us;
	uint32_t took_us[NFSAPPEND_FIGURES_BUCKETS];
};

/* head: HEAD_BYTES bytes, the beginning of a segment. now: CLOCK_MONOTONIC,
 * ns. The queue is not in it. */
enum nfsappend_decoded nfsappend_status_decode(const struct nfsappend_segment *head,
	int64_t now, struct nfsappend_shown *);
/* Is there a queue behind it? */
bool nfsappend_status_has_queue(const struct nfsappend_segment *head);
/* The words of its slots (struct nfsappend_queued). */
void nfsappend_status_queue(const uint64_t words[NFSAPPEND_SLOTS],
	struct nfsappend_shown *);

#endif

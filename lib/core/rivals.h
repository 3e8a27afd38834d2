/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Other hosts that want the mutex byte of a file: when to leave it to them.
 */
#ifndef NFSAPPEND_CORE_RIVALS_H
#define NFSAPPEND_CORE_RIVALS_H

#include <stdbool.h>

#include "core/process.h"

/* In the file's host segment, under the leader lock. Zeroes: none known. */
struct nfsappend_rivals {
	uint32_t left;	  /* appends without a conflict, until they are taken
			   * to be gone */
	uint32_t burst;	  /* appends without a conflict in a row */
	int64_t last_end; /* of an append, CLOCK_MONOTONIC ns */
	int64_t took;	  /* its last round trip, ns */
};

/* Uniform in [0, max). */
int64_t nfsappend_jitter(int64_t max);

/* The lock was refused, by a request that took so long. Sleeps: 0, or
 * -ETIMEDOUT at the deadline. */
int nfsappend_rivals_back_off(struct nfsappend_rivals *,
	struct nfsappend_waiting *, bool again, int64_t took);
/* Before an append: leaves them the lock for a moment, if it is their turn.
 * As above. */
int nfsappend_rivals_let(
	struct nfsappend_rivals *, struct nfsappend_waiting *);
/* After one. met: others had appended meanwhile, or held the lock. */
void nfsappend_rivals_note(struct nfsappend_rivals *, bool met, int64_t took);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an append file has cost: counters, and a latency histogram of fixed
 * size (eight buckets to each power of two, so a percentile is at most one
 * eighth too high).
 */
#ifndef NFSAPPEND_CORE_STATS_H
#define NFSAPPEND_CORE_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#define NFSAPPEND_BUCKETS (8 * 36)

struct nfsappend_stats {
	_Atomic uint64_t appends, bytes, rpcs, write_rpcs, lookup_rpcs;
	_Atomic uint64_t batched_max, retries, conflicts, reconnects, errors;
	_Atomic uint64_t max_us;
	_Atomic uint32_t latency[NFSAPPEND_BUCKETS]; /* by microseconds */
};

static inline void nfsappend_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void nfsappend_stats_latency(struct nfsappend_stats *, uint64_t us);
uint64_t nfsappend_stats_percentile(const struct nfsappend_stats *,
	unsigned percent);

/* Writes the line of this process, if a managed file has had any traffic
 * since the last call, and starts counting anew. */
void nfsappend_stats_write(void);

#endif

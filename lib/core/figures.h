/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a host segment tells of its file to nfsappend-status: what it is, and
 * what its appends have cost since the segment was made, by all processes
 * together. Those that lead the commit queue count what they do under the
 * leader lock; the rest is counted by anybody. Nothing of ours reads it: a
 * figure that somebody has scribbled on harms a table.
 */
#ifndef NFSAPPEND_CORE_FIGURES_H
#define NFSAPPEND_CORE_FIGURES_H

#include <stdatomic.h>
#include <stdint.h>

#define NFSAPPEND_FIGURES_PATH 1024
#define NFSAPPEND_FIGURES_SERVER 320
/* Bucket b: from 2^(b-1) to 2^b - 1 microseconds; the last one: or more. */
#define NFSAPPEND_FIGURES_BUCKETS 32

enum nfsappend_figures_named {
	NFSAPPEND_UNNAMED,
	NFSAPPEND_NAMING, /* or the process died with it */
	NFSAPPEND_NAMED,
};

/* Shared memory. */
struct nfsappend_figures {
	/* What the first process to open the file called it; NUL at the end. */
	_Atomic uint32_t named; /* enum nfsappend_figures_named */
	uint32_t version;	/* of NFS, 3 or 4 */
	uint32_t mounted;	/* 1: on a mount of the kernel's client */
	char path[NFSAPPEND_FIGURES_PATH];
	char server[NFSAPPEND_FIGURES_SERVER];
	int64_t made; /* CLOCK_MONOTONIC, ns */

	/* Under the leader lock: of what was sent to the server in one go,
	 * and how long it took until it was on stable storage, in ns. */
	int64_t last __attribute__((aligned(64))); /* ended, CLOCK_MONOTONIC */
	uint64_t batches, batched_max;
	uint64_t took, took_max;
	uint32_t took_us[NFSAPPEND_FIGURES_BUCKETS];

	/* As those of the same names in the statistics of a process. */
	_Atomic uint64_t appends __attribute__((aligned(64)));
	_Atomic uint64_t bytes, rpcs, write_rpcs, lookup_rpcs;
	_Atomic uint64_t retries, conflicts, reconnects, errors;
};

/* Names the file, unless that has been done. */
void nfsappend_figures_name(struct nfsappend_figures *, const char *path,
	const char *server, uint32_t version, uint32_t mounted);

/* As leader: so many records were sent in one go, from began to ended. */
static inline void nfsappend_figures_batch(struct nfsappend_figures *f,
	uint64_t records, int64_t began, int64_t ended)
{
	uint64_t took = ended > began ? (uint64_t)(ended - began) : 0;
	uint64_t us = took / 1000;
	unsigned b = us != 0 ? 64 - (unsigned)__builtin_clzll(us) : 0;

	f->last = ended;
	f->batches++;
	f->took += took;
	if (took > f->took_max)
		f->took_max = took;
	if (records > f->batched_max)
		f->batched_max = records;
	f->took_us[b < NFSAPPEND_FIGURES_BUCKETS
			? b
			: NFSAPPEND_FIGURES_BUCKETS - 1]++;
}

#endif

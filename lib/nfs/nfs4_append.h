/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compounds of an append under a lock, and their answers: what
 * nfs4_append.c and nfs4_append_wire.c share, and nobody else. */
#ifndef NFSAPPEND_NFS_NFS4_APPEND_H
#define NFSAPPEND_NFS_NFS4_APPEND_H

#include "nfs/nfs4_wire.h"

/* The answer to one of our compounds. */
struct nfsappend_append_answer {
	uint32_t op, status; /* the last one looked at */
	uint32_t len;	     /* of the WRITE */
	bool locked, has_size, verified, wrote, unlocked;
	struct nfsappend_stateid lock, unlock;
	uint64_t size;
	uint64_t denied_offset, denied_length;
	struct nfsappend_written written;
};

/* What st->in_flight stands for, from the state alone: equal state, equal
 * bits. */
void nfsappend_append_put(struct nfsappend_ops *,
	const struct nfsappend_state *, const struct nfsappend_fh *,
	const void *data);
/* out: a struct nfsappend_append_answer, len set. Always 0. */
int nfsappend_append_decode(struct nfsappend_results *, void *out);

/* The stateid that LOCK is going to return (RFC 7530 section 9.1.4.2). */
static inline struct nfsappend_stateid nfsappend_stateid_next(
	const struct nfsappend_stateid *s)
{
	struct nfsappend_stateid next = *s;

	next.seqid++;
	return next;
}

#endif

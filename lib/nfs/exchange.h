/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One RPC and its reply, by us: what an append waits for. libnfs encodes and
 * decodes; its event loop, which looks through a table of 1,024 queues for
 * time-outs at each of the three turns that a call takes, is left out
 * (22,000 of 29,000 instructions of an append), and so are a poll and a recv.
 * On a connection that libnfs has nothing outstanding on.
 */
#ifndef NFSAPPEND_NFS_EXCHANGE_H
#define NFSAPPEND_NFS_EXCHANGE_H

#include <nfsc/libnfs-zdr.h>

#include "nfs/session.h"

/* Room for all of a call but its data, and for a reply (of GETATTR, WRITE,
 * COMMIT: at most some hundred bytes). */
#define NFSAPPEND_MESSAGE_MAX 2048

struct nfsappend_exchange {
	uint32_t program, version, procedure;
	zdrproc_t encode; /* the arguments, without the data that ends them */
	void *args;
	const void *data; /* opaque data<>, NULL: none */
	uint32_t len;
	zdrproc_t results; /* libnfs's, into res */
	void *res;
	int (*decode)(void *res, void *out); /* 0, -errno, an outcome */
	void *out;
};

/* 0, -errno or an enum nfsappend_outcome, as nfsappend_call_wait(). */
int nfsappend_exchange(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_exchange *);

#endif

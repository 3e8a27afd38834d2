/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One RPC and its reply. libnfs encodes; the socket and the reply are ours.
 * Its event loop looks through a table of 1,024 queues for time-outs at each
 * of the three turns that a call takes (22,000 of 29,000 instructions of an
 * append), and its decoders believe what the server says (reply.h).
 */
#ifndef NFSAPPEND_NFS_EXCHANGE_H
#define NFSAPPEND_NFS_EXCHANGE_H

#include <nfsc/libnfs-zdr.h>

#include "nfs/reply.h"
#include "nfs/session.h"

/* For replies with a path or with names of users in them. */
#define NFSAPPEND_REPLY_LONG 16384

struct nfsappend_exchange {
	uint32_t program, version, procedure;
	zdrproc_t encode; /* the arguments, up to the data */
	void *args;
	const void *data; /* follows them, padded here; NULL: none */
	uint32_t len;
	const void *tail; /* follows that */
	uint32_t tail_len;
	/* The longest reply to be expected; 0: NFSAPPEND_MESSAGE_MAX. */
	uint32_t reply_max;
	/* 0, -errno, an outcome. The results are valid in it only. */
	int (*decode)(struct nfsappend_results *, void *out);
	void *out;
};

/* One attempt. 0, -errno or an enum nfsappend_outcome. */
int nfsappend_exchange(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_exchange *);
/* On a connection outside of a session. */
int nfsappend_exchange_on(struct nfsappend_connection *,
	struct nfsappend_wait *, const struct nfsappend_exchange *);

#endif

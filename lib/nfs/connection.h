/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One TCP connection with its libnfs context, used by one thread at a time.
 * The socket is made, bound, connected, timed and served by us; libnfs only
 * encodes.
 */
#ifndef NFSAPPEND_NFS_CONNECTION_H
#define NFSAPPEND_NFS_CONNECTION_H

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-zdr.h>

#include "core/backend.h"

extern const struct nfsappend_services *nfsappend_services;

/* Room for all of a call but its data, and for most replies. */
#define NFSAPPEND_MESSAGE_MAX 2560

/* xid, direction, RPC version, program, version, procedure. */
#define NFSAPPEND_CALL_NUMBERS (6 * 4)
/* Two struct opaque_auth: AUTH_SYS with a host's name and 16 groups. */
#define NFSAPPEND_CALL_CRED_MAX (2 * (8 + 400))

struct nfsappend_connection {
	struct nfsappend_connection *next;
	struct rpc_context *rpc;
	/* What every call has behind its numbers (RFC 5531 section 9): the
	 * credential, and no verifier. */
	uint8_t cred[NFSAPPEND_CALL_CRED_MAX];
	uint32_t cred_len;
	uint32_t xid;	   /* the next one */
	int slot;	   /* of the socket, see nfsappend_services */
	int64_t last_used; /* CLOCK_MONOTONIC ns */
	int64_t answer_ns; /* a call without an answer is lost then; 0: never */
	/* Of the call that is made, then of its reply. Not on the stack, which
	 * may be a signal handler's. */
	uint8_t message[NFSAPPEND_MESSAGE_MAX] __attribute__((aligned(8)));
};

/* 0, -errno of connect(2), NFSAPPEND_TIMED_OUT. The port is address's. */
int nfsappend_connect(const struct sockaddr_in6 *address,
	const struct nfsappend_cred *, bool unprivileged,
	struct nfsappend_wait *, struct nfsappend_connection **);
void nfsappend_disconnect(struct nfsappend_connection *);
/* An idle one: has the server closed it? */
bool nfsappend_connection_dead(struct nfsappend_connection *);

#endif

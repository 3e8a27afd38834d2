/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of connections to one server under one credential. */
#ifndef NFSAPPEND_NFS_SESSION_H
#define NFSAPPEND_NFS_SESSION_H

#include <pthread.h>

#include "nfs/connection.h"

#define NFSAPPEND_CONNECTIONS_MAX 16

struct nfsappend_waiter;

struct nfsappend_session {
	struct nfsappend_session *next; /* of all, for the child of a fork */
	struct sockaddr_in6 address;
	struct nfsappend_cred cred;
	unsigned version; /* 3 or 4 */
	bool unprivileged; /* its ports are not below 1024 */
	int64_t answer_ns; /* see struct nfsappend_connection */
	pthread_mutex_t lock;
	struct nfsappend_connection *idle; /* under lock; latest first */
	unsigned count;			   /* under lock; idle and in use */
	bool connected;			   /* ever, in this process */
	/* Under lock: those for whom there was none, first come first served;
	 * they lie on their stacks. */
	struct nfsappend_waiter *first, **last;
};

/* The session for that address and credential, made if need be; maps of one
 * server share it. NULL: no memory. No input or output. */
struct nfsappend_session *nfsappend_session_get(
	const struct nfsappend_target *, const struct nfsappend_contact *,
	const struct nfsappend_cred *);
/* A connection made elsewhere goes into the pool. */
void nfsappend_session_adopt(struct nfsappend_session *,
	struct nfsappend_connection *);
void nfsappend_sessions_after_fork(void);

/* 0, NFSAPPEND_UNSENT (no connection to be had now), NFSAPPEND_TIMED_OUT. */
int nfsappend_session_take(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_connection **);
/* result: of the call made on it; one in doubt closes the connection. */
void nfsappend_session_give(struct nfsappend_session *,
	struct nfsappend_connection *, int result);

#endif

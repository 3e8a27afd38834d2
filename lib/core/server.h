/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A server under one credential, and how often to ask it: the operations
 * that may be repeated without harm, tried until they are answered.
 */
#ifndef NFSAPPEND_CORE_SERVER_H
#define NFSAPPEND_CORE_SERVER_H

#include <pthread.h>

#include "core/backend.h"
#include "core/process.h"
#include "core/segment.h"

/* Never given back: a process talks to few servers. */
struct nfsappend_server {
	struct nfsappend_server *next;
	struct nfsappend_target target;
	struct nfsappend_cred cred;
	struct nfsappend_contact contact;
	struct nfsappend_session *session; /* NULL: no contact yet */
	pthread_mutex_t contacting;
	/* NFSv4: see client.h. Set once, under contacting. */
	struct nfsappend_segment_view client;
	bool client_mapped;
	char name[320]; /* nfs://host/path, for messages */
	char why[160];	/* of a mount: why the last contact failed */
	/* Of a mount: does it answer requests from ports above 1023 too?
	 * 0: not asked yet, 1: yes, 2: no. */
	_Atomic int unprivileged;
};

/* The nfs module, or a test's fake; loaded on the first need. */
extern const struct nfsappend_backend *nfsappend_backend;
extern const struct nfsappend_backend *(*nfsappend_backend_loader)(void);

void nfsappend_server_start(void);

/* The effective ids and groups of this thread, as the target overrides. */
void nfsappend_cred_now(struct nfsappend_cred *,
	const struct nfsappend_target *);

/* The real ids in place of the effective ones. */
void nfsappend_cred_real(struct nfsappend_cred *,
	const struct nfsappend_target *);

/* NULL: no memory. contact: from a placeholder, or NULL. */
struct nfsappend_server *nfsappend_server_get(const struct nfsappend_target *,
	const struct nfsappend_cred *, const struct nfsappend_contact *);

/* What tells one server and credential from others, for the names of host
 * segments: its length, at most 140. */
size_t nfsappend_server_key(const struct nfsappend_server *, uint8_t *key);

/* First contact if there was none; 0 or -errno, told in one message. */
int nfsappend_server_contact(struct nfsappend_server *,
	struct nfsappend_waiting *);

/* st_dev of a file system on that server: never one of a local device. */
uint64_t nfsappend_server_device(const struct nfsappend_server *,
	const struct nfsappend_attr *);

/*
 * What to do with the outcome of an operation that may be sent again:
 * true: again (after the back-off that this call slept through), false:
 * *result is the answer (0, -errno; -EIO past the deadline).
 */
bool nfsappend_server_again(struct nfsappend_server *,
	struct nfsappend_waiting *, int *result, unsigned *tries);

/* Calls a repeatable operation until it is answered. */
#define NFSAPPEND_CALL(server, w, result, operation, ...)                      \
	do {                                                                   \
		unsigned tries_ = 0;                                           \
		do                                                             \
			(result) = nfsappend_backend->operation(               \
				(server)->session, &(w)->wait, __VA_ARGS__);   \
		while (nfsappend_server_again((server), (w), &(result),        \
			&tries_));                                             \
	} while (0)

#endif

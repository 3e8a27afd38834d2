/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First contact with a server: name, ports, MOUNT, FSINFO. */
#ifndef NFSAPPEND_NFS_CONTACT_H
#define NFSAPPEND_NFS_CONTACT_H

#include "core/backend.h"

int nfsappend_contact3(const struct nfsappend_target *,
	const struct nfsappend_cred *, struct nfsappend_wait *,
	struct nfsappend_contact *, char *why, size_t whylen);
int nfsappend_contact4(const struct nfsappend_target *,
	const struct nfsappend_cred *, struct nfsappend_wait *,
	struct nfsappend_contact *, char *why, size_t whylen);

/* What both versions need; contact.c. */
struct nfsappend_contacting {
	const struct nfsappend_target *target;
	const struct nfsappend_cred *cred;
	struct nfsappend_wait *wait;
	struct sockaddr_in6 host; /* port: of the moment */
	char *why;
	size_t whylen;
};
struct nfsappend_connection;
int nfsappend_contact_resolve(struct nfsappend_contacting *);
/* Connects to the port. Silence is waited out; a refusal is an answer. */
int nfsappend_contact_reach(struct nfsappend_contacting *, unsigned port,
	const char *what, struct nfsappend_connection **);
/* A transfer size as a server tells it, within what we can do. */
uint32_t nfsappend_contact_transfer(uint64_t max);
/* The session for out->address; the connection goes into it. */
struct nfsappend_session;
struct nfsappend_session *nfsappend_contact_session(
	struct nfsappend_contacting *, struct nfsappend_connection *,
	struct nfsappend_contact *out);
/* After a call in the session that had no result: true to try once more. A
 * server that is silent or not ready is waited for, one that never makes sense
 * is not. *r: what to return, when it is over. */
bool nfsappend_contact_again(
	struct nfsappend_contacting *, int *r, unsigned *tries);
/* why for a folder of the URL's path that cannot be entered. */
void nfsappend_contact_no_folder(struct nfsappend_contacting *, int error);

#endif

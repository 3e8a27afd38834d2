/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The NFSv4.0 client that the processes of one host with one credential are
 * to a server, in a host segment of its own.
 */
#ifndef NFSAPPEND_CORE_CLIENT_H
#define NFSAPPEND_CORE_CLIENT_H

#include "core/server.h"

/* The present incarnation. bad: of which the server has refused the state (0
 * for none); if it is the present one still, a new one takes its place, which
 * ends all state under the old. 0 or -errno. A file's leader lock may be
 * held. */
int nfsappend_client_get(struct nfsappend_server *, struct nfsappend_waiting *,
	uint64_t bad, struct nfsappend_client *);

#endif

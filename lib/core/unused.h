/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * NFSv4 open state that nobody on this host needs any more. close(2) and exit
 * leave it to whoever opens the file next, which saves four round trips; but
 * a server keeps the space of a removed file as long as it is open. So each
 * open(2) closes some of what has been unused for a while.
 */
#ifndef NFSAPPEND_CORE_UNUSED_H
#define NFSAPPEND_CORE_UNUSED_H

#include "core/server.h"

/* At an open, with no lock held: files that this process has closed, and
 * those of processes that are gone. */
void nfsappend_unused_close(struct nfsappend_server *);

/* A segment without users is about to be removed: notes its open state for
 * nfsappend_unused_close(). key: behind what tells hosts apart. */
void nfsappend_unused_note(const uint8_t *key, size_t keylen,
	const struct nfsappend_slot *);

#endif

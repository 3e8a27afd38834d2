/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory below a map that the program has open: what paths may be
 * relative to, and what its placeholder stands for. Not a file: nothing is
 * appended, so it has no segment and no statistics.
 */
#ifndef NFSAPPEND_CORE_DIRECTORY_H
#define NFSAPPEND_CORE_DIRECTORY_H

#include "core/placeholder.h"
#include "core/resolve.h"
#include "core/server.h"

/* Owned by its struct nfsappend_open, immutable. */
struct nfsappend_directory {
	void *slab_link;
	struct nfsappend_server *server;
	struct nfsappend_fh fh;
	uint64_t fileid;
	uint32_t timeout_s;
	bool cut; /* the path is longer: only its beginning is there */
	char path[NFSAPPEND_SHOWN_MAX]; /* as on this host, no links in it */
};

void nfsappend_directory_start(void);

/* The directory that was found; flags as of open(2). A descriptor, entered
 * in the table, or -errno. */
int nfsappend_directory_open(const struct nfsappend_place *, int flags);
/* The same once more, by /proc/self/fd/N. */
int nfsappend_directory_again(const struct nfsappend_directory *, int flags);
/* The one that a placeholder speaks of. 0 or -errno. */
int nfsappend_directory_inherit(const struct nfsappend_placeholder *,
	struct nfsappend_directory **);
void nfsappend_directory_put(struct nfsappend_directory *);

/* With the guard held: the directory behind dirfd, into *out. false: it is
 * none of ours. */
bool nfsappend_directory_behind(int dirfd, struct nfsappend_directory *out);

int nfsappend_directory_getattr(const struct nfsappend_directory *,
	struct nfsappend_attr *);
int nfsappend_directory_setattr(const struct nfsappend_directory *,
	unsigned set, const struct nfsappend_attr *);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What every call on a path begins and ends with: the guard, the wait, the
 * walk. The functions of query.h, alter.h, naming.h and directory.h use it;
 * each of them gives a result, -errno, or NFSAPPEND_NOT_OURS.
 */
#ifndef NFSAPPEND_CORE_PATHCALL_H
#define NFSAPPEND_CORE_PATHCALL_H

#include "core/opening.h"
#include "core/process.h"
#include "core/resolve.h"

struct nfsappend_pathcall {
	struct nfsappend_guard guard;
	struct nfsappend_waiting w;
	struct nfsappend_place *place;
	/* With NFSAPPEND_NOT_OURS: a directory above a map that is not on
	 * this host; its path is place->walk.rest. */
	bool above;
};

/* How the path is meant; a missing file is -ENOENT unless it may be missing. */
enum {
	NFSAPPEND_FOLLOW = 1,	   /* a link as the last component */
	NFSAPPEND_MAY_LACK = 2,	   /* place->found tells */
	NFSAPPEND_REAL_IDS = 4,	   /* as access(2): not the effective ones */
	NFSAPPEND_ITSELF = 8,	   /* what is made, removed or renamed: the
				    * name, even with a slash behind it */
};

/* 0 or -errno: the path is under a map; NFSAPPEND_NOT_OURS. End it whatever
 * came. */
int nfsappend_pathcall_begin(struct nfsappend_pathcall *, int dirfd,
	const char *path, unsigned how);
void nfsappend_pathcall_end(struct nfsappend_pathcall *);

/* umask(2) of the process. */
mode_t nfsappend_umask(void);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes a file below a map by its path. Each returns 0, -errno or
 * NFSAPPEND_NOT_OURS, and takes the guard itself. */
#ifndef NFSAPPEND_CORE_ALTER_H
#define NFSAPPEND_CORE_ALTER_H

#include "core/pathcall.h"

/* Mode, owner, times; not the size. */
int nfsappend_path_setattr(int dirfd, const char *path, bool follow,
	unsigned set, const struct nfsappend_attr *);
/* Under the leader lock, so that no append of this host races with it. */
int nfsappend_path_truncate(const char *path, off64_t length);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked of a path below a map; nothing is changed. Each returns 0 or
 * a length, -errno, or NFSAPPEND_NOT_OURS, and takes the guard itself. */
#ifndef NFSAPPEND_CORE_QUERY_H
#define NFSAPPEND_CORE_QUERY_H

#include "core/pathcall.h"

/* *device: as fstat() on a descriptor of the file tells it. */
int nfsappend_path_getattr(int dirfd, const char *path, bool follow,
	struct nfsappend_attr *, uint64_t *device);
/* mode: R_OK, W_OK, X_OK or F_OK; flags: AT_EACCESS, AT_SYMLINK_NOFOLLOW. */
int nfsappend_path_access(int dirfd, const char *path, int mode, int flags);

#endif

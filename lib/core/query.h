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
/* As readlink(2): not terminated, cut to the room. */
ssize_t nfsappend_path_readlink(int dirfd, const char *path, char *buf,
	size_t room);
/* *fsid: one number for the file system. */
int nfsappend_path_statfs(const char *path, struct nfsappend_space *,
	uint64_t *fsid);
/* The path without links, dots and double slashes, into out (PATH_MAX bytes),
 * as realpath(3). */
int nfsappend_path_real(const char *path, char *out);
/* The same of a directory that may be entered; else -ENOTDIR, -EACCES. */
int nfsappend_path_enterable(const char *path, char *out);
/* Is it there? For calls that answer the same of every file. */
int nfsappend_path_exists(int dirfd, const char *path, bool follow);

#endif

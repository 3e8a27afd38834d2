/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names below a map: made, removed, moved. Each returns 0, -errno or
 * NFSAPPEND_NOT_OURS, and takes the guard itself.
 *
 * These calls must not be repeated blindly: when an answer was lost, the
 * repeated one would find its own success (ENOENT, EEXIST), or hit what
 * another client has put under the name since. So what is there is compared
 * with what was there, by file handle, before anything is sent again.
 */
#ifndef NFSAPPEND_CORE_NAMING_H
#define NFSAPPEND_CORE_NAMING_H

#include "core/pathcall.h"

int nfsappend_path_mkdir(int dirfd, const char *path, mode_t mode);
int nfsappend_path_symlink(const char *target, int dirfd, const char *path);
/* flags: AT_REMOVEDIR. */
int nfsappend_path_unlink(int dirfd, const char *path, int flags);
/* Between two maps, or a map and this host: -EXDEV. */
int nfsappend_path_rename(int from_dirfd, const char *from, int to_dirfd,
	const char *to);
/* flags: AT_SYMLINK_FOLLOW. */
int nfsappend_path_link(int from_dirfd, const char *from, int to_dirfd,
	const char *to, int flags);

#endif

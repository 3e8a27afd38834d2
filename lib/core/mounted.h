/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files on kernel NFS mounts (NFSAPPEND_PATHS). The program's descriptor is a
 * kernel descriptor of the file, open O_RDONLY (facts: one that is open for
 * writing makes local readers see NUL bytes) and marked by F_SETSIG; the
 * appends go to the server by the file handle that the kernel has.
 */
#ifndef NFSAPPEND_CORE_MOUNTED_H
#define NFSAPPEND_CORE_MOUNTED_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/file.h"

/* open() of a path that NFSAPPEND_PATHS may name: a descriptor, -errno, or
 * NFSAPPEND_NOT_OURS. Takes the guard itself. */
int nfsappend_mounted_open(int dirfd, const char *path, int flags,
	mode_t mode);

/* A descriptor that this process has not opened: one of ours (marked), or
 * open for appending to a file that NFSAPPEND_PATHS names, and then it becomes
 * one of ours; keep: the descriptor itself is left as it is. 0,
 * NFSAPPEND_NOT_OURS or -errno. With the guard held. */
int nfsappend_mounted_adopt(int fd, bool keep, struct nfsappend_file **,
	uint32_t *accmode);
/* May a descriptor that nobody has marked be such a one? Asks no server. */
bool nfsappend_mounted_candidate(int fd);

/* Opens what is under the number anew, with these flags in place of the access
 * mode and O_SYNC, marked for accmode. 0 or -errno. */
int nfsappend_mounted_reopen(int fd, int flags, uint32_t accmode);
/* The same for writing; the segment is told that it is held so. */
int nfsappend_mounted_writable(struct nfsappend_file *, int fd,
	uint32_t accmode);

/* The attributes of a file that this process has appended to, of any of its
 * descriptors or none. false: it has none such. With the guard held. */
bool nfsappend_mounted_appended(uint64_t device, uint64_t fileid,
	struct nfsappend_attr *);

/* Is it, by its path, one that would be adopted at its first use? */
bool nfsappend_mounted_named(int fd);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv4.0: what changes directories, and what they are in. The operations are those of
 * core/backend.h. */
#ifndef NFSAPPEND_NFS_NFS4_NAMES_H
#define NFSAPPEND_NFS_NFS4_NAMES_H

#include "core/backend.h"

int nfsappend_nfs4_mkdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name, uint32_t mode);
int nfsappend_nfs4_symlink(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name, const char *target);
int nfsappend_nfs4_link(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *file, const struct nfsappend_fh *dir,
	const char *name);
int nfsappend_nfs4_remove(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name);
/* REMOVE is for both here (RFC 7530 section 16.25). */
int nfsappend_nfs4_rmdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name);
int nfsappend_nfs4_rename(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *from_dir, const char *from,
	const struct nfsappend_fh *to_dir, const char *to);
int nfsappend_nfs4_statfs(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, struct nfsappend_space *);

#endif

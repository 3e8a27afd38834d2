/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv3: what changes directories, and what they are in. The operations are those of
 * core/backend.h. */
#ifndef NFSAPPEND_NFS_NFS3_NAMES_H
#define NFSAPPEND_NFS_NFS3_NAMES_H

#include "core/backend.h"

int nfsappend_nfs3_mkdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name, uint32_t mode);
int nfsappend_nfs3_symlink(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name, const char *target);
int nfsappend_nfs3_link(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *file, const struct nfsappend_fh *dir,
	const char *name);
int nfsappend_nfs3_remove(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name);
int nfsappend_nfs3_rmdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name);
int nfsappend_nfs3_rename(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *from_dir, const char *from,
	const struct nfsappend_fh *to_dir, const char *to);
int nfsappend_nfs3_statfs(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, struct nfsappend_space *);

#endif

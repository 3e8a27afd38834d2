/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv3 (RFC 1813). The operations are those of core/backend.h. */
#ifndef NFSAPPEND_NFS_NFS3_H
#define NFSAPPEND_NFS_NFS3_H

#include "core/backend.h"

int nfsappend_nfs3_getattr(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, struct nfsappend_attr *);
int nfsappend_nfs3_setattr(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, unsigned set,
	const struct nfsappend_attr *);
int nfsappend_nfs3_lookup(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name,
	struct nfsappend_fh *, struct nfsappend_attr *);
int nfsappend_nfs3_access(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint32_t asked, uint32_t *granted);
int nfsappend_nfs3_readlink(struct nfsappend_session *,
	struct nfsappend_wait *, const struct nfsappend_fh *, char *buf,
	size_t len);
int nfsappend_nfs3_create(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name,
	enum nfsappend_create, uint32_t mode, uint64_t verifier,
	struct nfsappend_fh *, struct nfsappend_attr *);
int nfsappend_nfs3_read(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, void *buf, uint32_t *len,
	bool *eof);
int nfsappend_nfs3_write(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, const void *buf,
	uint32_t len, struct nfsappend_written *);
int nfsappend_nfs3_commit(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, uint32_t len,
	uint64_t *verifier);
/* The transfer sizes, of the root of the file system. */
int nfsappend_nfs3_fsinfo(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint32_t *rtmax, uint32_t *wtmax);

#endif

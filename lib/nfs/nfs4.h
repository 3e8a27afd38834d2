/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NFSv4.0 (RFC 7530). The operations are those of core/backend.h. */
#ifndef NFSAPPEND_NFS_NFS4_H
#define NFSAPPEND_NFS_NFS4_H

#include "core/backend.h"

/* A mutex byte past any data: only whole-file locks of others meet it. */
#define NFSAPPEND_MUTEX_OFFSET UINT64_C(0x7ffffffffffffffe)

/* Without state, nfs4.c. */
int nfsappend_nfs4_getattr(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, struct nfsappend_attr *);
int nfsappend_nfs4_setattr(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, unsigned set,
	const struct nfsappend_attr *);
int nfsappend_nfs4_lookup(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, const char *name, struct nfsappend_fh *,
	struct nfsappend_attr *);
int nfsappend_nfs4_access(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint32_t asked, uint32_t *granted);
int nfsappend_nfs4_readlink(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, char *buf, size_t len);
int nfsappend_nfs4_read(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, void *buf, uint32_t *len,
	bool *eof);
int nfsappend_nfs4_write(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, const void *buf,
	uint32_t len, struct nfsappend_written *);
int nfsappend_nfs4_write_at_end(struct nfsappend_session *,
	struct nfsappend_wait *, const struct nfsappend_fh *,
	const struct nfsappend_stateid *, uint64_t offset,
	const void *buf, uint32_t len, struct nfsappend_written *);
int nfsappend_nfs4_commit(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint64_t offset, uint32_t len,
	uint64_t *verifier);

/* With state: nfs4_client.c, nfs4_open.c, nfs4_append.c. */
int nfsappend_nfs4_client(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_client *);
int nfsappend_nfs4_open(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_slot *, const struct nfsappend_client *,
	const struct nfsappend_open_args *, struct nfsappend_fh *,
	struct nfsappend_attr *);
int nfsappend_nfs4_close(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_slot *, const struct nfsappend_fh *);
int nfsappend_nfs4_append(struct nfsappend_session *, struct nfsappend_wait *,
	struct nfsappend_slot *, const struct nfsappend_fh *,
	struct nfsappend_record *);
/* nfs4_inquiry.c */
int nfsappend_nfs4_lease(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *, uint32_t *seconds);
int nfsappend_nfs4_lock_holder(struct nfsappend_session *,
	struct nfsappend_wait *, const struct nfsappend_client *,
	const struct nfsappend_fh *, struct nfsappend_lock_holder *);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* File attributes of NFSv4.0 (RFC 7530 section 5) to and from ours. */
#ifndef NFSAPPEND_NFS_NFS4_ATTR_H
#define NFSAPPEND_NFS_NFS4_ATTR_H

#include "nfs/nfs4_wire.h"

/* What a server says of itself, besides the attributes of a file. */
struct nfsappend_server_attr {
	uint32_t lease_s;
	uint64_t maxread, maxwrite; /* bytes; 0: not told */
};

/* GETATTR of all that struct nfsappend_attr holds. */
void nfsappend_op_getattr(struct nfsappend_ops *);
/* The same with lease_time, maxread and maxwrite. */
void nfsappend_op_getattr_server(struct nfsappend_ops *);
/* The result of either; server may be NULL. */
void nfsappend_get_attr(struct nfsappend_results *, struct nfsappend_attr *,
	struct nfsappend_server_attr *server);
/* The fattr4 of a SETATTR or of a creation. */
void nfsappend_put_attr(
	struct nfsappend_ops *, unsigned set, const struct nfsappend_attr *);

#endif

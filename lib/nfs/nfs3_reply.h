/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The results of NFSv3 (RFC 1813) and MOUNT3, taken apart: the decoders of
 * struct nfsappend_exchange, with what their out is. */
#ifndef NFSAPPEND_NFS_NFS3_REPLY_H
#define NFSAPPEND_NFS_NFS3_REPLY_H

#include "nfs/reply.h"

/* LOOKUP, CREATE. CREATE may leave fh->len as it was: the server told none. */
struct nfsappend_found3 {
	struct nfsappend_fh *fh;
	struct nfsappend_attr *attr;
	bool has_attr;
};

struct nfsappend_path3 {
	char *buf;
	size_t len;
};

struct nfsappend_read3 {
	uint8_t *buf;
	uint32_t len; /* in: the room; out: what was read */
	bool *eof;
};

struct nfsappend_write3 {
	uint32_t len; /* of the data that was sent */
	struct nfsappend_written *written;
};

struct nfsappend_fsinfo3 {
	uint32_t rtmax, wtmax;
};

int nfsappend_getattr3(struct nfsappend_results *, void *attr);
/* SETATTR and what changes directories: behind the status is nothing but weak
 * cache consistency data. */
int nfsappend_status3(struct nfsappend_results *, void *unused);
int nfsappend_lookup3(struct nfsappend_results *, void *found3);
int nfsappend_create3(struct nfsappend_results *, void *found3);
int nfsappend_access3(struct nfsappend_results *, void *granted);
int nfsappend_readlink3(struct nfsappend_results *, void *path3);
int nfsappend_read3(struct nfsappend_results *, void *read3);
int nfsappend_write3(struct nfsappend_results *, void *write3);
int nfsappend_commit3(struct nfsappend_results *, void *verifier);
int nfsappend_fsinfo3(struct nfsappend_results *, void *fsinfo3);
/* MNT of MOUNT3 (RFC 1813 section 5.2.1). */
int nfsappend_mnt3(struct nfsappend_results *, void *fh);

#endif

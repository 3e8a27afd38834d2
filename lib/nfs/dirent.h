/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Directories being read, in both versions. */
#ifndef NFSAPPEND_NFS_DIRENT_H
#define NFSAPPEND_NFS_DIRENT_H

#include "core/backend.h"

/* The records of one answer as they are filled in. */
struct nfsappend_dirents {
	uint8_t *buf;
	uint32_t room, used;
	bool full; /* something had no room: not the end */
	bool *eof;
	uint64_t *verifier;
};

/* A name of the server's, not yet believed: false when it can be no name or
 * there is no room. */
bool nfsappend_dirents_add(struct nfsappend_dirents *, uint64_t fileid,
	uint64_t cookie, unsigned type, const char *name, size_t len);

int nfsappend_nfs3_readdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, uint64_t cookie, uint64_t *verifier,
	void *buf, uint32_t *len, bool *eof);
int nfsappend_nfs4_readdir(struct nfsappend_session *, struct nfsappend_wait *,
	const struct nfsappend_fh *dir, uint64_t cookie, uint64_t *verifier,
	void *buf, uint32_t *len, bool *eof);

#endif

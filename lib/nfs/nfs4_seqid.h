/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Seqids of open and lock owners (RFC 7530 section 9.1.7). */
#ifndef NFSAPPEND_NFS_NFS4_SEQID_H
#define NFSAPPEND_NFS_NFS4_SEQID_H

#include <stdbool.h>
#include <stdint.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

/* Did an operation with that status use its seqid up? All do but these. */
static inline bool nfsappend_seqid_used(uint32_t status)
{
	switch (status) {
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_BAD_SEQID:
	case NFS4ERR_BADZDR: /* libnfs's name of NFS4ERR_BADXDR */
	case NFS4ERR_RESOURCE:
	case NFS4ERR_NOFILEHANDLE:
	case NFS4ERR_MOVED:
		return false;
	default:
		return true;
	}
}

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What /proc/self/mountinfo tells of a kernel NFS mount. */
#ifndef NFSAPPEND_CORE_MOUNTS_H
#define NFSAPPEND_CORE_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/backend.h"
#include "core/sys.h"

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U
#endif
/* Where struct statx has stx_mnt_id; older headers call it spare. */
static inline uint64_t nfsappend_stx_mnt_id(const struct statx *stx)
{
	if (!(stx->stx_mask & STATX_MNT_ID))
		return 0;
	return *(const uint64_t *)((const char *)stx + 0x90);
}
static inline uint64_t nfsappend_stx_dev(const struct statx *stx)
{
	return (uint64_t)stx->stx_dev_major << 32 | stx->stx_dev_minor;
}

struct nfsappend_mount {
	char point[1024]; /* where it is mounted */
	bool sys;	  /* sec=sys, the only one that we speak */
	char sec[16];
	bool soft;
	bool cto;	 /* open() fetches the attributes (no nocto) */
	bool local_lock; /* flock() and fcntl() ask no server */
	unsigned timeo;	 /* tenths of a second */
	unsigned retrans;
	unsigned minor; /* of NFSv4 */
	struct nfsappend_target target;
	struct nfsappend_contact contact; /* root is empty */
};

void nfsappend_mounts_start(void);

/* The NFS mount that the file is on: by the mount's id, or by the device
 * where this kernel tells none (0). false: no NFS, or unknown. A mount that
 * nobody could reach has target.version 0. With the guard held. */
bool nfsappend_mount_find(const struct statx *, struct nfsappend_mount *);

/* Is that line of mountinfo (taken apart in place) of an NFS mount with this id
 * (0: any) and device? */
bool nfsappend_mount_line(char *line, uint64_t id, uint64_t device,
	struct nfsappend_mount *);

#endif

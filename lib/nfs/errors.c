/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stddef.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#include "core/backend.h"
#include "nfs/errors.h"

int nfsappend_errno3(int status)
{
	switch (status) {
	case NFS3_OK:
		return 0;
	case NFS3ERR_PERM:
		return -EPERM;
	case NFS3ERR_NOENT:
		return -ENOENT;
	case NFS3ERR_NXIO:
		return -ENXIO;
	case NFS3ERR_ACCES:
		return -EACCES;
	case NFS3ERR_EXIST:
		return -EEXIST;
	case NFS3ERR_XDEV:
		return -EXDEV;
	case NFS3ERR_NODEV:
		return -ENODEV;
	case NFS3ERR_NOTDIR:
		return -ENOTDIR;
	case NFS3ERR_ISDIR:
		return -EISDIR;
	case NFS3ERR_INVAL:
		return -EINVAL;
	case NFS3ERR_FBIG:
		return -EFBIG;
	case NFS3ERR_NOSPC:
		return -ENOSPC;
	case NFS3ERR_ROFS:
		return -EROFS;
	case NFS3ERR_MLINK:
		return -EMLINK;
	case NFS3ERR_NAMETOOLONG:
		return -ENAMETOOLONG;
	case NFS3ERR_NOTEMPTY:
		return -ENOTEMPTY;
	case NFS3ERR_DQUOT:
		return -EDQUOT;
	case NFS3ERR_STALE:
	case NFS3ERR_BADHANDLE:
		return -ESTALE;
	case NFS3ERR_NOTSUPP:
		return -EOPNOTSUPP;
	case NFS3ERR_JUKEBOX:
		return NFSAPPEND_DELAY;
	default: /* IO, SERVERFAULT, TOOSMALL, BADTYPE, NOT_SYNC, unknown */
		return -EIO;
	}
}

int nfsappend_errno_mount3(int status)
{
	switch (status) {
	case MNT3_OK:
		return 0;
	case MNT3ERR_PERM:
		return -EPERM;
	case MNT3ERR_NOENT:
		return -ENOENT;
	case MNT3ERR_ACCES:
		return -EACCES;
	case MNT3ERR_NOTDIR:
		return -ENOTDIR;
	case MNT3ERR_INVAL:
		return -EINVAL;
	case MNT3ERR_NAMETOOLONG:
		return -ENAMETOOLONG;
	case MNT3ERR_NOTSUPP:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

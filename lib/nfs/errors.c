/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <stddef.h>

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

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

int nfsappend_errno4(uint32_t status)
{
	switch (status) {
	case NFS4ERR_SYMLINK:
		return -ELOOP;
	case NFS4ERR_WRONGSEC:
		return -EPERM;
	case NFS4ERR_SHARE_DENIED:
	case NFS4ERR_LOCKED:
	case NFS4ERR_OPENMODE:
		return -EACCES;
	case NFS4ERR_FILE_OPEN:
		return -EBUSY;
	case NFS4ERR_BADNAME:
	case NFS4ERR_BADCHAR:
	case NFS4ERR_BADOWNER:
		return -EINVAL;
	case NFS4ERR_FHEXPIRED:
		return -ESTALE;
	case NFS4ERR_ATTRNOTSUPP:
	case NFS4ERR_LOCK_NOTSUPP:
	case NFS4ERR_OP_ILLEGAL:
		return -EOPNOTSUPP;
	case NFS4ERR_MINOR_VERS_MISMATCH:
		return -EPROTONOSUPPORT;
	case NFS4ERR_MOVED:
		return -EREMOTE;
	case NFS4ERR_GRACE:
		return NFSAPPEND_GRACE;
	case NFS4ERR_RESOURCE:
	case NFS4ERR_LEASE_MOVED:
		return NFSAPPEND_DELAY;
	case NFS4ERR_NO_GRACE:
	case NFS4ERR_RECLAIM_BAD:
	case NFS4ERR_RECLAIM_CONFLICT:
		return NFSAPPEND_NO_RECLAIM;
	case NFS4ERR_NOT_SAME:
		return NFSAPPEND_NOT_END;
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_BAD_SEQID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_CB_PATH_DOWN:
	case NFS4ERR_ADMIN_REVOKED:
		return NFSAPPEND_STATE_LOST;
	default: /* the common ones have the numbers of NFSv3 */
		return nfsappend_errno3((int)status);
	}
}

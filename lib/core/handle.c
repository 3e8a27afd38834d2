/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "core/handle.h"
#include "core/sys.h"

/* Of fs/nfs/export.c: u32 fileid high, u32 fileid low, u32 type, then struct
 * nfs_fh (u16 size, data), in the host's byte order. */
#define HEAD 14

int nfsappend_handle_of(int fd, uint64_t fileid, struct nfsappend_fh *fh)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u;
	uint32_t high, low;
	uint16_t size;
	int mount_id;
	long r;

	memset(&u, 0, sizeof u);
	u.handle.handle_bytes = MAX_HANDLE_SZ;
	r = nfsappend_sys(SYS_name_to_handle_at, fd, (long)"",
		(long)&u.handle, (long)&mount_id, AT_EMPTY_PATH, 0);
	if (r < 0)
		return (int)r;
	if (u.handle.handle_bytes < HEAD)
		return -EINVAL;
	memcpy(&high, u.handle.f_handle, 4);
	memcpy(&low, u.handle.f_handle + 4, 4);
	memcpy(&size, u.handle.f_handle + 12, 2);
	if (((uint64_t)high << 32 | low) != fileid || size == 0 ||
		size > NFSAPPEND_FH_MAX ||
		HEAD + (unsigned)size > u.handle.handle_bytes)
		return -EINVAL;
	memset(fh, 0, sizeof *fh);
	fh->len = size;
	memcpy(fh->data, u.handle.f_handle + HEAD, size);
	return 0;
}

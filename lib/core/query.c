/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <unistd.h>

#include "core/query.h"

int nfsappend_path_getattr(int dirfd, const char *path, bool follow,
	struct nfsappend_attr *attr, uint64_t *device)
{
	struct nfsappend_pathcall c;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		follow ? NFSAPPEND_FOLLOW : 0);

	if (r == 0) {
		*attr = c.place->attr;
		*device = nfsappend_server_device(c.place->server, attr);
	}
	nfsappend_pathcall_end(&c);
	return r;
}

/* The bits that the kernel's client asks for. */
static uint32_t access_bits(int mode, bool directory)
{
	uint32_t asked = 0;

	if (mode & R_OK)
		asked |= NFSAPPEND_ACCESS_READ;
	if (mode & W_OK)
		asked |= NFSAPPEND_ACCESS_MODIFY | NFSAPPEND_ACCESS_EXTEND |
			(directory ? NFSAPPEND_ACCESS_DELETE : 0);
	if (mode & X_OK)
		asked |= directory ? NFSAPPEND_ACCESS_LOOKUP
				   : NFSAPPEND_ACCESS_EXECUTE;
	return asked;
}

int nfsappend_path_access(int dirfd, const char *path, int mode, int flags)
{
	struct nfsappend_pathcall c;
	uint32_t asked, granted = 0;
	int r = nfsappend_pathcall_begin(&c, dirfd, path,
		(flags & AT_SYMLINK_NOFOLLOW ? 0 : NFSAPPEND_FOLLOW) |
			(flags & AT_EACCESS ? 0 : NFSAPPEND_REAL_IDS));

	if (r == 0 && mode != F_OK) {
		asked = access_bits(mode, c.place->attr.type == NFSAPPEND_DIR);
		NFSAPPEND_CALL(c.place->server, &c.w, r, access, &c.place->fh,
			asked, &granted);
		if (r == 0 && (granted & asked) != asked)
			r = -EACCES;
	}
	nfsappend_pathcall_end(&c);
	return r;
}

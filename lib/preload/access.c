/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* access(), faccessat() and the variants that ask for the effective user. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/query.h"
#include "preload/path.h"

#define MODES (R_OK | W_OK | X_OK)

static int access_path(int dirfd, const char *path, int mode, int flags)
{
	if (mode & ~MODES ||
		flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_EMPTY_PATH && path[0] == '\0')
		path = "."; /* dirfd itself, if it is a directory */
	return nfsappend_path_access(dirfd, path, mode, flags);
}

NFSAPPEND_HOOK int access(const char *path, int mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		access_path(AT_FDCWD, path, mode, 0),
		NFSAPPEND_REAL(access)(path, mode));
}

NFSAPPEND_HOOK int faccessat(int dirfd, const char *path, int mode, int flags)
{
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		access_path(dirfd, path, mode, flags),
		NFSAPPEND_REAL(faccessat)(dirfd, path, mode, flags));
}

NFSAPPEND_HOOK int euidaccess(const char *path, int mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		access_path(AT_FDCWD, path, mode, AT_EACCESS),
		NFSAPPEND_REAL(euidaccess)(path, mode));
}

NFSAPPEND_HOOK int eaccess(const char *path, int mode)
{
	return euidaccess(path, mode);
}

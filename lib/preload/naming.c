/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names made, removed and moved. */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "core/naming.h"
#include "preload/path.h"

NFSAPPEND_HOOK int mkdir(const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true,
		nfsappend_path_mkdir(AT_FDCWD, path, mode),
		NFSAPPEND_REAL(mkdir)(path, mode));
}

NFSAPPEND_HOOK int mkdirat(int dirfd, const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		nfsappend_path_mkdir(dirfd, path, mode),
		NFSAPPEND_REAL(mkdirat)(dirfd, path, mode));
}

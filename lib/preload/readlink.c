/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readlink() and its fortified twins. */
#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/query.h"
#include "preload/path.h"

extern ssize_t __readlink_chk(const char *, char *, size_t, size_t);
extern ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);

NFSAPPEND_HOOK ssize_t readlink(const char *path, char *buf, size_t n)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		nfsappend_path_readlink(AT_FDCWD, path, buf, n),
		NFSAPPEND_REAL(readlink)(path, buf, n));
}

NFSAPPEND_HOOK ssize_t readlinkat(int dirfd, const char *path, char *buf,
	size_t n)
{
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		nfsappend_path_readlink(dirfd, path, buf, n),
		NFSAPPEND_REAL(readlinkat)(dirfd, path, buf, n));
}

/* glibc's own aborts where the room is less than asked for. */
NFSAPPEND_HOOK ssize_t __readlink_chk(const char *path, char *buf, size_t n,
	size_t room)
{
	if (n > room)
		return NFSAPPEND_REAL(__readlink_chk)(path, buf, n, room);
	return readlink(path, buf, n);
}

NFSAPPEND_HOOK ssize_t __readlinkat_chk(int dirfd, const char *path, char *buf,
	size_t n, size_t room)
{
	if (n > room)
		return NFSAPPEND_REAL(__readlinkat_chk)(dirfd, path, buf, n,
			room);
	return readlinkat(dirfd, path, buf, n);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Extended attributes: neither NFSv3 nor NFSv4.0 has them. */
#include "config.h"

#include <fcntl.h>
#include <sys/xattr.h>

#include "core/query.h"
#include "preload/path.h"

static int refuse(const char *path, bool follow)
{
	int r = nfsappend_path_exists(AT_FDCWD, path, follow);

	return r == 0 ? -EOPNOTSUPP : r;
}

static bool refuse_descriptor(int fd)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin_mapped(&use, fd))
		return false;
	nfsappend_use_end(&use);
	errno = EOPNOTSUPP;
	return true;
}

#define BY_PATH(name, ret, follow, parameters, arguments)                      \
	NFSAPPEND_HOOK ret name parameters                                     \
	{                                                                      \
		NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,                     \
			refuse(path, follow),                                  \
			NFSAPPEND_REAL(name) arguments);                       \
	}

#define BY_DESCRIPTOR(name, ret, parameters, arguments)                        \
	NFSAPPEND_HOOK ret name parameters                                     \
	{                                                                      \
		return refuse_descriptor(fd) ? -1                              \
					     : NFSAPPEND_REAL(name) arguments; \
	}

BY_PATH(getxattr, ssize_t, true,
	(const char *path, const char *name, void *value, size_t n),
	(path, name, value, n))
BY_PATH(lgetxattr, ssize_t, false,
	(const char *path, const char *name, void *value, size_t n),
	(path, name, value, n))
BY_DESCRIPTOR(fgetxattr, ssize_t,
	(int fd, const char *name, void *value, size_t n),
	(fd, name, value, n))
BY_PATH(setxattr, int, true,
	(const char *path, const char *name, const void *value, size_t n,
		int flags),
	(path, name, value, n, flags))
BY_PATH(lsetxattr, int, false,
	(const char *path, const char *name, const void *value, size_t n,
		int flags),
	(path, name, value, n, flags))
BY_DESCRIPTOR(fsetxattr, int,
	(int fd, const char *name, const void *value, size_t n, int flags),
	(fd, name, value, n, flags))
BY_PATH(listxattr, ssize_t, true, (const char *path, char *list, size_t n),
	(path, list, n))
BY_PATH(llistxattr, ssize_t, false, (const char *path, char *list, size_t n),
	(path, list, n))
BY_DESCRIPTOR(flistxattr, ssize_t, (int fd, char *list, size_t n),
	(fd, list, n))
BY_PATH(removexattr, int, true, (const char *path, const char *name),
	(path, name))
BY_PATH(lremovexattr, int, false, (const char *path, const char *name),
	(path, name))
BY_DESCRIPTOR(fremovexattr, int, (int fd, const char *name), (fd, name))

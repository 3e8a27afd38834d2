/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calls on paths that the kernel has to serve and cannot below a map: it would
 * fail with a puzzling ENOENT, or, where DIR is on this host too, do it there.
 */
#include "config.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "core/log.h"
#include "core/query.h"
#include "preload/path.h"

static int unsupported(const char *path, const char *what, int error)
{
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
		"%s: %s under NFSAPPEND_MAP is not supported; the program gets "
		"%s; put it on a local disk",
		path, what, error == EPERM ? "EPERM" : "EOPNOTSUPP");
	return -error;
}

static int refuse(const char *path, const char *what, int error)
{
	int r = nfsappend_path_exists(AT_FDCWD, path, true);

	return r == 0 ? unsupported(path, what, error) : r;
}

static int refuse_socket(const char *path)
{
	int r = nfsappend_path_exists(AT_FDCWD, path, false);

	if (r == 0)
		return -EADDRINUSE;
	return r == -ENOENT ? unsupported(path, "a socket", EPERM) : r;
}

NFSAPPEND_HOOK int bind(int fd, const struct sockaddr *address, socklen_t n)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)address;
	char room[sizeof un->sun_path + 1];
	const char *path = room;
	size_t start = offsetof(struct sockaddr_un, sun_path);

	if (!nfsappend_active || address == NULL || n <= start ||
		n > sizeof *un || address->sa_family != AF_UNIX ||
		un->sun_path[0] == '\0')
		return NFSAPPEND_REAL(bind)(fd, address, n);
	memcpy(room, un->sun_path, n - start);
	room[n - start] = '\0';
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true, refuse_socket(path),
		NFSAPPEND_REAL(bind)(fd, address, n));
}

/* Changes by others come without notice, as on any NFS mount. */
NFSAPPEND_HOOK int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		refuse(path, "inotify", EOPNOTSUPP),
		NFSAPPEND_REAL(inotify_add_watch)(fd, path, mask));
}

NFSAPPEND_HOOK int chroot(const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		refuse(path, "a root directory", EPERM),
		NFSAPPEND_REAL(chroot)(path));
}

static long limit_of(const char *path, int name)
{
	int r = nfsappend_path_exists(AT_FDCWD, path, true);

	if (r != 0)
		return r;
	return name == _PC_NAME_MAX ? NFSAPPEND_NAME_MAX
				    : NFSAPPEND_REAL(pathconf)("/", name);
}

NFSAPPEND_HOOK long pathconf(const char *path, int name)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false, limit_of(path, name),
		NFSAPPEND_REAL(pathconf)(path, name));
}

/* glibc's, which has a stat() of its own inside. */
NFSAPPEND_HOOK key_t ftok(const char *path, int project)
{
	struct stat st;

	if (!nfsappend_active)
		return NFSAPPEND_REAL(ftok)(path, project);
	if (stat(path, &st) != 0)
		return -1;
	return (key_t)((st.st_ino & 0xffff) | (st.st_dev & 0xff) << 16 |
		       (unsigned)(project & 0xff) << 24);
}

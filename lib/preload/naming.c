/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names made, removed and moved. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/log.h"
#include "core/naming.h"
#include "core/query.h"
#include "preload/path.h"

extern int renameat2(int, const char *, int, const char *, unsigned);
extern int __xmknod(int, const char *, mode_t, dev_t *);
extern int __xmknodat(int, int, const char *, mode_t, dev_t *);

static int make_directory(const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true,
		nfsappend_path_mkdir(AT_FDCWD, path, mode),
		NFSAPPEND_REAL(mkdir)(path, mode));
}

/* The address sanitizer makes the directories of its log_path by this name. */
NFSAPPEND_UNSANITIZED NFSAPPEND_HOOK int mkdir(
	const char *path, mode_t mode)
{
	if (nfsappend_sanitizer_starts()) {
		long r = nfsappend_sys(
			SYS_mkdirat, AT_FDCWD, (long)path, mode, 0, 0, 0);

		if (r < 0)
			errno = (int)-r;
		return r < 0 ? -1 : 0;
	}
	return make_directory(path, mode);
}

NFSAPPEND_HOOK int mkdirat(int dirfd, const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		nfsappend_path_mkdir(dirfd, path, mode),
		NFSAPPEND_REAL(mkdirat)(dirfd, path, mode));
}

NFSAPPEND_HOOK int unlink(const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		nfsappend_path_unlink(AT_FDCWD, path, 0),
		NFSAPPEND_REAL(unlink)(path));
}

static int unlink_at(int dirfd, const char *path, int flags)
{
	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	return nfsappend_path_unlink(dirfd, path, flags);
}

NFSAPPEND_HOOK int unlinkat(int dirfd, const char *path, int flags)
{
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		unlink_at(dirfd, path, flags),
		NFSAPPEND_REAL(unlinkat)(dirfd, path, flags));
}

NFSAPPEND_HOOK int rmdir(const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		nfsappend_path_unlink(AT_FDCWD, path, AT_REMOVEDIR),
		NFSAPPEND_REAL(rmdir)(path));
}

static int remove_path(const char *path)
{
	int r = nfsappend_path_unlink(AT_FDCWD, path, 0);

	return r == -EISDIR
		? nfsappend_path_unlink(AT_FDCWD, path, AT_REMOVEDIR)
		: r;
}

NFSAPPEND_HOOK int remove(const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false, remove_path(path),
		NFSAPPEND_REAL(remove)(path));
}

NFSAPPEND_HOOK int rename(const char *from, const char *to)
{
	NFSAPPEND_PATHS_CALL(AT_FDCWD, from, AT_FDCWD, to,
		nfsappend_path_rename(AT_FDCWD, from, AT_FDCWD, to),
		NFSAPPEND_REAL(rename)(from, to));
}

NFSAPPEND_HOOK int renameat(int from_fd, const char *from, int to_fd,
	const char *to)
{
	NFSAPPEND_PATHS_CALL(from_fd, from, to_fd, to,
		nfsappend_path_rename(from_fd, from, to_fd, to),
		NFSAPPEND_REAL(renameat)(from_fd, from, to_fd, to));
}

/* Neither protocol has RENAME_NOREPLACE or RENAME_EXCHANGE: EINVAL, as from
 * the kernel's client; programs then look and rename. */
static int rename_flags(int from_fd, const char *from, int to_fd,
	const char *to, unsigned flags)
{
	if (flags == 0)
		return nfsappend_path_rename(from_fd, from, to_fd, to);
	if (nfsappend_path_exists(from_fd, from, false) == NFSAPPEND_NOT_OURS &&
		nfsappend_path_exists(to_fd, to, false) == NFSAPPEND_NOT_OURS)
		return NFSAPPEND_NOT_OURS;
	return -EINVAL;
}

NFSAPPEND_HOOK int renameat2(int from_fd, const char *from, int to_fd,
	const char *to, unsigned flags)
{
	NFSAPPEND_PATHS_CALL(from_fd, from, to_fd, to,
		rename_flags(from_fd, from, to_fd, to, flags),
		NFSAPPEND_REAL(renameat2)(from_fd, from, to_fd, to, flags));
}

static int link_at(int from_fd, const char *from, int to_fd, const char *to,
	int flags)
{
	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return nfsappend_path_link(from_fd, from, to_fd, to, flags);
}

NFSAPPEND_HOOK int link(const char *from, const char *to)
{
	NFSAPPEND_PATHS_CALL(AT_FDCWD, from, AT_FDCWD, to,
		nfsappend_path_link(AT_FDCWD, from, AT_FDCWD, to, 0),
		NFSAPPEND_REAL(link)(from, to));
}

NFSAPPEND_HOOK int linkat(int from_fd, const char *from, int to_fd,
	const char *to, int flags)
{
	NFSAPPEND_PATHS_CALL(from_fd, from, to_fd, to,
		link_at(from_fd, from, to_fd, to, flags),
		NFSAPPEND_REAL(linkat)(from_fd, from, to_fd, to, flags));
}

NFSAPPEND_HOOK int symlink(const char *target, const char *path)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true,
		nfsappend_path_symlink(target, AT_FDCWD, path),
		NFSAPPEND_REAL(symlink)(target, path));
}

NFSAPPEND_HOOK int symlinkat(const char *target, int dirfd, const char *path)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		nfsappend_path_symlink(target, dirfd, path),
		NFSAPPEND_REAL(symlinkat)(target, dirfd, path));
}

/* A pipe or a device would be this host's alone, and of no use to others. */
static int make_node(int dirfd, const char *path, mode_t mode)
{
	int r;

	if (S_ISREG(mode) || (mode & S_IFMT) == 0) {
		r = nfsappend_open_path(dirfd, path,
			O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode & 07777);
		return r >= 0 ? close(r) : r;
	}
	r = nfsappend_path_exists(dirfd, path, false);
	if (r == 0)
		return -EEXIST;
	if (r != -ENOENT)
		return r;
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_UNSUPPORTED,
		"%s: a named pipe or device under NFSAPPEND_MAP is not "
		"supported; the program gets EPERM; put it on a local disk",
		path);
	return -EPERM;
}

NFSAPPEND_HOOK int mkfifo(const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true,
		make_node(AT_FDCWD, path, S_IFIFO),
		NFSAPPEND_REAL(mkfifo)(path, mode));
}

NFSAPPEND_HOOK int mkfifoat(int dirfd, const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		make_node(dirfd, path, S_IFIFO),
		NFSAPPEND_REAL(mkfifoat)(dirfd, path, mode));
}

/* mknod() came in glibc 2.33; before there is only __xmknod(). */
static int real_mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
	if (nfsappend_real(NFSAPPEND_REAL_INDEX_mknodat) != NULL)
		return NFSAPPEND_REAL(mknodat)(dirfd, path, mode, dev);
	return NFSAPPEND_REAL(__xmknodat)(0, dirfd, path, mode, &dev);
}

NFSAPPEND_HOOK int mknodat(int dirfd, const char *path, mode_t mode, dev_t dev)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		make_node(dirfd, path, mode),
		real_mknodat(dirfd, path, mode, dev));
}

NFSAPPEND_HOOK int mknod(const char *path, mode_t mode, dev_t dev)
{
	return mknodat(AT_FDCWD, path, mode, dev);
}

NFSAPPEND_HOOK int __xmknod(int version, const char *path, mode_t mode,
	dev_t *dev)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, true,
		make_node(AT_FDCWD, path, mode),
		NFSAPPEND_REAL(__xmknod)(version, path, mode, dev));
}

NFSAPPEND_HOOK int __xmknodat(int version, int dirfd, const char *path,
	mode_t mode, dev_t *dev)
{
	NFSAPPEND_PATH_CALL(dirfd, path, true,
		make_node(dirfd, path, mode),
		NFSAPPEND_REAL(__xmknodat)(version, dirfd, path, mode, dev));
}

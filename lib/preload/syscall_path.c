/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall(2) with a path: libuv and others ask for statx() and renameat2()
 * this way. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <utime.h>

#include "core/query.h"
#include "preload/path.h"
#include "preload/syscall.h"

/* What the headers of an older kernel lack. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

extern int renameat2(int, const char *, int, const char *, unsigned);
extern int execveat(int, const char *, char *const[], char *const[], int);

/* linux/openat2.h */
struct how {
	uint64_t flags, mode, resolve;
};

/* What openat() knows of it; ENOSYS where a path below a map shall be resolved
 * in another way, so that the program does that itself. */
static bool open_how(int fd, const char *path, const struct how *how, size_t n,
	long *r)
{
	if (n != sizeof *how || how == NULL || how->flags > INT32_MAX)
		return false;
	if (how->resolve == 0) {
		*r = openat(fd, path, (int)how->flags, (mode_t)how->mode);
		return true;
	}
	if (!nfsappend_path_before(fd, path, how->flags & O_CREAT) ||
		nfsappend_path_exists(fd, path, true) == NFSAPPEND_NOT_OURS)
		return false;
	errno = ENOSYS;
	*r = -1;
	return true;
}

static long get_cwd(char *buf, size_t n)
{
	return getcwd(buf, n) != NULL ? (long)strlen(buf) + 1 : -1;
}

static bool newest(long number, const long a[6], long *r)
{
	int fd = (int)a[0];
	void *p = (void *)a[1];

	switch (number) {
	case SYS_openat2:
		return open_how(fd, p, (void *)a[2], (size_t)a[3], r);
	case SYS_faccessat2:
		*r = faccessat(fd, p, (int)a[2], (int)a[3]);
		return true;
	case SYS_fchmodat2:
		/* glibc's knows no AT_EMPTY_PATH. */
		if (a[3] & ~AT_SYMLINK_NOFOLLOW && nfsappend_may_be_ours(fd))
			*r = fchmod(fd, (mode_t)a[2]);
		else if (a[3] & ~AT_SYMLINK_NOFOLLOW)
			return false;
		else
			*r = fchmodat(fd, p, (mode_t)a[2], (int)a[3]);
		return true;
	case SYS_utimensat:
		*r = p == NULL ? futimens(fd, (void *)a[2])
			       : utimensat(fd, p, (void *)a[2], (int)a[3]);
		return true;
	case SYS_mknodat:
		*r = mknodat(fd, p, (mode_t)a[2], (dev_t)a[3]);
		return true;
	case SYS_execveat:
		*r = execveat(fd, p, (void *)a[2], (void *)a[3], (int)a[4]);
		return true;
	case SYS_inotify_add_watch:
		*r = inotify_add_watch(fd, p, (uint32_t)a[2]);
		return true;
	case SYS_bind:
		*r = bind(fd, p, (socklen_t)a[2]);
		return true;
	default:
		return false;
	}
}

/* Of one path. */
static bool plain(long number, const long a[6], long *r)
{
	void *p = (void *)a[0], *q = (void *)a[1], *value = (void *)a[2];
	size_t n = (size_t)a[3];

	switch (number) {
	case SYS_truncate:
		*r = truncate(p, a[1]);
		return true;
	case SYS_statfs:
		*r = statfs(p, q);
		return true;
	case SYS_getcwd:
		if (p == NULL)
			return false;
		*r = get_cwd(p, (size_t)a[1]);
		return true;
	case SYS_execve:
		*r = execve(p, q, value);
		return true;
	case SYS_chroot:
		*r = chroot(p);
		return true;
	case SYS_getxattr:
		*r = getxattr(p, q, value, n);
		return true;
	case SYS_lgetxattr:
		*r = lgetxattr(p, q, value, n);
		return true;
	case SYS_setxattr:
		*r = setxattr(p, q, value, n, (int)a[4]);
		return true;
	case SYS_lsetxattr:
		*r = lsetxattr(p, q, value, n, (int)a[4]);
		return true;
	case SYS_listxattr:
		*r = listxattr(p, q, (size_t)a[2]);
		return true;
	case SYS_llistxattr:
		*r = llistxattr(p, q, (size_t)a[2]);
		return true;
	case SYS_removexattr:
		*r = removexattr(p, q);
		return true;
	case SYS_lremovexattr:
		*r = lremovexattr(p, q);
		return true;
	default:
		return false;
	}
}

/* Of a descriptor, whose placeholder the kernel would take for the file. */
static bool by_descriptor(long number, const long a[6], long *r)
{
	int fd = (int)a[0];
	void *p = (void *)a[1];

	switch (number) {
	case SYS_fstat:
		*r = fstat(fd, p);
		return true;
	case SYS_fstatfs:
		*r = fstatfs(fd, p);
		return true;
	case SYS_fchmod:
		*r = fchmod(fd, (mode_t)a[1]);
		return true;
	case SYS_fchown:
		*r = fchown(fd, (uid_t)a[1], (gid_t)a[2]);
		return true;
	case SYS_ftruncate:
		*r = ftruncate(fd, a[1]);
		return true;
	case SYS_fallocate:
		*r = fallocate(fd, (int)a[1], a[2], a[3]);
		return true;
	default:
		return false;
	}
}

/* The kernel's struct stat is glibc's on these processors. */
static bool newer(long number, const long a[6], long *r)
{
	int fd = (int)a[0];
	void *p = (void *)a[1];

	switch (number) {
	case SYS_openat:
		*r = openat(fd, p, (int)a[2], (mode_t)a[3]);
		return true;
	case SYS_newfstatat:
		*r = fstatat(fd, p, (void *)a[2], (int)a[3]);
		return true;
	case SYS_statx:
		*r = statx(fd, p, (int)a[2], (unsigned)a[3], (void *)a[4]);
		return true;
	case SYS_mkdirat:
		*r = mkdirat(fd, p, (mode_t)a[2]);
		return true;
	case SYS_unlinkat:
		*r = unlinkat(fd, p, (int)a[2]);
		return true;
	case SYS_renameat:
		*r = renameat(fd, p, (int)a[2], (void *)a[3]);
		return true;
	case SYS_renameat2:
		*r = renameat2(fd, p, (int)a[2], (void *)a[3], (unsigned)a[4]);
		return true;
	case SYS_linkat:
		*r = linkat(fd, p, (int)a[2], (void *)a[3], (int)a[4]);
		return true;
	case SYS_symlinkat:
		*r = symlinkat((void *)a[0], (int)a[1], (void *)a[2]);
		return true;
	case SYS_readlinkat:
		*r = readlinkat(fd, p, (void *)a[2], (size_t)a[3]);
		return true;
	case SYS_faccessat:
		*r = faccessat(fd, p, (int)a[2], 0);
		return true;
	case SYS_fchmodat:
		*r = fchmodat(fd, p, (mode_t)a[2], 0);
		return true;
	case SYS_fchownat:
		*r = fchownat(fd, p, (uid_t)a[2], (gid_t)a[3], (int)a[4]);
		return true;
	case SYS_chdir:
		*r = chdir((void *)a[0]);
		return true;
	case SYS_fchdir:
		*r = fchdir(fd);
		return true;
	default:
		return false;
	}
}

#ifdef SYS_open /* what newer processors have no longer */
static bool older(long number, const long a[6], long *r)
{
	void *p = (void *)a[0], *q = (void *)a[1];

	switch (number) {
	case SYS_open:
		*r = open(p, (int)a[1], (mode_t)a[2]);
		return true;
	case SYS_stat:
		*r = stat(p, q);
		return true;
	case SYS_lstat:
		*r = lstat(p, q);
		return true;
	case SYS_access:
		*r = access(p, (int)a[1]);
		return true;
	case SYS_mkdir:
		*r = mkdir(p, (mode_t)a[1]);
		return true;
	case SYS_rmdir:
		*r = rmdir(p);
		return true;
	case SYS_unlink:
		*r = unlink(p);
		return true;
	case SYS_rename:
		*r = rename(p, q);
		return true;
	case SYS_readlink:
		*r = readlink(p, q, (size_t)a[2]);
		return true;
	case SYS_creat:
		*r = creat(p, (mode_t)a[1]);
		return true;
	case SYS_link:
		*r = link(p, q);
		return true;
	case SYS_symlink:
		*r = symlink(p, q);
		return true;
	case SYS_chmod:
		*r = chmod(p, (mode_t)a[1]);
		return true;
	case SYS_chown:
		*r = chown(p, (uid_t)a[1], (gid_t)a[2]);
		return true;
	case SYS_lchown:
		*r = lchown(p, (uid_t)a[1], (gid_t)a[2]);
		return true;
	case SYS_mknod:
		*r = mknod(p, (mode_t)a[1], (dev_t)a[2]);
		return true;
	case SYS_utime:
		*r = utime(p, q);
		return true;
	case SYS_utimes:
		*r = utimes(p, q);
		return true;
	case SYS_futimesat:
		*r = futimesat((int)a[0], q, (void *)a[2]);
		return true;
	default:
		return false;
	}
}
#endif

bool nfsappend_syscall_path(long number, const long a[6], long *result)
{
#ifdef SYS_open
	if (older(number, a, result))
		return true;
#endif
	return newer(number, a, result) || newest(number, a, result) ||
		plain(number, a, result) || by_descriptor(number, a, result);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall(2) with a path: libuv and others ask for statx() and renameat2()
 * this way. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/path.h"
#include "preload/syscall.h"

extern int renameat2(int, const char *, int, const char *, unsigned);

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
	return newer(number, a, result);
}

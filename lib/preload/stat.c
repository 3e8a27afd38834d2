/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stat family, on descriptors and on paths. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/io.h"
#include "core/mounted.h"
#include "core/query.h"
#include "preload/hook.h"
#include "preload/path.h"
#include "preload/stat.h"

/* Before glibc 2.33 these are all there is. */
extern int __xstat(int, const char *, struct stat *);
extern int __xstat64(int, const char *, struct stat64 *);
extern int __lxstat(int, const char *, struct stat *);
extern int __lxstat64(int, const char *, struct stat64 *);
extern int __fxstat(int, int, struct stat *);
extern int __fxstat64(int, int, struct stat64 *);
extern int __fxstatat(int, int, const char *, struct stat *, int);
extern int __fxstatat64(int, int, const char *, struct stat64 *, int);

/* Of a path below a map: as a local file's. */
#define BLKSIZE 4096

static mode_t type_bits(uint32_t type)
{
	static const mode_t bits[] = {[NFSAPPEND_REG] = S_IFREG,
		[NFSAPPEND_DIR] = S_IFDIR,
		[NFSAPPEND_BLK] = S_IFBLK,
		[NFSAPPEND_CHR] = S_IFCHR,
		[NFSAPPEND_LNK] = S_IFLNK,
		[NFSAPPEND_SOCK] = S_IFSOCK,
		[NFSAPPEND_FIFO] = S_IFIFO};

	return type < sizeof bits / sizeof *bits ? bits[type] : 0;
}

static uint64_t special(const struct nfsappend_attr *a)
{
	return makedev(a->rdev >> 32, a->rdev & UINT32_MAX);
}

static void fill_stat(const struct nfsappend_attr *a, uint64_t device,
	struct stat *st)
{
	memset(st, 0, sizeof *st);
	st->st_dev = device;
	st->st_ino = a->fileid;
	st->st_mode = type_bits(a->type) | a->mode;
	st->st_nlink = a->nlink;
	st->st_uid = a->uid;
	st->st_gid = a->gid;
	st->st_rdev = special(a);
	st->st_size = (off_t)a->size;
	st->st_blksize = BLKSIZE;
	st->st_blocks = (blkcnt_t)((a->used + 511) / 512);
	st->st_atim = a->atime;
	st->st_mtim = a->mtime;
	st->st_ctim = a->ctime;
}

static struct statx_timestamp stamp(struct timespec t)
{
	return (struct statx_timestamp){.tv_sec = t.tv_sec,
		.tv_nsec = (uint32_t)t.tv_nsec};
}

static void fill_statx(const struct nfsappend_attr *a, uint64_t device,
	struct statx *stx)
{
	memset(stx, 0, sizeof *stx);
	stx->stx_mask = STATX_BASIC_STATS;
	stx->stx_blksize = BLKSIZE;
	stx->stx_nlink = a->nlink;
	stx->stx_uid = a->uid;
	stx->stx_gid = a->gid;
	stx->stx_mode = (uint16_t)(type_bits(a->type) | a->mode);
	stx->stx_ino = a->fileid;
	stx->stx_size = a->size;
	stx->stx_blocks = (a->used + 511) / 512;
	stx->stx_atime = stamp(a->atime);
	stx->stx_mtime = stamp(a->mtime);
	stx->stx_ctime = stamp(a->ctime);
	stx->stx_rdev_major = (uint32_t)(a->rdev >> 32);
	stx->stx_rdev_minor = (uint32_t)a->rdev;
	stx->stx_dev_major = major(device);
	stx->stx_dev_minor = minor(device);
}

/* true: fd is ours; *r is 0 or -errno. */
static bool attr_of_descriptor(int fd, struct nfsappend_attr *a,
	uint64_t *device, uint32_t *blksize, int *r)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return false;
	*r = use.error != 0 ? use.error : nfsappend_io_getattr(use.open, a);
	if (*r == 0) {
		*device = nfsappend_io_device(use.open, a);
		*blksize = nfsappend_io_blksize(use.open, fd);
	}
	nfsappend_use_end(&use);
	return true;
}

bool nfsappend_stat_descriptor(int fd, struct stat *st, int *result)
{
	struct nfsappend_attr a;
	uint64_t device;
	uint32_t blksize;

	if (!attr_of_descriptor(fd, &a, &device, &blksize, result))
		return false;
	if (*result == 0) {
		fill_stat(&a, device, st);
		st->st_blksize = blksize;
	}
	*result = (int)nfsappend_result(*result);
	return true;
}

/* /dev/stdout and /proc/self/fd/N, where one of ours has that number. */
static bool stat_named(const char *path, int flags, struct stat *st, int *r)
{
	int fd = nfsappend_path_descriptor(path);

	return fd >= 0 && !(flags & AT_SYMLINK_NOFOLLOW) &&
		nfsappend_stat_descriptor(fd, st, r);
}

#define STAT_FLAGS                                                             \
	(AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH |               \
		AT_STATX_SYNC_TYPE)

static int stat_path(int dirfd, const char *path, int flags, struct stat *st)
{
	struct nfsappend_attr a;
	uint64_t device;
	int r = -EINVAL;

	if (!(flags & ~STAT_FLAGS))
		r = nfsappend_path_getattr(dirfd, path,
			!(flags & AT_SYMLINK_NOFOLLOW), &a, &device);
	if (r == 0)
		fill_stat(&a, device, st);
	return r;
}

/* Is it about the descriptor itself? */
static bool of_descriptor(const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && (path == NULL || path[0] == '\0');
}

/* stat() and its like came in 2.33. */
static bool modern(enum nfsappend_real_index i)
{
	return nfsappend_real(i) != NULL;
}
#define STAT_VERSION 1 /* _STAT_VER_LINUX */

static int real_fstat(int fd, struct stat *st)
{
	return modern(NFSAPPEND_REAL_INDEX_fstat)
		? NFSAPPEND_REAL(fstat)(fd, st)
		: NFSAPPEND_REAL(__fxstat)(STAT_VERSION, fd, st);
}

/* A path of the kernel's may be a file on a mount that we append to: the
 * kernel learns late of what it has not written itself. */
static bool appended_attr(uint64_t device, uint64_t ino, mode_t mode,
	struct nfsappend_attr *a)
{
	struct nfsappend_guard guard;
	bool found;

	/* Network file systems have no device of their own. */
	if (!nfsappend_active || nfsappend_depth != 0 || !S_ISREG(mode) ||
		major(device) != 0 || !nfsappend_file_any())
		return false;
	nfsappend_guard_enter(&guard);
	found = nfsappend_mounted_appended(device, ino, a);
	nfsappend_guard_leave(&guard);
	return found;
}

static int appended_stat(int r, struct stat *st)
{
	struct nfsappend_attr a;

	if (r != 0 || !appended_attr(st->st_dev, st->st_ino, st->st_mode, &a))
		return r;
	st->st_size = (off_t)a.size;
	st->st_blocks = (blkcnt_t)((a.used + 511) / 512);
	st->st_mtim = a.mtime;
	st->st_ctim = a.ctime;
	return r;
}

static int appended_statx(int r, struct statx *stx)
{
	struct nfsappend_attr a;

	if (r != 0 || !appended_attr(makedev(stx->stx_dev_major,
					     stx->stx_dev_minor),
			      stx->stx_ino, stx->stx_mode, &a))
		return r;
	stx->stx_size = a.size;
	stx->stx_blocks = (a.used + 511) / 512;
	stx->stx_mtime = stamp(a.mtime);
	stx->stx_ctime = stamp(a.ctime);
	return r;
}

static int real_stat(const char *path, struct stat *st)
{
	return appended_stat(modern(NFSAPPEND_REAL_INDEX_stat)
			? NFSAPPEND_REAL(stat)(path, st)
			: NFSAPPEND_REAL(__xstat)(STAT_VERSION, path, st),
		st);
}

static int real_lstat(const char *path, struct stat *st)
{
	return appended_stat(modern(NFSAPPEND_REAL_INDEX_lstat)
			? NFSAPPEND_REAL(lstat)(path, st)
			: NFSAPPEND_REAL(__lxstat)(STAT_VERSION, path, st),
		st);
}

static int real_fstatat(int fd, const char *path, struct stat *st, int flags)
{
	return appended_stat(modern(NFSAPPEND_REAL_INDEX_fstatat)
			? NFSAPPEND_REAL(fstatat)(fd, path, st, flags)
			: NFSAPPEND_REAL(__fxstatat)(STAT_VERSION, fd, path,
				  st, flags),
		st);
}

NFSAPPEND_HOOK int stat(const char *path, struct stat *st)
{
	int r;

	if (stat_named(path, 0, st, &r))
		return r;
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		stat_path(AT_FDCWD, path, 0, st), real_stat(path, st));
}

NFSAPPEND_HOOK int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

NFSAPPEND_HOOK int lstat(const char *path, struct stat *st)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		stat_path(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, st),
		real_lstat(path, st));
}

NFSAPPEND_HOOK int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

NFSAPPEND_HOOK int fstat(int fd, struct stat *st)
{
	int r;

	return nfsappend_stat_descriptor(fd, st, &r) ? r : real_fstat(fd, st);
}

NFSAPPEND_HOOK int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

NFSAPPEND_HOOK int fstatat(int fd, const char *path, struct stat *st,
	int flags)
{
	int r;

	if (of_descriptor(path, flags) && nfsappend_stat_descriptor(fd, st, &r))
		return r;
	if (stat_named(path, flags, st, &r))
		return r;
	NFSAPPEND_PATH_CALL(fd, path, false, stat_path(fd, path, flags, st),
		real_fstatat(fd, path, st, flags));
}

NFSAPPEND_HOOK int fstatat64(int fd, const char *path, struct stat64 *st,
	int flags)
{
	return fstatat(fd, path, (struct stat *)st, flags);
}

NFSAPPEND_HOOK int __xstat(int version, const char *path, struct stat *st)
{
	int r;

	if (stat_named(path, 0, st, &r))
		return r;
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		stat_path(AT_FDCWD, path, 0, st),
		appended_stat(NFSAPPEND_REAL(__xstat)(version, path, st), st));
}

NFSAPPEND_HOOK int __xstat64(int version, const char *path, struct stat64 *st)
{
	return __xstat(version, path, (struct stat *)st);
}

NFSAPPEND_HOOK int __lxstat(int version, const char *path, struct stat *st)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		stat_path(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, st),
		appended_stat(NFSAPPEND_REAL(__lxstat)(version, path, st), st));
}

NFSAPPEND_HOOK int __lxstat64(int version, const char *path, struct stat64 *st)
{
	return __lxstat(version, path, (struct stat *)st);
}

NFSAPPEND_HOOK int __fxstat(int version, int fd, struct stat *st)
{
	int r;

	return nfsappend_stat_descriptor(fd, st, &r)
		? r
		: NFSAPPEND_REAL(__fxstat)(version, fd, st);
}

NFSAPPEND_HOOK int __fxstat64(int version, int fd, struct stat64 *st)
{
	return __fxstat(version, fd, (struct stat *)st);
}

NFSAPPEND_HOOK int __fxstatat(int version, int fd, const char *path,
	struct stat *st, int flags)
{
	int r;

	if (of_descriptor(path, flags) && nfsappend_stat_descriptor(fd, st, &r))
		return r;
	if (stat_named(path, flags, st, &r))
		return r;
	NFSAPPEND_PATH_CALL(fd, path, false, stat_path(fd, path, flags, st),
		appended_stat(NFSAPPEND_REAL(__fxstatat)(version, fd, path, st,
				      flags),
			st));
}

NFSAPPEND_HOOK int __fxstatat64(int version, int fd, const char *path,
	struct stat64 *st, int flags)
{
	return __fxstatat(version, fd, path, (struct stat *)st, flags);
}

static int statx_path(int dirfd, const char *path, int flags, unsigned mask,
	struct statx *stx)
{
	struct nfsappend_attr a;
	uint64_t device;
	int r;

	if (mask & STATX__RESERVED || flags & ~STAT_FLAGS ||
		(flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
		return -EINVAL;
	r = nfsappend_path_getattr(dirfd, path,
		!(flags & AT_SYMLINK_NOFOLLOW), &a, &device);
	if (r == 0)
		fill_statx(&a, device, stx);
	return r;
}

NFSAPPEND_HOOK int statx(int fd, const char *path, int flags, unsigned mask,
	struct statx *stx)
{
	struct nfsappend_attr a;
	uint64_t device;
	uint32_t blksize;
	int r, named = nfsappend_path_descriptor(path);

	if (named >= 0 && flags & AT_SYMLINK_NOFOLLOW)
		named = -1;
	if ((named >= 0 || of_descriptor(path, flags)) &&
		attr_of_descriptor(named >= 0 ? named : fd, &a, &device,
			&blksize, &r)) {
		if (r == 0) {
			fill_statx(&a, device, stx);
			stx->stx_blksize = blksize;
		}
		return (int)nfsappend_result(r);
	}
	NFSAPPEND_PATH_CALL(fd, path, false,
		statx_path(fd, path, flags, mask, stx),
		appended_statx(NFSAPPEND_REAL(statx)(fd, path, flags, mask,
				       stx),
			stx));
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stat family on descriptors. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/io.h"
#include "preload/hook.h"
#include "preload/stat_fill.h"

extern int __fxstat(int, int, struct stat *);
extern int __fxstat64(int, int, struct stat64 *);
extern int __fxstatat(int, int, const char *, struct stat *, int);
extern int __fxstatat64(int, int, const char *, struct stat64 *, int);

/* As a local file's, so that stdio's buffers are the same. */
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

int nfsappend_fill_stat(struct nfsappend_open *o, struct stat *st)
{
	struct nfsappend_attr a;
	int r = nfsappend_io_getattr(o, &a);

	if (r != 0)
		return r;
	memset(st, 0, sizeof *st);
	st->st_dev = nfsappend_io_device(o, &a);
	st->st_ino = a.fileid;
	st->st_mode = type_bits(a.type) | a.mode;
	st->st_nlink = a.nlink;
	st->st_uid = a.uid;
	st->st_gid = a.gid;
	st->st_size = (off_t)a.size;
	st->st_blksize = BLKSIZE;
	st->st_blocks = (blkcnt_t)((a.used + 511) / 512);
	st->st_atim = a.atime;
	st->st_mtim = a.mtime;
	st->st_ctim = a.ctime;
	return 0;
}

static struct statx_timestamp stamp(struct timespec t)
{
	return (struct statx_timestamp){.tv_sec = t.tv_sec,
		.tv_nsec = (uint32_t)t.tv_nsec};
}

int nfsappend_fill_statx(struct nfsappend_open *o, struct statx *stx)
{
	struct nfsappend_attr a;
	int r = nfsappend_io_getattr(o, &a);
	uint64_t dev;

	if (r != 0)
		return r;
	memset(stx, 0, sizeof *stx);
	dev = nfsappend_io_device(o, &a);
	stx->stx_mask = STATX_BASIC_STATS;
	stx->stx_blksize = BLKSIZE;
	stx->stx_nlink = a.nlink;
	stx->stx_uid = a.uid;
	stx->stx_gid = a.gid;
	stx->stx_mode = (uint16_t)(type_bits(a.type) | a.mode);
	stx->stx_ino = a.fileid;
	stx->stx_size = a.size;
	stx->stx_blocks = (a.used + 511) / 512;
	stx->stx_atime = stamp(a.atime);
	stx->stx_mtime = stamp(a.mtime);
	stx->stx_ctime = stamp(a.ctime);
	stx->stx_dev_major = major(dev);
	stx->stx_dev_minor = minor(dev);
	return 0;
}

static bool stat_ours(int fd, struct stat *st, int *result)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return false;
	*result = use.error != 0 ? use.error
				 : nfsappend_fill_stat(use.open, st);
	nfsappend_use_end(&use);
	*result = (int)nfsappend_result(*result);
	return true;
}

/* Is it about the descriptor itself? */
static bool of_descriptor(const char *path, int flags)
{
	return flags & AT_EMPTY_PATH && (path == NULL || path[0] == '\0');
}

/* fstat() came in 2.33; before there is only __fxstat(). */
static int real_fstat(int fd, struct stat *st)
{
	if (nfsappend_real(NFSAPPEND_REAL_INDEX_fstat) != NULL)
		return NFSAPPEND_REAL(fstat)(fd, st);
	return NFSAPPEND_REAL(__fxstat)(1, fd, st); /* _STAT_VER_LINUX */
}

NFSAPPEND_HOOK int fstat(int fd, struct stat *st)
{
	int r;

	return stat_ours(fd, st, &r) ? r : real_fstat(fd, st);
}

NFSAPPEND_HOOK int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

NFSAPPEND_HOOK int __fxstat(int version, int fd, struct stat *st)
{
	int r;

	return stat_ours(fd, st, &r)
		? r
		: NFSAPPEND_REAL(__fxstat)(version, fd, st);
}

NFSAPPEND_HOOK int __fxstat64(int version, int fd, struct stat64 *st)
{
	return __fxstat(version, fd, (struct stat *)st);
}

NFSAPPEND_HOOK int fstatat(int fd, const char *path, struct stat *st,
	int flags)
{
	int r;

	if (of_descriptor(path, flags) && stat_ours(fd, st, &r))
		return r;
	if (nfsappend_real(NFSAPPEND_REAL_INDEX_fstatat) != NULL)
		return NFSAPPEND_REAL(fstatat)(fd, path, st, flags);
	return NFSAPPEND_REAL(__fxstatat)(1, fd, path, st, flags);
}

NFSAPPEND_HOOK int fstatat64(int fd, const char *path, struct stat64 *st,
	int flags)
{
	return fstatat(fd, path, (struct stat *)st, flags);
}

NFSAPPEND_HOOK int __fxstatat(int version, int fd, const char *path,
	struct stat *st, int flags)
{
	int r;

	if (of_descriptor(path, flags) && stat_ours(fd, st, &r))
		return r;
	return NFSAPPEND_REAL(__fxstatat)(version, fd, path, st, flags);
}

NFSAPPEND_HOOK int __fxstatat64(int version, int fd, const char *path,
	struct stat64 *st, int flags)
{
	return __fxstatat(version, fd, path, (struct stat *)st, flags);
}

NFSAPPEND_HOOK int statx(int fd, const char *path, int flags, unsigned mask,
	struct statx *stx)
{
	struct nfsappend_use use;
	int r;

	if (!of_descriptor(path, flags) || !nfsappend_use_begin(&use, fd))
		return NFSAPPEND_REAL(statx)(fd, path, flags, mask, stx);
	r = use.error != 0 ? use.error : nfsappend_fill_statx(use.open, stx);
	nfsappend_use_end(&use);
	return (int)nfsappend_result(r);
}

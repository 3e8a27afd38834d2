/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* statfs() and statvfs(): the server's file system, of the type NFS, so that
 * programs know that changes of others come without notice. */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "core/io.h"
#include "core/query.h"
#include "preload/path.h"

#define NFS_MAGIC 0x6969 /* linux/magic.h */
#define BLOCK 4096u

static void fill_statfs(const struct nfsappend_space *space, uint64_t fsid,
	struct statfs *s)
{
	memset(s, 0, sizeof *s);
	s->f_type = NFS_MAGIC;
	s->f_bsize = s->f_frsize = BLOCK;
	s->f_blocks = space->total / BLOCK;
	s->f_bfree = space->free / BLOCK;
	s->f_bavail = space->avail / BLOCK;
	s->f_files = space->files;
	s->f_ffree = space->files_free;
	memcpy(&s->f_fsid, &fsid, sizeof s->f_fsid);
	s->f_namelen = NFSAPPEND_NAME_MAX;
}

static void fill_statvfs(const struct nfsappend_space *space, uint64_t fsid,
	struct statvfs *s)
{
	memset(s, 0, sizeof *s);
	s->f_bsize = s->f_frsize = BLOCK;
	s->f_blocks = space->total / BLOCK;
	s->f_bfree = space->free / BLOCK;
	s->f_bavail = space->avail / BLOCK;
	s->f_files = space->files;
	s->f_ffree = space->files_free;
	s->f_favail = space->files_avail;
	s->f_fsid = fsid;
	s->f_namemax = NFSAPPEND_NAME_MAX;
}

static int statfs_path(const char *path, struct statfs *s)
{
	struct nfsappend_space space;
	uint64_t fsid;
	int r = nfsappend_path_statfs(path, &space, &fsid);

	if (r == 0)
		fill_statfs(&space, fsid, s);
	return r;
}

static int statvfs_path(const char *path, struct statvfs *s)
{
	struct nfsappend_space space;
	uint64_t fsid;
	int r = nfsappend_path_statfs(path, &space, &fsid);

	if (r == 0)
		fill_statvfs(&space, fsid, s);
	return r;
}

/* true: fd is ours; *r is 0 or -errno. */
static bool of_descriptor(int fd, struct nfsappend_space *space,
	uint64_t *fsid, int *r)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin_mapped(&use, fd))
		return false;
	*r = use.error != 0 ? use.error
			    : nfsappend_io_statfs(use.open, space, fsid);
	nfsappend_use_end(&use);
	return true;
}

NFSAPPEND_HOOK int statfs(const char *path, struct statfs *s)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false, statfs_path(path, s),
		NFSAPPEND_REAL(statfs)(path, s));
}

NFSAPPEND_HOOK int statfs64(const char *path, struct statfs64 *s)
{
	return statfs(path, (struct statfs *)s);
}

NFSAPPEND_HOOK int fstatfs(int fd, struct statfs *s)
{
	struct nfsappend_space space;
	uint64_t fsid;
	int r;

	if (!of_descriptor(fd, &space, &fsid, &r))
		return NFSAPPEND_REAL(fstatfs)(fd, s);
	if (r == 0)
		fill_statfs(&space, fsid, s);
	return (int)nfsappend_result(r);
}

NFSAPPEND_HOOK int fstatfs64(int fd, struct statfs64 *s)
{
	return fstatfs(fd, (struct statfs *)s);
}

NFSAPPEND_HOOK int statvfs(const char *path, struct statvfs *s)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false, statvfs_path(path, s),
		NFSAPPEND_REAL(statvfs)(path, s));
}

NFSAPPEND_HOOK int statvfs64(const char *path, struct statvfs64 *s)
{
	return statvfs(path, (struct statvfs *)s);
}

NFSAPPEND_HOOK int fstatvfs(int fd, struct statvfs *s)
{
	struct nfsappend_space space;
	uint64_t fsid;
	int r;

	if (!of_descriptor(fd, &space, &fsid, &r))
		return NFSAPPEND_REAL(fstatvfs)(fd, s);
	if (r == 0)
		fill_statvfs(&space, fsid, s);
	return (int)nfsappend_result(r);
}

NFSAPPEND_HOOK int fstatvfs64(int fd, struct statvfs64 *s)
{
	return fstatvfs(fd, (struct statvfs *)s);
}

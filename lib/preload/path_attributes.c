/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes a file by its path: mode, owner, times, size. */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "core/alter.h"
#include "core/query.h"
#include "preload/path.h"
#include "preload/times.h"

/* fd of ours that the path names (/dev/stdout, /proc/self/fd/N), or -1: the
 * kernel would change the placeholder. */
static int named(const char *path)
{
	int fd = nfsappend_path_descriptor(path);

	return fd >= 0 && !nfsappend_table_unmanaged(fd) ? fd : -1;
}

static int chmod_path(int dirfd, const char *path, mode_t mode, int flags)
{
	struct nfsappend_attr a = {.mode = mode & 07777};

	if (flags & ~AT_SYMLINK_NOFOLLOW)
		return -EINVAL;
	return nfsappend_path_setattr(dirfd, path,
		!(flags & AT_SYMLINK_NOFOLLOW), NFSAPPEND_SET_MODE, &a);
}

NFSAPPEND_HOOK int chmod(const char *path, mode_t mode)
{
	int fd = named(path);

	if (fd >= 0)
		return fchmod(fd, mode);
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		chmod_path(AT_FDCWD, path, mode, 0),
		NFSAPPEND_REAL(chmod)(path, mode));
}

NFSAPPEND_HOOK int lchmod(const char *path, mode_t mode)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		chmod_path(AT_FDCWD, path, mode, AT_SYMLINK_NOFOLLOW),
		NFSAPPEND_REAL(lchmod)(path, mode));
}

NFSAPPEND_HOOK int fchmodat(int dirfd, const char *path, mode_t mode,
	int flags)
{
	int fd = named(path);

	if (fd >= 0 && flags == 0)
		return fchmod(fd, mode);
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		chmod_path(dirfd, path, mode, flags),
		NFSAPPEND_REAL(fchmodat)(dirfd, path, mode, flags));
}

static int chown_path(int dirfd, const char *path, uid_t uid, gid_t gid,
	int flags)
{
	struct nfsappend_attr a = {.uid = uid, .gid = gid};
	unsigned set = (uid != (uid_t)-1 ? NFSAPPEND_SET_UID : 0) |
		(gid != (gid_t)-1 ? NFSAPPEND_SET_GID : 0);

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return nfsappend_path_setattr(dirfd, path,
		!(flags & AT_SYMLINK_NOFOLLOW), set, &a);
}

NFSAPPEND_HOOK int chown(const char *path, uid_t uid, gid_t gid)
{
	int fd = named(path);

	if (fd >= 0)
		return fchown(fd, uid, gid);
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		chown_path(AT_FDCWD, path, uid, gid, 0),
		NFSAPPEND_REAL(chown)(path, uid, gid));
}

NFSAPPEND_HOOK int lchown(const char *path, uid_t uid, gid_t gid)
{
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		chown_path(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW),
		NFSAPPEND_REAL(lchown)(path, uid, gid));
}

NFSAPPEND_HOOK int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid,
	int flags)
{
	if (flags & AT_EMPTY_PATH && path[0] == '\0' &&
		nfsappend_may_be_ours(dirfd))
		return fchown(dirfd, uid, gid);
	if (!(flags & AT_SYMLINK_NOFOLLOW) && named(path) >= 0)
		return fchown(named(path), uid, gid);
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		chown_path(dirfd, path, uid, gid, flags),
		NFSAPPEND_REAL(fchownat)(dirfd, path, uid, gid, flags));
}

static unsigned time_bits(const struct timespec *t, unsigned given,
	unsigned now)
{
	if (t == NULL || t->tv_nsec == UTIME_NOW)
		return now;
	return t->tv_nsec == UTIME_OMIT ? 0 : given;
}

static bool is_time(const struct timespec *t)
{
	return (t->tv_nsec >= 0 && t->tv_nsec < 1000000000) ||
		t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT;
}

int nfsappend_times(const struct timespec times[2], struct nfsappend_attr *a)
{
	if (times != NULL) {
		if (!is_time(&times[0]) || !is_time(&times[1]))
			return -EINVAL;
		a->atime = times[0];
		a->mtime = times[1];
	}
	return (int)(time_bits(times, NFSAPPEND_SET_ATIME,
			     NFSAPPEND_SET_ATIME_NOW) |
		time_bits(times != NULL ? times + 1 : NULL,
			NFSAPPEND_SET_MTIME, NFSAPPEND_SET_MTIME_NOW));
}

const struct timespec *nfsappend_timespecs(const struct timeval times[2],
	struct timespec room[2])
{
	if (times == NULL)
		return NULL;
	for (int i = 0; i < 2; i++) {
		room[i].tv_sec = times[i].tv_sec;
		/* Not a time: must not become UTIME_NOW by accident. */
		room[i].tv_nsec = times[i].tv_usec < 0 ||
				times[i].tv_usec >= 1000000
			? -1
			: times[i].tv_usec * 1000;
	}
	return room;
}

static int times_path(int dirfd, const char *path,
	const struct timespec times[2], int flags)
{
	struct nfsappend_attr a = {0};
	int set = nfsappend_times(times, &a);

	if (set == 0) /* both UTIME_OMIT: the kernel does not even look */
		return 0;
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (set < 0) { /* the kernel looks for the file first */
		int r = nfsappend_path_exists(dirfd, path,
			!(flags & AT_SYMLINK_NOFOLLOW));

		return r != 0 ? r : -EINVAL;
	}
	return nfsappend_path_setattr(dirfd, path,
		!(flags & AT_SYMLINK_NOFOLLOW), (unsigned)set, &a);
}

NFSAPPEND_HOOK int utimensat(int dirfd, const char *path,
	const struct timespec times[2], int flags)
{
	/* glibc refuses a NULL path; the kernel's AT_EMPTY_PATH is futimens. */
	if (flags & AT_EMPTY_PATH && path[0] == '\0' &&
		nfsappend_may_be_ours(dirfd))
		return futimens(dirfd, times);
	if (!(flags & AT_SYMLINK_NOFOLLOW) && named(path) >= 0)
		return futimens(named(path), times);
	NFSAPPEND_PATH_CALL(dirfd, path, false,
		times_path(dirfd, path, times, flags),
		NFSAPPEND_REAL(utimensat)(dirfd, path, times, flags));
}

NFSAPPEND_HOOK int utime(const char *path, const struct utimbuf *times)
{
	struct timespec t[2] = {{0, 0}, {0, 0}};

	if (times != NULL) {
		t[0].tv_sec = times->actime;
		t[1].tv_sec = times->modtime;
	}
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		times_path(AT_FDCWD, path, times != NULL ? t : NULL, 0),
		NFSAPPEND_REAL(utime)(path, times));
}

NFSAPPEND_HOOK int utimes(const char *path, const struct timeval times[2])
{
	struct timespec t[2];

	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		times_path(AT_FDCWD, path, nfsappend_timespecs(times, t), 0),
		NFSAPPEND_REAL(utimes)(path, times));
}

NFSAPPEND_HOOK int lutimes(const char *path, const struct timeval times[2])
{
	struct timespec t[2];

	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		times_path(AT_FDCWD, path, nfsappend_timespecs(times, t),
			AT_SYMLINK_NOFOLLOW),
		NFSAPPEND_REAL(lutimes)(path, times));
}

NFSAPPEND_HOOK int futimesat(int dirfd, const char *path,
	const struct timeval times[2])
{
	struct timespec t[2];

	NFSAPPEND_PATH_CALL(dirfd, path, false,
		times_path(dirfd, path, nfsappend_timespecs(times, t), 0),
		NFSAPPEND_REAL(futimesat)(dirfd, path, times));
}

NFSAPPEND_HOOK int truncate(const char *path, off_t length)
{
	int fd = named(path);

	if (fd >= 0)
		return ftruncate(fd, length);
	NFSAPPEND_PATH_CALL(AT_FDCWD, path, false,
		nfsappend_path_truncate(path, length),
		NFSAPPEND_REAL(truncate)(path, length));
}

NFSAPPEND_HOOK int truncate64(const char *path, off64_t length)
{
	return truncate(path, length);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What changes a file by its descriptor, and what would flush it. */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "core/io.h"
#include "preload/hook.h"
#include "preload/times.h"

/* fd is ours: evaluates expr with use, returns. begin: what is ours. */
#define IF(begin, fd, expr)                                                    \
	do {                                                                   \
		struct nfsappend_use use;                                      \
		int r_;                                                        \
		if (!begin(&use, (fd)))                                        \
			break;                                                 \
		r_ = use.error != 0 ? use.error : (expr);                      \
		nfsappend_use_end(&use);                                       \
		return (int)nfsappend_result(r_);                              \
	} while (0)

#define IF_OURS(fd, expr) IF(nfsappend_use_begin, fd, expr)
/* Where a kernel mount's own client does it on the placeholder. */
#define IF_MAPPED(fd, expr) IF(nfsappend_use_begin_mapped, fd, expr)

NFSAPPEND_HOOK int ftruncate(int fd, off_t length)
{
	IF_OURS(fd, nfsappend_io_truncate(use.open, fd, length));
	return NFSAPPEND_REAL(ftruncate)(fd, length);
}

NFSAPPEND_HOOK int ftruncate64(int fd, off64_t length)
{
	return ftruncate(fd, length);
}

/* Every write was FILE_SYNC: nothing is left to flush, nothing can fail. */
NFSAPPEND_HOOK int fsync(int fd)
{
	IF_OURS(fd, 0);
	return NFSAPPEND_REAL(fsync)(fd);
}

NFSAPPEND_HOOK int fdatasync(int fd)
{
	IF_OURS(fd, 0);
	return NFSAPPEND_REAL(fdatasync)(fd);
}

NFSAPPEND_HOOK int fchmod(int fd, mode_t mode)
{
	struct nfsappend_attr a = {.mode = mode & 07777};

	IF_MAPPED(fd, nfsappend_io_setattr(use.open, NFSAPPEND_SET_MODE, &a));
	return NFSAPPEND_REAL(fchmod)(fd, mode);
}

NFSAPPEND_HOOK int fchown(int fd, uid_t uid, gid_t gid)
{
	struct nfsappend_attr a = {.uid = uid, .gid = gid};
	unsigned set = (uid != (uid_t)-1 ? NFSAPPEND_SET_UID : 0) |
		(gid != (gid_t)-1 ? NFSAPPEND_SET_GID : 0);

	IF_MAPPED(fd, nfsappend_io_setattr(use.open, set, &a));
	return NFSAPPEND_REAL(fchown)(fd, uid, gid);
}

static int set_times(struct nfsappend_open *o, const struct timespec times[2])
{
	struct nfsappend_attr a = {0};
	int set = nfsappend_times(times, &a);

	return set <= 0 ? set : nfsappend_io_setattr(o, (unsigned)set, &a);
}

NFSAPPEND_HOOK int futimens(int fd, const struct timespec times[2])
{
	IF_MAPPED(fd, set_times(use.open, times));
	return NFSAPPEND_REAL(futimens)(fd, times);
}

NFSAPPEND_HOOK int futimes(int fd, const struct timeval times[2])
{
	struct timespec t[2];

	IF_MAPPED(fd, set_times(use.open, nfsappend_timespecs(times, t)));
	return NFSAPPEND_REAL(futimes)(fd, times);
}

/* NFSv3 has no ALLOCATE (RFC 7862 brought it). The kernel's client does it on
 * a mount of NFSv4.2. */
NFSAPPEND_HOOK int fallocate(int fd, int mode, off_t offset, off_t length)
{
	IF_OURS(fd, nfsappend_io_fallocate(use.open, fd, mode, offset, length));
	return NFSAPPEND_REAL(fallocate)(fd, mode, offset, length);
}

NFSAPPEND_HOOK int fallocate64(int fd, int mode, off64_t offset,
	off64_t length)
{
	return fallocate(fd, mode, offset, length);
}

/* Returns the error, sets no errno. glibc would write zeroes instead, into
 * the middle of other people's appends. */
NFSAPPEND_HOOK int posix_fallocate(int fd, off_t offset, off_t length)
{
	struct nfsappend_use use;
	int r;

	if (!nfsappend_use_begin(&use, fd))
		return NFSAPPEND_REAL(posix_fallocate)(fd, offset, length);
	r = use.error != 0 ? use.error
			   : nfsappend_io_fallocate(use.open, fd, 0, offset,
				     length);
	nfsappend_use_end(&use);
	return -r;
}

NFSAPPEND_HOOK int posix_fallocate64(int fd, off64_t offset, off64_t length)
{
	return posix_fallocate(fd, offset, length);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* read() and its relatives, for O_RDWR and O_RDONLY on mapped paths. */
#include "config.h"

#include <sys/uio.h>

#include "core/io.h"
#include "preload/hook.h"

extern ssize_t __read_chk(int, void *, size_t, size_t);
extern ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
extern ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
extern void __chk_fail(void) __attribute__((noreturn));

#define READ_IF_OURS(fd, iov, cnt, offset, flags)                              \
	do {                                                                   \
		struct nfsappend_use use_;                                     \
		ssize_t r_;                                                    \
		if (!nfsappend_use_begin_cancellable(&use_, (fd)))                         \
			break;                                                 \
		r_ = use_.error != 0 ? use_.error                              \
				     : nfsappend_io_read(use_.open, (fd),      \
					       (iov), (cnt), (offset),         \
					       (flags));                       \
		nfsappend_use_end(&use_);                                      \
		return nfsappend_result(r_);                                   \
	} while (0)

#define OFFSET(offset) ((offset) < 0 ? -2 : (offset))

NFSAPPEND_HOOK ssize_t read(int fd, void *buf, size_t n)
{
	struct iovec iov = {buf, n};

	READ_IF_OURS(fd, &iov, 1, NFSAPPEND_AT_POSITION, 0);
	return NFSAPPEND_REAL(read)(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t readv(int fd, const struct iovec *iov, int cnt)
{
	READ_IF_OURS(fd, iov, cnt, NFSAPPEND_AT_POSITION, 0);
	return NFSAPPEND_REAL(readv)(fd, iov, cnt);
}

NFSAPPEND_HOOK ssize_t pread(int fd, void *buf, size_t n, off_t offset)
{
	struct iovec iov = {buf, n};

	READ_IF_OURS(fd, &iov, 1, OFFSET(offset), 0);
	return NFSAPPEND_REAL(pread)(fd, buf, n, offset);
}

NFSAPPEND_HOOK ssize_t pread64(int fd, void *buf, size_t n, off64_t offset)
{
	struct iovec iov = {buf, n};

	READ_IF_OURS(fd, &iov, 1, OFFSET(offset), 0);
	return NFSAPPEND_REAL(pread64)(fd, buf, n, offset);
}

NFSAPPEND_HOOK ssize_t preadv(int fd, const struct iovec *iov, int cnt,
	off_t offset)
{
	READ_IF_OURS(fd, iov, cnt, OFFSET(offset), 0);
	return NFSAPPEND_REAL(preadv)(fd, iov, cnt, offset);
}

NFSAPPEND_HOOK ssize_t preadv64(int fd, const struct iovec *iov, int cnt,
	off64_t offset)
{
	READ_IF_OURS(fd, iov, cnt, OFFSET(offset), 0);
	return NFSAPPEND_REAL(preadv64)(fd, iov, cnt, offset);
}

NFSAPPEND_HOOK ssize_t preadv2(int fd, const struct iovec *iov, int cnt,
	off_t offset, int flags)
{
	READ_IF_OURS(fd, iov, cnt, offset, flags);
	return NFSAPPEND_REAL(preadv2)(fd, iov, cnt, offset, flags);
}

NFSAPPEND_HOOK ssize_t preadv64v2(int fd, const struct iovec *iov, int cnt,
	off64_t offset, int flags)
{
	READ_IF_OURS(fd, iov, cnt, offset, flags);
	return NFSAPPEND_REAL(preadv64v2)(fd, iov, cnt, offset, flags);
}

/* Fortified: a buffer that is too small ends the program, as in glibc. */
NFSAPPEND_HOOK ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	return read(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t __pread_chk(int fd, void *buf, size_t n, off_t offset,
	size_t room)
{
	if (n > room)
		__chk_fail();
	return pread(fd, buf, n, offset);
}

NFSAPPEND_HOOK ssize_t __pread64_chk(int fd, void *buf, size_t n,
	off64_t offset, size_t room)
{
	if (n > room)
		__chk_fail();
	return pread64(fd, buf, n, offset);
}

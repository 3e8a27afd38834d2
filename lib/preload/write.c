/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* write() and its relatives, and dprintf(), which writes without a FILE in
 * glibc 2.37 and later. */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>

#include "core/io.h"
#include "preload/hook.h"

extern int __dprintf_chk(int, int, const char *, ...);
extern int __vdprintf_chk(int, int, const char *, va_list);

/* Ours: the rest of the function; else what follows. */
#define WRITE_IF_OURS(fd, iov, cnt, offset, flags)                             \
	do {                                                                   \
		struct nfsappend_use use_;                                     \
		ssize_t r_;                                                    \
		if (!nfsappend_use_begin_cancellable(&use_, (fd)))                         \
			break;                                                 \
		r_ = use_.error != 0 ? use_.error                              \
				     : nfsappend_io_write(use_.open, (fd),     \
					       (iov), (cnt), (offset),         \
					       (flags));                       \
		nfsappend_use_end(&use_);                                      \
		return nfsappend_result(r_);                                   \
	} while (0)

/* The same for one buffer. */
#define WRITE_ONE_IF_OURS(fd, buf, n, offset)                                  \
	do {                                                                   \
		struct nfsappend_use use_;                                     \
		ssize_t r_;                                                    \
		if (!nfsappend_use_begin_cancellable(&use_, (fd)))             \
			break;                                                 \
		r_ = use_.error != 0 ? use_.error                              \
				     : nfsappend_io_write_one(use_.open, (fd), \
					       (buf), (n), (offset));          \
		nfsappend_use_end(&use_);                                      \
		return nfsappend_result(r_);                                   \
	} while (0)

/* A negative offset of pwrite() is an error, not "the position". */
#define OFFSET(offset) ((offset) < 0 ? -2 : (offset))

/* Apart, so that write() on any other descriptor needs no stack frame. */
static NFSAPPEND_APART ssize_t write_ours(int fd, const void *buf, size_t n)
{
	WRITE_ONE_IF_OURS(fd, buf, n, NFSAPPEND_AT_POSITION);
	return NFSAPPEND_REAL(write)(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t write(int fd, const void *buf, size_t n)
{
	return nfsappend_may_be_ours(fd) ? write_ours(fd, buf, n)
					 : NFSAPPEND_REAL(write)(fd, buf, n);
}

ssize_t nfsappend_hook_write(int fd, const void *buf, size_t n)
{
	return write(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t writev(int fd, const struct iovec *iov, int cnt)
{
	WRITE_IF_OURS(fd, iov, cnt, NFSAPPEND_AT_POSITION, 0);
	return NFSAPPEND_REAL(writev)(fd, iov, cnt);
}

NFSAPPEND_HOOK ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	WRITE_ONE_IF_OURS(fd, buf, n, OFFSET(offset));
	return NFSAPPEND_REAL(pwrite)(fd, buf, n, offset);
}

NFSAPPEND_HOOK ssize_t pwrite64(int fd, const void *buf, size_t n,
	off64_t offset)
{
	WRITE_ONE_IF_OURS(fd, buf, n, OFFSET(offset));
	return NFSAPPEND_REAL(pwrite64)(fd, buf, n, offset);
}

NFSAPPEND_HOOK ssize_t pwritev(int fd, const struct iovec *iov, int cnt,
	off_t offset)
{
	WRITE_IF_OURS(fd, iov, cnt, OFFSET(offset), 0);
	return NFSAPPEND_REAL(pwritev)(fd, iov, cnt, offset);
}

NFSAPPEND_HOOK ssize_t pwritev64(int fd, const struct iovec *iov, int cnt,
	off64_t offset)
{
	WRITE_IF_OURS(fd, iov, cnt, OFFSET(offset), 0);
	return NFSAPPEND_REAL(pwritev64)(fd, iov, cnt, offset);
}

/* Here -1 does mean the position (preadv2(2)). */
NFSAPPEND_HOOK ssize_t pwritev2(int fd, const struct iovec *iov, int cnt,
	off_t offset, int flags)
{
	WRITE_IF_OURS(fd, iov, cnt, offset, flags);
	return NFSAPPEND_REAL(pwritev2)(fd, iov, cnt, offset, flags);
}

NFSAPPEND_HOOK ssize_t pwritev64v2(int fd, const struct iovec *iov, int cnt,
	off64_t offset, int flags)
{
	WRITE_IF_OURS(fd, iov, cnt, offset, flags);
	return NFSAPPEND_REAL(pwritev64v2)(fd, iov, cnt, offset, flags);
}

/* One record: formatted first, then written whole. */
static int print(int fd, char *text, int n)
{
	const char *at = text;
	int left = n;

	while (left > 0) {
		ssize_t r = write(fd, at, (size_t)left);

		if (r < 0) {
			n = -1;
			break;
		}
		at += r;
		left -= (int)r;
	}
	int saved = errno;

	free(text);
	errno = saved;
	return n;
}

NFSAPPEND_HOOK int vdprintf(int fd, const char *format, va_list ap)
{
	char *text;
	int n;

	if (!nfsappend_may_be_ours(fd))
		return NFSAPPEND_REAL(vdprintf)(fd, format, ap);
	n = vasprintf(&text, format, ap);
	return n < 0 ? n : print(fd, text, n);
}

NFSAPPEND_HOOK int dprintf(int fd, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vdprintf(fd, format, ap);
	va_end(ap);
	return n;
}

extern int __vasprintf_chk(char **, int, const char *, va_list);

NFSAPPEND_HOOK int __vdprintf_chk(int fd, int flag, const char *format,
	va_list ap)
{
	char *text;
	int n;

	if (!nfsappend_may_be_ours(fd))
		return NFSAPPEND_REAL(__vdprintf_chk)(fd, flag, format, ap);
	n = __vasprintf_chk(&text, flag, format, ap);
	return n < 0 ? n : print(fd, text, n);
}

NFSAPPEND_HOOK int __dprintf_chk(int fd, int flag, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = __vdprintf_chk(fd, flag, format, ap);
	va_end(ap);
	return n;
}

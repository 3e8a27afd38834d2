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

/*
 * Ours or the kernel's. The loop runs again when a descriptor that was taken
 * for the kernel's turns out to be a placeholder (nfsappend_escaped()).
 */
#define WRITE(name, args, fd, iov, cnt, offset, flags)                         \
	for (;;) {                                                             \
		struct nfsappend_use use_;                                     \
		ssize_t r_;                                                    \
		if (nfsappend_use_begin_cancellable(&use_, (fd))) {            \
			r_ = use_.error != 0 ? use_.error                      \
					     : nfsappend_io_write(use_.open,   \
						       (fd), (iov), (cnt),     \
						       (offset), (flags));     \
			nfsappend_use_end(&use_);                              \
			return nfsappend_result(r_);                           \
		}                                                              \
		r_ = NFSAPPEND_REAL(name) args;                                \
		if (r_ >= 0 || !nfsappend_escaped(fd))                         \
			return r_;                                             \
	}

/* A negative offset of pwrite() is an error, not "the position". */
#define OFFSET(offset) ((offset) < 0 ? -2 : (offset))

NFSAPPEND_HOOK ssize_t write(int fd, const void *buf, size_t n)
{
	struct iovec iov = {(void *)buf, n};

	WRITE(write, (fd, buf, n), fd, &iov, 1, NFSAPPEND_AT_POSITION, 0);
}

ssize_t nfsappend_hook_write(int fd, const void *buf, size_t n)
{
	return write(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t writev(int fd, const struct iovec *iov, int cnt)
{
	WRITE(writev, (fd, iov, cnt), fd, iov, cnt, NFSAPPEND_AT_POSITION, 0);
}

NFSAPPEND_HOOK ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	struct iovec iov = {(void *)buf, n};

	WRITE(pwrite, (fd, buf, n, offset), fd, &iov, 1, OFFSET(offset), 0);
}

NFSAPPEND_HOOK ssize_t pwrite64(int fd, const void *buf, size_t n,
	off64_t offset)
{
	struct iovec iov = {(void *)buf, n};

	WRITE(pwrite64, (fd, buf, n, offset), fd, &iov, 1, OFFSET(offset), 0);
}

NFSAPPEND_HOOK ssize_t pwritev(int fd, const struct iovec *iov, int cnt,
	off_t offset)
{
	WRITE(pwritev, (fd, iov, cnt, offset), fd, iov, cnt, OFFSET(offset), 0);
}

NFSAPPEND_HOOK ssize_t pwritev64(int fd, const struct iovec *iov, int cnt,
	off64_t offset)
{
	WRITE(pwritev64, (fd, iov, cnt, offset), fd, iov, cnt, OFFSET(offset), 0);
}

/* Here -1 does mean the position (preadv2(2)). */
NFSAPPEND_HOOK ssize_t pwritev2(int fd, const struct iovec *iov, int cnt,
	off_t offset, int flags)
{
	WRITE(pwritev2, (fd, iov, cnt, offset, flags), fd, iov, cnt, offset, flags);
}

NFSAPPEND_HOOK ssize_t pwritev64v2(int fd, const struct iovec *iov, int cnt,
	off64_t offset, int flags)
{
	WRITE(pwritev64v2, (fd, iov, cnt, offset, flags), fd, iov, cnt, offset, flags);
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

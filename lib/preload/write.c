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
#define WRITE(name, args, fd, served)                                          \
	for (;;) {                                                             \
		struct nfsappend_use use_;                                     \
		ssize_t r_;                                                    \
		if (nfsappend_use_begin_cancellable(&use_, (fd))) {            \
			struct nfsappend_open *open_ = use_.open;              \
			r_ = use_.error != 0 ? use_.error : (served);          \
			nfsappend_use_end(&use_);                              \
			return nfsappend_result(r_);                           \
		}                                                              \
		r_ = NFSAPPEND_REAL(name) args;                                \
		if (r_ >= 0 || !nfsappend_escaped(fd))                         \
			return r_;                                             \
	}

#define ONE(buf, n, offset)                                                    \
	nfsappend_io_write_one(open_, fd, (buf), (n), (offset))
#define MANY(iov, cnt, offset, flags)                                          \
	nfsappend_io_write(open_, fd, (iov), (cnt), (offset), (flags))

/* A negative offset of pwrite() is an error, not "the position". */
#define OFFSET(offset) ((offset) < 0 ? -2 : (offset))

static NFSAPPEND_APART ssize_t write_slowly(int fd, const void *buf, size_t n)
{
	if (!nfsappend_active) {
		nfsappend_table_idle(fd);
		return NFSAPPEND_NEXT(write)(fd, buf, n);
	}
	WRITE(write, (fd, buf, n), fd, ONE(buf, n, NFSAPPEND_AT_POSITION));
}

extern ssize_t __write(int, const void *, size_t);
/* glibc 2.32 and later; 1 until the first thread is made. */
extern char __libc_single_threaded __attribute__((weak));

/*
 * Of a process that has managed descriptors, to one that is not: the kernel
 * must be asked whether it was (nfsappend_escaped()), so no jump into libc's
 * write() will do. A call would cost as much as all the rest: the system call
 * empties the processor's return stack. So the system call is made here, where
 * libc's write() would be nothing else: no thread is there to cancel this one,
 * and no other preload wants to see it.
 */
static NFSAPPEND_APART ssize_t write_beside(int fd, const void *buf, size_t n)
{
	ssize_t r;

	if (&__libc_single_threaded != NULL && __libc_single_threaded &&
		NFSAPPEND_NEXT(write) == __write) {
		r = sys_write(fd, buf, n);
		if (r >= 0)
			return r;
		errno = (int)-r;
		r = -1;
	} else {
		r = NFSAPPEND_NEXT(write)(fd, buf, n);
		if (r >= 0)
			return r;
	}
	return nfsappend_escaped(fd) ? write_slowly(fd, buf, n) : r;
}

NFSAPPEND_HOOK ssize_t write(int fd, const void *buf, size_t n)
{
	if (!nfsappend_table_plain(fd))
		return write_slowly(fd, buf, n);
	return nfsappend_met_placeholder
		? write_beside(fd, buf, n)
		: NFSAPPEND_NEXT(write)(fd, buf, n);
}

ssize_t nfsappend_hook_write(int fd, const void *buf, size_t n)
{
	return write(fd, buf, n);
}

NFSAPPEND_HOOK ssize_t writev(int fd, const struct iovec *iov, int cnt)
{
	WRITE(writev, (fd, iov, cnt), fd, MANY(iov, cnt, NFSAPPEND_AT_POSITION, 0));
}

NFSAPPEND_HOOK ssize_t pwrite(int fd, const void *buf, size_t n, off_t offset)
{
	WRITE(pwrite, (fd, buf, n, offset), fd, ONE(buf, n, OFFSET(offset)));
}

NFSAPPEND_HOOK ssize_t pwrite64(int fd, const void *buf, size_t n,
	off64_t offset)
{
	WRITE(pwrite64, (fd, buf, n, offset), fd, ONE(buf, n, OFFSET(offset)));
}

NFSAPPEND_HOOK ssize_t pwritev(int fd, const struct iovec *iov, int cnt,
	off_t offset)
{
	WRITE(pwritev, (fd, iov, cnt, offset), fd, MANY(iov, cnt, OFFSET(offset), 0));
}

NFSAPPEND_HOOK ssize_t pwritev64(int fd, const struct iovec *iov, int cnt,
	off64_t offset)
{
	WRITE(pwritev64, (fd, iov, cnt, offset), fd, MANY(iov, cnt, OFFSET(offset), 0));
}

/* Here -1 does mean the position (preadv2(2)). */
NFSAPPEND_HOOK ssize_t pwritev2(int fd, const struct iovec *iov, int cnt,
	off_t offset, int flags)
{
	WRITE(pwritev2, (fd, iov, cnt, offset, flags), fd, MANY(iov, cnt, offset, flags));
}

NFSAPPEND_HOOK ssize_t pwritev64v2(int fd, const struct iovec *iov, int cnt,
	off64_t offset, int flags)
{
	WRITE(pwritev64v2, (fd, iov, cnt, offset, flags), fd, MANY(iov, cnt, offset, flags));
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

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What moves data between descriptors, or maps it, inside the kernel. There
 * it would find the placeholder's own text. To an O_APPEND descriptor the
 * kernel refuses all of these by itself; from one, and to one without
 * O_APPEND, we do, and programs fall back to read() and write().
 */
#include "config.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include "preload/hook.h"

static bool ours(int fd)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, fd))
		return false;
	nfsappend_use_end(&use);
	return true;
}

static bool appends(int fd)
{
	return sys_fcntl(fd, F_GETFL, 0) & O_APPEND;
}

/* Nor can it write to the placeholder of a file on a kernel mount, and it
 * would say EBADF. */
static bool read_only(int fd)
{
	return (sys_fcntl(fd, F_GETFL, 0) & O_ACCMODE) == O_RDONLY;
}

/* The kernel must not do it; errno is set. */
static bool refuse(int in, int out)
{
	if (!ours(in) && (!ours(out) || (appends(out) && !read_only(out))))
		return false;
	errno = EINVAL;
	return true;
}

NFSAPPEND_HOOK ssize_t sendfile(int out, int in, off_t *offset, size_t n)
{
	return refuse(in, out) ? -1
			       : NFSAPPEND_REAL(sendfile)(out, in, offset, n);
}

NFSAPPEND_HOOK ssize_t sendfile64(int out, int in, off64_t *offset, size_t n)
{
	return sendfile(out, in, offset, n);
}

NFSAPPEND_HOOK ssize_t splice(int in, off64_t *in_offset, int out,
	off64_t *out_offset, size_t n, unsigned flags)
{
	return refuse(in, out) ? -1
			       : NFSAPPEND_REAL(splice)(in, in_offset, out,
					 out_offset, n, flags);
}

NFSAPPEND_HOOK ssize_t copy_file_range(int in, off64_t *in_offset, int out,
	off64_t *out_offset, size_t n, unsigned flags)
{
	long fl;

	if (!refuse(in, out))
		return NFSAPPEND_REAL(copy_file_range)(in, in_offset, out,
			out_offset, n, flags);
	/* Of two reasons the kernel names this one. */
	fl = sys_fcntl(out, F_GETFL, 0);
	if (fl < 0 || fl & O_APPEND)
		errno = EBADF;
	return -1;
}

/* As a file system without mmap() answers. */
NFSAPPEND_HOOK void *mmap(void *at, size_t n, int prot, int flags, int fd,
	off_t offset)
{
	if (!(flags & MAP_ANONYMOUS) && ours(fd)) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	return NFSAPPEND_REAL(mmap)(at, n, prot, flags, fd, offset);
}

NFSAPPEND_HOOK void *mmap64(void *at, size_t n, int prot, int flags, int fd,
	off64_t offset)
{
	return mmap(at, n, prot, flags, fd, offset);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a system call on a managed descriptor means: position, O_APPEND,
 * limits, as POSIX and the Linux kernel have them. All with the guard held;
 * results are lengths or -errno.
 */
#ifndef NFSAPPEND_CORE_IO_H
#define NFSAPPEND_CORE_IO_H

#include <sys/types.h>
#include <sys/uio.h>

#include "core/table.h"

#define NFSAPPEND_AT_POSITION (-1) /* read/write, not pread/pwrite */

/* flags: RWF_*, as pwritev2(2). The vector may lie where it likes; EFAULT. */
ssize_t nfsappend_io_write(struct nfsappend_open *, int fd,
	const struct iovec *, int iovcnt, off64_t offset, int flags);
/* The same of one buffer: write(2), pwrite(2). */
ssize_t nfsappend_io_write_one(struct nfsappend_open *, int fd,
	const void *buf, size_t n, off64_t offset);
ssize_t nfsappend_io_read(struct nfsappend_open *, int fd,
	const struct iovec *, int iovcnt, off64_t offset, int flags);
off64_t nfsappend_io_seek(struct nfsappend_open *, int fd, off64_t, int whence);
int nfsappend_io_truncate(struct nfsappend_open *, int fd, off64_t length);
/* -EOPNOTSUPP except where a kernel mount's client can do it. */
int nfsappend_io_fallocate(struct nfsappend_open *, int fd, int mode,
	off64_t offset, off64_t length);
int nfsappend_io_getattr(struct nfsappend_open *, struct nfsappend_attr *);
int nfsappend_io_setattr(struct nfsappend_open *, unsigned set,
	const struct nfsappend_attr *);
/* Of its file system; *fsid as nfsappend_io_device. */
int nfsappend_io_statfs(struct nfsappend_open *, struct nfsappend_space *,
	uint64_t *fsid);
/* st_blksize: of a kernel mount as it says, else that of a local file. */
uint32_t nfsappend_io_blksize(struct nfsappend_open *, int fd);
/* What F_GETFL gave for the placeholder, as the program's own file. */
int nfsappend_io_flags(const struct nfsappend_open *, int placeholder_flags);
/* st_dev of the file's file system on its server: never one of a device. */
uint64_t nfsappend_io_device(const struct nfsappend_open *,
	const struct nfsappend_attr *);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "core/directory.h"
#include "core/file.h"
#include "core/io.h"
#include "core/process.h"
#include "core/proxy.h"
#include "core/served.h"
#include "core/sizelimit.h"
#include "core/usercopy.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20
#endif
#define RWF_KNOWN (RWF_HIPRI | RWF_DSYNC | RWF_SYNC | RWF_NOWAIT | RWF_APPEND | \
	RWF_NOAPPEND)

#define MAX_RW_COUNT 0x7ffff000u /* what one call moves at most */
#ifdef __x86_64__ /* TASK_SIZE_MAX */
#define USER_MAX ((UINT64_C(1) << 47) - 4096)
#else
#define USER_MAX (UINT64_C(1) << 48)
#endif

/* A vector checked and, when the program's, copied: it may lie in memory
 * that faults, and must not change under our feet. */
struct vector {
	const struct iovec *iov;
	int cnt;
	size_t total;
	struct iovec few[8];
	void *many;
};

static int vector_begin(struct vector *v, const struct iovec *iov, int cnt)
{
	struct iovec *copy = v->few;
	struct iovec source = {(void *)iov, (size_t)cnt * sizeof *iov};
	size_t total = 0;

	v->many = NULL;
	if (cnt < 0 || cnt > IOV_MAX)
		return -EINVAL;
	if (cnt > (int)(sizeof v->few / sizeof *v->few)) {
		copy = v->many = nfsappend_pages(source.iov_len);
		if (copy == NULL)
			return -ENOMEM;
	}
	if (cnt > 0 &&
		nfsappend_copy_in(&source, 1, 0, (uint8_t *)copy,
			source.iov_len) != (ssize_t)source.iov_len) {
		if (v->many != NULL)
			sys_munmap(v->many, source.iov_len);
		return -EFAULT;
	}
	for (int i = 0; i < cnt; i++) {
		size_t len = copy[i].iov_len;
		/* As import_iovec(): a negative length, then a buffer that
		 * reaches beyond what a process can have. */
		int r = len > SSIZE_MAX ? -EINVAL
			: len > USER_MAX - (uintptr_t)copy[i].iov_base ||
				(uintptr_t)copy[i].iov_base > USER_MAX
			? -EFAULT
			: 0;

		if (r != 0) {
			if (v->many != NULL)
				sys_munmap(v->many, source.iov_len);
			return r;
		}
		total += len < MAX_RW_COUNT - total ? len
						    : MAX_RW_COUNT - total;
	}
	v->iov = copy;
	v->cnt = cnt;
	v->total = total;
	return 0;
}

/* Of one buffer, without looking where it is. */
static int vector_one(struct vector *v, const void *buf, size_t n)
{
	if (n > SSIZE_MAX)
		return -EINVAL;
	v->few[0] = (struct iovec){(void *)buf, n};
	v->iov = v->few;
	v->cnt = 1;
	v->total = n < MAX_RW_COUNT ? n : MAX_RW_COUNT;
	v->many = NULL;
	return 0;
}

static void vector_end(struct vector *v)
{
	if (v->many != NULL)
		sys_munmap(v->many, (size_t)v->cnt * sizeof *v->iov);
}

static ssize_t write_at(struct nfsappend_file *f, struct vector *v,
	uint64_t offset)
{
	uint64_t limit = nfsappend_size_limit();

	if (offset >= limit) {
		nfsappend_too_large();
		return -EFBIG;
	}
	if (v->total > limit - offset)
		v->total = limit - offset;
	return nfsappend_file_write_at(f, v->iov, v->cnt, v->total, offset);
}

/* After write() on O_APPEND the offset is the new end of file. Of threads that
 * append at the same time, begun when the offset was before, the furthest
 * counts: the kernel lets one after the other write. */
static void appended_to(struct nfsappend_open *o, int fd, uint64_t before,
	uint64_t end)
{
	if (!atomic_compare_exchange_strong(&o->appended, &before, end)) {
		while (before < end && !atomic_compare_exchange_weak(
			&o->appended, &before, end))
			;
	}
	do {
		end = o->appended;
		sys_lseek(fd, (off_t)end, SEEK_SET);
	} while (o->appended != end);
}

static ssize_t append(struct nfsappend_open *o, int fd, struct vector *v,
	bool moves)
{
	uint64_t end, before = o->appended;
	bool over = false;
	ssize_t r = nfsappend_file_append(o->file, v->iov, v->cnt, v->total,
		nfsappend_size_limit(), &end, &over);

	if (over)
		nfsappend_too_large();
	if (moves && r > 0)
		appended_to(o, fd, before, end);
	return r;
}

struct write_call {
	struct nfsappend_open *o;
	int fd;
	const struct iovec *iov; /* the program's; or, if one, the buffer: */
	int cnt;
	bool one;
	const void *buf;
	size_t n;
	off64_t offset;
	int flags;
};

static ssize_t write_vector(const struct write_call *c, struct vector *v)
{
	bool at_position = c->offset == NFSAPPEND_AT_POSITION, appends;
	off64_t offset = c->offset;
	ssize_t r;
	long fl;

	if (v->total == 0)
		return 0;
	/* The flag belongs to the open file description, and any process
	 * that shares it may have changed it. */
	fl = sys_fcntl(c->fd, F_GETFL, 0);
	appends = ((fl & O_APPEND) || c->flags & RWF_APPEND) &&
		!(c->flags & RWF_NOAPPEND);
	if (appends)
		return append(c->o, c->fd, v, at_position);
	if (!at_position)
		return write_at(c->o->file, v, (uint64_t)offset);
	offset = sys_lseek(c->fd, 0, SEEK_CUR);
	r = offset < 0 ? offset : write_at(c->o->file, v, (uint64_t)offset);
	if (r > 0)
		sys_lseek(c->fd, offset + r, SEEK_SET);
	return r;
}

static ssize_t write_here(void *arg)
{
	const struct write_call *c = arg;
	struct vector v;
	ssize_t r;

	if (c->o->file != NULL)
		atomic_store(&c->o->file->some_fd, c->fd);

	if (c->o->accmode == O_RDONLY)
		return -EBADF;
	if (c->flags & ~RWF_KNOWN)
		return -EOPNOTSUPP;
	if (c->flags & RWF_APPEND && c->flags & RWF_NOAPPEND)
		return -EINVAL;
	if (c->offset != NFSAPPEND_AT_POSITION && c->offset < 0)
		return -EINVAL;
	r = c->one ? vector_one(&v, c->buf, c->n)
		   : vector_begin(&v, c->iov, c->cnt);
	if (r != 0)
		return r;
	r = write_vector(c, &v);
	vector_end(&v);
	return r;
}

static ssize_t write_somewhere(struct write_call *c)
{
	return nfsappend_needs_proxy() ? nfsappend_proxy(write_here, c)
				       : write_here(c);
}

ssize_t nfsappend_io_write(struct nfsappend_open *o, int fd,
	const struct iovec *iov, int cnt, off64_t offset, int flags)
{
	struct write_call c = {.o = o, .fd = fd, .iov = iov, .cnt = cnt,
		.offset = offset, .flags = flags};

	return write_somewhere(&c);
}

ssize_t nfsappend_io_write_one(struct nfsappend_open *o, int fd,
	const void *buf, size_t n, off64_t offset)
{
	struct write_call c = {.o = o, .fd = fd, .one = true, .buf = buf,
		.n = n, .offset = offset};

	return write_somewhere(&c);
}

ssize_t nfsappend_io_read(struct nfsappend_open *o, int fd,
	const struct iovec *iov, int cnt, off64_t offset, int flags)
{
	bool at_position = offset == NFSAPPEND_AT_POSITION;
	struct vector v;
	ssize_t r;

	if (o->accmode == O_WRONLY)
		return -EBADF;
	if (o->dir != NULL)
		return -EISDIR;
	if (flags & ~(RWF_HIPRI | RWF_NOWAIT))
		return -EOPNOTSUPP;
	if (!at_position && offset < 0)
		return -EINVAL;
	if (nfsappend_file_by_kernel(o->file))
		return nfsappend_sys(SYS_preadv2, fd, (long)iov, cnt,
			at_position ? -1 : offset, 0, flags);
	r = vector_begin(&v, iov, cnt);
	if (r != 0)
		return r;
	if (at_position)
		offset = sys_lseek(fd, 0, SEEK_CUR);
	r = offset < 0 ? offset
		       : nfsappend_file_read_at(o->file, v.iov, v.cnt,
				 v.total, (uint64_t)offset);
	if (at_position && r > 0)
		sys_lseek(fd, offset + r, SEEK_SET);
	vector_end(&v);
	return r;
}

off64_t nfsappend_io_seek(struct nfsappend_open *o, int fd, off64_t offset,
	int whence)
{
	struct nfsappend_attr attr;
	int r;

	switch (whence) {
	case SEEK_SET:
	case SEEK_CUR: /* the placeholder holds the offset */
		return sys_lseek(fd, offset, whence);
	case SEEK_END:
	case SEEK_DATA: /* one piece of data, one hole: at the end */
	case SEEK_HOLE:
		break;
	default:
		return -EINVAL;
	}
	if (o->dir != NULL)
		return -EINVAL;
	if (nfsappend_file_by_kernel(o->file))
		return sys_lseek(fd, offset, whence);
	r = nfsappend_file_getattr(o->file, &attr);
	if (r != 0)
		return r;
	if (whence == SEEK_END) {
		if (__builtin_add_overflow(offset, (off64_t)attr.size,
			    &offset))
			return -EOVERFLOW;
	} else if (offset < 0 || (uint64_t)offset >= attr.size) {
		return -ENXIO;
	} else if (whence == SEEK_HOLE) {
		offset = (off64_t)attr.size;
	}
	if (offset < 0)
		return -EINVAL;
	return sys_lseek(fd, offset, SEEK_SET);
}

int nfsappend_io_truncate(struct nfsappend_open *o, int fd, off64_t length)
{
	struct nfsappend_attr attr = {.size = (uint64_t)length};

	if (length < 0 || o->accmode == O_RDONLY)
		return -EINVAL;
	if ((uint64_t)length > nfsappend_size_limit()) {
		nfsappend_too_large();
		return -EFBIG;
	}
	if (nfsappend_file_by_kernel(o->file))
		return nfsappend_kernel_do(o->file, fd, NFSAPPEND_FTRUNCATE, 0,
			length, 0);
	return nfsappend_io_setattr(o, NFSAPPEND_SET_SIZE, &attr);
}

int nfsappend_io_fallocate(struct nfsappend_open *o, int fd, int mode,
	off64_t offset, off64_t length)
{
	if (o->file == NULL || !nfsappend_file_mounted(o->file))
		return -EOPNOTSUPP;
	if (o->accmode == O_RDONLY)
		return -EBADF;
	return nfsappend_kernel_do(o->file, fd, NFSAPPEND_FALLOCATE, mode,
		offset, length);
}

uint32_t nfsappend_io_blksize(struct nfsappend_open *o, int fd)
{
	struct statx stx;

	if (o->file != NULL && nfsappend_file_mounted(o->file) &&
		sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			STATX_TYPE, &stx) == 0)
		return stx.stx_blksize;
	return 4096; /* so that stdio's buffers are the same */
}

int nfsappend_io_getattr(struct nfsappend_open *o, struct nfsappend_attr *attr)
{
	if (o->dir == NULL && nfsappend_file_by_kernel(o->file))
		return nfsappend_kernel_getattr(o->file, attr);
	return o->dir != NULL ? nfsappend_directory_getattr(o->dir, attr)
			      : nfsappend_file_getattr(o->file, attr);
}

struct setattr_call {
	struct nfsappend_file *file;
	unsigned set;
	const struct nfsappend_attr *attr;
};

static ssize_t setattr_there(void *arg)
{
	struct setattr_call *c = arg;

	return nfsappend_file_setattr(c->file, c->set, c->attr);
}

int nfsappend_io_setattr(struct nfsappend_open *o, unsigned set,
	const struct nfsappend_attr *attr)
{
	struct setattr_call call = {o->file, set, attr};

	if (o->dir != NULL)
		return nfsappend_directory_setattr(o->dir, set, attr);
	if (nfsappend_needs_proxy())
		return (int)nfsappend_proxy(setattr_there, &call);
	return nfsappend_file_setattr(o->file, set, attr);
}

int nfsappend_io_flags(const struct nfsappend_open *o, int flags)
{
	/* O_SYNC is ours, where the kernel serves. */
	if (o->file != NULL && nfsappend_file_mounted(o->file))
		flags &= ~O_SYNC;
	return (flags & ~O_ACCMODE) | (int)(o->accmode | o->sync);
}

uint64_t nfsappend_io_device(const struct nfsappend_open *o,
	const struct nfsappend_attr *attr)
{
	if (o->file != NULL && nfsappend_file_mounted(o->file))
		return o->file->device;
	return nfsappend_server_device(o->dir != NULL ? o->dir->server
						      : o->file->key.server,
		attr);
}

int nfsappend_io_statfs(struct nfsappend_open *o, struct nfsappend_space *space,
	uint64_t *fsid)
{
	struct nfsappend_server *server = o->dir != NULL
		? o->dir->server
		: o->file->key.server;
	struct nfsappend_waiting w;
	struct nfsappend_attr attr;
	int r = nfsappend_io_getattr(o, &attr);

	if (r != 0)
		return r;
	*fsid = nfsappend_io_device(o, &attr);
	nfsappend_wait_start(&w, server->name, nfsappend_config.timeout_s);
	NFSAPPEND_CALL(server, &w, r, statfs,
		o->dir != NULL ? &o->dir->fh : &o->file->key.fh, space);
	return r;
}

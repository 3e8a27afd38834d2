/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "core/applock.h"
#include "core/config_env.h"
#include "core/errname.h"
#include "core/heldlock.h"
#include "core/log.h"
#include "core/mounted.h"
#include "core/served.h"
#include "core/table.h"

/* As the module's: a byte past any data (facts-protocol). */
#define MUTEX_BYTE 0x7ffffffffffffffe
#define MS INT64_C(1000000)

static bool is_of(const struct nfsappend_file *f, int fd)
{
	struct statx stx;

	return fd >= 0 &&
		sys_statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			STATX_TYPE | STATX_INO, &stx) == 0 &&
		stx.stx_ino == f->fileid &&
		makedev(stx.stx_dev_major, stx.stx_dev_minor) == f->device;
}

int nfsappend_kernel_fd(struct nfsappend_file *f)
{
	int fd = atomic_load(&f->some_fd);

	/* The number may have become another open of the same file, which is
	 * the program's alone. */
	return is_of(f, fd) && nfsappend_placeholder_marked(fd) ? fd : -EBADF;
}

int nfsappend_kernel_lock_byte(int fd, short type)
{
	struct flock l = {.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = MUTEX_BYTE,
		.l_len = 1};

	return (int)sys_fcntl(fd, F_OFD_SETLK, (long)&l);
}

static bool writable(int fd)
{
	long fl = sys_fcntl(fd, F_GETFL, 0);

	return fl >= 0 && (fl & O_ACCMODE) != O_RDONLY;
}

/* 1: locked, 0: no lock is needed, or a lock of the program's own is in the
 * way and does the same; -errno. */
static int lock_among_hosts(struct nfsappend_op *op, int fd)
{
	int r;

	if (nfsappend_lock_held(fd))
		return 0; /* by the same open file description */
	for (;;) {
		r = nfsappend_kernel_lock_byte(fd, F_WRLCK);
		if (r == 0)
			return 1;
		if (r != -EAGAIN && r != -EACCES)
			return 0; /* no locks there */
		if (nfsappend_applock_ours(op->file) ||
			nfsappend_lock_of_ancestor(op->file))
			return 0;
		if (nfsappend_wait_sleep(&op->w, 5 * MS) != 0)
			return -EIO;
	}
}

static ssize_t write_all(int fd, const uint8_t *buf, uint32_t len)
{
	uint32_t done = 0;
	long r = 0;

	while (done < len) {
		r = sys_write(fd, buf + done, len - done);
		if (r <= 0 && r != -EINTR)
			break;
		done += r > 0 ? (uint32_t)r : 0;
	}
	/* O_SYNC cannot be had for a descriptor that we may not open anew. */
	if (done > 0 && !(sys_fcntl(fd, F_GETFL, 0) & O_SYNC) &&
		(r = nfsappend_sys(SYS_fsync, fd, 0, 0, 0, 0, 0)) < 0)
		return r;
	return done > 0 ? (ssize_t)done : r < 0 ? r : -EIO;
}

ssize_t nfsappend_kernel_send(struct nfsappend_op *op, uint32_t len)
{
	struct nfsappend_file *f = op->file;
	int fd = nfsappend_kernel_fd(f), locked;
	ssize_t r;

	if (fd < 0)
		return fd;
	if (!writable(fd)) {
		r = nfsappend_mounted_writable(f, fd, O_WRONLY);
		if (r != 0)
			return r;
	}
	locked = lock_among_hosts(op, fd);
	if (locked < 0)
		return locked;
	r = write_all(fd, op->seg->stage + op->base, len);
	if (r > 0) {
		op->seg->size = (uint64_t)sys_lseek(fd, 0, SEEK_CUR);
		op->w.wait.write_rpcs++;
		op->w.wait.rpcs++;
	}
	op->seg->size_known = 0;
	if (locked)
		nfsappend_kernel_lock_byte(fd, F_UNLCK);
	return r;
}

/* A descriptor of our own for the length of a call. */
static int open_own(int fd, int flags)
{
	char link[40];

	if (fd < 0)
		return fd;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	return (int)sys_openat(AT_FDCWD, link, flags | O_CLOEXEC, 0);
}

ssize_t nfsappend_kernel_send_at(struct nfsappend_op *op, uint64_t offset,
	uint32_t len)
{
	int fd = open_own(nfsappend_kernel_fd(op->file), O_WRONLY | O_SYNC);
	ssize_t r;

	if (fd < 0)
		return fd;
	r = sys_pwrite(fd, op->seg->stage + op->base, len, (off_t)offset);
	sys_close(fd);
	op->seg->size_known = 0;
	return r;
}

static bool may_bind(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	return nfsappend_sys(SYS_capget, (long)&header, (long)caps, 0, 0, 0,
		       0) == 0 &&
		caps[0].effective & 1 << CAP_NET_BIND_SERVICE;
}

bool nfsappend_kernel_takes_over(struct nfsappend_op *op)
{
	struct nfsappend_file *f = op->file;

	if (!nfsappend_file_mounted(f) || nfsappend_file_by_kernel(f) ||
		nfsappend_config.fallback_fails || may_bind() ||
		nfsappend_kernel_fd(f) < 0)
		return false;
	atomic_store(&f->segment.shared->kernel_served, 1);
	nfsappend_log(NFSAPPEND_WARN, NFSAPPEND_MSG_KERNEL_SERVES,
		"%s is served by the kernel from now on, each write with "
		"O_SYNC: the server %s refuses this process, which may not "
		"use a port below 1024 any more: export it with 'insecure', "
		"or let the program keep CAP_NET_BIND_SERVICE",
		f->path, f->key.server->target.host);
	return true;
}

int nfsappend_kernel_convert(struct nfsappend_file *f)
{
	struct nfsappend_op op;
	int r;

	if (nfsappend_file_by_kernel(f))
		return 0;
	atomic_store(&f->segment.shared->kernel_served, 1);
	r = nfsappend_op_begin(&op, f);
	if (r == 0)
		nfsappend_op_end(&op, 0);
	return r;
}

int nfsappend_kernel_do(struct nfsappend_file *f, int fd,
	enum nfsappend_kernel_call what, int mode, off64_t offset,
	off64_t length)
{
	struct nfsappend_op op;
	int own, r = nfsappend_op_begin(&op, f);

	if (r != 0)
		return r;
	own = open_own(fd, O_WRONLY);
	r = own < 0 ? own
		: what == NFSAPPEND_FTRUNCATE
		? (int)sys_ftruncate(own, offset)
		: (int)sys_fallocate(own, mode, offset, length);
	if (own >= 0)
		sys_close(own);
	op.seg->size_known = 0;
	/* What a program may well be refused is no failed append. */
	nfsappend_op_end(&op, 0);
	return r;
}

int nfsappend_kernel_getattr(struct nfsappend_file *f,
	struct nfsappend_attr *attr)
{
	struct stat st;
	int fd = nfsappend_kernel_fd(f);
	long r = fd < 0 ? fd : nfsappend_sys(SYS_fstat, fd, (long)&st, 0, 0,
					0, 0);

	if (r != 0)
		return (int)r;
	memset(attr, 0, sizeof *attr);
	attr->type = NFSAPPEND_REG;
	attr->mode = st.st_mode & 07777;
	attr->nlink = (uint32_t)st.st_nlink;
	attr->uid = st.st_uid;
	attr->gid = st.st_gid;
	attr->size = (uint64_t)st.st_size;
	attr->used = (uint64_t)st.st_blocks * 512;
	attr->fileid = st.st_ino;
	attr->atime = st.st_atim;
	attr->mtime = st.st_mtim;
	attr->ctime = st.st_ctim;
	return 0;
}

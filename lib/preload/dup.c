/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* dup(), fcntl() and what else puts a file under a number. The kernel does
 * it; we only know less about the number afterwards. */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>

#include "core/config_env.h"
#include "core/io.h"
#include "core/mounted.h"
#include "core/sockets.h"
#include "preload/dup.h"
#include "preload/hook.h"

/*
 * Under number 2 a file on a kernel mount is open for writing after all: what
 * libc and sanitizers say when a program dies passes by every hook.
 */
void nfsappend_onto_stderr(void)
{
	struct nfsappend_use use;

	if (!nfsappend_use_begin(&use, 2))
		return;
	if (use.open != NULL && use.open->file != NULL &&
		nfsappend_file_mounted(use.open->file))
		(void)nfsappend_mounted_writable(use.open->file, 2,
			use.open->accmode);
	nfsappend_use_end(&use);
}

/* to is now what from is. */
static int duplicated(int from, int to)
{
	int saved = errno;

	if (to < 0 || !nfsappend_active || to == from)
		return to;
	if (nfsappend_may_be_ours(from))
		nfsappend_table_unsure(to);
	else
		nfsappend_table_forget(to);
	if (to == 2)
		nfsappend_onto_stderr();
	errno = saved;
	return to;
}

/* The number is the program's to choose. false: busy, errno is set. */
static bool make_way(int fd)
{
	if (!nfsappend_socket_ours(fd) || nfsappend_depth != 0)
		return true;
	/* It is held while an answer is awaited, NFSAPPEND_RECV_MS at most. */
	for (int ms = 0; ms < 20 * NFSAPPEND_RECV_MS; ms++) {
		struct timespec tick = {0, 1000000};

		if (nfsappend_socket_yield(fd) == 0)
			return true;
		nfsappend_sys(SYS_nanosleep, (long)&tick, 0, 0, 0, 0, 0);
	}
	errno = EBUSY;
	return false;
}

NFSAPPEND_HOOK int dup(int fd)
{
	return duplicated(fd, NFSAPPEND_REAL(dup)(fd));
}

NFSAPPEND_HOOK int dup2(int from, int to)
{
	if (from != to && !make_way(to))
		return -1;
	return duplicated(from, NFSAPPEND_REAL(dup2)(from, to));
}

NFSAPPEND_HOOK int dup3(int from, int to, int flags)
{
	if (from != to && !make_way(to))
		return -1;
	return duplicated(from, NFSAPPEND_REAL(dup3)(from, to, flags));
}

static int get_flags(int fd, int r)
{
	struct nfsappend_use use;

	if (r < 0 || !nfsappend_use_begin(&use, fd))
		return r;
	if (use.open != NULL)
		r = nfsappend_io_flags(use.open, r);
	nfsappend_use_end(&use);
	return r;
}

/* A write lock needs a descriptor that is open for writing, which a
 * placeholder on a kernel mount is not. */
void nfsappend_for_write_lock(int fd, bool fcntl_lock)
{
	struct nfsappend_use use;
	struct nfsappend_open *o;

	if (!nfsappend_use_begin(&use, fd))
		return;
	o = use.open;
	if (o != NULL && o->file != NULL && nfsappend_file_mounted(o->file) &&
		(fcntl_lock || !o->file->local_lock))
		(void)nfsappend_mounted_writable(o->file, fd, o->accmode);
	nfsappend_use_end(&use);
}

static void before_fcntl(int fd, int cmd, const void *arg)
{
	if (!nfsappend_may_be_ours(fd))
		return;
	if ((cmd == F_SETLK || cmd == F_SETLKW || cmd == F_OFD_SETLK ||
		    cmd == F_OFD_SETLKW) &&
		((const struct flock *)arg)->l_type == F_WRLCK)
		nfsappend_for_write_lock(fd, true);
}

static int after_fcntl(int fd, int cmd, const void *arg, int r)
{
	switch (cmd) {
	case F_SETFL:
		/* With O_APPEND it may be one of NFSAPPEND_PATHS. */
		if (r == 0 && (long)arg & O_APPEND && nfsappend_active &&
			nfsappend_config.npaths > 0)
			nfsappend_table_unsure(fd);
		return r;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return duplicated(fd, r);
	case F_GETFL:
		return get_flags(fd, r);
	default:
		return r;
	}
}

/* The signal is our marker, and would be sent for no regular file; seals are
 * of memfds only. */
static bool marker_asked(int fd, int cmd, const void *arg, int *r)
{
	struct nfsappend_use use;

	if ((cmd != F_SETSIG && cmd != F_GETSIG && cmd != F_ADD_SEALS &&
		    cmd != F_GET_SEALS) ||
		!nfsappend_use_begin(&use, fd))
		return false;
	nfsappend_use_end(&use);
	*r = 0;
	if (cmd == F_ADD_SEALS || cmd == F_GET_SEALS ||
		(cmd == F_SETSIG && ((long)arg < 0 || (long)arg > _NSIG - 1))) {
		errno = EINVAL;
		*r = -1;
	}
	return true;
}

/* Every command's argument is no larger than a pointer. */
NFSAPPEND_HOOK int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	int r;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (marker_asked(fd, cmd, arg, &r))
		return r;
	before_fcntl(fd, cmd, arg);
	return after_fcntl(fd, cmd, arg, NFSAPPEND_REAL(fcntl)(fd, cmd, arg));
}

NFSAPPEND_HOOK int fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;
	int r;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (marker_asked(fd, cmd, arg, &r))
		return r;
	before_fcntl(fd, cmd, arg);
	/* glibc before 2.28 has the one name only. */
	return after_fcntl(fd, cmd, arg,
		nfsappend_real(NFSAPPEND_REAL_INDEX_fcntl64) != NULL
			? NFSAPPEND_REAL(fcntl64)(fd, cmd, arg)
			: NFSAPPEND_REAL(fcntl)(fd, cmd, arg));
}

/* daemon() puts /dev/null on 0, 1 and 2 by names inside libc. */
NFSAPPEND_HOOK int daemon(int nochdir, int noclose)
{
	int r = NFSAPPEND_REAL(daemon)(nochdir, noclose);

	for (int fd = 0; fd <= 2 && r == 0 && !noclose; fd++)
		if (nfsappend_active)
			nfsappend_table_unsure(fd);
	return r;
}

/* Descriptors that came along: SCM_RIGHTS, unix(7). */
static void received(struct msghdr *msg)
{
	if (!nfsappend_active || msg->msg_controllen == 0)
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c != NULL;
		c = CMSG_NXTHDR(msg, c)) {
		int *fds = (int *)CMSG_DATA(c);
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof *fds;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++)
			nfsappend_table_unsure(fds[i]);
	}
}

NFSAPPEND_HOOK ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	ssize_t r = NFSAPPEND_REAL(recvmsg)(fd, msg, flags);

	if (r >= 0)
		received(msg);
	return r;
}

NFSAPPEND_HOOK int recvmmsg(int fd, struct mmsghdr *vec, unsigned n, int flags,
	struct timespec *timeout)
{
	int r = NFSAPPEND_REAL(recvmmsg)(fd, vec, n, flags, timeout);

	for (int i = 0; i < r; i++)
		received(&vec[i].msg_hdr);
	return r;
}

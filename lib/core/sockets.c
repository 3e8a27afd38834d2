/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>

#include "core/process.h"
#include "core/sockets.h"

/* Below the limit of select() and of most programs' loops over all
 * descriptors, above what programs number by themselves. */
#define HIGHEST 1024
#define ROOM 64
#define GIVE_WAY 3000000 /* ns: longer than a caller of yield() pauses */

_Atomic int nfsappend_sockets_used;

static struct {
	_Atomic int fd; /* -1: taken away, 0: free slot (0 is never ours) */
	_Atomic int held;
	_Atomic bool wanted; /* somebody waits to move it */
	uint64_t ino; /* in sockfs */
} sockets[NFSAPPEND_SOCKETS];
static _Atomic int top; /* slots from here on were never used */

static uint64_t inode_of(int fd)
{
	struct stat st; /* of a socket: asks no server */

	if (nfsappend_sys(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) != 0 ||
		!S_ISSOCK(st.st_mode))
		return 0;
	return st.st_ino;
}

static bool still_ours(int slot)
{
	int fd = atomic_load(&sockets[slot].fd);

	return fd > 0 && inode_of(fd) == sockets[slot].ino;
}

/* The child's copies are of no use to it: a connection has one user. */
static void after_fork(void)
{
	for (int i = 0; i < NFSAPPEND_SOCKETS; i++) {
		if (still_ours(i))
			sys_close(atomic_load(&sockets[i].fd));
		atomic_store(&sockets[i].fd, 0);
		atomic_store(&sockets[i].held, 0);
	}
	atomic_store(&nfsappend_sockets_used, 0);
}

void nfsappend_sockets_start(void)
{
	nfsappend_process_on_child(after_fork);
}

/* Another number for it, above what programs number by themselves. */
static int copy_high(int fd)
{
	struct rlimit limit = {HIGHEST, HIGHEST};
	long from, r;

	sys_getrlimit(RLIMIT_NOFILE, &limit);
	from = limit.rlim_cur < HIGHEST ? (long)limit.rlim_cur : HIGHEST;
	r = sys_fcntl(fd, F_DUPFD_CLOEXEC, from > 2 * ROOM ? from - ROOM : 3);
	if (r < 0 && from > 2 * ROOM)
		r = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return (int)r;
}

int nfsappend_socket_adopt(int fd)
{
	uint64_t ino = inode_of(fd);

	int low = fd;

	fd = copy_high(fd);
	sys_close(low);
	if (fd < 0)
		return fd;
	for (int i = 0; i < NFSAPPEND_SOCKETS; i++) {
		int none = 0;

		if (!atomic_compare_exchange_strong(&sockets[i].fd, &none, -1))
			continue;
		for (int n = atomic_load(&top); n <= i;)
			if (atomic_compare_exchange_weak(&top, &n, i + 1))
				break;
		sockets[i].ino = ino;
		atomic_store(&sockets[i].held, 0);
		atomic_store(&sockets[i].wanted, false);
		atomic_store(&sockets[i].fd, fd);
		atomic_fetch_add(&nfsappend_sockets_used, 1);
		return i;
	}
	sys_close(fd);
	return -ENFILE;
}

int nfsappend_socket_hold(int slot)
{
	struct timespec pause = {0, GIVE_WAY};
	int held = 0;

	/* Else one answer after the other would keep it held for good. */
	if (atomic_load(&sockets[slot].wanted) &&
		atomic_exchange(&sockets[slot].wanted, false))
		nfsappend_sys(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
	/* -1 while yield() moves it: a moment without sleeping in it. */
	while (!atomic_compare_exchange_strong(&sockets[slot].held, &held, 1))
		held = 0;
	if (still_ours(slot))
		return atomic_load(&sockets[slot].fd);
	atomic_store(&sockets[slot].held, 0);
	return -EBADF;
}

void nfsappend_socket_unhold(int slot)
{
	atomic_store(&sockets[slot].held, 0);
}

void nfsappend_socket_drop(int slot)
{
	if (still_ours(slot))
		sys_close(atomic_load(&sockets[slot].fd));
	atomic_store(&sockets[slot].held, 0);
	atomic_store(&sockets[slot].fd, 0);
	atomic_fetch_sub(&nfsappend_sockets_used, 1);
}

static int find(int fd)
{
	if (fd <= 0) /* the marks of slots without a socket */
		return -1;
	for (int i = 0, n = atomic_load(&top); i < n; i++)
		if (atomic_load(&sockets[i].fd) == fd)
			return i;
	return -1;
}

bool nfsappend_socket_ours(int fd)
{
	int slot;

	if (atomic_load_explicit(&nfsappend_sockets_used,
		    memory_order_relaxed) == 0 ||
		fd <= 0)
		return false;
	slot = find(fd);
	return slot >= 0 && still_ours(slot);
}

int nfsappend_socket_yield(int fd)
{
	int slot = find(fd), held = 0;
	int to;

	if (slot < 0)
		return 0;
	if (nfsappend_in_vfork_child())
		return 0; /* a table of descriptors of its own */
	if (!atomic_compare_exchange_strong(&sockets[slot].held, &held, -1)) {
		atomic_store(&sockets[slot].wanted, true);
		return -EBUSY;
	}
	atomic_store(&sockets[slot].wanted, false);
	to = copy_high(fd);
	/* The program's dup2() closes the old number, or, without another
	 * number to be had, our connection is lost and made anew. */
	atomic_store(&sockets[slot].fd, to > 0 ? to : -1);
	atomic_store(&sockets[slot].held, 0);
	return 0;
}

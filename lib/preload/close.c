/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* close() and its relatives: forget, and spare our sockets. */
#include "config.h"

#include <limits.h>

#include "core/sys.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

#include "core/sockets.h"
#include "preload/hook.h"

extern void closefrom(int);
extern int close_range(unsigned, unsigned, int);

static NFSAPPEND_APART int close_slowly(int fd)
{
	int r, saved;

	if (!nfsappend_active)
		return NFSAPPEND_NEXT(close)(fd);
	/* The program never opened it: as if it were not there. */
	if (nfsappend_socket_ours(fd) && nfsappend_depth == 0) {
		errno = EBADF;
		return -1;
	}
	r = NFSAPPEND_REAL(close)(fd);
	if (nfsappend_may_be_ours(fd)) {
		saved = errno;
		nfsappend_table_forget(fd);
		errno = saved;
	}
	return r;
}

NFSAPPEND_HOOK int close(int fd)
{
	/* A socket of ours is not in the table. */
	if (nfsappend_table_plain(fd) &&
		(atomic_load_explicit(&nfsappend_sockets_used,
			 memory_order_relaxed) == 0 ||
			!nfsappend_socket_ours(fd)))
		return NFSAPPEND_NEXT(close)(fd);
	return close_slowly(fd);
}

static void forget_range(unsigned first, unsigned last)
{
	if (!nfsappend_active)
		return;
	for (unsigned c = first / NFSAPPEND_CHUNK;
		c < NFSAPPEND_CHUNKS && c <= last / NFSAPPEND_CHUNK; c++) {
		if (atomic_load(&nfsappend_chunks[c]) == NULL)
			continue;
		for (unsigned i = 0; i < NFSAPPEND_CHUNK; i++) {
			unsigned fd = c * NFSAPPEND_CHUNK + i;

			if (fd >= first && fd <= last)
				nfsappend_table_forget((int)fd);
		}
	}
}

/* glibc before 2.34 has no close_range(), but a program may well call it by
 * syscall(2). */
static int kernel_close_range(unsigned first, unsigned last, int flags)
{
	if (nfsappend_real(NFSAPPEND_REAL_INDEX_close_range) != NULL)
		return NFSAPPEND_REAL(close_range)(first, last, flags);
	return (int)nfsappend_result(nfsappend_sys(SYS_close_range, first,
		last, flags, 0, 0, 0));
}

/* The ranges between our sockets. flags of close_range(2). */
static int range_without_ours(unsigned first, unsigned last, int flags)
{
	int r = 0;

	while (first <= last && r == 0) {
		unsigned end = first;

		while (end <= last && end < NFSAPPEND_CHUNK &&
			!nfsappend_socket_ours((int)end))
			end++;
		/* Ours lie below NFSAPPEND_CHUNK (sockets.c). */
		if (end >= NFSAPPEND_CHUNK || end > last) {
			r = kernel_close_range(first, last, flags);
			break;
		}
		if (end > first)
			r = kernel_close_range(first, end - 1, flags);
		first = end + 1;
	}
	return r;
}

NFSAPPEND_HOOK int close_range(unsigned first, unsigned last, int flags)
{
	int r;

	if (first > last || atomic_load(&nfsappend_sockets_used) == 0)
		r = kernel_close_range(first, last, flags);
	else
		r = range_without_ours(first, last, flags);
	if (r == 0 && first <= last && !(flags & (1 << 2))) /* CLOEXEC only */
		forget_range(first, last);
	return r;
}

NFSAPPEND_HOOK void closefrom(int first)
{
	unsigned from = first > 0 ? (unsigned)first : 0;

	if (atomic_load(&nfsappend_sockets_used) == 0 ||
		range_without_ours(from, UINT_MAX, 0) != 0)
		/* Without the system call; our connections are made anew. */
		NFSAPPEND_REAL(closefrom)(first);
	forget_range(from, UINT_MAX);
}

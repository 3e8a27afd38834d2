/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "core/process.h"
#include "core/usercopy.h"

/* Without process_vm_readv() (a seccomp filter): a memfd in the middle, and
 * the kernel reports EFAULT all the same. */
static ssize_t by_memfd(void *to, const void *from, size_t n)
{
	long fd = sys_memfd_create("nfsappend-copy", MFD_CLOEXEC);
	long r;

	if (fd < 0)
		return fd;
	r = sys_pwrite(fd, from, n, 0);
	if (r > 0)
		r = sys_pread(fd, to, r, 0);
	sys_close(fd);
	return r;
}

/* glibc 2.32 and later; 1 until the first thread is made. */
extern char __libc_single_threaded __attribute__((weak));

#define PAGE 4096 /* or more */

/* Can eight bytes be read? The kernel fetches them as a set of signals to
 * block, and under the guard all are blocked already; but for glibc's for
 * setuid(), which no thread sends itself. The guard's end restores it. */
static bool readable(uintptr_t at)
{
	return nfsappend_sys(SYS_rt_sigprocmask, SIG_BLOCK, (long)at, 0, 8, 0,
		       0) == 0;
}

/* A little from memory that nobody but this thread could take away meanwhile,
 * at a fifth of the price: it lies in one page or two. */
static bool copy_little(void *to, const char *from, size_t n)
{
	uintptr_t first = (uintptr_t)from, last = first + n - 8;

	if (n < 8 || n > PAGE || nfsappend_depth == 0 ||
		&__libc_single_threaded == NULL || !__libc_single_threaded ||
		!readable(first))
		return false;
	if (first / PAGE != (last + 7) / PAGE && !readable(last))
		return false;
	memcpy(to, from, n);
	return true;
}

static ssize_t copy_one(void *to, const void *from, size_t n)
{
	struct iovec here = {to, n}, there = {(void *)from, n};
	/* The owner of the memory, in a vfork child its parent. */
	ssize_t r = sys_process_vm_readv(nfsappend_process->pid, &here, 1,
		&there, 1);

	if (r == -EPERM || r == -ENOSYS || r == -ESRCH)
		r = by_memfd(to, from, n);
	return r;
}

static ssize_t copy(const struct iovec *iov, int iovcnt, size_t skip,
	uint8_t *ours, size_t n, bool in)
{
	size_t done = 0;

	for (int i = 0; i < iovcnt && done < n; i++) {
		size_t len = iov[i].iov_len, part;
		char *theirs;
		ssize_t r;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		theirs = (char *)iov[i].iov_base + skip;
		part = len - skip < n - done ? len - skip : n - done;
		if (in && copy_little(ours + done, theirs, part))
			r = (ssize_t)part;
		else
			r = in ? copy_one(ours + done, theirs, part)
			       : copy_one(theirs, ours + done, part);
		if (r > 0)
			done += (size_t)r;
		if (r != (ssize_t)part)
			return done > 0 ? (ssize_t)done : -EFAULT;
		skip = 0;
	}
	return (ssize_t)done;
}

ssize_t nfsappend_copy_in(const struct iovec *iov, int iovcnt, size_t skip,
	uint8_t *to, size_t n)
{
	return copy(iov, iovcnt, skip, to, n, true);
}

ssize_t nfsappend_copy_out(const struct iovec *iov, int iovcnt, size_t skip,
	const uint8_t *from, size_t n)
{
	/* The local side of process_vm_readv() is written by the kernel, so
	 * a hole there is an EFAULT as well. */
	return copy(iov, iovcnt, skip, (uint8_t *)from, n, false);
}

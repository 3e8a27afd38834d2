/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <errno.h>
#include <sys/wait.h>

#include "core/process.h"
#include "core/proxy.h"

/* glibc 2.34; before, fork() with its handlers is the next best. */
extern pid_t _Fork(void) __attribute__((weak));

bool nfsappend_needs_proxy(void)
{
	return nfsappend_process->raw_clone || nfsappend_in_vfork_child();
}

/* The child's end would be the program's SIGCHLD. Signals are blocked: take
 * it back, unless one was there before. */
static nfsappend_sigset pending(void)
{
	nfsappend_sigset set = 0;

	nfsappend_sys(SYS_rt_sigpending, (long)&set, 8, 0, 0, 0, 0);
	return set;
}

ssize_t nfsappend_proxy(ssize_t (*fn)(void *arg), void *arg)
{
	const nfsappend_sigset sigchld = UINT64_C(1) << (SIGCHLD - 1);
	const struct timespec none = {0, 0};
	bool had = pending() & sigchld;
	ssize_t *result = sys_mmap(sizeof *result, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1);
	ssize_t r;
	pid_t pid;
	int status;

	if (result == NULL)
		return -ENOMEM;
	*result = -EIO; /* should it die on the way */
	pid = _Fork != NULL ? _Fork() : fork();
	if (pid == 0) {
		struct nfsappend_guard guard;
		/* The guard of the caller is a copy; ours sees the new
		 * process. */
		unsigned depth = nfsappend_depth;

		nfsappend_depth = 0;
		nfsappend_guard_enter(&guard);
		*result = fn(arg);
		nfsappend_depth = depth;
		nfsappend_sys(SYS_exit_group, 0, 0, 0, 0, 0, 0);
		__builtin_unreachable();
	}
	if (pid > 0) {
		do
			r = nfsappend_sys(SYS_wait4, pid, (long)&status,
				__WALL, 0, 0, 0);
		while (r == -EINTR);
		if (!had)
			nfsappend_sys(SYS_rt_sigtimedwait, (long)&sigchld, 0,
				(long)&none, 8, 0, 0);
	}
	r = pid > 0 ? *result : -EAGAIN;
	sys_munmap(result, sizeof *result);
	return r;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flock() and lockf(): the kernel's, on a descriptor that is fit for them. */
#include "config.h"

#include <sys/file.h>
#include <unistd.h>

#include "preload/dup.h"
#include "preload/hook.h"

NFSAPPEND_HOOK int flock(int fd, int operation)
{
	if (nfsappend_may_be_ours(fd) && operation & LOCK_EX)
		nfsappend_for_write_lock(fd, false);
	return NFSAPPEND_REAL(flock)(fd, operation);
}

NFSAPPEND_HOOK int lockf(int fd, int cmd, off_t length)
{
	if (nfsappend_may_be_ours(fd) && (cmd == F_LOCK || cmd == F_TLOCK))
		nfsappend_for_write_lock(fd, true);
	return NFSAPPEND_REAL(lockf)(fd, cmd, length);
}

NFSAPPEND_HOOK int lockf64(int fd, int cmd, off64_t length)
{
	return lockf(fd, cmd, length);
}

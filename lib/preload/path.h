/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The form of every hook on a path: ours at once when the name says so, the
 * kernel's otherwise, and ours after all when the kernel found nothing and a
 * walk leads under a map.
 */
#ifndef NFSAPPEND_PRELOAD_PATH_H
#define NFSAPPEND_PRELOAD_PATH_H

#include <stdbool.h>

#include "core/opening.h"
#include "preload/hook.h"

/* Must we be asked before the kernel? makes: the call may make the file. */
bool nfsappend_path_before(int dirfd, const char *path, bool makes);
/* The kernel has failed with errno: may it be ours? */
bool nfsappend_path_after(int dirfd, const char *path);
/* Might the path name a descriptor (/dev/stdout, /proc/self/fd/1)? */
bool nfsappend_path_of_descriptor(const char *path);

/* Evaluates ours (core's function), then real if the path is not ours. */
#define NFSAPPEND_PATH_CALL(dirfd, path, makes, ours, real)                    \
	do {                                                                   \
		long r_ = NFSAPPEND_NOT_OURS;                                  \
		int saved_ = errno;                                            \
		if (nfsappend_path_before((dirfd), (path), (makes)))           \
			r_ = (ours);                                           \
		if (r_ != NFSAPPEND_NOT_OURS)                                  \
			return nfsappend_result(r_);                           \
		errno = saved_;                                                \
		r_ = (real);                                                   \
		if (r_ >= 0 || !nfsappend_path_after((dirfd), (path)))         \
			return r_;                                             \
		saved_ = errno;                                                \
		r_ = (ours);                                                   \
		if (r_ != NFSAPPEND_NOT_OURS)                                  \
			return nfsappend_result(r_);                           \
		errno = saved_;                                                \
		return -1;                                                     \
	} while (0)

#endif

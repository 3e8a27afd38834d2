/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The form of every hook on a path: ours at once when the name says so, the
 * kernel's otherwise, and ours after all when the kernel found nothing and a
 * walk leads under a map.
 */
#ifndef NFSAPPEND_PRELOAD_PATH_H
#define NFSAPPEND_PRELOAD_PATH_H

#include <alloca.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "core/opening.h"
#include "preload/hook.h"

/* Must we be asked before the kernel? makes: the call may make the file. */
bool nfsappend_path_before(int dirfd, const char *path, bool makes);
/* The kernel has failed with errno: may it be ours? */
bool nfsappend_path_after(int dirfd, const char *path);
/* Might the path name a descriptor (/dev/stdout, /proc/self/fd/1)? */
static inline bool nfsappend_path_of_descriptor(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == 'd')
		return strncmp(path, "/dev/", 5) == 0 &&
			strcmp(path + 5, "null") != 0 &&
			strncmp(path + 5, "shm/", 4) != 0;
	return path[1] == 'p' && strncmp(path, "/proc/", 6) == 0;
}
/* The number that it names, ours or not, or -1. */
int nfsappend_path_descriptor(const char *path);

/* Does the path begin below a map, or is it relative to a directory there?
 * It may still lead out of it. */
bool nfsappend_path_from_ours(int dirfd, const char *path);
/* Such a path that does lead out of the map: as the kernel can use it, in room
 * (PATH_MAX bytes). */
const char *nfsappend_path_out(int dirfd, const char *path, char *room);

/* After "not ours": the path to give to the kernel. Lives as long as the
 * caller. */
#define NFSAPPEND_PATH_OUT(dirfd, path)                                        \
	(nfsappend_path_from_ours((dirfd), (path))                             \
			? nfsappend_path_out((dirfd), (path),                  \
				  alloca(PATH_MAX))                            \
			: (path))

/* Evaluates ours (core's function), then real if the path is not ours.
 * before, after: what the two questions say; out: makes path fit for real. */
#define NFSAPPEND_ASKED_CALL(before, after, out, ours, real)                   \
	do {                                                                   \
		long r_;                                                       \
		int saved_ = errno;                                            \
		if (before) {                                                  \
			r_ = (ours);                                           \
			if (r_ != NFSAPPEND_NOT_OURS)                          \
				return nfsappend_result(r_);                   \
			out;                                                   \
			errno = saved_;                                        \
		}                                                              \
		r_ = (real);                                                   \
		if (r_ >= 0 || !(after))                                       \
			return r_;                                             \
		saved_ = errno;                                                \
		r_ = (ours);                                                   \
		if (r_ != NFSAPPEND_NOT_OURS)                                  \
			return nfsappend_result(r_);                           \
		errno = saved_;                                                \
		return -1;                                                     \
	} while (0)

/* path: a parameter of the hook, as ours and real use it. */
#define NFSAPPEND_PATH_CALL(dirfd, path, makes, ours, real)                    \
	NFSAPPEND_ASKED_CALL(nfsappend_path_before((dirfd), (path), (makes)),  \
		nfsappend_path_after((dirfd), (path)),                         \
		path = NFSAPPEND_PATH_OUT((dirfd), (path)), ours, real)

/* Of two paths, the second of which may be made. */
#define NFSAPPEND_PATHS_CALL(fd1, path1, fd2, path2, ours, real)               \
	NFSAPPEND_ASKED_CALL(nfsappend_path_before((fd1), (path1), false) ||   \
			nfsappend_path_before((fd2), (path2), true),           \
		nfsappend_path_after((fd1), (path1)) ||                        \
			nfsappend_path_after((fd2), (path2)),                  \
		(path1 = NFSAPPEND_PATH_OUT((fd1), (path1)),                   \
			path2 = NFSAPPEND_PATH_OUT((fd2), (path2))),           \
		ours, real)

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open(), openat(), creat() and their fortified and 64-bit twins. */
#include "config.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "core/config_env.h"
#include "core/opening.h"
#include "core/path.h"
#include "core/placeholder.h"
#include "preload/hook.h"
#include "preload/open.h"

extern int __open_2(const char *, int);
extern int __open64_2(const char *, int);
extern int __openat_2(int, const char *, int);
extern int __openat64_2(int, const char *, int);

/* No map is there, and no link to one. */
static bool special(const char *path)
{
	return path[0] == '/' &&
		((path[1] == 'd' && strncmp(path, "/dev/", 5) == 0) ||
			(path[1] == 'p' && strncmp(path, "/proc/", 6) == 0));
}

/* Might the path name a descriptor (/dev/stdout, /proc/self/fd/1)? Not those
 * that are opened often, /dev/null, /dev/shm: the question is a system call. */
static bool names_descriptor(const char *path)
{
	return special(path) &&
		(path[1] == 'p' || strncmp(path, "/dev/fd", 7) == 0 ||
			strncmp(path, "/dev/std", 8) == 0);
}

bool nfsappend_open_before(int dirfd, const char *path, int flags, mode_t mode,
	int *result)
{
	bool lexical;

	if (!nfsappend_active || nfsappend_depth != 0 || !nfsappend_start() ||
		nfsappend_config.nmaps == 0 || path == NULL)
		return false;
	lexical = path[0] == '/' && nfsappend_path_match(path) != NULL;
	/* Where DIR is on this host too, a path could reach it by a link or
	 * by the working directory, and the kernel would open it there. */
	if (!lexical &&
		(!nfsappend_config.any_local || special(path)))
		return false;
	int saved = errno;

	*result = nfsappend_open_path(dirfd, path, flags, mode);
	if (*result == NFSAPPEND_NOT_OURS) {
		errno = saved;
		return false;
	}
	*result = (int)nfsappend_result(*result);
	return true;
}

/* Another open of a placeholder's memfd. */
static NFSAPPEND_APART void reopened(int fd)
{
	struct nfsappend_placeholder p;

	if (nfsappend_placeholder_read(fd, &p) == 0) {
		nfsappend_placeholder_mark(fd);
		nfsappend_table_unsure(fd);
	}
}

int nfsappend_open_after(int dirfd, const char *path, int flags, mode_t mode,
	int result)
{
	int saved, r;

	if (!nfsappend_active || nfsappend_depth != 0)
		return result;
	if (result >= 0) {
		nfsappend_table_opened(result);
		if (names_descriptor(path))
			reopened(result);
		return result;
	}
	saved = errno;
	/* DIR need not exist on this host: a relative path, a link or an
	 * odd spelling ends nowhere. */
	if ((saved != ENOENT && saved != ENOTDIR) ||
		nfsappend_config.nmaps == 0 || path == NULL ||
		nfsappend_config.any_local)
		return result;
	r = nfsappend_open_path(dirfd, path, flags, mode);
	if (r == NFSAPPEND_NOT_OURS) {
		errno = saved;
		return result;
	}
	return (int)nfsappend_result(r);
}

/* The mode argument is there only when a file may be made. */
#define MODE_ARGUMENT(flags, mode)                                             \
	do {                                                                   \
		if (__OPEN_NEEDS_MODE(flags)) {                                \
			va_list ap_;                                           \
			va_start(ap_, flags);                                  \
			(mode) = va_arg(ap_, mode_t);                          \
			va_end(ap_);                                           \
		}                                                              \
	} while (0)

#define OPEN(name, dirfd, path, flags, mode, call)                             \
	do {                                                                   \
		int result_;                                                   \
		if (!nfsappend_active)                                         \
			return NFSAPPEND_REAL(name) call;                      \
		if (nfsappend_open_before((dirfd), (path), (flags), (mode),    \
			    &result_))                                         \
			return result_;                                        \
		return nfsappend_open_after((dirfd), (path), (flags), (mode),  \
			NFSAPPEND_REAL(name) call);                            \
	} while (0)

NFSAPPEND_HOOK int open(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	OPEN(open, AT_FDCWD, path, flags, mode, (path, flags, mode));
}

NFSAPPEND_HOOK int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	OPEN(open64, AT_FDCWD, path, flags, mode, (path, flags, mode));
}

NFSAPPEND_HOOK int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	OPEN(openat, dirfd, path, flags, mode, (dirfd, path, flags, mode));
}

NFSAPPEND_HOOK int openat64(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;

	MODE_ARGUMENT(flags, mode);
	OPEN(openat64, dirfd, path, flags, mode, (dirfd, path, flags, mode));
}

/* Fortified programs call these where the flags need no mode; glibc aborts
 * them otherwise, and so does the real one. */
NFSAPPEND_HOOK int __open_2(const char *path, int flags)
{
	OPEN(open, AT_FDCWD, path, flags, 0, (path, flags));
}

NFSAPPEND_HOOK int __open64_2(const char *path, int flags)
{
	OPEN(open64, AT_FDCWD, path, flags, 0, (path, flags));
}

NFSAPPEND_HOOK int __openat_2(int dirfd, const char *path, int flags)
{
	OPEN(openat, dirfd, path, flags, 0, (dirfd, path, flags));
}

NFSAPPEND_HOOK int __openat64_2(int dirfd, const char *path, int flags)
{
	OPEN(openat64, dirfd, path, flags, 0, (dirfd, path, flags));
}

#define CREAT_FLAGS (O_CREAT | O_WRONLY | O_TRUNC)

NFSAPPEND_HOOK int creat(const char *path, mode_t mode)
{
	OPEN(creat, AT_FDCWD, path, CREAT_FLAGS, mode, (path, mode));
}

NFSAPPEND_HOOK int creat64(const char *path, mode_t mode)
{
	OPEN(creat64, AT_FDCWD, path, CREAT_FLAGS, mode, (path, mode));
}

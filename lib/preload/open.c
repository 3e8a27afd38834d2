/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* open(), openat(), creat() and their fortified and 64-bit twins. */
#include "config.h"

#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "core/config_env.h"
#include "core/mounted.h"
#include "core/opening.h"
#include "core/path.h"
#include "core/placeholder.h"
#include "preload/open.h"
#include "preload/path.h"

extern int __open_2(const char *, int);
extern int __open64_2(const char *, int);
extern int __openat_2(int, const char *, int);
extern int __openat64_2(int, const char *, int);

/* The same file once more, if that number is one of ours. */
static bool opens_again(const char *path, int flags, int *result)
{
	struct nfsappend_use use;
	int fd = nfsappend_path_descriptor(path);

	/* On a kernel mount it is a path like any other. */
	if (fd < 0 || !nfsappend_use_begin_mapped(&use, fd))
		return false;
	*result = use.error != 0 ? use.error
				 : nfsappend_open_again(use.open, flags);
	nfsappend_use_end(&use);
	*result = (int)nfsappend_result(*result);
	return true;
}

/* What NFSAPPEND_PATHS is about. O_DIRECT does not go with O_APPEND there. */
static bool appends_on_mount(const char *path, int flags)
{
	return flags & O_APPEND && (flags & O_ACCMODE) != O_RDONLY &&
		!(flags & (O_PATH | O_DIRECT)) &&
		(flags & O_TMPFILE) != O_TMPFILE && nfsappend_active &&
		nfsappend_depth == 0 && path != NULL && nfsappend_start() &&
		nfsappend_config.npaths > 0;
}

bool nfsappend_open_before(int dirfd, const char *path, int flags, mode_t mode,
	int *result)
{
	int saved = errno;

	if (nfsappend_active && nfsappend_depth == 0 && path != NULL &&
		nfsappend_path_of_descriptor(path) &&
		opens_again(path, flags, result))
		return true;
	*result = NFSAPPEND_NOT_OURS;
	if (nfsappend_path_before(dirfd, path, flags & O_CREAT))
		*result = nfsappend_open_path(dirfd, path, flags, mode);
	if (*result == NFSAPPEND_NOT_OURS && appends_on_mount(path, flags))
		*result = nfsappend_mounted_open(dirfd, path, flags, mode);
	if (*result == NFSAPPEND_NOT_OURS) {
		errno = saved;
		return false;
	}
	*result = (int)nfsappend_result(*result);
	return true;
}

/* Another open of a placeholder's memfd? */
static NFSAPPEND_APART void look_at(int fd)
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
		if (nfsappend_path_of_descriptor(path))
			look_at(result);
		return result;
	}
	if (!nfsappend_path_after(dirfd, path))
		return result;
	saved = errno;
	r = nfsappend_open_path(dirfd, path, flags, mode);
	if (r == NFSAPPEND_NOT_OURS) {
		errno = saved;
		return result;
	}
	return (int)nfsappend_result(r);
}

/*
 * A file of this host's, as far as can be told without a look at it? What the
 * kernel can't find there is looked at after, and a path that may be made is
 * not so simple.
 */
static inline bool plainly_elsewhere(const char *path, int flags)
{
	return path != NULL && path[0] == '/' && !(flags & O_CREAT) &&
		!(flags & O_APPEND && nfsappend_config.npaths > 0) &&
		nfsappend_start_state == NFSAPPEND_STARTED &&
		!nfsappend_config.any_local &&
		!nfsappend_path_of_descriptor(path) &&
		nfsappend_path_match(path) == NULL;
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
		if (plainly_elsewhere((path), (flags))) {                      \
			result_ = NFSAPPEND_REAL(name) call;                   \
			return nfsappend_table_plain(result_)                  \
				? result_                                      \
				: nfsappend_open_after((dirfd), (path),        \
					  (flags), (mode), result_);           \
		}                                                              \
		if (nfsappend_open_before((dirfd), (path), (flags), (mode),    \
			    &result_))                                         \
			return result_;                                        \
		path = NFSAPPEND_PATH_OUT((dirfd), (path));                    \
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

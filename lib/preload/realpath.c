/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* realpath() and its relatives. */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/query.h"
#include "preload/path.h"

extern char *__realpath_chk(const char *, char *, size_t);

static char *hand_out(const char *path, char *resolved)
{
	return resolved != NULL ? strcpy(resolved, path) : strdup(path);
}

NFSAPPEND_HOOK char *realpath(const char *path, char *resolved)
{
	char out[PATH_MAX];
	int saved = errno, r;
	char *result;

	if (nfsappend_path_before(AT_FDCWD, path, false)) {
		r = nfsappend_path_real(path, out);
		if (r == 0)
			return hand_out(out, resolved);
		if (r != NFSAPPEND_NOT_OURS) {
			errno = -r;
			return NULL;
		}
		path = NFSAPPEND_PATH_OUT(AT_FDCWD, path);
		errno = saved;
	}
	result = NFSAPPEND_REAL(realpath)(path, resolved);
	if (result != NULL || !nfsappend_path_after(AT_FDCWD, path))
		return result;
	saved = errno;
	r = nfsappend_path_real(path, out);
	if (r == 0)
		return hand_out(out, resolved);
	errno = r == NFSAPPEND_NOT_OURS ? saved : -r;
	return NULL;
}

NFSAPPEND_HOOK char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

/* glibc's own aborts where the room is less than PATH_MAX. */
NFSAPPEND_HOOK char *__realpath_chk(const char *path, char *resolved,
	size_t room)
{
	if (room < PATH_MAX)
		return NFSAPPEND_REAL(__realpath_chk)(path, resolved, room);
	return realpath(path, resolved);
}

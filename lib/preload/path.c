/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <string.h>

#include "core/config_env.h"
#include "core/path.h"
#include "preload/path.h"

bool nfsappend_path_of_descriptor(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

static bool maps(const char *path)
{
	return nfsappend_active && nfsappend_depth == 0 && path != NULL &&
		nfsappend_start() && nfsappend_config.nmaps > 0;
}

bool nfsappend_path_before(int dirfd, const char *path, bool makes)
{
	if (!maps(path))
		return false;
	if (path[0] == '/' && nfsappend_path_match(path) != NULL)
		return true;
	/* Where DIR is on this host too, a path could reach it by a link or
	 * by the working directory, and the kernel would serve it there. */
	if (nfsappend_config.any_local)
		return !nfsappend_path_of_descriptor(path);
	/* The kernel would make DIR itself. */
	return makes && nfsappend_path_ends_like_map(path);
}

bool nfsappend_path_after(int dirfd, const char *path)
{
	int error = errno;

	/* DIR need not exist on this host: a relative path, a link or an
	 * odd spelling ends nowhere. */
	if ((error != ENOENT && error != ENOTDIR) || !maps(path) ||
		nfsappend_config.any_local)
		return false;
	return error != ENOENT || !nfsappend_path_missing(dirfd, path);
}

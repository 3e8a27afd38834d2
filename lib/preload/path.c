/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "config.h"

#include <fcntl.h>
#include <string.h>

#include "core/config_env.h"
#include "core/cwd.h"
#include "core/path.h"
#include "core/pathcall.h"
#include "preload/path.h"

int nfsappend_path_descriptor(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout",
		"/dev/stderr"};
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/",
		"/proc/thread-self/fd/"};
	int n = 0;

	if (!nfsappend_active || nfsappend_depth != 0 || path == NULL ||
		!nfsappend_path_of_descriptor(path))
		return -1;
	for (int i = 0; i < 3; i++) {
		size_t len = strlen(folders[i]);

		if (strcmp(path, names[i]) == 0)
			return i;
		if (strncmp(path, folders[i], len) != 0)
			continue;
		path += len;
		if (*path == '\0')
			return -1;
		for (; *path >= '0' && *path <= '9' && n < 1 << 20; path++)
			n = n * 10 + (*path - '0');
		return *path == '\0' ? n : -1;
	}
	return -1;
}

static bool maps(const char *path)
{
	return nfsappend_active && nfsappend_depth == 0 && path != NULL &&
		nfsappend_start() && nfsappend_config.nmaps > 0;
}

bool nfsappend_path_from_ours(int dirfd, const char *path)
{
	if (!maps(path))
		return false;
	if (path[0] == '/')
		return nfsappend_path_match(path) != NULL;
	if (dirfd == AT_FDCWD)
		return nfsappend_cwd_mapped();
	return nfsappend_may_be_ours(dirfd) && !nfsappend_table_glance(dirfd);
}

const char *nfsappend_path_out(int dirfd, const char *path, char *room)
{
	struct nfsappend_pathcall c;
	const char *out = NULL;

	/* First as calls see it that take a link for itself. */
	for (unsigned follow = 0; follow < 2 && out == NULL; follow++) {
		if (nfsappend_pathcall_begin(&c, dirfd, path,
			    NFSAPPEND_MAY_LACK |
				    (follow ? NFSAPPEND_FOLLOW : 0)) ==
			NFSAPPEND_NOT_OURS)
			out = c.place->walk.rest[0] == '/'
				? strcpy(room, c.place->walk.rest)
				: path;
		nfsappend_pathcall_end(&c);
	}
	return out != NULL ? out : path;
}

bool nfsappend_path_before(int dirfd, const char *path, bool makes)
{
	if (!maps(path))
		return false;
	if (nfsappend_path_from_ours(dirfd, path))
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

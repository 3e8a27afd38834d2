/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths: which ones lie below a mapped directory. Lexical where that is
 * enough; with the local symbolic links followed where it is not.
 */
#ifndef NFSAPPEND_CORE_PATH_H
#define NFSAPPEND_CORE_PATH_H

#include <limits.h>
#include <stddef.h>

#include "core/config_env.h"

#define NFSAPPEND_LINKS_MAX 40 /* as the kernel, path_resolution(7) */

/* Collapses "//", "." and ".." of an absolute path. Its length, or -errno. */
int nfsappend_path_normalise(const char *path, char *out, size_t room);

/* The map whose DIR is path or a parent of it, NULL if none. No system call,
 * no symbolic links: for absolute paths as a program writes them. */
static inline const struct nfsappend_map *nfsappend_path_match(
	const char *path)
{
	for (unsigned i = 0; i < nfsappend_config.nmaps; i++) {
		const struct nfsappend_map *map = &nfsappend_config.maps[i];
		size_t n = 0;

		/* By hand: every open() of the program asks, and most paths
		 * differ at once. */
		while (n < map->len && path[n] == map->dir[n])
			n++;
		if (n == map->len && (path[n] == '/' || path[n] == '\0'))
			return map;
	}
	return NULL;
}

/* Is the last component one of a map's DIR? Then path may be DIR itself or a
 * directory above it, however it is spelled. No system call. */
bool nfsappend_path_ends_like_map(const char *path);

/* Is path, absolute and without links, a directory above a map's DIR that is
 * not on this host? It is answered for as an empty one of root's, so that
 * mkdir -p and realpath find their way to DIR. */
bool nfsappend_path_above_map(const char *path);

/* The kernel said ENOENT: is the file just not there (its directory is), so
 * that no map can be behind the path? False: walk to find out. */
bool nfsappend_path_missing(int dirfd, const char *path);

struct nfsappend_walk {
	const struct nfsappend_map *map; /* NULL: the path is local */
	unsigned links;			 /* followed so far */
	/* Below a map: what comes after DIR, without a leading '/', not yet
	 * looked at. Local: the path with every link followed. */
	char rest[PATH_MAX];
	/* Scratch: a thread's stack may be small. */
	char todo[PATH_MAX + 1], done[PATH_MAX], target[PATH_MAX];
};

/*
 * Follows path from dirfd (AT_FDCWD: the working directory) through local
 * directories and links until it enters a map or ends. 0 or -errno
 * (ENAMETOOLONG, ELOOP, EBADF, ENOTDIR). walk->links is carried over. follow:
 * also a link that is the last component.
 */
int nfsappend_path_walk(int dirfd, const char *path, bool follow,
	struct nfsappend_walk *);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a path to a file on a server: the walk through local directories, the
 * map, and the server's directories and links.
 */
#ifndef NFSAPPEND_CORE_RESOLVE_H
#define NFSAPPEND_CORE_RESOLVE_H

#include "core/path.h"
#include "core/server.h"

#define NFSAPPEND_DEPTH_MAX 1024

struct nfsappend_place {
	const struct nfsappend_map *map; /* NULL: walk.rest is local */
	struct nfsappend_server *server;
	struct nfsappend_fh dir; /* the parent; none for the map's DIR */
	char name[NFSAPPEND_NAME_MAX + 1]; /* in dir; "" for the map's DIR */
	bool found;
	bool slash; /* the path ended in '/': it must be a directory */
	bool real_ids; /* in: ask as the real user, not the effective one */
	bool itself;   /* in: a last link is meant even with a slash behind */
	struct nfsappend_fh fh;
	struct nfsappend_attr attr;

	/* Scratch, large: allocate with nfsappend_place_new(). */
	struct nfsappend_walk walk;
	char path[PATH_MAX];
	char here[PATH_MAX]; /* the directory looked at, as on this host */
	bool cut; /* here is only its beginning: it is too long */
	unsigned depth;
	struct nfsappend_fh stack[NFSAPPEND_DEPTH_MAX]; /* from the start */
};

struct nfsappend_place *nfsappend_place_new(void);
void nfsappend_place_free(struct nfsappend_place *);

/*
 * follow: a symbolic link as the last component is followed. 0: looked up
 * (place->found tells), -errno: ENOTDIR, ELOOP, EACCES, EIO (dropped map),
 * first contact's errors. A last component that is missing is no error.
 */
int nfsappend_resolve(int dirfd, const char *path, bool follow,
	struct nfsappend_waiting *, struct nfsappend_place *);

/* The path of what was found, or would be made, without links. 0, or
 * -ENAMETOOLONG: only its beginning is in out. */
int nfsappend_place_path(const struct nfsappend_place *, char *out,
	size_t room);

#endif

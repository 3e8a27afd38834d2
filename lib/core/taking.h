/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A descriptor of a file on a kernel mount on its way to be ours: what mounted.c
 * opens or adopts, taking.c makes a file of. */
#ifndef NFSAPPEND_CORE_TAKING_H
#define NFSAPPEND_CORE_TAKING_H

#include <limits.h>

#include "core/file.h"
#include "core/mounts.h"

struct nfsappend_taking {
	int fd;
	uint32_t accmode;
	int flags; /* of open(); 0: inherited */
	int64_t began; /* open(): CLOCK_MONOTONIC ns */
	bool created;
	bool keep; /* the descriptor: as it is */
	struct statx stx;
	struct nfsappend_mount mount;
	struct nfsappend_fh fh;
	uint32_t lookup_rpcs;
	struct nfsappend_file *file;
	int error; /* -errno for fallback "fail" */
	char why[400];
	char path[PATH_MAX]; /* as the kernel tells it */
	/* Scratch: a thread's stack may be small. */
	char text[2 * PATH_MAX], parent[PATH_MAX];
};

/* What of it is known without asking the server; path: as /proc tells it. 0 or
 * -errno. */
#define NFSAPPEND_TAKING_MASK                                                  \
	(STATX_TYPE | STATX_MODE | STATX_UID | STATX_GID | STATX_INO |         \
		STATX_SIZE | STATX_MNT_ID)
int nfsappend_taking_stat(int fd, struct statx *);
int nfsappend_taking_path(int fd, char *out, size_t room);

/* With fd, accmode, flags, stx, mount and path: the file, served by us or by
 * the kernel. 0, NFSAPPEND_NOT_OURS (and the descriptor is the kernel's
 * alone), -errno. */
int nfsappend_take(struct nfsappend_taking *);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory being read: what is behind a DIR. "." and ".." are made here,
 * first, since NFSv4 has none and NFSv3 need not; then come the server's.
 */
#ifndef NFSAPPEND_CORE_LISTING_H
#define NFSAPPEND_CORE_LISTING_H

#include "core/directory.h"

/* Positions, as telldir() tells them: the start, then behind each entry. The
 * server's are its cookies, which are neither of these. */
#define NFSAPPEND_LISTING_START 0L
#define NFSAPPEND_LISTING_DOT (-1L)
#define NFSAPPEND_LISTING_DOTDOT (-2L)

struct nfsappend_listing {
	struct nfsappend_directory dir;
	long position;	   /* of the next entry */
	uint64_t cookie;   /* of what comes after buf */
	uint64_t verifier; /* of the cookies */
	uint64_t parent;   /* fileid, as far as the server has told */
	bool eof;	   /* nothing comes after buf */
	uint32_t at, used; /* in buf */
	uint8_t buf[65536];
};

struct nfsappend_entry {
	uint64_t fileid;
	uint8_t type; /* enum nfsappend_type, 0: not told */
	long position; /* behind it */
	const char *name; /* good until the next call */
};

/* With the guard held, each. */
void nfsappend_listing_start(struct nfsappend_listing *,
	const struct nfsappend_directory *);
/* 1, 0 at the end, or -errno. */
int nfsappend_listing_next(struct nfsappend_listing *,
	struct nfsappend_entry *);
void nfsappend_listing_seek(struct nfsappend_listing *, long position);

#endif

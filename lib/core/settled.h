/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One change of a directory until it is answered, and settled where an
 * answer was lost (naming.h says why).
 */
#ifndef NFSAPPEND_CORE_SETTLED_H
#define NFSAPPEND_CORE_SETTLED_H

#include "core/server.h"

/* What is to be done; all but what an operation needs stays empty. */
struct nfsappend_change {
	struct nfsappend_server *server;
	struct nfsappend_waiting *w;
	const struct nfsappend_fh *dir;	    /* the name's */
	const char *name;
	const struct nfsappend_fh *to_dir;  /* RENAME, LINK: the new one's */
	const char *to;
	const struct nfsappend_fh *object;  /* what the name stands for */
	const struct nfsappend_attr *attr;  /* the object's */
	const char *target;		    /* SYMLINK */
	uint32_t mode;			    /* MKDIR */
};

/* Each 0 or -errno. Before MKDIR and SYMLINK there must have been nothing
 * under the name, before LINK nothing under the new one. */
int nfsappend_settled_mkdir(struct nfsappend_change *);
int nfsappend_settled_symlink(struct nfsappend_change *);
int nfsappend_settled_remove(struct nfsappend_change *);
int nfsappend_settled_rmdir(struct nfsappend_change *);
int nfsappend_settled_rename(struct nfsappend_change *);
int nfsappend_settled_link(struct nfsappend_change *);

#endif
